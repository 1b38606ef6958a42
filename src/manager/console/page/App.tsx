/** The frame of the page: navigation, search, the state of the connection, and the view that the address names. */
import { useEffect, useRef, useState } from "preact/hooks"
import type { Model } from "./model/Model.ts"
import { hrefOf, views, type Route, type View } from "./model/route.ts"
import { formatAge, formatDuration, plural } from "./parts/format.ts"
import { useModel, usePage, useRoute } from "./parts/hooks.ts"
import { moveFocus } from "./parts/keys.ts"
import { Status } from "./parts/Status.tsx"
import { Cluster } from "./views/Cluster.tsx"
import { Controllers } from "./views/Controllers.tsx"
import { Informers } from "./views/Informers.tsx"
import { Leadership } from "./views/Leadership.tsx"
import { Objects } from "./views/Objects.tsx"
import { Queue } from "./views/Queue.tsx"
import { Search } from "./views/Search.tsx"
import { SignIn } from "./views/SignIn.tsx"

const titles: Readonly<Record<View, string>> = {
  controllers: "Controllers",
  objects: "Object",
  queue: "Queue",
  informers: "Informers",
  leadership: "Leadership",
  cluster: "Cluster"
}

const failingKeys = ({ controllers = [] }: Model) => controllers.reduce((sum, { queue }) => sum + queue.failing, 0)
const failingInformers = ({ informers = [] }: Model) =>
  informers.filter(({ failuresInARow }) => failuresInARow > 0).length
const failedControllers = ({ controllers = [] }: Model) => controllers.filter(({ state }) => state === "failed").length

/** What needs attention in a view. */
const attention = (model: Model, view: View): string | undefined => {
  const of = (count: number, what: string) => (count === 0 ? undefined : `${count} ${what}`)
  switch (view) {
    case "controllers":
      return of(failedControllers(model), "failed")
    case "queue":
      return of(failingKeys(model), "failing")
    case "informers":
      return of(failingInformers(model), "failing")
    case "cluster":
      return of(model.cluster?.counts.failing ?? 0, "failing")
    default:
      return undefined
  }
}

const Navigation = ({ view }: { readonly view: View }) => {
  const model = useModel("controllers", "informers", "cluster", "hello")
  const shown = views.filter(
    (view) => view !== "cluster" || model.program?.isEmbedded !== false || model.cluster !== undefined
  )
  return (
    <nav aria-label="Views">
      <ul onKeyDown={(event) => moveFocus(event, "a", true)}>
        {shown.map((one) => {
          const note = attention(model, one)
          return (
            <li key={one}>
              <a href={hrefOf(one)} aria-current={one === view ? "page" : undefined}>
                {titles[one]}
                {note !== undefined && <span class="badge">{note}</span>}
              </a>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}

const ConnectionStatus = () => {
  const { connection } = usePage()
  useModel("connection", "clock")
  const { state } = connection
  switch (state.status) {
    case "open":
      return <Status tone="ok">live</Status>
    case "connecting":
      return <Status tone="busy">connecting</Status>
    case "paused":
      return <Status tone="off">paused</Status>
    case "token":
      return <Status tone="warn">signed out</Status>
    case "failed":
      return (
        <span class="reconnect">
          <Status tone="bad">
            disconnected, next try in{" "}
            {formatDuration(Math.max(0, Math.ceil((state.retryAt - Date.now()) / 1000) * 1000))}
          </Status>
          <button type="button" onClick={() => connection.retry()}>
            Try now
          </button>
        </span>
      )
    default:
      return null
  }
}

/** Screen readers are told of the state at most this often. */
const summaryInterval = 20_000

const summaryOf = (model: Model): string => {
  const { controllers, informers = [] } = model
  if (controllers === undefined) return ""
  const started = controllers.filter(({ state }) => state === "started").length
  const synced = informers.filter(({ synced }) => synced).length
  return [
    `${started} of ${plural(controllers.length, "controller")} run`,
    `${synced} of ${plural(informers.length, "informer")} synced`,
    `${plural(failingKeys(model), "key")} failing`
  ].join(", ")
}

const Summary = () => {
  const { connection, model } = usePage()
  const [text, setText] = useState("")
  useEffect(() => {
    const tell = () =>
      setText(connection.state.status === "failed" ? "The connection to the program is lost." : summaryOf(model))
    const first = setTimeout(tell, 2000)
    const timer = setInterval(tell, summaryInterval)
    return () => {
      clearTimeout(first)
      clearInterval(timer)
    }
  }, [connection, model])
  return (
    <p class="hidden" role="status" aria-live="polite">
      {text}
    </p>
  )
}

const Current = ({ route }: { readonly route: Route }) => {
  switch (route.view) {
    case "controllers":
      return <Controllers />
    case "objects":
      return <Objects route={route} />
    case "queue":
      return <Queue />
    case "informers":
      return <Informers />
    case "leadership":
      return <Leadership />
    case "cluster":
      return <Cluster />
    default:
      return null
  }
}

const About = () => {
  const model = useModel("hello", "clock")
  const { program } = model
  if (program === undefined) return null
  return (
    <footer class="muted">
      {program.name} {program.version}, began {formatAge(model.now(), program.startedAt)}. API server{" "}
      <span class="name">{program.server}</span>
      {program.isEmbedded && ", embedded"}.
    </footer>
  )
}

export const App = () => {
  const { connection } = usePage()
  useModel("connection")
  const route = useRoute()
  const heading = useRef<HTMLHeadingElement>(null)
  const place = `${route.view} ${route.path.join(" ")}`
  const isFirst = useRef(true)
  useEffect(() => {
    document.title = `${route.path.slice(1).join("/") || titles[route.view]} – Console`
    // The next view is read out, and the next Tab begins at it.
    if (!isFirst.current) {
      heading.current?.focus({ preventScroll: true })
      scrollTo(0, 0)
    }
    isFirst.current = false
  }, [place])
  const { state } = connection
  if (state.status === "token") return <SignIn message={state.message} />
  return (
    <div class="frame">
      <header class="top">
        <a
          class="skip"
          href={hrefOf(route.view)}
          onClick={(event) => {
            event.preventDefault()
            heading.current?.focus()
          }}
        >
          Skip to the view
        </a>
        <p class="brand">Console</p>
        <Search />
        <ConnectionStatus />
      </header>
      <Navigation view={route.view} />
      <main>
        <h1 ref={heading} tabIndex={-1}>
          {titles[route.view]}
        </h1>
        {state.status === "failed" && (
          <p class="notice">
            <span class="error">{state.message}</span> The figures below are the last ones that were received.
          </p>
        )}
        <Current route={route} />
        <About />
      </main>
      <Summary />
    </div>
  )
}

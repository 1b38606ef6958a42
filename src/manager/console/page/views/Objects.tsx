/** An object with its timeline, its next due times and its relations; without one, what a search has found. */
import type { ObjectView, SearchResult } from "../../protocol.ts"
import { hrefOfObject, objectPath, type Route } from "../model/route.ts"
import { formatDue, plural } from "../parts/format.ts"
import { useFetched, useModel } from "../parts/hooks.ts"
import { moveFocus } from "../parts/keys.ts"
import { Status } from "../parts/Status.tsx"
import { Relations } from "./Relations.tsx"
import { Timeline } from "./Timeline.tsx"

const refresh = 2000

const Found = ({ query }: { readonly query: string }) => {
  const { error, value } = useFetched<SearchResult>(
    query === "" ? undefined : `search?q=${encodeURIComponent(query)}`,
    {}
  )
  if (query === "") {
    return (
      <p class="empty">
        Search for an object by kind, namespace or name: press <kbd>/</kbd> and type, for example,{" "}
        <code>Deployment default/web</code>.
      </p>
    )
  }
  if (error !== undefined) return <p class="empty error">The search failed: {error}</p>
  if (value === undefined) return <p class="empty">Searching for “{query}”.</p>
  if (value.found.length === 0) {
    return (
      <p class="empty">No object in the caches matches “{query}”. Only kinds that a controller reads can be found.</p>
    )
  }
  return (
    <>
      <p class="muted lead">
        {plural(value.found.length, "object")} for “{query}”
      </p>
      <ul class="found" onKeyDown={(event) => moveFocus(event, "a")}>
        {value.found.map(({ key, kind, resource }) => (
          <li key={`${resource} ${key}`}>
            <a href={hrefOfObject(resource, key)}>
              <span class="kind">{kind}</span> <span class="name">{key}</span>
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}

const One = ({ path }: { readonly path: ReadonlyArray<string> }) => {
  const model = useModel("clock")
  const [resource = "", ...names] = path
  const { error, value } = useFetched<ObjectView>(`objects/${objectPath(resource, names.join("/"))}`, {
    every: refresh
  })
  const now = model.now()
  if (value === undefined) {
    return error === undefined ? (
      <p class="empty">Loading the timeline.</p>
    ) : (
      <p class="empty error">The timeline could not be loaded: {error}</p>
    )
  }
  return (
    <>
      <header class="object">
        <p class="kind">{value.kind}</p>
        <h2 class="name">{value.key}</h2>
        {value.exists ? <Status tone="ok">exists</Status> : <Status tone="off">not in the cache</Status>}
      </header>
      {error !== undefined && <p class="error">The timeline could not be refreshed: {error}</p>}
      <div class="split">
        <section aria-labelledby="timeline">
          <h3 id="timeline">Timeline</h3>
          <Timeline object={value} now={now} key={`${value.resource} ${value.key}`} />
        </section>
        <div>
          <section aria-labelledby="due">
            <h3 id="due">Next due</h3>
            {value.due.length === 0 ? (
              <p class="muted">No controller has a time for it; the next change leads to a reconcile.</p>
            ) : (
              <ul class="due">
                {value.due.map(({ at, controller, failures }) => (
                  <li key={controller}>
                    <span class="name">{controller}</span> {formatDue(now, at)}
                    {failures > 0 && <span class="error"> after {plural(failures, "failure")}</span>}
                  </li>
                ))}
              </ul>
            )}
          </section>
          <section aria-labelledby="relations">
            <h3 id="relations">Owners and dependants</h3>
            <Relations object={value} />
          </section>
        </div>
      </div>
    </>
  )
}

export const Objects = ({ route }: { readonly route: Route }) =>
  route.path.length < 2 ? <Found query={route.query} /> : <One path={route.path} key={route.path.join("/")} />

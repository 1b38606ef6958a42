/**
 * The console over HTTP: the files of its page, which hold no data and need no token, and the API that the page reads, which needs one. It is
 * read-only, and no response lets a browser load anything from elsewhere.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Cache } from "../../layers/Cache.ts"
import { type Handler, type HttpRequest, type HttpResponse, notAllowed } from "../../layers/http/handler.ts"
import { Inspection } from "../../layers/Inspection.ts"
import * as Key from "../../kube/Key.ts"
import * as Resource from "../../kube/Resource.ts"
import * as LoopMetrics from "../../streams/reconcile/loopMetrics.ts"
import type * as Controllers from "../debug/controllers.ts"
import { type Access, failure, path as root } from "./access.ts"
import * as Figures from "./figures.ts"
import * as Objects from "./objects.ts"
import type * as Protocol from "./protocol.ts"
import * as Search from "./search.ts"
import * as ConsoleStream from "./stream.ts"

/** A file of the page. */
export interface File {
  readonly body: string
  readonly contentType: string
}

export interface Options extends Controllers.Selected {
  readonly program: Protocol.Program
  /** By name; undefined if the page was not built. */
  readonly files: ReadonlyMap<string, File> | undefined
  readonly access: Access
  /** A cache with all nodes and pods, to show the whole cluster. */
  readonly cluster: Cache["Service"] | undefined
  /** What is recorded of objects; undefined: nothing. */
  readonly timeline: Objects.Timeline | undefined
  /** Ends all streams when it completes. */
  readonly closing: Effect.Effect<void>
}

/** The most streams at once; a page has one. */
export const mostStreams = 16

const security: Readonly<Record<string, string>> = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'"
  ].join("; "),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cache-control": "no-store"
}

/** Each request uses the services of the caller of `make`. */
export const make = (options: Options): Effect.Effect<Handler> =>
  Effect.contextWith((context) =>
    Effect.map(Figures.make(options), (figures): Handler => {
      const guarded = options.access((request) => Effect.provideContext(api(options, stream, request), context))
      const stream = streams(options, figures)
      return (request) =>
        Effect.map(
          request.method !== "GET" && request.method !== "HEAD"
            ? Effect.succeed(notAllowed("GET, HEAD"))
            : request.path.startsWith(`${root}/api/`)
              ? guarded(request)
              : Effect.succeed(fileAt(options.files, request.path)),
          (response) => ({ ...response, headers: { ...security, ...response.headers } })
        )
    })
  )

const notHere = failure(404, "there is nothing at this path")

const fileAt = (files: Options["files"], path: string): HttpResponse => {
  // The fragment of the address, which has the token, stays in the browser.
  if (path === "/" || path === root) {
    return { status: 308, body: "", headers: { location: `${root}/` } }
  }
  if (!path.startsWith(`${root}/`)) return notHere
  const name = path.slice(root.length + 1)
  if (files === undefined && name === "") {
    return { status: 503, body: "The page of the console is not there: npm run build makes it.\n" }
  }
  const file = files?.get(name === "" ? "index.html" : name)
  if (file === undefined) return notHere
  // The names of other files have a hash of their content.
  const headers = name === "" || name === "index.html" ? {} : { "cache-control": "public, max-age=31536000, immutable" }
  return { status: 200, body: file.body, contentType: file.contentType, headers }
}

const streams = (options: Options, figures: Effect.Effect<Figures.Sample>): (() => HttpResponse) => {
  let open = 0
  const counted = Effect.acquireRelease(
    Effect.sync(() => ++open),
    () => Effect.sync(() => --open)
  )
  const lines = ConsoleStream.make({ ...options, figures })
  const body = Stream.unwrap(Effect.map(counted, (count) => (count > mostStreams ? Stream.empty : lines)))
  return () =>
    open >= mostStreams
      ? failure(429, `the console has ${mostStreams} streams already: close a page`)
      : { status: 200, body, contentType: "application/x-ndjson" }
}

const api = (
  options: Options,
  stream: () => HttpResponse,
  { path, query }: HttpRequest
): Effect.Effect<HttpResponse> => {
  const [what, ...names] = path.slice(`${root}/api/`.length).split("/")
  switch (what) {
    case "stream":
      return Effect.succeed(names.length === 0 ? stream() : notHere)
    case "search":
      return names.length > 0
        ? Effect.succeed(notHere)
        : Effect.map(held(options), (all) => answer(Search.search(all, query.get("q") ?? "")))
    case "objects":
      return objectAt(options, names)
    default:
      return Effect.succeed(notHere)
  }
}

const answer = (value: Protocol.SearchResult | Protocol.ObjectView): HttpResponse => ({
  status: 200,
  body: JSON.stringify(value),
  contentType: "application/json"
})

/** The stores of the program, and those of the cluster. */
const held = Effect.fnUntraced(function* ({ cluster }: Options) {
  const all = yield* (yield* Inspection).stores.all
  return (yield* Effect.all(cluster === undefined ? all : [...all, cluster.informers])).flat()
})

/** `pods/default/web-1`, `nodes/worker-1`. */
const objectAt = (options: Options, names: ReadonlyArray<string>): Effect.Effect<HttpResponse> =>
  Effect.gen(function* () {
    const [resource = "", first = "", second] = names
    if (names.length < 2 || names.length > 3 || names.includes("")) return notHere
    const question = { resource, key: second === undefined ? first : Key.make(first, second) }
    const due = yield* dueOf(options, question)
    return answer(Objects.view(yield* held(options), question, options.timeline ?? Objects.noTimeline, due))
  })

/** Of the controllers that reconcile objects of this kind. */
const dueOf = Effect.fnUntraced(function* ({ controllers }: Options, { key, resource }: Objects.Question) {
  const now = yield* Clock.currentTimeMillis
  const ofKind = controllers.filter((one) => one.for !== undefined && Resource.qualifiedName(one.for) === resource)
  const found = yield* Effect.forEach(ofKind, ({ name }) =>
    Effect.map(LoopMetrics.of(name), (metrics) =>
      metrics
        .dueOf(key)
        .map(({ dueIn, failures }) => ({ controller: name, at: Math.round(now + Math.max(0, dueIn)), failures }))
    )
  )
  return found.flat()
})

/**
 * Records what the controllers of a run call and receive, and lets perturbations take effect: around each call with all its attempts, so that a
 * controller meets the fault whatever the client retries, and in each watch before an event arrives.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Status from "../../kube/Status.ts"
import type { Request, Response, Transport, WatchEvent } from "../../layers/Transport.ts"
import { kindOf, touched } from "./finalState.ts"
import { type Kind, kinds, type Perturbation, type Point } from "./perturbation.ts"
import type * as Record from "./record.ts"

/** A process of the controllers, as the injection knows it. */
export interface Process {
  readonly id: number
  /** True from the moment that it was killed: nothing that it still does reaches the server. */
  hasEnded: boolean
  /** True from the moment that it lost leadership: its client refuses writes. */
  hasLostTerm: boolean
  /** Its first lists are of this revision, and its watches deliver nothing until then. */
  readonly stale: { readonly revision: number; readonly until: number } | undefined
}

/** What happens to the processes of a run. */
export interface Control {
  /** Ends a process at once, and starts another one a moment later. */
  readonly crash: (process: Process, why: string) => Effect.Effect<void>
  /** Ends a process that does not stop working, for good. */
  readonly stop: (process: Process, message: string) => Effect.Effect<void>
  /** Ends the term of a process, and starts another one. */
  readonly handoff: (process: Process) => Effect.Effect<void>
  /** Runs something in the background of the run. */
  readonly fork: (effect: Effect.Effect<unknown>) => Effect.Effect<void>
}

type Send = Effect.Effect<Response, ApiError.ApiError>

export interface Injection {
  readonly entries: Array<Record.Entry>
  /** The objects that a user has annotated. */
  readonly edits: Array<Edit>
  /** The kinds of resources that were written or received: `deployments.apps` is `Deployment.apps`. */
  readonly kinds: Map<string, string>
  /** Milliseconds since the start of the run. */
  readonly now: () => number
  /** The kinds of the perturbations that take effect at that point. */
  readonly at: (point: Point, n: number) => ReadonlyArray<Kind>
  readonly transport: (process: Process) => Transport["Service"]
  readonly around: (process: Process, control: Control) => (request: Request, send: (request: Request) => Send) => Send
}

export interface Options {
  /** True: users edit objects a second after the write, and not just before it. */
  readonly isReference: boolean
  /** A process that makes more calls is stopped: without this a controller that always finds something to write would never end. */
  readonly mostCalls: number
}

/** A user's annotation of an object, just before that call. */
export interface Edit {
  readonly uid: string
  readonly entry: Record.Call
}

/** Neither is a part of what a controller brings about, and they may be lost. */
const uncounted = new Set(["events", "events.events.k8s.io", "leases.coordination.k8s.io"])

const isCounted = ({ context: { resource, verb } }: Request): boolean =>
  resource !== undefined && verb !== "raw" && !resource.endsWith("reviews") && !uncounted.has(resource)

const isWrite = ({ method, query }: Request): boolean => method !== "GET" && query?.["dryRun"] === undefined

export const make = (
  raw: Transport["Service"],
  revision: () => number,
  clock: Clock.Clock,
  perturbations: ReadonlyArray<Perturbation>,
  { isReference, mostCalls }: Options
): Injection => {
  const began = clock.currentTimeMillisUnsafe()
  const now = () => clock.currentTimeMillisUnsafe() - began
  const entries: Array<Record.Entry> = []
  const edits: Array<Edit> = []
  const seenKinds = new Map<string, string>()
  const counted = { call: 0, write: 0, event: 0 }
  const at: Injection["at"] = (point, n) =>
    perturbations.filter((one) => one.at === n && kinds[one.kind].at === point).map(({ kind }) => kind)

  const begin = (process: Process, request: Request): Record.Call => {
    const { context } = request
    const write = isWrite(request) ? ++counted.write : undefined
    const n = ++counted.call
    const perturbed = [...at("call", n), ...(write === undefined ? [] : at("write", write))]
    const entry: Record.Call = {
      type: "call",
      at: now(),
      n,
      write,
      process: process.id,
      verb: verbOf(request),
      resource: context.resource ?? "",
      key: keyOf(request),
      outcome: "no response",
      revision: undefined,
      ...(perturbed.length === 0 ? {} : { perturbed })
    }
    entries.push(entry)
    return entry
  }

  /** The call, which notes its outcome in its entry. */
  const noted = (entry: Record.Call, call: Send): Send =>
    Effect.suspend(() => {
      const before = revision()
      return call.pipe(
        Effect.map((response) => {
          const object = response.body as Partial<KubeObject> | undefined
          const version = Number(object?.metadata?.resourceVersion)
          const written = Number.isSafeInteger(version) ? version : revision()
          entry.outcome = String(response.status)
          if (entry.write === undefined) return response
          if (written > before) entry.revision = written
          if (!entry.resource.includes("/") && object?.metadata?.name !== undefined) {
            seenKinds.set(entry.resource, kindOf(object as KubeObject))
          }
          return response
        }),
        Effect.tapError((error) => Effect.sync(() => void (entry.outcome = outcomeOf(error))))
      )
    })

  const around: Injection["around"] = (process, control) => (request, send) =>
    Effect.suspend(() => {
      const call = send(request)
      if (process.hasEnded) return Effect.fail(ended(request))
      // After the end of its term the client refuses its writes: no point of a run.
      if (!isCounted(request) || (process.hasLostTerm && isWrite(request))) return call
      if (counted.call >= mostCalls) {
        return Effect.andThen(control.stop(process, `the controllers made more than ${mostCalls} calls`), Effect.never)
      }
      const entry = begin(process, request)
      const executed = noted(entry, call)
      if (entry.perturbed === undefined) return executed
      const edit = edited(raw, request, entry, edits)
      return Effect.andThen(
        isReference ? control.fork(Effect.delay(edit, "1 second")) : edit,
        perturbed(process, control, request, entry, executed)
      )
    })

  const perturbed = (process: Process, control: Control, request: Request, entry: Record.Call, call: Send): Send => {
    for (const kind of entry.perturbed ?? []) {
      const refused = refusals(request)[kind]
      if (refused !== undefined) {
        entry.outcome = outcomeOf(refused)
        return Effect.fail(refused)
      }
      switch (kind) {
        case "crash-before":
          return Effect.andThen(control.crash(process, kind), Effect.never)
        case "crash":
        case "travel-1":
        case "travel-2":
        case "travel-4":
          return call.pipe(Effect.ignore, Effect.andThen(control.crash(process, kind)), Effect.andThen(Effect.never))
        case "lost":
          return call.pipe(
            Effect.ignore,
            Effect.andThen(Effect.suspend(() => Effect.fail(reset(request)))),
            Effect.tapError(() => Effect.sync(() => void (entry.outcome += ", lost")))
          )
        case "handoff": {
          // It left the process while the term was valid, so nothing but the server can refuse it.
          const { mayStartUnsafe: _, ...sent } = request
          const arrives = Effect.delay(noted(entry, raw.send(sent)), "2 seconds")
          return control
            .fork(Effect.ignore(arrives))
            .pipe(Effect.andThen(control.handoff(process)), Effect.andThen(Effect.never))
        }
        default:
      }
    }
    return call
  }

  const transport: Injection["transport"] = (process) => ({
    send: (request) =>
      Effect.suspend(() => {
        if (process.hasEnded) return Effect.fail(ended(request))
        if (isWrite(request) && process.hasLostTerm && isCounted(request)) {
          const message = `${verbOf(request)} ${request.context.resource} was sent after the term had ended`
          entries.push({ type: "problem", kind: "stale term", at: now(), process: process.id, message })
        }
        const sent = raw.send(process.stale === undefined ? request : asOf(process.stale, request))
        // The server has its own clock, whatever the one of the process shows.
        return Effect.provideService(sent, Clock.Clock, clock)
      }),
    watch: (request) =>
      Stream.suspend(() => {
        if (process.hasEnded) return Stream.never
        const events = raw.watch(request)
        const counts = isCounted(request)
          ? events.pipe(
              Stream.rechunk(1),
              Stream.mapArrayEffect((chunk) => Effect.as(delivery(process, request, chunk[0]), chunk))
            )
          : events
        const wait = process.stale === undefined ? 0 : process.stale.until - now()
        return wait <= 0 ? counts : Stream.unwrap(Effect.delay(Effect.succeed(counts), wait))
      })
  })

  /** Waits until the event may arrive; fails where the watch ends before it. */
  const delivery = (process: Process, request: Request, event: WatchEvent): Effect.Effect<void, ApiError.ApiError> =>
    Effect.suspend(() => {
      if (process.hasEnded) return Effect.never
      if (event.type === "BOOKMARK") return Effect.void
      const n = ++counted.event
      const perturbed = at("event", n)
      const object = event.object as KubeObject
      const { metadata } = object
      seenKinds.set(request.context.resource ?? "", kindOf(object))
      entries.push({
        type: "event",
        at: now(),
        n,
        process: process.id,
        resource: request.context.resource ?? "",
        change: event.type,
        key: Key.make(metadata.namespace, metadata.name),
        revision: metadata.resourceVersion ?? "",
        ...(perturbed.length === 0 ? {} : { perturbed })
      })
      if (perturbed.includes("relist")) return Effect.fail(gone(request))
      if (perturbed.includes("gap")) return Effect.delay(Effect.fail(gone(request)), "30 seconds")
      if (perturbed.includes("lag")) return Effect.sleep("30 seconds")
      return perturbed.includes("late") ? Effect.sleep("100 millis") : Effect.void
    })

  return { entries, edits, kinds: seenKinds, now, at, transport, around }
}

const verbOf = ({ context, method }: Request): string => (context.verb === "" ? method.toLowerCase() : context.verb)

/** A created object may get its name from the server. */
const keyOf = ({ body, context }: Request): string => {
  const { metadata } = (body ?? {}) as {
    readonly metadata?: { readonly name?: string; readonly generateName?: string }
  }
  const generated = metadata?.generateName === undefined ? "" : `${metadata.generateName}*`
  return Key.make(context.namespace, context.name ?? metadata?.name ?? generated)
}

const outcomeOf = ({ reason, status }: ApiError.ApiError): string =>
  status === undefined ? reason._tag : `${status} ${reason._tag}`

const ended = (request: Request): ApiError.ApiError =>
  ApiError.network(request.context, new Error("the process has ended"))

const reset = (request: Request): ApiError.ApiError => ApiError.network(request.context, new Error("read ECONNRESET"))

const status = ({ context }: Request, code: number, reason: string, message: string): ApiError.ApiError =>
  ApiError.fromStatus({ context, status: code, body: Status.failure({ code, reason, message }) })

const gone = (request: Request) => status(request, 410, "Expired", "too old resource version")

/** The errors by the kinds of perturbations that refuse a call. */
const refusals = (request: Request): Partial<Record<Kind, ApiError.ApiError>> => ({
  conflict: status(
    request,
    409,
    "Conflict",
    "the object has been modified; please apply your changes to the latest version and try again"
  ),
  throttled: status(request, 429, "TooManyRequests", "too many requests"),
  error: status(request, 500, "InternalError", "an error on the server"),
  timeout: ApiError.timeout(request.context, Duration.seconds(70))
})

/** What a user does to the object of a write just before it. */
const edited = (
  raw: Transport["Service"],
  request: Request,
  entry: Record.Call,
  edits: Array<Edit>
): Effect.Effect<void> => {
  const kind = entry.perturbed?.find((one) => one === "touch" || one === "delete")
  if (kind === undefined || request.context.name === undefined) return Effect.void
  const isSubresource = request.context.resource?.includes("/") === true
  const path = isSubresource ? request.path.slice(0, request.path.lastIndexOf("/")) : request.path
  const context = { verb: kind === "touch" ? "patch" : "delete", path }
  const edit: Request =
    kind === "touch"
      ? {
          method: "PATCH",
          path,
          contentType: "application/merge-patch+json",
          body: { metadata: { annotations: { [touched]: "true" } } },
          context
        }
      : { method: "DELETE", path, context }
  return raw.send(edit).pipe(
    Effect.map(({ body }) => {
      const { uid } = (body as KubeObject).metadata
      if (kind === "touch" && uid !== undefined) edits.push({ uid, entry })
    }),
    Effect.ignore
  )
}

/** The first list of a kind, as a server answers it whose cache lags behind. */
const asOf = (stale: { readonly revision: number }, request: Request): Request =>
  request.context.verb === "list" && String(request.query?.["resourceVersion"]) === "0"
    ? {
        ...request,
        query: { ...request.query, resourceVersion: String(stale.revision), resourceVersionMatch: "Exact" }
      }
    : request

/**
 * Records the entries of a timeline. Every function but `of` is called on the path of every change and run, so it makes one small object and
 * nothing else; what a reader wants to know is put together when it asks.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as References from "effect/References"
import * as Cause from "effect/Cause"
import type * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import { excerpt } from "../../kube/printable.ts"
import * as Resource from "../../kube/Resource.ts"
import * as RunCause from "../../streams/reconcile/cause.ts"
import type { RunEvent } from "../../streams/reconcile/Reconcile.ts"
import { changedPaths } from "../../streams/store/changedPaths.ts"
import { CurrentRun } from "../controller/currentRun.ts"
import type { Going, Timeline } from "../Timeline.ts"
import type { Request, Response } from "../Transport.ts"
import type { ChangeEntry, Outcome } from "./entries.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import type { Delta } from "../../streams/store/Store.ts"
import { Ring } from "./Ring.ts"
import * as View from "./view.ts"

/** A timeline in memory of at most `limit` bytes. */
export const make = (limit: number): Effect.Effect<Timeline> =>
  Effect.map(Clock.Clock, (clock) => {
    const ring = new Ring<View.Kept>(limit)
    const now = () => clock.currentTimeMillisUnsafe()
    const add = <A extends View.Kept>(entry: A): A => {
      ring.push(entry, sizeOf(entry))
      return entry
    }
    const timeline: Timeline = {
      change: (resource, delta) => {
        const marked: Delta<KubeObject> & Marked = delta
        if (marked[entryOf] !== undefined) return marked[entryOf]
        if (delta._tag === "Created" ? delta.initial : delta._tag === "Updated" && delta.previous === delta.object) {
          return undefined
        }
        const change = changes[delta._tag]
        const known = recorded(ring, Resource.qualifiedName(resource), change, delta.object)
        if (known !== undefined) return (marked[entryOf] = known)
        const { id } = add({
          type: "change",
          id: ring.next,
          at: now(),
          resource: Resource.qualifiedName(resource),
          kind: resource.kind,
          key: Key.of(delta.object),
          change,
          resourceVersion: delta.object.metadata.resourceVersion ?? "",
          paths: delta._tag === "Updated" ? changedPaths(delta.previous, delta.object) : []
        })
        marked[entryOf] = id
        return id
      },
      begin: (controller, resource, key, causes) =>
        add({
          type: "reconcile",
          id: ring.next,
          at: now(),
          controller,
          resource: resource === undefined ? undefined : Resource.qualifiedName(resource),
          key,
          causes: causesOf(causes),
          duration: null,
          outcome: "running",
          error: undefined,
          attempt: undefined,
          due: undefined
        }),
      end: (run, event) => {
        settle(run, event, now())
        if (run.error !== undefined) ring.grow(run.id, 2 * run.error.length)
      },
      write: (request, call) => (isRecorded(request) ? Effect.withFiber((fiber) => write(fiber, request, call)) : call),
      event: (object, type, reason, message) =>
        Effect.withFiber((fiber) => {
          const { apiVersion = "", kind = "" } = object
          add({
            ...makerOf(fiber),
            type: "event",
            id: ring.next,
            at: now(),
            kind: type,
            about: { group: apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "", kind },
            key: Key.of(object),
            reason,
            message: short(message)
          })
          return Effect.void
        }),
      of: (asked) => View.of(ring, asked),
      bytesUnsafe: () => ring.size
    }
    const write = (
      fiber: Fiber.Fiber<unknown, unknown>,
      { context, method }: Request,
      call: Effect.Effect<Response, ApiError.ApiError>
    ) => {
      const maker = makerOf(fiber)
      if (maker.controller === "") return call
      const began = now()
      const note = (status: number | null, error: string | undefined, name: string | undefined) => {
        const [resource = "", ...subresource] = (context.resource ?? "").split("/")
        const at = now()
        add({
          ...maker,
          type: "write",
          id: ring.next,
          at,
          verb: context.verb === "" ? method.toLowerCase() : context.verb,
          resource,
          key: Key.make(context.namespace, name ?? "*"),
          status,
          ...(subresource.length === 0 ? {} : { subresource: subresource.join("/") }),
          ...(error === undefined ? {} : { error }),
          duration: at - began
        })
      }
      return call.pipe(
        Effect.tap(({ body, status }) => Effect.sync(() => note(status, undefined, context.name ?? nameIn(body)))),
        Effect.tapError((error) => Effect.sync(() => note(error.status ?? null, short(error.message), context.name)))
      )
    }
    return timeline
  })

const causesOf = (causes: RunCause.Causes | undefined): Going["causes"] => {
  const kept = RunCause.list(causes).map((cause) => {
    if ("entry" in cause && cause.entry !== undefined) return cause.entry
    const text = RunCause.describe(cause)
    return cause._tag === "Retry" ? { retry: text } : text
  })
  return causes === undefined || causes.more === 0 ? kept : [...kept, `${causes.more} more`]
}

/** A change with the id of its entry, because each is distributed to several controllers. The mark ends with the change. */
interface Marked {
  [entryOf]?: number
}

const entryOf = Symbol("entry of the timeline")

const changes = { Created: "created", Updated: "modified", Deleted: "deleted" } as const

/** A kind that is watched whole and as metadata has two deltas for a change, soon after each other. So many entries are compared. */
const lookBack = 100

const recorded = (
  ring: Ring<View.Kept>,
  resource: string,
  change: ChangeEntry["change"],
  { metadata }: KubeObject
): number | undefined => {
  for (let id = ring.next - 1; id >= ring.next - lookBack; id--) {
    const entry = ring.get(id)
    if (entry === undefined) return undefined
    if (entry.type !== "change" || entry.resourceVersion !== metadata.resourceVersion || entry.change !== change)
      continue
    if (entry.resource === resource && entry.key === Key.make(metadata.namespace, metadata.name)) return id
  }
  return undefined
}

/** Reads are many and change nothing; events have entries of their own, and leases belong to no object. */
const isRecorded = ({ context, method }: Request): boolean =>
  method !== "GET" &&
  context.resource !== undefined &&
  context.resource !== "events" &&
  context.resource !== "events.events.k8s.io" &&
  context.resource !== "leases.coordination.k8s.io" &&
  !context.resource.includes("subjectaccessreviews")

/** The controller that a fiber works for, by the annotation of its log lines, and its run. */
const makerOf = (fiber: Fiber.Fiber<unknown, unknown>) => {
  const controller = fiber.getRef(References.CurrentLogAnnotations)["controller"]
  const run = fiber.getRef(CurrentRun)?.entry
  return { controller: typeof controller === "string" ? controller : "", causes: run === undefined ? [] : [run.id] }
}

const nameIn = (body: unknown): string | undefined => {
  const metadata = (body as { readonly metadata?: { readonly name?: unknown } } | null)?.metadata
  return typeof metadata?.name === "string" ? metadata.name : undefined
}

const settle = (run: Going, event: RunEvent<string, unknown>, now: number): void => {
  if (event._tag === "Started") return
  run.duration = event.elapsed
  run.outcome = outcomes[event._tag]
  switch (event._tag) {
    case "Done":
    case "Stopped":
      return
    case "After":
      run.due = now + event.delay
      return
    case "Terminal":
      run.error = messageOf(event.error)
      return
    case "GaveUp":
      run.error = messageOf(Cause.squash(event.cause))
      run.attempt = event.attempt
      return
    case "Failed":
      run.error = messageOf(event.error)
      break
    case "Defect":
      run.error = messageOf(event.defect)
      break
    case "Timeout":
      run.error = `it took longer than ${event.limit} ms`
      break
    case "Interrupted":
      break
  }
  run.attempt = event.attempt
  run.due = event.delay === undefined ? undefined : now + event.delay
}

const outcomes: Readonly<Record<Exclude<RunEvent<string, unknown>["_tag"], "Started">, Outcome>> = {
  Done: "done",
  After: "requeue",
  Failed: "error",
  Terminal: "terminal error",
  Defect: "defect",
  Timeout: "timeout",
  GaveUp: "gave up",
  Interrupted: "interrupted",
  Stopped: "interrupted"
}

const messageOf = (error: unknown): string => short(error instanceof Error ? error.message : String(error))

/** The most characters of a message. */
const longest = 1000

const short = (text: string): string => excerpt(text, longest)

/** Bytes of an entry: its object, its arrays and its texts, with two bytes a character. The error of a run is counted when it comes. */
const sizeOf = (entry: View.Kept): number => {
  switch (entry.type) {
    case "change":
      return 190 + 2 * entry.key.length + entry.paths.reduce((sum, path) => sum + 24 + 2 * path.length, 0)
    case "reconcile":
      return (
        430 +
        2 * entry.key.length +
        entry.causes.reduce<number>((sum, cause) => {
          if (typeof cause === "number") return sum + 8
          return sum + (typeof cause === "string" ? 24 + 2 * cause.length : 48 + 2 * cause.retry.length)
        }, 0)
      )
    case "write":
      return 300 + 2 * (entry.key.length + (entry.error?.length ?? 0))
    case "event":
      return 240 + 2 * (entry.key.length + entry.message.length + entry.reason.length)
  }
}

/**
 * Records the entries of a timeline. Every function but `of` is called on the path of every change and run, so it makes one small object and
 * nothing else, always with the same fields; what a reader wants to know is put together when it asks.
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
    const latest = new Latest()
    /** A change is distributed to several controllers, one after the other. */
    const last: { delta: Delta<KubeObject> | undefined; id: number } = { delta: undefined, id: 0 }
    /** One text for all entries of a kind. */
    const names = new Map<Resource.Any, string>()
    const nameOf = (resource: Resource.Any): string => {
      const known = names.get(resource)
      if (known !== undefined) return known
      const name = Resource.qualifiedName(resource)
      names.set(resource, name)
      return name
    }
    const timeline: Timeline = {
      change: (resource, delta) => {
        if (delta === last.delta) return last.id
        if (delta._tag === "Created" ? delta.initial : delta._tag === "Updated" && delta.previous === delta.object) {
          return undefined
        }
        const change = changes[delta._tag]
        const name = nameOf(resource)
        const known = latest.find(name, change, delta.object)
        if (known !== undefined) return known
        const id = ring.next
        const key = Key.of(delta.object)
        const paths = delta._tag === "Updated" ? changedPaths(delta.previous, delta.object) : none
        const entry: ChangeEntry = {
          type: "change",
          id,
          at: now(),
          resource: name,
          kind: resource.kind,
          key,
          change,
          resourceVersion: delta.object.metadata.resourceVersion ?? "",
          paths
        }
        ring.push(entry, 190 + 2 * key.length + sizeOf(paths))
        latest.add(entry)
        last.delta = delta
        last.id = id
        return id
      },
      begin: (controller, resource, key, causes) => {
        const kept = causesOf(causes)
        const run: Going = {
          type: "reconcile",
          id: ring.next,
          at: now(),
          controller,
          resource: resource === undefined ? undefined : nameOf(resource),
          key,
          causes: kept,
          duration: null,
          outcome: "running",
          error: undefined,
          attempt: undefined,
          due: undefined
        }
        ring.push(run, 430 + 2 * key.length + sizeOf(kept))
        return run
      },
      end: (run, event) => {
        settle(run, event, now())
        if (run.error !== undefined) ring.grow(run.id, 2 * run.error.length)
      },
      write: (request, call) => (isRecorded(request) ? Effect.withFiber((fiber) => write(fiber, request, call)) : call),
      event: (fiber, object, type, reason, message) => {
        const key = Key.of(object)
        const text = message.length <= longest ? message : short(message)
        const entry: View.Kept = {
          type: "event",
          id: ring.next,
          at: now(),
          controller: controllerOf(fiber),
          run: runOf(fiber),
          kind: type,
          apiVersion: object.apiVersion ?? "",
          objectKind: object.kind ?? "",
          key,
          reason,
          message: text
        }
        ring.push(entry, 240 + 2 * (key.length + text.length + reason.length))
      },
      of: (asked) => View.of(ring, asked),
      bytesUnsafe: () => ring.size
    }
    const write = (
      fiber: Fiber.Fiber<unknown, unknown>,
      { context, method }: Request,
      call: Effect.Effect<Response, ApiError.ApiError>
    ) => {
      const controller = controllerOf(fiber)
      if (controller === "") return call
      const run = runOf(fiber)
      const began = now()
      const note = (status: number | null, error: string | undefined, name: string | undefined) => {
        const at = now()
        const key = Key.make(context.namespace, name ?? "*")
        const entry: View.Kept = {
          type: "write",
          id: ring.next,
          at,
          controller,
          run,
          verb: context.verb === "" ? method.toLowerCase() : context.verb,
          path: context.resource ?? "",
          key,
          status,
          error,
          duration: at - began
        }
        ring.push(entry, 300 + 2 * (key.length + (error?.length ?? 0)))
      }
      return call.pipe(
        // Cheaper than `tap`, and each write of each controller comes by here.
        Effect.map((response) => {
          note(response.status, undefined, context.name ?? nameIn(response.body))
          return response
        }),
        Effect.tapError((error) => Effect.sync(() => note(error.status ?? null, short(error.message), context.name)))
      )
    }
    return timeline
  })

const causesOf = (causes: RunCause.Causes | undefined): Going["causes"] => {
  if (causes === undefined) return none
  const kept = [causeOf(causes.first)]
  if (causes.others !== undefined) for (const other of causes.others) kept.push(causeOf(other))
  if (causes.more > 0) kept.push(`${causes.more} more`)
  return kept
}

const causeOf = (cause: RunCause.Cause): Going["causes"][number] => {
  if ("entry" in cause && cause.entry !== undefined) return cause.entry
  const text = RunCause.describe(cause)
  return cause._tag === "Retry" ? { retry: text } : text
}

const none: ReadonlyArray<never> = []

const changes = { Created: "created", Updated: "modified", Deleted: "deleted" } as const

/**
 * The latest changes by their resource versions: a kind that is watched whole and as metadata has two deltas for a change, soon after each other. Two
 * objects with the same version, of different servers, only lose this.
 */
class Latest {
  private readonly byVersion = new Map<string, ChangeEntry>()

  add(entry: ChangeEntry): void {
    this.byVersion.set(entry.resourceVersion, entry)
    if (this.byVersion.size <= mostLatest) return
    for (const oldest of this.byVersion.keys()) {
      this.byVersion.delete(oldest)
      return
    }
  }

  find(resource: string, change: ChangeEntry["change"], { metadata }: KubeObject): number | undefined {
    const found = this.byVersion.get(metadata.resourceVersion ?? "")
    const isSame =
      found?.change === change &&
      found.resource === resource &&
      found.key === Key.make(metadata.namespace, metadata.name)
    return isSame ? found.id : undefined
  }
}

const mostLatest = 100

/** Reads are many and change nothing; events have entries of their own, and leases belong to no object. */
const isRecorded = ({ context, method }: Request): boolean =>
  method !== "GET" && context.resource !== undefined && !unrecorded.has(context.resource)

const unrecorded: ReadonlySet<string> = new Set([
  "events",
  "events.events.k8s.io",
  "leases.coordination.k8s.io",
  "subjectaccessreviews.authorization.k8s.io",
  "localsubjectaccessreviews.authorization.k8s.io",
  "selfsubjectaccessreviews.authorization.k8s.io"
])

/** The controller that a fiber works for, by the annotation of its log lines; empty if it works for none. */
const controllerOf = (fiber: Fiber.Fiber<unknown, unknown>): string => {
  const controller = fiber.getRef(References.CurrentLogAnnotations)["controller"]
  return typeof controller === "string" ? controller : ""
}

const runOf = (fiber: Fiber.Fiber<unknown, unknown>): number | undefined => fiber.getRef(CurrentRun)?.entry?.id

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

/** Bytes of an array with what it has. Two for each character; an entry is its object and its texts besides. */
const sizeOf = (kept: Going["causes"]): number => {
  let size = 0
  for (const one of kept) {
    if (typeof one === "number") size += 8
    else size += typeof one === "string" ? 24 + 2 * one.length : 48 + 2 * one.retry.length
  }
  return size
}

/**
 * `/debug/controllers`: the state of each controller and, for one controller, the keys of its workers and queues. Pure: rendered from snapshots of
 * the loops, the manager's states and the informers, which are taken at the request.
 */
import * as Cause from "effect/Cause"
import type { InformerStatus } from "../../layers/Cache.ts"
import type { Failure, LoopSnapshot } from "../../streams/reconcile/loopSnapshot.ts"
import * as Resource from "../../kube/Resource.ts"
import type { State } from "../runnables/states.ts"
import { instant, oneLine, seconds } from "./page.ts"

/** The most keys that a page shows of each queue. */
export const limit = 20

/** What is known of a controller that was chosen. */
export interface Controller {
  readonly name: string
  readonly reads: ReadonlyArray<Resource.Any>
  /** The kind whose objects it reconciles, if there is one. */
  readonly for?: Resource.Any | undefined
  readonly needsLeader: boolean
  /** No other controller of its group starts before it is ready. */
  readonly startFirst?: boolean | undefined
  /** Pages of its own. */
  readonly debug?: Readonly<Record<string, string>> | undefined
}

/** The controllers of a program. */
export interface Selected {
  /** The selected controllers, in the order of the registry. */
  readonly controllers: ReadonlyArray<Controller>
  /** The names of the controllers that were not selected. */
  readonly disabled: ReadonlyArray<string>
}

/** All that a page shows of a controller. */
export interface Seen {
  readonly controller: Controller
  readonly snapshot: LoopSnapshot
  /** Its state in the manager; undefined before the manager starts. */
  readonly state: State | undefined
  /** The lease of its group while this process does not hold it; undefined when it leads or need not. */
  readonly awaited: { readonly lease: string; readonly leader: string | undefined } | undefined
  /** The controller that starts before it; undefined if it is the first of its group. */
  readonly after: string | undefined
  readonly informers: ReadonlyArray<InformerStatus>
}

interface Standing {
  readonly state: "started" | "waiting" | "skipped" | "failed"
  /** What it waits for, or why it does not run. */
  readonly reason?: string
}

export const standing = ({ after, awaited, controller, informers, snapshot, state }: Seen): Standing => {
  switch (state?._tag) {
    case "Failed":
      return { state: "failed", reason: oneLine(state.message) }
    case "Skipped":
      return { state: "skipped", reason: `the server does not serve ${state.missing.join(", ")}` }
    case "Waiting":
      return { state: "waiting", reason: `for the server to serve ${state.missing.join(", ")}` }
    case "Stopping":
      return { state: "started", reason: "its runs are let finish" }
    case "Started":
    case "Standby":
    case undefined:
      break
  }
  if (snapshot.isRunning) return { state: "started" }
  if (awaited !== undefined) {
    const holder = awaited.leader ?? ""
    return {
      state: "waiting",
      reason: `for lease ${awaited.lease}, held by ${holder === "" ? "nobody" : oneLine(holder)}`
    }
  }
  const unsynced = controller.reads
    .map(Resource.qualifiedName)
    .filter((name) => informers.some((one) => one.resource === name && !one.synced))
  if (unsynced.length > 0) return { state: "waiting", reason: `for the first sync of ${unsynced.join(", ")}` }
  if (state?._tag === "Started") return { state: "waiting", reason: "for its workers to begin" }
  return { state: "waiting", reason: `for its turn to start${after === undefined ? "" : `, after ${after}`}` }
}

/** The numbers of keys in all queues of a controller. */
export const queueOf = ({ queues }: LoopSnapshot) => {
  const sum = (of: (queue: LoopSnapshot["queues"][number]) => number) =>
    queues.reduce((total, queue) => total + of(queue), 0)
  return {
    ready: sum(({ ready }) => ready),
    delayed: sum(({ waiting }) => waiting),
    processing: sum(({ processing }) => processing),
    failing: sum(({ failing }) => failing)
  }
}

/** One row for each. */
export const row = (seen: Seen) => ({
  name: seen.controller.name,
  ...standing(seen),
  workers: seen.snapshot.workers,
  active: seen.snapshot.active,
  queue: queueOf(seen.snapshot),
  lastError: errorOf(seen.snapshot)
})

/** One controller, with the first keys of its queues. */
export const detail = (seen: Seen) => ({
  ...row(seen),
  needsLeader: seen.controller.needsLeader,
  reads: seen.controller.reads.map(Resource.qualifiedName),
  running: seen.snapshot.running.map(({ key, millis }) => ({ key, seconds: seconds(millis) })),
  queues: seen.snapshot.queues.map((queue) => ({
    name: queue.name,
    ready: queue.ready,
    delayed: queue.waiting,
    processing: queue.processing,
    failing: queue.failing,
    next: queue.next.map(({ key, priority, readyFor }) => ({ key, priority, readySeconds: seconds(readyFor) })),
    nextDelayed: queue.delayed.map(({ dueIn, failures, key }) => ({ key, dueInSeconds: seconds(dueIn), failures }))
  })),
  pages: Object.entries(seen.controller.debug ?? {}).map(([page, says]) => ({
    path: `/debug/controllers/${seen.controller.name}/${page}`,
    says
  }))
})

/** A controller that is off has no other fields. */
export const disabled = (name: string) => ({ name, state: "disabled" })

const words = { error: "error", terminal: "terminal error", panics: "defect", timeouts: "timeout" } as const

const errorOf = ({ failure }: LoopSnapshot) => {
  if (failure === undefined) return null
  const { at, key, why } = failure
  return { message: messageOf(failure), kind: words[why], ...(key === undefined ? {} : { key }), at: instant(at) }
}

/** Why a run failed, on one line and truncated. */
export const messageOf = ({ cause, why }: Failure): string => {
  if (why === "timeouts") return "it took longer than it may and was interrupted"
  const error = Cause.squash(cause)
  return oneLine(error instanceof Error ? error.message : String(error))
}

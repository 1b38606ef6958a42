/** Jobs, pods and snapshots for the tests of the Job's plan. */
import * as Backoff from "../../../../src/controllers/job/plan/backoff.ts"
import * as Snapshot from "../../../../src/controllers/job/snapshot.ts"
import type { Job, Pod } from "../../../../src/kube/resources.ts"
import * as Harness from "../harness.ts"

/** The time of every snapshot, unless a test sets another. */
export const now = 100_000

export const job = (
  spec: Partial<NonNullable<Job["spec"]>>,
  status: Job["status"] = {},
  metadata: object = {}
): Job => ({
  metadata: { name: "work", namespace: "default", uid: "job", ...metadata },
  spec: { template: {}, ...spec },
  status
})

/** A pod with the tracking finalizer, named after its uid. */
export const pod = (uid: string, phase: string, index?: number, metadata: object = {}): Pod => ({
  metadata: {
    name: uid,
    namespace: "default",
    uid,
    finalizers: [Harness.finalizer],
    ...(index === undefined ? {} : { annotations: { [Harness.indexKey]: `${index}` } }),
    ...metadata
  },
  status: { phase, conditions: [{ type: "Ready", status: phase === "Running" ? "True" : "False" }] }
})

/** The snapshot of a Job and its pods in the first sync of a term, with an up-to-date cache. */
export const take = (of: Job, pods: ReadonlyArray<Pod>, more: Partial<Snapshot.Gathered> = {}): Snapshot.Snapshot =>
  Snapshot.take({ job: of, pods, released: new Set(), record: Backoff.none, isSettled: true, now, ...more })

/** What an arbitrary draws for the indexes of a Job. */
interface Indexing {
  readonly mode: "NonIndexed" | "Indexed" | "perIndex"
  readonly completions: number | undefined
}

export const isIndexed = ({ mode }: Indexing): boolean => mode !== "NonIndexed"

/** The completions of the Job; an indexed Job must have some. */
export const completionsOf = (indexing: Indexing): number | undefined =>
  indexing.completions ?? (isIndexed(indexing) ? 3 : undefined)

/** job: pods succeed and fail, parallelism changes, a Job is suspended, and one comes again under the same name. */
import * as Effect from "effect/Effect"
import * as Jobs from "../../../src/controllers/Job.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import { Job, Pod } from "../../../src/kube/resources.ts"
import { neverMoreThan } from "../../../src/testing/explore/invariants.ts"
import { ends, kubelet } from "./kubelet.ts"
import { isActive, podSpec, web } from "./manifests.ts"
import { apart, stale } from "./stale.ts"

const job = (spec: object, end?: string) => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: web,
  spec: {
    template: {
      metadata: { annotations: end === undefined ? {} : { [ends]: end } },
      spec: { ...podSpec(), restartPolicy: "Never" }
    },
    ...spec
  }
})

export const [jobCompletes, jobCompletesStale] = apart(
  "job-completes",
  {
    controllers: [Jobs.make()],
    environment: [kubelet],
    invariants: [neverMoreThan(2, Pod, isActive)],
    scenario: (cluster) =>
      Effect.gen(function* () {
        yield* cluster.apply([job({ completions: 3, parallelism: 2, completionMode: "Indexed" }, "Succeeded")])
        yield* cluster.advance("1 minute")
        yield* cluster.delete(Job, web, { propagationPolicy: "Background" })
        yield* cluster.apply([job({ completions: 1 }, "Succeeded")])
      })
  },
  stale,
  // With an old cache there may be two pods for an index, and both of them end before the cache has the first one.
  { comparable: (object) => (object.kind === "Pod" ? undefined : object) }
)

/**
 * A pod that is to be deleted loses its finalizer first. After a crash in between it is one of the active pods, and may be the one that stays.
 * Source: pkg/controller/job: deleteJobPods.
 */
const withoutFinalizers = (object: KubeObject): KubeObject =>
  object.kind === "Pod" ? { ...object, metadata: { ...object.metadata, finalizers: [] } } : object

export const [jobChanges, jobChangesStale] = apart("job-changes", {
  controllers: [Jobs.make()],
  comparable: withoutFinalizers,
  environment: [kubelet],
  invariants: [neverMoreThan(2, Pod, isActive)],
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([job({ completions: 3, parallelism: 2 })])
      yield* cluster.advance("40 seconds")
      yield* cluster.edit(Job, web, { spec: { parallelism: 1 } })
      yield* cluster.advance("40 seconds")
      yield* cluster.edit(Job, web, { spec: { suspend: true } })
      yield* cluster.advance("40 seconds")
      yield* cluster.edit(Job, web, { spec: { suspend: false } })
    })
})

export const [jobFails, jobFailsStale] = apart("job-fails", {
  controllers: [Jobs.make()],
  environment: [kubelet],
  without: {
    // Source: pkg/controller/job: getRemainingTimeForFailuresCount.
    "jump-back": "the time since the last failure is counted by the wall clock, so the next pod is an hour late"
  },
  invariants: [neverMoreThan(1, Pod, isActive)],
  scenario: (cluster) => cluster.apply([job({ backoffLimit: 1 }, "Failed")])
})

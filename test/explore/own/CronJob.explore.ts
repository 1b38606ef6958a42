/** cronjob: Jobs of each minute, of which one is kept, until the schedule is suspended. */
import * as Effect from "effect/Effect"
import * as CronJobs from "../../../src/controllers/CronJob.ts"
import * as Jobs from "../../../src/controllers/Job.ts"
import * as Zone from "../../../src/kube/cron/Zone.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import { CronJob, Job } from "../../../src/kube/resources.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { neverMoreThan } from "../../../src/testing/explore/invariants.ts"
import { ends, kubelet } from "./kubelet.ts"
import { podSpec, web } from "./manifests.ts"

const cronJob = (concurrencyPolicy: string, end?: string, schedule = "* * * * *") => ({
  apiVersion: "batch/v1",
  kind: "CronJob",
  metadata: web,
  spec: {
    schedule,
    concurrencyPolicy,
    successfulJobsHistoryLimit: 1,
    jobTemplate: {
      spec: {
        template: {
          metadata: { annotations: end === undefined ? {} : { [ends]: end } },
          spec: { ...podSpec(), restartPolicy: "Never" }
        }
      }
    }
  }
})

const without = {
  "jump-ahead": "the name of a Job is its scheduled time, so it follows the clock",
  "jump-back": "the name of a Job is its scheduled time, so it follows the clock"
}

/** A reference to a Job has the version that the Job had. Source: pkg/controller/cronjob: getRef. */
const comparable = (object: KubeObject): KubeObject => {
  const { status } = object as { readonly status?: { readonly active?: ReadonlyArray<object> } }
  if (object.kind !== "CronJob" || status?.active === undefined) return object
  const active = status.active.map((one) => ({ ...one, resourceVersion: undefined }))
  return { ...object, status: { ...status, active } } as KubeObject
}

export const cronJobAllows = explore("cronjob", {
  controllers: [CronJobs.make({ zone: Zone.utc })],
  environment: [Jobs.make(), kubelet],
  without,
  comparable,
  invariants: [neverMoreThan(3, Job)],
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([cronJob("Allow", "Succeeded")])
      // More than 30 seconds before the next time, so that it is seen before.
      yield* cluster.advance("140 seconds")
      yield* cluster.edit(CronJob, web, { spec: { suspend: true } })
      yield* cluster.advance("90 seconds")
      yield* cluster.delete(CronJob, web)
      // Jobs of one that is gone count for the next one of its name. Source: pkg/controller/cronjob: getJobsToBeReconciled.
      yield* cluster.advance("40 seconds")
      yield* cluster.apply([{ ...cronJob("Allow"), spec: { ...cronJob("Allow").spec, suspend: true } }])
    })
})

export const cronJobReplaces = explore("cronjob-replaces", {
  controllers: [CronJobs.make({ zone: Zone.utc })],
  environment: [Jobs.make(), kubelet],
  without,
  comparable,
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([cronJob("Replace", undefined, "*/2 * * * *")])
      yield* cluster.advance("280 seconds")
      yield* cluster.edit(CronJob, web, { spec: { suspend: true } })
    })
})

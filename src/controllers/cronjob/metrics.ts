/** What the CronJob loop counts, under the name that dashboards of kube-controller-manager know. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Job } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"

const skew = Metric.histogram("cronjob_controller_job_creation_skew_duration_seconds", {
  description: "How long after its time a run of a CronJob was made",
  boundaries: Array.from({ length: 10 }, (_, i) => 2 ** i)
})

/** A run was made for that time. */
export const started = ({ metadata }: Job, time: number): Effect.Effect<void> => {
  const made = Time.parse(metadata.creationTimestamp)
  return made === undefined ? Effect.void : Metric.update(skew, (made - time) / 1000)
}

/** What the CronJob loop counts, under the name that dashboards of kube-controller-manager know. */
import * as Effect from "effect/Effect"
import type { Job } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import * as Family from "../../streams/reconcile/metricFamily.ts"

const skew = Family.histogram(
  "cronjob_controller_job_creation_skew_duration_seconds",
  "How long after its time a run of a CronJob was made",
  Family.exponential(1, 2, 10)
)

export const families = [skew]

/** A run was made for that time. */
export const started = ({ metadata }: Job, time: number): Effect.Effect<void> => {
  const made = Time.parse(metadata.creationTimestamp)
  return made === undefined ? Effect.void : skew.observe((made - time) / 1000)
}

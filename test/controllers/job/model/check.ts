/** Runs a script on the model, then lets all pods finish; returns the first violation as text. */
import * as Effect from "effect/Effect"
import * as PodFacts from "../../../../src/kube/pod.ts"
import type { Pod } from "../../../../src/kube/resources.ts"
import * as ModelServer from "../../shared/workload/modelServer.ts"
import type { Action, Setup } from "./script.ts"
import { JobModel } from "./JobModel.ts"

export interface Script {
  readonly setup: Setup
  readonly actions: ReadonlyArray<Action>
}

const beginning: ReadonlyArray<Action> = [
  { _tag: "Sync", meanwhile: 2 },
  { _tag: "ShowPods", events: 3 },
  { _tag: "ShowJob" }
]

export const check = ({ actions, setup }: Script): Effect.Effect<string | undefined> =>
  Effect.suspend(() =>
    ModelServer.check(new JobModel(setup), [...beginning, ...actions], (model, action) => model.act(action), converge)
  )

/** Without faults, and with pods that succeed as soon as they are created, the Job has to end within forty syncs. */
const converge = Effect.fnUntraced(function* (model: JobModel) {
  for (const verb of ModelServer.verbs) model.refusing[verb] = 0
  yield* model.act({ _tag: "Suspend", suspend: false, shown: true })
  yield* model.act({ _tag: "Parallelism", parallelism: 3, shown: true })
  for (let round = 0; round < 40; round++) {
    model.stop()
    for (const pod of model.pods.all()) if (PodFacts.isActive(pod)) model.finish(pod, "Succeeded")
    yield* model.pass(700_000)
    model.showAll()
    model.wrote = false
    yield* model.sync
    if (model.firstViolation !== undefined) return model.firstViolation
    if (!model.wrote && isFinished(model)) return finalViolation(model)
  }
  return `the Job has not ended after forty syncs: ${JSON.stringify(model.job.status)}`
})

const isFinished = ({ job }: JobModel): boolean =>
  job.status?.conditions?.some(({ type }) => type === "Complete" || type === "Failed") === true

const finalViolation = ({ job, ledger, pods }: JobModel): string | undefined => {
  const { completions = 0 } = job.spec ?? {}
  const { conditions = [], succeeded = 0 } = job.status ?? {}
  const tracked = pods.all().filter(({ metadata }) => metadata.finalizers !== undefined)
  if (tracked.length > 0) return `ends with the finalizer on ${namesOf(tracked)}`
  const isComplete = conditions.some(({ type }) => type === "Complete")
  if (isComplete && succeeded < completions) return `complete with ${succeeded} of ${completions}`
  const uncounted = pods
    .all()
    .filter((pod) => !isCounted(ledger.counted(), job, pod) && !ledger.surplus().has(pod.metadata.uid ?? ""))
  return uncounted.length === 0 || isComplete ? undefined : `${namesOf(uncounted)} ended and was not counted`
}

const namesOf = (pods: ReadonlyArray<Pod>): string => pods.map(({ metadata }) => metadata.name).join(", ")

/** A pod counts by its uid, or by its index if that has succeeded or failed. */
const isCounted = (
  counted: ReadonlySet<string>,
  { spec, status }: JobModel["job"],
  { metadata, status: ended }: Pod
): boolean =>
  counted.has(metadata.uid ?? "") ||
  (spec?.completionMode === "Indexed" &&
    ended?.phase === "Succeeded" &&
    (status?.completedIndexes ?? status?.failedIndexes) !== undefined)

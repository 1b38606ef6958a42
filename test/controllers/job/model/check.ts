/** Runs a script on the model, then lets all pods finish; returns the first violation as text. */
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as PodFacts from "../../../../src/kube/pod.ts"
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

export const check = Effect.fnUntraced(function* ({ actions, setup }: Script) {
  const model = new JobModel(setup)
  yield* TestClock.setTime(model.now)
  const act = (action: Action) =>
    action._tag === "Wait"
      ? Effect.andThen(
          model.act(action),
          Effect.suspend(() => TestClock.setTime(model.now))
        )
      : model.act(action)
  for (const action of [...beginning, ...actions]) {
    yield* act(action)
    if (model.ledger.wrong() !== undefined) return model.ledger.wrong()
  }
  return yield* end(model)
})

/** Everybody is well again, and pods succeed as soon as they are made. */
const end = Effect.fnUntraced(function* (model: JobModel) {
  for (const verb of ["create", "delete", "patch", "update"] as const) model.refusing[verb] = 0
  yield* model.act({ _tag: "Suspend", suspend: false, shown: true })
  yield* model.act({ _tag: "Parallelism", parallelism: 3, shown: true })
  for (let round = 0; round < 40; round++) {
    model.stop()
    for (const pod of model.pods.values()) if (PodFacts.isActive(pod)) model.finish(pod, "Succeeded")
    model.now += 700_000
    yield* TestClock.setTime(model.now)
    model.showAll()
    model.wrote = false
    yield* model.sync
    if (model.ledger.wrong() !== undefined) return model.ledger.wrong()
    if (!model.wrote && isOver(model)) return rest(model)
  }
  return `no end after forty syncs: ${JSON.stringify(model.job.status)}`
})

const isOver = ({ job }: JobModel): boolean =>
  job.status?.conditions?.some(({ type }) => type === "Complete" || type === "Failed") === true

const rest = ({ job, ledger, pods }: JobModel): string | undefined => {
  const { completions = 0 } = job.spec ?? {}
  const { conditions = [], succeeded = 0 } = job.status ?? {}
  const held = [...pods.values()].filter(({ metadata }) => metadata.finalizers !== undefined)
  if (held.length > 0) return `rests with ${held.map(({ metadata }) => metadata.name).join(", ")} held`
  const isComplete = conditions.some(({ type }) => type === "Complete")
  if (isComplete && succeeded < completions) return `complete with ${succeeded} of ${completions}`
  const forgotten = [...pods.values()].filter(
    (pod) => !isCounted(ledger.counted(), job, pod) && !ledger.recalled().has(pod.metadata.uid ?? "")
  )
  return forgotten.length === 0 || isComplete
    ? undefined
    : `${forgotten.map(({ metadata }) => metadata.name).join(", ")} ended and nobody counted`
}

/** By its uid, or its index is complete or given up. */
const isCounted = (
  counted: ReadonlySet<string>,
  { spec, status }: JobModel["job"],
  { metadata, status: ended }: Parameters<typeof PodFacts.isActive>[0]
): boolean =>
  counted.has(metadata.uid ?? "") ||
  (spec?.completionMode === "Indexed" &&
    ended?.phase === "Succeeded" &&
    (status?.completedIndexes ?? status?.failedIndexes) !== undefined)

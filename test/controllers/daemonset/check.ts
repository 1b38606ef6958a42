/** Runs a script on the model, then lets it settle; returns the first violation. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Pods from "../../../src/controllers/daemonset/pods.ts"
import * as PodFacts from "../../../src/kube/pod.ts"
import type { Pod } from "../../../src/kube/resources.ts"
import * as ModelServer from "../shared/workload/modelServer.ts"
import { Model } from "./model.ts"
import * as Oracle from "./oracle.ts"

const few = Schema.Literals([0, 1, 2, 3])

export const Action = Schema.Union([
  ModelServer.Sync,
  /** A sync after all events were delivered. */
  Schema.TaggedStruct("SyncShown", {}),
  /** Pods are bound and become ready; terminating ones are removed. */
  Schema.TaggedStruct("Live", {}),
  Schema.TaggedStruct("Fail", { pod: few, how: Schema.Literals(["Failed", "Failed", "Succeeded"]) }),
  /** The first pod fails, and its replacement too. */
  Schema.TaggedStruct("FailTwice", {}),
  /** A new template while all pods are ready and the caches are current. */
  Schema.TaggedStruct("Update", { image: Schema.Literals(["v1", "v2", "v3"]) }),
  /** A user deletes a pod. */
  Schema.TaggedStruct("Delete", { pod: few }),
  Schema.TaggedStruct("Node", { node: few, facts: Oracle.Facts }),
  Schema.TaggedStruct("NodeGone", { node: few }),
  Schema.TaggedStruct("Template", { image: Schema.Literals(["v1", "v2", "v3", Oracle.bad]), picky: Schema.Boolean }),
  ModelServer.ShowPods,
  Schema.TaggedStruct("ShowNodes", {}),
  Schema.TaggedStruct("ShowSet", {}),
  ModelServer.Refuse,
  ModelServer.Crash,
  ModelServer.Lose,
  Schema.TaggedStruct("Wait", { seconds: Schema.Literals([1, 11, 2000]) })
])

export type Action = typeof Action.Type

export const Script = Schema.Struct({ setup: Oracle.Setup, actions: Schema.Array(Action) })

export const check = ({ actions, setup }: typeof Script.Type): Effect.Effect<string | undefined> =>
  Effect.suspend(() => ModelServer.check(new Model(setup), actions, act, end))

const act = Effect.fnUntraced(function* (model: Model, action: Action) {
  switch (action._tag) {
    case "Sync":
    case "Crash":
    case "Lose":
      return yield* model.run(action)
    case "SyncShown":
      model.showAll()
      return yield* model.sync
    case "FailTwice":
      for (let i = 0; i < 2; i++) {
        model.live()
        happen(model, { _tag: "Fail", pod: 0, how: "Failed" })
        for (let j = 0; j < 2; j++) {
          model.showAll()
          yield* model.sync
        }
      }
      return
    case "Update":
      model.live()
      happen(model, { _tag: "Template", image: action.image, picky: false })
      for (let j = 0; j < 3; j++) {
        model.showAll()
        yield* model.sync
      }
      return
    case "Wait":
      // Expectations expire after minutes; by then a cache has received all events.
      if (action.seconds > 60) model.showAll()
      return yield* model.pass(action.seconds * 1000)
    default:
      return happen(model, action)
  }
})

type Happening = Exclude<
  Action,
  { readonly _tag: "Sync" | "SyncShown" | "FailTwice" | "Update" | "Crash" | "Lose" | "Wait" }
>

const happen = (model: Model, action: Happening): void => {
  switch (action._tag) {
    case "Live":
      return model.live()
    case "Fail": {
      const pod = model.pods.all().filter(PodFacts.isActive)[action.pod]
      return void (pod && Pods.isBound(pod) && model.pods.put({ ...pod, status: { phase: action.how } }))
    }
    case "Delete": {
      const pod = model.pods.all()[action.pod]
      return void (pod && model.leave(pod))
    }
    case "Node":
      return void model.nodes.put(Oracle.nodeOf(`n${action.node}`, action.facts))
    case "NodeGone": {
      const node = model.nodes.get(`n${action.node}`)
      return void (node && model.nodes.remove(node))
    }
    case "Template":
      return specify(model, Oracle.templateOf(action.image, action.picky))
    case "ShowPods":
      return model.showPods(action.events)
    case "ShowNodes":
      return model.showNodes()
    case "ShowSet":
      return model.showSet()
    case "Refuse":
      model.refusing[action.verb] = action.times
  }
}

const specify = ({ set, sets }: Model, template: object): void => {
  const metadata = { ...set.metadata, generation: (set.metadata.generation ?? 0) + 1 }
  sets.put({ ...set, metadata, spec: { ...set.spec, template } as never })
}

/** Without faults and with all events delivered. Syncs run only when the controller enqueues the key. */
const end = (model: Model): Effect.Effect<string | undefined> => {
  if (Oracle.image(model.set.spec?.template ?? {}) === Oracle.bad) specify(model, Oracle.templateOf("v4", false))
  const live = () => {
    model.live()
    model.showAll()
  }
  return ModelServer.converge(model, 200, longest, live, rest)
}

/**
 * A pod that was created before its node was tainted stays pending there and counts as unavailable, so the update
 * waits, as upstream does.
 */
const isHeldUp = ({ nodes, set, pods }: Model): boolean =>
  pods.all().some((pod) => {
    const node = nodes.get(Pods.target(pod) ?? "")
    return PodFacts.isActive(pod) && !PodFacts.isReady(pod) && node !== undefined && !Oracle.shouldRun(set, node)
  })

/** With a surge the old pod stays available beside the new one that is pending. */
const isHeldUpPair = (model: Model, pods: ReadonlyArray<Pod>): boolean =>
  Oracle.surges(model.set) && isHeldUp(model) && pods.length === 2 && new Set(pods.map(Oracle.hash)).size === 2

/** Milliseconds: less than the lifetime of expectations, more than the backoff after a few failures. */
const longest = 270_000

const rest = Effect.fnUntraced(function* (model: Model) {
  const { revisions, set } = model
  const image = Oracle.image(set.spec?.template ?? {})
  const current = revisions
    .all()
    .find(({ data }) => JSON.stringify(data).includes(`"image":"${image}"`) && isPicky(data) === isPicky(set.spec))
  if (current === undefined) return "no revision has the current template"
  if (revisions.all().some(({ revision }) => revision > current.revision))
    return "the current revision has not the highest number"
  if (set.status?.collisionCount !== undefined) return "collisionCount without a collision"
  let desired = 0
  let misplaced = 0
  let updated = 0
  let available = 0
  for (const node of model.nodes.all()) {
    const { name } = node.metadata
    const there = model.living(name)
    if (there.length > 1 && !isHeldUpPair(model, there)) return `${there.length} pods on ${name}`
    const [pod] = there
    if (!Oracle.mayRun(set, node) && pod !== undefined) return `a pod on ${name}, which may not run it`
    if (!Oracle.shouldRun(set, node)) {
      if (pod !== undefined) misplaced++
      continue
    }
    desired++
    if (pod === undefined) return `no pod on ${name}`
    const isOld = Oracle.image(pod) !== image || Oracle.hash(pod) !== Oracle.hash(current)
    if (!isOld) updated++
    if (PodFacts.isReady(pod)) available++
    else if (!isOld) return `the new pod on ${name} is not ready`
    if (isOld && !isHeldUp(model) && set.spec?.updateStrategy?.type !== "OnDelete") return `an old pod on ${name}`
  }
  const { status = { desiredNumberScheduled: -1, numberMisscheduled: -1 } as DaemonSetStatus } = set
  const { desiredNumberScheduled, numberAvailable = 0, numberMisscheduled, updatedNumberScheduled = 0 } = status
  const reported = [desiredNumberScheduled, numberAvailable, numberMisscheduled, updatedNumberScheduled]
  const actual = [desired, available, misplaced, updated]
  if (status.observedGeneration !== set.metadata.generation) return "an old generation is observed"
  if (String(reported) !== String(actual)) return `reports ${String(reported)}, but it is ${String(actual)}`
  model.wrote = false
  yield* model.sync
  return model.wrote ? "writes after it has settled" : model.firstViolation
})

type DaemonSetStatus = NonNullable<Model["set"]["status"]>

const isPicky = (value: unknown): boolean => JSON.stringify(value).includes('"disk":"fast"')

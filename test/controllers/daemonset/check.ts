/** Runs a script on the model, then lets it settle; returns the first violation. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Pods from "../../../src/controllers/daemonset/pods.ts"
import * as PodFacts from "../../../src/kube/pod.ts"
import type { Pod } from "../../../src/kube/resources.ts"
import { Model } from "./model.ts"
import * as Oracle from "./oracle.ts"

const few = Schema.Literals([0, 1, 2, 3])

export const Action = Schema.Union([
  /** A sync with this many pod events delivered after every write. */
  Schema.TaggedStruct("Sync", { meanwhile: Schema.Literals([0, 1, 2]) }),
  /** A sync after all events were delivered. */
  Schema.TaggedStruct("SyncShown", {}),
  /** Pods are bound and become ready; terminating ones are removed. */
  Schema.TaggedStruct("Live", {}),
  Schema.TaggedStruct("Fail", { pod: few, how: Schema.Literals(["Failed", "Failed", "Succeeded"]) }),
  /** A user deletes a pod. */
  /** The first pod fails, and its replacement too. */
  Schema.TaggedStruct("FailTwice", {}),
  /** A new template while all pods are ready and the caches are current. */
  Schema.TaggedStruct("Update", { image: Schema.Literals(["v1", "v2", "v3"]) }),
  Schema.TaggedStruct("Delete", { pod: few }),
  Schema.TaggedStruct("Node", { node: few, facts: Oracle.Facts }),
  Schema.TaggedStruct("NodeGone", { node: few }),
  Schema.TaggedStruct("Template", { image: Schema.Literals(["v1", "v2", "v3", Oracle.bad]), picky: Schema.Boolean }),
  Schema.TaggedStruct("ShowPods", { events: few }),
  Schema.TaggedStruct("ShowNodes", {}),
  Schema.TaggedStruct("ShowSet", {}),
  /** This many calls of the verb are refused. */
  Schema.TaggedStruct("Refuse", { verb: Schema.Literals(["create", "delete", "patch", "update"]), times: few }),
  /** The process ends at that write of a sync, before or after it is stored; another process takes over. */
  Schema.TaggedStruct("Crash", {
    write: Schema.Literals([1, 2, 3, 4, 5]),
    done: Schema.Boolean,
    fresh: Schema.Boolean
  }),
  /** The response to that write of a sync is lost. */
  Schema.TaggedStruct("Lose", { write: Schema.Literals([1, 2, 3]) }),
  Schema.TaggedStruct("Wait", { seconds: Schema.Literals([1, 11, 2000]) })
])

export type Action = typeof Action.Type

export const Script = Schema.Struct({ setup: Oracle.Setup, actions: Schema.Array(Action) })

export const check = Effect.fnUntraced(function* ({
  actions,
  setup
}: typeof Script.Type): Effect.fn.Return<string | undefined> {
  const model = new Model(setup)
  yield* TestClock.setTime(model.now)
  for (const action of actions) {
    yield* act(model, action)
    if (model.firstViolation !== undefined) return model.firstViolation
  }
  return yield* end(model)
})

const act = Effect.fnUntraced(function* (model: Model, action: Action) {
  switch (action._tag) {
    case "Sync":
      model.meanwhile = action.meanwhile
      return yield* model.sync
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
    case "Crash":
      model.faultyWrite = action.write
      model.fault = action.done ? "after" : "before"
      yield* model.sync
      return model.takeOver(action.fresh)
    case "Lose":
      model.faultyWrite = action.write
      model.fault = "lost"
      return yield* model.sync
    case "Wait":
      // A cache is never minutes behind.
      if (action.seconds > 60) model.showAll()
      return yield* pass(model, action.seconds * 1000)
    default:
      return happen(model, action)
  }
})

const pass = (model: Model, millis: number) => {
  model.now += millis
  return TestClock.setTime(model.now)
}

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
const end = Effect.fnUntraced(function* (model: Model) {
  for (const verb of ["create", "delete", "patch", "update"] as const) model.refusing[verb] = 0
  if (Oracle.image(model.set.spec?.template ?? {}) === Oracle.bad) specify(model, Oracle.templateOf("v4", false))
  for (let round = 0; round < 200; round++) {
    model.live()
    model.showAll()
    if (model.due === Infinity) return yield* rest(model)
    if (model.due - model.now > longest) return "waits for what will never come"
    yield* pass(model, Math.max(1, model.due - model.now))
    model.meanwhile = 0
    yield* model.sync
    if (model.firstViolation !== undefined) return model.firstViolation
  }
  return `no end after two hundred syncs: ${JSON.stringify(model.set.status)}`
})

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

/** Milliseconds: less than the expectation timeout, more than the backoff after a few failures. */
const longest = 270_000

const rest = Effect.fnUntraced(function* (model: Model) {
  const { revisions, set } = model
  const image = Oracle.image(set.spec?.template ?? {})
  const current = revisions
    .all()
    .find(({ data }) => JSON.stringify(data).includes(`"image":"${image}"`) && isPicky(data) === isPicky(set.spec))
  if (current === undefined) return "no revision of the present template"
  if (revisions.all().some(({ revision }) => revision > current.revision)) return "the present revision is not the last"
  if (set.status?.collisionCount !== undefined) return "a collision that never was"
  let desired = 0
  let misplaced = 0
  let updated = 0
  let available = 0
  for (const node of model.nodes.all()) {
    const { name } = node.metadata
    const there = model.living(name)
    if (there.length > 1 && !isHeldUpPair(model, there)) return `${there.length} on ${name}`
    const [pod] = there
    if (!Oracle.mayRun(set, node) && pod !== undefined) return `one on ${name}, where none may be`
    if (!Oracle.shouldRun(set, node)) {
      if (pod !== undefined) misplaced++
      continue
    }
    desired++
    if (pod === undefined) return `none on ${name}`
    const isOld = Oracle.image(pod) !== image || Oracle.hash(pod) !== Oracle.hash(current)
    if (!isOld) updated++
    if (PodFacts.isReady(pod)) available++
    else if (!isOld) return `one on ${name} that does not work`
    if (isOld && !isHeldUp(model) && set.spec?.updateStrategy?.type !== "OnDelete") return `an old one on ${name}`
  }
  const { status = { desiredNumberScheduled: -1, numberMisscheduled: -1 } as DaemonSetStatus } = set
  const { desiredNumberScheduled, numberAvailable = 0, numberMisscheduled, updatedNumberScheduled = 0 } = status
  const said = [desiredNumberScheduled, numberAvailable, numberMisscheduled, updatedNumberScheduled]
  const really = [desired, available, misplaced, updated]
  if (status.observedGeneration !== set.metadata.generation) return "an old generation is observed"
  if (String(said) !== String(really)) return `says ${String(said)}, and it is ${String(really)}`
  model.wrote = false
  yield* model.sync
  return model.wrote ? "writes at rest" : model.firstViolation
})

type DaemonSetStatus = NonNullable<Model["set"]["status"]>

const isPicky = (value: unknown): boolean => JSON.stringify(value).includes('"disk":"fast"')

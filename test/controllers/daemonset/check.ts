/** Plays a script on the model, and then lets the world come to rest: what was wrong first, in words. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import type * as DaemonLoop from "../../../src/controllers/daemonset/loop.ts"
import * as Pods from "../../../src/controllers/daemonset/pods.ts"
import * as PodFacts from "../../../src/kube/pod.ts"
import { World } from "./model.ts"
import * as Truth from "./truth.ts"

const few = Schema.Literals([0, 1, 2, 3])

export const Action = Schema.Union([
  /** A sync, during which so many events of pods reach the cache after every write. */
  Schema.TaggedStruct("Sync", { meanwhile: Schema.Literals([0, 1, 2]) }),
  /** A sync, and everybody has heard of everything before. */
  Schema.TaggedStruct("SyncShown", {}),
  /** Pods are bound and become ready, those on their way out are gone. */
  Schema.TaggedStruct("Live", {}),
  Schema.TaggedStruct("Fail", { pod: few, how: Schema.Literals(["Failed", "Failed", "Succeeded"]) }),
  /** Somebody deletes a pod. */
  Schema.TaggedStruct("Delete", { pod: few }),
  Schema.TaggedStruct("Node", { node: few, facts: Truth.Facts }),
  Schema.TaggedStruct("NodeGone", { node: few }),
  Schema.TaggedStruct("Template", { image: Schema.Literals(["v1", "v2", "v3"]), picky: Schema.Boolean }),
  Schema.TaggedStruct("ShowPods", { events: few }),
  Schema.TaggedStruct("ShowNodes", {}),
  Schema.TaggedStruct("ShowSet", {}),
  /** So many calls of that verb are refused. */
  Schema.TaggedStruct("Refuse", { verb: Schema.Literals(["create", "delete", "patch", "update"]), times: few }),
  /** A sync at whose write of that number the process ends, after it was done or before; another process takes over. */
  Schema.TaggedStruct("Crash", {
    write: Schema.Literals([1, 2, 3, 4, 5]),
    done: Schema.Boolean,
    fresh: Schema.Boolean
  }),
  /** A sync of which the answer to a write of that number is lost. */
  Schema.TaggedStruct("Lose", { write: Schema.Literals([1, 2, 3]) }),
  Schema.TaggedStruct("Wait", { seconds: Schema.Literals([1, 11, 2000]) })
])

export type Action = typeof Action.Type

export const Script = Schema.Struct({ setup: Truth.Setup, actions: Schema.Array(Action) })

export const check = Effect.fnUntraced(function* (
  module: typeof DaemonLoop,
  { actions, setup }: typeof Script.Type
): Effect.fn.Return<string | undefined> {
  const world = new World(module, setup)
  yield* TestClock.setTime(world.now)
  for (const action of actions) {
    yield* act(world, action)
    if (world.wrong !== undefined) return world.wrong
  }
  return yield* end(world)
})

const act = Effect.fnUntraced(function* (world: World, action: Action) {
  switch (action._tag) {
    case "Sync":
      world.meanwhile = action.meanwhile
      return yield* world.sync
    case "SyncShown":
      world.showAll()
      return yield* world.sync
    case "Crash":
      world.badWrite = action.write
      world.badLuck = action.done ? "after" : "before"
      yield* world.sync
      return world.takeOver(action.fresh)
    case "Lose":
      world.badWrite = action.write
      world.badLuck = "lost"
      return yield* world.sync
    case "Wait":
      // No cache is minutes behind.
      if (action.seconds > 60) world.showAll()
      return yield* pass(world, action.seconds * 1000)
    default:
      return happen(world, action)
  }
})

const pass = (world: World, millis: number) => {
  world.now += millis
  return TestClock.setTime(world.now)
}

type Happening = Exclude<Action, { readonly _tag: "Sync" | "SyncShown" | "Crash" | "Lose" | "Wait" }>

const happen = (world: World, action: Happening): void => {
  switch (action._tag) {
    case "Live":
      return world.live()
    case "Fail": {
      const pod = world.pods.all().filter(PodFacts.isActive)[action.pod]
      return void (pod && Pods.isBound(pod) && world.pods.put({ ...pod, status: { phase: action.how } }))
    }
    case "Delete": {
      const pod = world.pods.all()[action.pod]
      return void (pod && world.leave(pod))
    }
    case "Node":
      return void world.nodes.put(Truth.nodeOf(`n${action.node}`, action.facts))
    case "NodeGone": {
      const node = world.nodes.get(`n${action.node}`)
      return void (node && world.nodes.remove(node))
    }
    case "Template":
      return specify(world, Truth.templateOf(action.image, action.picky))
    case "ShowPods":
      return world.showPods(action.events)
    case "ShowNodes":
      return world.showNodes()
    case "ShowSet":
      return world.showSet()
    case "Refuse":
      world.refusing[action.verb] = action.times
  }
}

const specify = ({ set, sets }: World, template: object): void => {
  const metadata = { ...set.metadata, generation: (set.metadata.generation ?? 0) + 1 }
  sets.put({ ...set, metadata, spec: { ...(set.spec as NonNullable<typeof set.spec>), template } as never })
}

/** Everybody is well again and hears of everything. Syncs are only those that somebody asks for. */
const end = Effect.fnUntraced(function* (world: World) {
  for (const verb of ["create", "delete", "patch", "update"] as const) world.refusing[verb] = 0
  for (let round = 0; round < 200; round++) {
    world.live()
    world.showAll()
    if (world.due === Infinity) return yield* rest(world)
    yield* pass(world, Math.max(1, world.due - world.now))
    world.meanwhile = 0
    yield* world.sync
    if (world.wrong !== undefined) return world.wrong
  }
  return `no end after two hundred syncs: ${JSON.stringify(world.set.status)}`
})

const rest = Effect.fnUntraced(function* (world: World) {
  const { revisions, set } = world
  const image = Truth.image(set.spec?.template ?? {})
  const current = revisions
    .all()
    .find(({ data }) => JSON.stringify(data).includes(`"image":"${image}"`) && isPicky(data) === isPicky(set.spec))
  if (current === undefined) return "no revision of the present template"
  if (revisions.all().some(({ revision }) => revision > current.revision)) return "the present revision is not the last"
  let desired = 0
  let misplaced = 0
  for (const node of world.nodes.all()) {
    const { name } = node.metadata
    const there = world.living(name)
    if (there.length > 1) return `${there.length} on ${name}`
    const [pod] = there
    if (!Truth.mayRun(set, node) && pod !== undefined) return `one on ${name}, where none may be`
    if (!Truth.shouldRun(set, node)) {
      if (pod !== undefined) misplaced++
      continue
    }
    desired++
    if (pod === undefined) return `none on ${name}`
    const isOld = Truth.image(pod) !== image || Truth.hash(pod) !== Truth.hash(current)
    if (isOld && set.spec?.updateStrategy?.type !== "OnDelete") return `an old one on ${name}`
  }
  const { numberAvailable = 0, numberMisscheduled, desiredNumberScheduled, observedGeneration } = set.status ?? {}
  const said = [desiredNumberScheduled, numberAvailable, numberMisscheduled, observedGeneration]
  const true_ = [desired, desired, misplaced, set.metadata.generation]
  if (String(said) !== String(true_)) return `says ${said}, and it is ${true_}`
  world.wrote = false
  yield* world.sync
  return world.wrote ? "writes at rest" : world.wrong
})

const isPicky = (value: unknown): boolean => JSON.stringify(value).includes('"disk":"fast"')

/** Plays a script on the model, and then lets the world come to rest: what was wrong first, in words. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Pods from "../../../src/controllers/daemonset/pods.ts"
import * as PodFacts from "../../../src/kube/pod.ts"
import type { Pod } from "../../../src/kube/resources.ts"
import { World } from "./model.ts"
import * as Truth from "./oracle.ts"

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
  /** The first pod fails, and the one in its place too. */
  Schema.TaggedStruct("FailTwice", {}),
  /** A new template, when all is well and nobody knows anything of the world but the loop. */
  Schema.TaggedStruct("Update", { image: Schema.Literals(["v1", "v2", "v3"]) }),
  Schema.TaggedStruct("Delete", { pod: few }),
  Schema.TaggedStruct("Node", { node: few, facts: Truth.Facts }),
  Schema.TaggedStruct("NodeGone", { node: few }),
  Schema.TaggedStruct("Template", { image: Schema.Literals(["v1", "v2", "v3", Truth.bad]), picky: Schema.Boolean }),
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

export const check = Effect.fnUntraced(function* ({
  actions,
  setup
}: typeof Script.Type): Effect.fn.Return<string | undefined> {
  const world = new World(setup)
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
    case "FailTwice":
      for (let i = 0; i < 2; i++) {
        world.live()
        happen(world, { _tag: "Fail", pod: 0, how: "Failed" })
        for (let j = 0; j < 2; j++) {
          world.showAll()
          yield* world.sync
        }
      }
      return
    case "Update":
      world.live()
      happen(world, { _tag: "Template", image: action.image, picky: false })
      for (let j = 0; j < 3; j++) {
        world.showAll()
        yield* world.sync
      }
      return
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

type Happening = Exclude<
  Action,
  { readonly _tag: "Sync" | "SyncShown" | "FailTwice" | "Update" | "Crash" | "Lose" | "Wait" }
>

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
  sets.put({ ...set, metadata, spec: { ...set.spec, template } as never })
}

/** Everybody is well again and hears of everything. Syncs are only those that somebody asks for. */
const end = Effect.fnUntraced(function* (world: World) {
  for (const verb of ["create", "delete", "patch", "update"] as const) world.refusing[verb] = 0
  if (Truth.image(world.set.spec?.template ?? {}) === Truth.bad) specify(world, Truth.templateOf("v4", false))
  for (let round = 0; round < 200; round++) {
    world.live()
    world.showAll()
    if (world.due === Infinity) return yield* rest(world)
    if (world.due - world.now > longest) return "waits for what will never come"
    yield* pass(world, Math.max(1, world.due - world.now))
    world.meanwhile = 0
    yield* world.sync
    if (world.wrong !== undefined) return world.wrong
  }
  return `no end after two hundred syncs: ${JSON.stringify(world.set.status)}`
})

/** A pod that was made for a node before it was tainted waits there, and counts as unavailable: the update waits too, as the reference's. */
const isHeldUp = ({ nodes, set, pods }: World): boolean =>
  pods.all().some((pod) => {
    const node = nodes.get(Pods.target(pod) ?? "")
    return PodFacts.isActive(pod) && !PodFacts.isReady(pod) && node !== undefined && !Truth.shouldRun(set, node)
  })

/** With a surge the old one works on beside the new one that waits there. */
const isHeldUpPair = (world: World, pods: ReadonlyArray<Pod>): boolean =>
  Truth.surges(world.set) && isHeldUp(world) && pods.length === 2 && new Set(pods.map(Truth.hash)).size === 2

/** Milliseconds: less than expectations last, more than a failed pod waits that has failed a few times. */
const longest = 270_000

const rest = Effect.fnUntraced(function* (world: World) {
  const { revisions, set } = world
  const image = Truth.image(set.spec?.template ?? {})
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
  for (const node of world.nodes.all()) {
    const { name } = node.metadata
    const there = world.living(name)
    if (there.length > 1 && !isHeldUpPair(world, there)) return `${there.length} on ${name}`
    const [pod] = there
    if (!Truth.mayRun(set, node) && pod !== undefined) return `one on ${name}, where none may be`
    if (!Truth.shouldRun(set, node)) {
      if (pod !== undefined) misplaced++
      continue
    }
    desired++
    if (pod === undefined) return `none on ${name}`
    const isOld = Truth.image(pod) !== image || Truth.hash(pod) !== Truth.hash(current)
    if (!isOld) updated++
    if (PodFacts.isReady(pod)) available++
    else if (!isOld) return `one on ${name} that does not work`
    if (isOld && !isHeldUp(world) && set.spec?.updateStrategy?.type !== "OnDelete") return `an old one on ${name}`
  }
  const { status = { desiredNumberScheduled: -1, numberMisscheduled: -1 } as DaemonSetStatus } = set
  const { desiredNumberScheduled, numberAvailable = 0, numberMisscheduled, updatedNumberScheduled = 0 } = status
  const said = [desiredNumberScheduled, numberAvailable, numberMisscheduled, updatedNumberScheduled]
  const really = [desired, available, misplaced, updated]
  if (status.observedGeneration !== set.metadata.generation) return "an old generation is observed"
  if (String(said) !== String(really)) return `says ${String(said)}, and it is ${String(really)}`
  world.wrote = false
  yield* world.sync
  return world.wrote ? "writes at rest" : world.wrong
})

type DaemonSetStatus = NonNullable<World["set"]["status"]>

const isPicky = (value: unknown): boolean => JSON.stringify(value).includes('"disk":"fast"')

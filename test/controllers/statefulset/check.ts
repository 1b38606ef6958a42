/** Plays a script on the model, and then lets the world come to rest: what was wrong first, in words. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { World } from "./model.ts"
import * as Truth from "./truth.ts"

const few = Schema.Literals([0, 1, 2, 3])

const Image = Schema.Literals(["v1", "v2", "v3", Truth.bad])

export const Action = Schema.Union([
  /** A sync, during which so many events of pods reach the cache after every write. */
  Schema.TaggedStruct("Sync", { meanwhile: Schema.Literals([0, 1, 2]) }),
  /** So many times: everybody lives, everybody hears of everything, and the loop looks. */
  Schema.TaggedStruct("Rounds", { count: Schema.Literals([1, 2, 4, 8]) }),
  /** All is well; then something happens to a pod, a user wants something else, and no call of a kind is let through for a while. */
  Schema.TaggedStruct("Disturb", {
    pod: few,
    how: Schema.Literals(["Delete", "Unready", "Nothing", "FailAll"]),
    wish: Truth.Wish,
    refused: Schema.Literals(["none", "none", "create", "delete", "update"])
  }),
  /** A set of one replica is wanted without it and with it again, faster than the garbage collector is. */
  Schema.TaggedStruct("Bounce", {}),
  /** Pods become ready, those on their way out are gone. */
  Schema.TaggedStruct("Live", {}),
  Schema.TaggedStruct("Fail", { pod: few, how: Schema.Literals(["Failed", "Succeeded"]) }),
  Schema.TaggedStruct("Unready", { pod: few }),
  /** Somebody deletes a pod. */
  Schema.TaggedStruct("Delete", { pod: few }),
  /** Somebody takes the label with its name from a pod. */
  Schema.TaggedStruct("Strip", { pod: few }),
  Schema.TaggedStruct("Wish", { wish: Truth.Wish }),
  Schema.TaggedStruct("Template", { image: Image }),
  Schema.TaggedStruct("ShowPods", { events: few }),
  Schema.TaggedStruct("ShowClaims", {}),
  Schema.TaggedStruct("ShowSet", {}),
  /** So many calls of that verb are refused. */
  Schema.TaggedStruct("Refuse", { verb: Schema.Literals(["create", "delete", "patch", "update"]), times: few }),
  /** A sync at whose write of that number the process ends, after it was done or before; another process takes over. */
  Schema.TaggedStruct("Crash", {
    write: Schema.Literals([1, 2, 3, 4]),
    done: Schema.Boolean,
    fresh: Schema.Boolean
  }),
  /** A sync of which the answer to a write of that number is lost. */
  Schema.TaggedStruct("Lose", { write: Schema.Literals([1, 2, 3]) }),
  Schema.TaggedStruct("Wait", { seconds: Schema.Literals([1, 11]) })
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
    case "Rounds":
      return yield* rounds(world, action.count)
    case "Disturb":
      yield* rounds(world, 8)
      if (action.how === "FailAll") failAll(world)
      else if (action.how !== "Nothing") happen(world, { _tag: action.how, pod: action.pod })
      specify(world, Truth.asked(action.wish))
      if (action.refused !== "none") world.refusing[action.refused] = 4
      for (let i = 0; i < 2; i++) {
        world.showAll()
        yield* world.sync
      }
      return
    case "Bounce":
      specify(world, { replicas: 1 })
      yield* rounds(world, 8)
      specify(world, { replicas: 0 })
      world.showAll()
      yield* world.sync
      world.live()
      specify(world, { replicas: 1 })
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
      return yield* pass(world, action.seconds * 1000)
    default:
      return happen(world, action)
  }
})

const failAll = ({ pods }: World): void => {
  for (const pod of pods.all()) pods.put({ ...pod, status: { phase: "Failed" } })
}

const rounds = Effect.fnUntraced(function* (world: World, count: number) {
  for (let i = 0; i < count; i++) {
    world.collect()
    world.live()
    world.showAll()
    yield* world.sync
  }
})

const pass = (world: World, millis: number) => {
  world.now += millis
  return TestClock.setTime(world.now)
}

type Happening = Exclude<
  Action,
  { readonly _tag: "Sync" | "Rounds" | "Disturb" | "Bounce" | "Crash" | "Lose" | "Wait" }
>

const happen = (world: World, action: Happening): void => {
  switch (action._tag) {
    case "Live":
      return world.live()
    case "Fail": {
      const pod = world.pods.all().filter((one) => !Truth.hasEnded(one))[action.pod]
      return void (pod && world.pods.put({ ...pod, status: { phase: action.how } }))
    }
    case "Unready": {
      const pod = world.pods.all().filter(Truth.isReady)[action.pod]
      return void (pod && world.pods.put(Truth.ready(pod, false, world.now)))
    }
    case "Delete": {
      const pod = world.pods.all()[action.pod]
      return void (pod && world.leave(pod))
    }
    case "Strip": {
      const pod = world.pods.all()[action.pod]
      const labels = { ...pod?.metadata.labels }
      delete labels["statefulset.kubernetes.io/pod-name"]
      return void (pod && world.pods.put({ ...pod, metadata: { ...pod.metadata, labels } }))
    }
    case "Wish":
      return specify(world, Truth.asked(action.wish))
    case "Template":
      return specify(world, { template: Truth.templateOf(action.image) })
    case "ShowPods":
      return world.showPods(action.events)
    case "ShowClaims":
      return world.showClaims()
    case "ShowSet":
      return world.showSet()
    case "Refuse":
      world.refusing[action.verb] = action.times
  }
}

const specify = (world: World, part: object): void => {
  const { set, sets } = world
  const metadata = { ...set.metadata, generation: (set.metadata.generation ?? 0) + 1 }
  const now = sets.put({ ...set, metadata, spec: { ...set.spec, ...part } as never })
  if (Truth.goesWithPods(set) && !Truth.goesWithPods(now)) world.isTooLate = true
}

/** Everybody is well again and hears of everything, and somebody takes away what can never be. Syncs are only those that somebody asks for. */
const end = Effect.fnUntraced(function* (world: World) {
  for (const verb of ["create", "delete", "patch", "update"] as const) world.refusing[verb] = 0
  if (Truth.image(world.set.spec?.template ?? {}) === Truth.bad) specify(world, { template: Truth.templateOf("v4") })
  for (let round = 0; round < 150; round++) {
    world.live()
    for (const pod of world.pods.all()) if (Truth.image(pod) === Truth.bad && isNotKept(world)) world.leave(pod)
    world.showAll()
    if (world.due === Infinity) world.collect()
    world.showAll()
    if (world.due === Infinity) return yield* rest(world)
    if (world.due - world.now > longest) return "waits for what will never come"
    yield* pass(world, Math.max(1, world.due - world.now))
    world.meanwhile = 0
    yield* world.sync
    if (world.wrong !== undefined) return world.wrong
  }
  return `no end after many syncs: ${JSON.stringify(world.set.status)}`
})

/** A set whose last whole revision never worked makes bad pods for ever below its partition. */
const isNotKept = ({ set, revisions }: World): boolean => {
  const current = revisions.get(`ns/${set.status?.currentRevision}`)
  return Truth.partition(set) === 0 || !JSON.stringify(current?.data ?? "").includes(`"${Truth.bad}"`)
}

/** Milliseconds: longer than a replica has to be ready. */
const longest = 20_000

const rest = Effect.fnUntraced(function* (world: World) {
  const { pods, set } = world
  const all = [...pods.all()].sort((a, b) => Truth.ordinal(a) - Truth.ordinal(b))
  const isStuck = all.some((pod) => Truth.image(pod) === Truth.bad) && !isNotKept(world)
  const wrong = isStuck ? undefined : (replicas(world, all) ?? claims(world, all))
  if (wrong !== undefined) return wrong
  const told = status(world, all) ?? history(world)
  if (told !== undefined) return told
  const now = JSON.stringify(set.status)
  world.wrote = false
  yield* world.sync
  if (world.wrote) return `writes at rest: ${now}, ${JSON.stringify(world.set.status)}`
  return world.wrong
})

const replicas = (
  { now, set }: World,
  all: World["pods"] extends { all(): infer A } ? A : never
): string | undefined => {
  const image = Truth.image(set.spec?.template ?? {})
  const ordinals = String(all.map(Truth.ordinal))
  if (ordinals !== String(Truth.range(set))) return `there are ${ordinals}, and not ${String(Truth.range(set))}`
  for (const pod of all) {
    const { labels, name } = pod.metadata
    if (!Truth.isAvailable(set, pod, now)) return `${name} is not available`
    if (labels?.["statefulset.kubernetes.io/pod-name"] !== name) return `${name} does not know who it is`
    const isReached = Truth.isRolling(set) && Truth.ordinal(pod) - Truth.first(set) >= Truth.partition(set)
    if (isReached && Truth.image(pod) !== image) return `${name} is old`
  }
  return undefined
}

const claims = (
  { claims, isTooLate, set }: World,
  all: ReadonlyArray<{ readonly metadata: { readonly name: string } }>
) => {
  if ((set.spec?.volumeClaimTemplates ?? []).length === 0 || isTooLate) return undefined
  const policy = set.spec?.persistentVolumeClaimRetentionPolicy
  for (const { metadata } of all) {
    const claim = claims.get(`ns/data-${metadata.name}`)
    if (claim === undefined) return `${metadata.name} has no claim`
    const expected = policy?.whenDeleted === "Delete" ? "StatefulSet web" : ""
    if (Truth.owner(claim) !== expected) return `the claim of ${metadata.name} has the owner "${Truth.owner(claim)}"`
  }
  return undefined
}

const status = ({ now, set }: World, all: ReadonlyArray<Parameters<typeof Truth.isReady>[0]>): string | undefined => {
  const { status } = set
  if (status === undefined) return "no status"
  if (status.observedGeneration !== set.metadata.generation) return "an old generation is observed"
  const of = (name: string | undefined) => all.filter((pod) => Truth.revision(pod) === name).length
  const really = {
    replicas: all.length,
    readyReplicas: all.filter(Truth.isReady).length,
    availableReplicas: all.filter((pod) => Truth.isAvailable(set, pod, now)).length,
    currentReplicas: of(status.currentRevision),
    updatedReplicas: of(status.updateRevision)
  }
  for (const [field, value] of Object.entries(really)) {
    const said = (status as unknown as Record<string, number | undefined>)[field] ?? 0
    if (said !== value) return `says ${field} ${said}, and it is ${value}`
  }
  const { readyReplicas, replicas, updatedReplicas } = really
  const isWhole = [readyReplicas, replicas, updatedReplicas].every((count) => count === Truth.range(set).length)
  if (Truth.isRolling(set) && isWhole && status.currentRevision !== status.updateRevision)
    return "the update is done, and nobody says so"
  return undefined
}

const history = ({ pods, revisions, set }: World): string | undefined => {
  const image = Truth.image(set.spec?.template ?? {})
  const all = [...revisions.all()].sort((a, b) => a.revision - b.revision)
  const last = all.at(-1)
  if (last?.metadata.name !== set.status?.updateRevision) return "the new revision is not the last"
  if (!JSON.stringify(last?.data).includes(`"${image}"`)) return "the new revision is of another template"
  if (set.status?.collisionCount !== 0) return "a collision that never was"
  const used = new Set([set.status?.currentRevision, last?.metadata.name, ...pods.all().map(Truth.revision)])
  const unused = all.filter(({ metadata }) => !used.has(metadata.name))
  const limit = set.spec?.revisionHistoryLimit ?? 10
  return unused.length > limit ? `${unused.length} revisions that nobody uses` : undefined
}

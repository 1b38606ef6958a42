/** Runs a script on the model, then lets the cluster settle; returns the first violation as text. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ModelServer from "../shared/workload/modelServer.ts"
import { StatefulSetModel } from "./model.ts"
import * as Truth from "./truth.ts"

const few = Schema.Literals([0, 1, 2, 3])

const Image = Schema.Literals(["v1", "v2", "v3", Truth.bad])

export const Action = Schema.Union([
  ModelServer.Sync,
  /** This many times: pods become ready, all events are delivered, and a sync runs. */
  Schema.TaggedStruct("Rounds", { count: Schema.Literals([1, 2, 4, 8]) }),
  /** After the set has settled, a pod changes and a user changes the spec, while the calls of a verb are refused. */
  Schema.TaggedStruct("Disturb", {
    pod: few,
    how: Schema.Literals(["Delete", "Unready", "Nothing", "FailAll"]),
    wish: Truth.Wish,
    refused: Schema.Literals(["none", "none", "create", "delete", "update"])
  }),
  /** A set of one replica is scaled to zero and back before the garbage collector runs. */
  Schema.TaggedStruct("Bounce", {}),
  /** Pods become ready; terminating ones are removed. */
  Schema.TaggedStruct("Live", {}),
  Schema.TaggedStruct("Fail", { pod: few, how: Schema.Literals(["Failed", "Succeeded"]) }),
  Schema.TaggedStruct("Unready", { pod: few }),
  /** A user deletes a pod. */
  Schema.TaggedStruct("Delete", { pod: few }),
  /** A user removes the pod-name label from a pod. */
  Schema.TaggedStruct("Strip", { pod: few }),
  Schema.TaggedStruct("Wish", { wish: Truth.Wish }),
  Schema.TaggedStruct("Template", { image: Image }),
  ModelServer.ShowPods,
  Schema.TaggedStruct("ShowClaims", {}),
  Schema.TaggedStruct("ShowSet", {}),
  ModelServer.Refuse,
  ModelServer.Crash,
  ModelServer.Lose,
  Schema.TaggedStruct("Wait", { seconds: Schema.Literals([1, 11]) })
])

export type Action = typeof Action.Type

export const Script = Schema.Struct({ setup: Truth.Setup, actions: Schema.Array(Action) })

export const check = ({ actions, setup }: typeof Script.Type): Effect.Effect<string | undefined> =>
  Effect.suspend(() => ModelServer.check(new StatefulSetModel(setup), actions, act, end))

const act = Effect.fnUntraced(function* (model: StatefulSetModel, action: Action) {
  switch (action._tag) {
    case "Sync":
    case "Crash":
    case "Lose":
      return yield* model.run(action)
    case "Rounds":
      return yield* rounds(model, action.count)
    case "Disturb":
      yield* rounds(model, 8)
      if (action.how === "FailAll") failAll(model)
      else if (action.how !== "Nothing") happen(model, { _tag: action.how, pod: action.pod })
      specify(model, Truth.asked(action.wish))
      if (action.refused !== "none") model.refusing[action.refused] = 4
      for (let i = 0; i < 2; i++) {
        model.showAll()
        yield* model.sync
      }
      return
    case "Bounce":
      specify(model, { replicas: 1 })
      yield* rounds(model, 8)
      specify(model, { replicas: 0 })
      model.showAll()
      yield* model.sync
      model.live()
      specify(model, { replicas: 1 })
      model.showAll()
      return yield* model.sync
    case "Wait":
      return yield* model.pass(action.seconds * 1000)
    default:
      return happen(model, action)
  }
})

const failAll = ({ pods }: StatefulSetModel): void => {
  for (const pod of pods.all()) pods.put({ ...pod, status: { phase: "Failed" } })
}

const rounds = Effect.fnUntraced(function* (model: StatefulSetModel, count: number) {
  for (let i = 0; i < count; i++) {
    model.collect()
    model.live()
    model.showAll()
    yield* model.sync
  }
})

type Happening = Exclude<
  Action,
  { readonly _tag: "Sync" | "Rounds" | "Disturb" | "Bounce" | "Crash" | "Lose" | "Wait" }
>

const happen = (model: StatefulSetModel, action: Happening): void => {
  switch (action._tag) {
    case "Live":
      return model.live()
    case "Fail": {
      const pod = model.pods.all().filter((one) => !Truth.hasEnded(one))[action.pod]
      return void (pod && model.pods.put({ ...pod, status: { phase: action.how } }))
    }
    case "Unready": {
      const pod = model.pods.all().filter(Truth.isReady)[action.pod]
      return void (pod && model.pods.put(Truth.ready(pod, false, model.now)))
    }
    case "Delete": {
      const pod = model.pods.all()[action.pod]
      return void (pod && model.leave(pod))
    }
    case "Strip": {
      const pod = model.pods.all()[action.pod]
      const labels = { ...pod?.metadata.labels }
      delete labels["statefulset.kubernetes.io/pod-name"]
      return void (pod && model.pods.put({ ...pod, metadata: { ...pod.metadata, labels } }))
    }
    case "Wish":
      return specify(model, Truth.asked(action.wish))
    case "Template":
      return specify(model, { template: Truth.templateOf(action.image) })
    case "ShowPods":
      return model.showPods(action.events)
    case "ShowClaims":
      return model.showClaims()
    case "ShowSet":
      return model.showSet()
    case "Refuse":
      model.refusing[action.verb] = action.times
  }
}

const specify = (model: StatefulSetModel, part: object): void => {
  const { set, sets } = model
  const metadata = { ...set.metadata, generation: (set.metadata.generation ?? 0) + 1 }
  const now = sets.put({ ...set, metadata, spec: { ...set.spec, ...part } as never })
  if (Truth.goesWithPods(set) && !Truth.goesWithPods(now)) model.ownersMayRemain = true
}

/** Without faults and with all events delivered; pods that can never become ready are deleted. Syncs run only when the controller enqueues the key. */
const end = (model: StatefulSetModel): Effect.Effect<string | undefined> => {
  if (Truth.image(model.set.spec?.template ?? {}) === Truth.bad) specify(model, { template: Truth.templateOf("v4") })
  const live = () => {
    model.live()
    for (const pod of model.pods.all()) if (Truth.image(pod) === Truth.bad && canRecover(model)) model.leave(pod)
    model.showAll()
    if (model.due === Infinity) model.collect()
    model.showAll()
  }
  return ModelServer.converge(model, 150, longest, live, rest)
}

/** False if pods below the partition are recreated from a current revision that never becomes ready. */
const canRecover = ({ set, revisions }: StatefulSetModel): boolean => {
  const current = revisions.get(`ns/${set.status?.currentRevision}`)
  return Truth.partition(set) === 0 || !JSON.stringify(current?.data ?? "").includes(`"${Truth.bad}"`)
}

/** Milliseconds: more than minReadySeconds. */
const longest = 20_000

const rest = Effect.fnUntraced(function* (model: StatefulSetModel) {
  const { pods, set } = model
  const all = [...pods.all()].sort((a, b) => Truth.ordinal(a) - Truth.ordinal(b))
  const isStuck = all.some((pod) => Truth.image(pod) === Truth.bad) && !canRecover(model)
  const wrong = isStuck ? undefined : (replicas(model, all) ?? claims(model, all))
  if (wrong !== undefined) return wrong
  const violation = status(model, all) ?? history(model)
  if (violation !== undefined) return violation
  const now = JSON.stringify(set.status)
  model.wrote = false
  yield* model.sync
  if (model.wrote) return `writes after it has settled: ${now}, ${JSON.stringify(model.set.status)}`
  return model.firstViolation
})

const replicas = (
  { now, set }: StatefulSetModel,
  all: StatefulSetModel["pods"] extends { all(): infer A } ? A : never
): string | undefined => {
  const image = Truth.image(set.spec?.template ?? {})
  const ordinals = String(all.map(Truth.ordinal))
  if (ordinals !== String(Truth.range(set))) return `the ordinals are ${ordinals}, not ${String(Truth.range(set))}`
  for (const pod of all) {
    const { labels, name } = pod.metadata
    if (!Truth.isAvailable(set, pod, now)) return `${name} is not available`
    if (labels?.["statefulset.kubernetes.io/pod-name"] !== name) return `${name} has a wrong name label`
    const isReached = Truth.isRolling(set) && Truth.ordinal(pod) - Truth.first(set) >= Truth.partition(set)
    if (isReached && Truth.image(pod) !== image) return `${name} is old`
  }
  return undefined
}

const claims = (
  { claims, ownersMayRemain, set }: StatefulSetModel,
  all: ReadonlyArray<{ readonly metadata: { readonly name: string } }>
) => {
  if ((set.spec?.volumeClaimTemplates ?? []).length === 0 || ownersMayRemain) return undefined
  const policy = set.spec?.persistentVolumeClaimRetentionPolicy
  for (const { metadata } of all) {
    const claim = claims.get(`ns/data-${metadata.name}`)
    if (claim === undefined) return `${metadata.name} has no claim`
    const expected = policy?.whenDeleted === "Delete" ? "StatefulSet web" : ""
    if (Truth.owner(claim) !== expected) return `the claim of ${metadata.name} has the owner "${Truth.owner(claim)}"`
  }
  return undefined
}

const status = (
  { now, set }: StatefulSetModel,
  all: ReadonlyArray<Parameters<typeof Truth.isReady>[0]>
): string | undefined => {
  const { status } = set
  if (status === undefined) return "no status"
  if (status.observedGeneration !== set.metadata.generation) return "an old generation is observed"
  const of = (name: string | undefined) => all.filter((pod) => Truth.revision(pod) === name).length
  const actual = {
    replicas: all.length,
    readyReplicas: all.filter(Truth.isReady).length,
    availableReplicas: all.filter((pod) => Truth.isAvailable(set, pod, now)).length,
    currentReplicas: of(status.currentRevision),
    updatedReplicas: of(status.updateRevision)
  }
  for (const [field, value] of Object.entries(actual)) {
    const reported = (status as unknown as Record<string, number | undefined>)[field] ?? 0
    if (reported !== value) return `reports ${field} ${reported}, but it is ${value}`
  }
  const { readyReplicas, replicas, updatedReplicas } = actual
  const isWhole = [readyReplicas, replicas, updatedReplicas].every((count) => count === Truth.range(set).length)
  if (Truth.isRolling(set) && isWhole && status.currentRevision !== status.updateRevision)
    return "the update is complete, but currentRevision is not the new revision"
  return undefined
}

const history = ({ pods, revisions, set }: StatefulSetModel): string | undefined => {
  const image = Truth.image(set.spec?.template ?? {})
  const all = [...revisions.all()].sort((a, b) => a.revision - b.revision)
  const last = all.at(-1)
  if (last?.metadata.name !== set.status?.updateRevision) return "the update revision has not the highest number"
  if (!JSON.stringify(last?.data).includes(`"${image}"`)) return "the update revision has another template"
  if (set.status?.collisionCount !== 0) return "collisionCount without a collision"
  const used = new Set([set.status?.currentRevision, last?.metadata.name, ...pods.all().map(Truth.revision)])
  const unused = all.filter(({ metadata }) => !used.has(metadata.name))
  const limit = set.spec?.revisionHistoryLimit ?? 10
  return unused.length > limit ? `${unused.length} unused revisions above the limit` : undefined
}

/**
 * The revisions of a DaemonSet, synced against a small server and a stale cache: the current template has one revision
 * with the highest number, and a collision is counted exactly when one occurs.
 */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as History from "../../../src/controllers/daemonset/history.ts"
import type { Deps } from "../../../src/controllers/daemonset/deps.ts"
import * as Indexes from "../../../src/controllers/shared/workload/indexes.ts"
import * as ApiError from "../../../src/kube/ApiError.ts"
import * as Hash from "../../../src/kube/hash.ts"
import type { ControllerRevision, DaemonSet, Pod } from "../../../src/kube/resources.ts"
import { checkProperty, type ValueOf } from "../../support/property.ts"
import { Table } from "../shared/workload/modelServer.ts"
import * as Oracle from "./oracle.ts"

const images = ["v1", "v2", "v3"] as const

const Facts = Schema.Struct({
  image: Schema.Literals(images),
  number: Schema.Literals([1, 2, 3]),
  isShown: Schema.Boolean,
  isOrphan: Schema.Literals([false, false, true]),
  isLabelled: Schema.Literals([true, true, false]),
  pods: Schema.Literals([0, 1, 2])
})

const cases = Arbitrary.schema(
  Schema.Struct({
    revisions: Schema.Array(Facts).check(Schema.isMaxLength(4)),
    /** Objects with the name that the next revision would have. */
    holder: Schema.Literals(["none", "another template", "its own", "its own"]),
    isHolderShown: Schema.Boolean,
    /** The collision count on the server, and how much of it the cache lacks. */
    counted: Schema.Literals([0, 0, 1, 2]),
    unknown: Schema.Literals([0, 0, 1]),
    limit: Schema.Literals([0, 1, 10])
  })
)

type Model = ValueOf<typeof cases>

const template = Oracle.templateOf("v1", false)

const labels = { app: "log" }

const setOf = ({ limit }: Model, collisions: number): DaemonSet => ({
  ...Oracle.setOf({ strategy: "one", historyLimit: 10, picky: false, nodes: [] }),
  spec: { selector: { matchLabels: labels }, revisionHistoryLimit: limit, template },
  ...(collisions === 0
    ? {}
    : {
        status: {
          currentNumberScheduled: 0,
          numberMisscheduled: 0,
          desiredNumberScheduled: 0,
          numberReady: 0,
          collisionCount: collisions
        }
      })
})

const owned = { apiVersion: "apps/v1", kind: "DaemonSet", name: "log", uid: "uid-log", controller: true }

interface Making {
  readonly name: string
  readonly image: string
  readonly number: number
  readonly isOrphan?: boolean
  readonly isLabelled?: boolean
}

const revisionOf = ({ image, isLabelled = true, isOrphan = false, name, number }: Making): ControllerRevision => ({
  metadata: {
    name,
    namespace: "ns",
    uid: `uid-${name}`,
    labels: { ...labels, ...(isLabelled ? { "controller-revision-hash": name } : {}) },
    ...(isOrphan ? {} : { ownerReferences: [owned] })
  },
  revision: number,
  data: { spec: { template: { $patch: "replace", ...Oracle.templateOf(image, false) } } }
})

const podOf = (name: string, hash: string): Pod => ({
  metadata: {
    name,
    namespace: "ns",
    uid: name,
    labels: { ...labels, "controller-revision-hash": hash },
    ownerReferences: [owned]
  }
})

const failure = (status: number, reason: string) =>
  ApiError.fromStatus({
    context: { verb: "create", path: "/" },
    status,
    body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason, code: status, message: reason }
  })

const isOfTemplate = ({ data }: ControllerRevision): boolean => JSON.stringify(data).includes('"image":"v1"')

const hashOf = ({ metadata }: ControllerRevision | Pod): string | undefined =>
  metadata.labels?.["controller-revision-hash"]

/** A server, its cache, and all violations. */
const stage = (model: Model) => {
  const sets = new Table<DaemonSet>([])
  const revisions = new Table<ControllerRevision>(Indexes.both)
  const pods = new Table<Pod>(Indexes.both)
  const firstViolation: Array<string> = []
  let writes = 0
  sets.put(setOf(model, model.counted))
  sets.show(Infinity)
  if (model.unknown > 0) sets.put(setOf(model, model.counted + model.unknown))
  const live = () => sets.get("ns/log") as DaemonSet
  const nextName = `log-${Hash.template(template, model.counted === 0 ? undefined : model.counted)}`
  const made = model.revisions.map((facts, i) => [revisionOf({ ...facts, name: `log-r${i}` }), facts.isShown] as const)
  const holder = { name: nextName, image: model.holder === "its own" ? "v1" : "v9", number: 1 }
  const all = [...made, ...(model.holder === "none" ? [] : [[revisionOf(holder), model.isHolderShown] as const])]
  for (const [revision, isShown] of all) if (isShown) revisions.put(revision)
  revisions.show(Infinity)
  for (const [revision, isShown] of all) if (!isShown) revisions.put(revision)
  for (const [i, facts] of model.revisions.entries())
    for (let j = 0; j < facts.pods; j++) pods.put(podOf(`p${i}${j}`, `log-r${i}`))
  pods.show(Infinity)

  const write = <A>(act: () => A | ApiError.ApiError): Effect.Effect<A, ApiError.ApiError> =>
    Effect.suspend(() => {
      writes++
      const done = act()
      return ApiError.isApiError(done) ? Effect.fail(done) : Effect.succeed(done)
    })
  const found = (name: string): ControllerRevision | ApiError.ApiError =>
    revisions.get(`ns/${name}`) ?? failure(404, "NotFound")
  const deps = {
    sets: sets.store,
    revisions: revisions.store,
    pods: pods.store,
    live: () => Effect.sync(live),
    updateStatus: (set: DaemonSet) =>
      write(() => {
        const [before, after] = [live().status?.collisionCount ?? 0, set.status?.collisionCount ?? 0]
        const name = `log-${Hash.template(template, before === 0 ? undefined : before)}`
        const there = revisions.get(`ns/${name}`)
        if (after !== before + 1 || there === undefined || isOfTemplate(there))
          firstViolation.push("no collision was there")
        return sets.put(set)
      }),
    liveRevision: (_: DaemonSet, name: string) =>
      Effect.suspend(() => {
        const there = found(name)
        return ApiError.isApiError(there) ? Effect.fail(there) : Effect.succeed(there)
      }),
    createRevision: (draft: ControllerRevision) =>
      write(() => {
        const { name } = draft.metadata
        if (revisions.get(`ns/${name}`) !== undefined) return failure(409, "AlreadyExists")
        return revisions.put({ ...draft, metadata: { ...draft.metadata, uid: `uid-${name}` } })
      }),
    updateRevision: (revision: ControllerRevision) =>
      write(() => {
        const there = found(revision.metadata.name)
        if (ApiError.isApiError(there)) return there
        return there.metadata.resourceVersion === revision.metadata.resourceVersion
          ? revisions.put(revision)
          : failure(409, "Conflict")
      }),
    patchRevision: (revision: ControllerRevision) =>
      write(() => {
        const there = found(revision.metadata.name)
        if (ApiError.isApiError(there)) return there
        return revisions.put({ ...there, metadata: { ...there.metadata, ownerReferences: [owned] } })
      }),
    removeRevision: (revision: ControllerRevision) =>
      write(() => {
        const there = found(revision.metadata.name)
        if (ApiError.isApiError(there)) return there
        const { name } = there.metadata
        if (pods.all().some((pod) => hashOf(pod) === name))
          firstViolation.push(`${name} is deleted, and pods are of it`)
        return revisions.remove(there)
      }),
    patch: (pod: Pod, { body }: { readonly body: unknown }) =>
      write(() => {
        const { labels: more } = (body as { readonly metadata: { readonly labels: Record<string, string> } }).metadata
        return pods.put({ ...pod, metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...more } } })
      })
  } as unknown as Deps
  return { sets, revisions, pods, deps, firstViolation, live, count: () => writes }
}

/** Syncs until one succeeds with a current cache, and once more. */
const play = (model: Model) =>
  Effect.gen(function* () {
    const { count, live, pods, deps, revisions, sets, firstViolation } = stage(model)
    const round = Effect.gen(function* () {
      const set = sets.store.get("ns/log") as DaemonSet
      const done = yield* Effect.exit(History.sync(deps, set, pods.store.list()))
      if (Exit.isSuccess(done)) yield* Effect.ignore(History.cleanUp(deps, set, done.value.old))
      for (const table of [sets, revisions, pods]) table.show(Infinity)
      return done
    })
    for (let i = 0; i < 8; i++) yield* round
    const before = count()
    const done = yield* round
    if (count() !== before) firstViolation.push("it writes at rest")
    if (Exit.isFailure(done)) return [...firstViolation, "it never succeeds"]
    const all = revisions.all().filter(({ metadata }) => metadata.ownerReferences !== undefined)
    const [current, ...others] = all.filter(isOfTemplate)
    const old = all.filter((one) => !isOfTemplate(one))
    if (current === undefined || others.length > 0) return [...firstViolation, "it has not just one revision"]
    if (hashOf(current) === undefined || hashOf(current) !== done.value.hash) firstViolation.push("its hash is another")
    if (old.some(({ revision }) => revision >= current.revision)) firstViolation.push("it is not the last")
    if (old.some((one) => hashOf(one) === undefined)) firstViolation.push("an old one has no hash")
    const used = new Set(pods.all().map(hashOf))
    if (old.filter((one) => !used.has(hashOf(one))).length > model.limit) firstViolation.push("too many are kept")
    if (done.value.old.length !== old.length) firstViolation.push("old ones are not told of")
    for (const pod of pods.all())
      if (!all.some((one) => hashOf(one) === hashOf(pod))) firstViolation.push("a pod is of no revision")
    for (const [i, { image }] of model.revisions.entries())
      for (const pod of pods.all())
        if (image !== "v1" && pod.metadata.name.startsWith(`p${i}`) && hashOf(pod) !== `log-r${i}`)
          firstViolation.push("a pod of an old template is said to be of the present one")
    const collisions = (live().status?.collisionCount ?? 0) - model.counted - model.unknown
    if (collisions > 0 && model.holder !== "another template") firstViolation.push("a collision that never was")
    return firstViolation
  })

describe("History", () => {
  checkProperty("with any cache the sync converges without a violation", cases, (model) =>
    Effect.flatMap(play(model), (firstViolation) =>
      firstViolation.length === 0 ? Effect.succeed(true) : Effect.fail(firstViolation)
    )
  )
})

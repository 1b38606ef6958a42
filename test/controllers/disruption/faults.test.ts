/**
 * Rolling upgrades, evictions, failing pods and changing budgets under fault injection: conflicts, refusals, lost
 * responses, lagging caches, and processes that end between any two writes. At every revision no more is disrupted than
 * the last count allowed, and no count includes an evicted pod as healthy; without faults the budget converges to its
 * model, and nothing is written any more.
 */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as DeploymentController from "../../../src/controllers/Deployment.ts"
import * as Disruption from "../../../src/controllers/Disruption.ts"
import * as ReplicaSetController from "../../../src/controllers/ReplicaSet.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as PodState from "../../../src/kube/pod.ts"
import type * as Resource from "../../../src/kube/Resource.ts"
import { Deployment, Pod, PodDisruptionBudget } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import type { Fault, Rule } from "../../../src/apiserver/faults.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import type { Request } from "../../../src/layers/Transport.ts"
import { recordWrites, withoutFaults, type Write } from "../../sequences/log.ts"
import { leaderLost } from "../../support/cluster.ts"
import { checkSequences, int, oneOf, type ValueOf } from "../../support/property.ts"
import { runs, seed } from "../../support/runs.ts"

const step = Arbitrary.all({
  what: oneOf("evict", "evict", "evict", "kill", "unready", "ready", "scale", "budget", "budget", "roll", "wait"),
  which: int(0, 5),
  fault: oneOf("none", "conflict", "refusal", "refusal", "lost", "crash"),
  times: oneOf(1, 1, 2, 3),
  seconds: oneOf(0, 0, 1, 5, 40, 130)
})

/**
 * After how many events the first watches of the controllers and of the nodes stop delivering events; 0 if they never stop.
 */
const histories = Arbitrary.all({
  steps: Arbitrary.array(step, { minLength: 2, maxLength: 6 }),
  pods: oneOf(0, 16, 16, 18, 20),
  budgets: oneOf(0, 0, 2, 3, 4)
})

type History = ValueOf<typeof histories>
type Step = ValueOf<typeof step>

const specs = [
  { minAvailable: 2 },
  { minAvailable: "50%" },
  { maxUnavailable: 1 },
  { maxUnavailable: "34%" },
  { minAvailable: 0 },
  { maxUnavailable: 0 }
] as const

const namespace = "default"
const labels = { app: "web" }

const writes: Partial<Record<Step["fault"], Fault>> = {
  conflict: { _tag: "Conflict" },
  refusal: { _tag: "Status", code: 403 },
  lost: { _tag: "DropAnswer" }
}

const isOurs = ({ context: { verb }, path }: Request): boolean =>
  verb === "update" && path.endsWith("/poddisruptionbudgets/web/status")

const rulesOf = ({ fault, times }: Step): ReadonlyArray<Rule> => {
  const found = writes[fault]
  return found === undefined ? [] : [{ match: isOurs, fault: found, times }]
}

const stopAfter = (resource: string, after: number): ReadonlyArray<Rule> =>
  after === 0
    ? []
    : [{ match: { verb: "watch", resource }, fault: { _tag: "CutWatch", after, how: "silence" }, times: 2 }]

type Entry = Write<"Pod", Pod> | Write<"PodDisruptionBudget", PodDisruptionBudget>

const uidOf = ({ metadata }: KubeObject): string => metadata.uid ?? ""

const isHealthy = (pod: Pod): boolean => pod.metadata.deletionTimestamp === undefined && PodState.isReady(pod)

/** Longer than any cache lags in this test. */
const memoryMillis = 180_000

/** The first violation in the log; undefined if there is none. */
const violationIn = (log: ReadonlyArray<Entry>): string | undefined => {
  /** When a pod was last observed as healthy, by uid. */
  const healthy = new Map<string, number>()
  const names = new Map<string, string>()
  const current = new Map<string, Pod>()
  const evicted = new Set<string>()
  let before: PodDisruptionBudget | undefined
  let left = 0
  for (const entry of log) {
    const { at, revision, type } = entry
    if (entry.kind === "Pod") {
      const pod = entry.object
      const uid = uidOf(pod)
      const known = current.get(uid)
      if (known !== undefined && isHealthy(known)) healthy.set(uid, at)
      if (type === "DELETED") current.delete(uid)
      else current.set(uid, pod)
      names.set(pod.metadata.name, uid)
      continue
    }
    if (type === "DELETED") continue
    const budget = entry.object
    const [was, is] = [before?.status, budget.status]
    before = budget
    if (JSON.stringify(was) === JSON.stringify(is) || is === undefined) continue
    const granted = Object.keys(is.disruptedPods ?? {}).find((name) => was?.disruptedPods?.[name] === undefined)
    if (granted !== undefined) {
      if (is.observedGeneration !== budget.metadata.generation)
        return `${revision}: allowed before the generation was observed`
      if (left-- <= 0) return `${revision}: the eviction of ${granted} is one too many`
      evicted.add(names.get(granted) ?? "")
      continue
    }
    if (is.conditions?.some(({ reason }) => reason === "SyncFailed") === true) {
      // The count failed: the former counts stay, and nothing is allowed.
      if (is.disruptionsAllowed !== 0) return `${revision}: allows ${is.disruptionsAllowed} without a count`
      left = 0
      continue
    }
    const present = [...current.values()].filter(isHealthy).map(uidOf)
    const recent = [...healthy].filter(([, last]) => at - last < memoryMillis).map(([uid]) => uid)
    const most = [...new Set([...present, ...recent])].filter((uid) => !evicted.has(uid)).length
    if ((is.currentHealthy ?? 0) > most)
      return `${revision}: counts ${is.currentHealthy} healthy pods of at most ${most}`
    left = Math.max(0, (is.currentHealthy ?? 0) - (is.desiredHealthy ?? 0))
    if ((is.disruptionsAllowed ?? 0) > left) return `${revision}: allows ${is.disruptionsAllowed} of ${left}`
    left = is.disruptionsAllowed ?? 0
  }
  return undefined
}

const percent = (value: number | string, of: number): number =>
  typeof value === "number" ? value : Math.ceil((Number.parseInt(value, 10) * of) / 100)

/** The expected final status. */
const model = (spec: (typeof specs)[number], replicas: number, pods: ReadonlyArray<Pod>) => {
  const healthy = pods.filter(isHealthy).length
  const isCount = "minAvailable" in spec && typeof spec.minAvailable === "number"
  // Only pods with a controller have a size.
  const scale = pods.length === 0 ? 0 : replicas
  const expected = isCount ? pods.length : scale
  const desired =
    "minAvailable" in spec
      ? percent(spec.minAvailable, expected)
      : Math.max(0, expected - percent(spec.maxUnavailable, expected))
  const allowed = expected <= 0 ? 0 : Math.max(0, healthy - desired)
  return [healthy, desired, expected, allowed].join()
}

const run = (history: History) =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const server = yield* ApiServer
    const client = yield* withoutFaults
    const recorded = yield* recordWrites(client, [Pod, PodDisruptionBudget])
    const logged = () => recorded() as ReadonlyArray<unknown> as ReadonlyArray<Entry>
    let image = 1
    let replicas = 4
    let spec: (typeof specs)[number] = specs[0]
    const template = (tag: number) => ({
      metadata: { labels },
      spec: { containers: [{ name: "main", image: `web:${tag}` }], terminationGracePeriodSeconds: 5 }
    })
    yield* server.setFaults([
      ...stopAfter("pods", history.pods),
      ...stopAfter("poddisruptionbudgets.policy", history.budgets)
    ])
    for (const one of [DeploymentController.make(), ReplicaSetController.make()]) yield* cluster.run(one)
    const start = cluster.run(Disruption.make())
    let loop = yield* start
    yield* client.create(Deployment, {
      metadata: { name: "web", namespace },
      spec: { replicas, selector: { matchLabels: labels }, template: template(image) }
    })
    yield* client.create(PodDisruptionBudget, {
      metadata: { name: "web", namespace },
      spec: { ...spec, selector: { matchLabels: labels } }
    })
    yield* cluster.advance("30 seconds")

    const ours = Effect.map(cluster.snapshot(Pod), (pods) =>
      pods.filter(({ metadata }) => metadata.labels?.["app"] === "web")
    )
    const change = (resource: Resource.Any, body: object) =>
      client.patch(resource, { namespace, name: "web" }, Patch.merge(body))
    const onPod = (
      which: number,
      act: (target: { readonly namespace: string; readonly name: string }) => Effect.Effect<unknown, unknown>
    ) =>
      Effect.flatMap(ours, (pods) => {
        const found = pods[which % Math.max(1, pods.length)]
        return found === undefined ? Effect.void : Effect.ignore(act({ namespace, name: found.metadata.name }))
      })
    const evict = (which: number) =>
      onPod(which, ({ name }) => {
        const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`
        const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } }
        // The eviction is not retried.
        return Effect.timeout(client.raw({ method: "POST", path, body, context: { verb: "create", path } }), 0)
      })
    const act = ({ times, what, which }: Step) => {
      switch (what) {
        case "evict":
          return Effect.forEach(
            Array.from({ length: times }, (_, i) => which + i),
            evict
          )
        case "kill":
          return onPod(which, (target) => client.delete(Pod, target, { gracePeriodSeconds: 0 }))
        case "unready":
        case "ready": {
          const annotations = { "simulation/unready": what === "unready" ? "main" : null }
          return onPod(which, (target) => client.patch(Pod, target, Patch.merge({ metadata: { annotations } })))
        }
        case "scale":
          replicas = which
          return change(Deployment, { spec: { replicas } })
        case "roll":
          return change(Deployment, { spec: { template: template(++image) } })
        case "budget":
          spec = specs[which] ?? spec
          return change(PodDisruptionBudget, { spec: { minAvailable: null, maxUnavailable: null, ...spec } })
        case "wait":
          return Effect.void
      }
    }
    for (const one of history.steps) {
      yield* server.setFaults(rulesOf(one))
      yield* act(one)
      if (one.fault === "crash") {
        yield* loop.stop(leaderLost)
        loop = yield* start
      }
      yield* cluster.advance(`${one.seconds} seconds`)
    }
    yield* server.setFaults([])
    for (const { metadata } of yield* ours) {
      const annotations = { "simulation/unready": null }
      yield* Effect.ignore(client.patch(Pod, metadata as never, Patch.merge({ metadata: { annotations } })))
    }
    // Watches without events are restarted, and the last entry of disruptedPods expires.
    yield* cluster.advance("18 minutes")
    const violation = violationIn(logged())
    if (violation !== undefined) return violation
    const [budget] = yield* cluster.snapshot(PodDisruptionBudget)
    const { currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods } = budget?.status ?? {}
    const actual = [currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed].join()
    const wanted = model(spec, replicas, yield* ours)
    if (actual !== wanted) return `the final status is ${actual} instead of ${wanted}`
    const count = logged().length
    yield* cluster.advance("5 minutes")
    return logged()
      .slice(count)
      .some(({ kind }) => kind === "PodDisruptionBudget")
      ? "writes continue although nothing changes"
      : undefined
  }).pipe(Effect.scoped, Effect.provide(Layer.fresh(ClusterTest.layer({ nodes: 2 }))))

describe("a budget under fault injection", () => {
  checkSequences(
    "is never overdrawn, counts no evicted pod as healthy, and converges",
    histories,
    (history) => Effect.map(run(history), (violation) => (violation === undefined ? [] : [violation])),
    { runs: runs(15), seed, timeout: 3_600_000 }
  )
})

/**
 * Rolling upgrades, evictions, failing pods and changing budgets under fault injection: conflicts, refusals, lost
 * responses, lagging caches, and processes that end between any two writes. At every revision no more is disrupted than
 * the last count allowed, and no count includes an evicted pod as healthy; without faults the budget converges to its
 * model, and nothing is written any more.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
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
import type { KubeClient } from "../../../src/layers/KubeClient.ts"
import { LeaderLost } from "../../../src/layers/Leadership.ts"
import type { Request } from "../../../src/layers/Transport.ts"
import { undisturbed } from "../../sequences/log.ts"
import { int, oneOf, type ValueOf } from "../../support/property.ts"
import { runs, seed } from "../../support/runs.ts"

const step = Arbitrary.all({
  what: oneOf("evict", "evict", "evict", "kill", "unready", "ready", "scale", "budget", "budget", "roll", "wait"),
  which: int(0, 5),
  fault: oneOf("none", "conflict", "refusal", "refusal", "lost", "crash"),
  times: oneOf(1, 1, 2, 3),
  seconds: oneOf(0, 0, 1, 5, 40, 130)
})

/**
 * After how many events the first watches, of the controllers and of the nodes, deliver nothing more; 0 if they go on.
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

const silent = (resource: string, after: number): ReadonlyArray<Rule> =>
  after === 0
    ? []
    : [{ match: { verb: "watch", resource }, fault: { _tag: "CutWatch", after, how: "silence" }, times: 2 }]

interface Entry {
  readonly type: "ADDED" | "MODIFIED" | "DELETED"
  readonly at: number
  readonly revision: number
  readonly pod?: Pod
  readonly budget?: PodDisruptionBudget
}

/** Every state of pods and budgets, in the server's order. */
const record = Effect.fnUntraced(function* (client: KubeClient["Service"]) {
  const clock = yield* Clock.Clock
  const resourceVersion = String(yield* (yield* ApiServer).revision)
  const entries: Array<Entry> = []
  const follow = <A extends KubeObject>(resource: Resource.Resource<A>, as: (object: A) => Partial<Entry>) =>
    client.watch(resource, { resourceVersion, timeoutSeconds: 10_000_000 }).pipe(
      Stream.runForEachArray((events) =>
        Effect.sync(() => {
          for (const { object, type } of events) {
            const revision = Number((object as KubeObject).metadata.resourceVersion)
            entries.push({ type, revision, at: clock.currentTimeMillisUnsafe(), ...as(object as A) } as Entry)
          }
        })
      ),
      Effect.forkScoped({ startImmediately: true })
    )
  yield* follow(Pod, (pod) => ({ pod }))
  yield* follow(PodDisruptionBudget, (budget) => ({ budget }))
  return () => entries.toSorted((a, b) => a.revision - b.revision)
})

const uidOf = ({ metadata }: KubeObject): string => metadata.uid ?? ""

const isHealthy = (pod: Pod): boolean => pod.metadata.deletionTimestamp === undefined && PodState.isReady(pod)

/** Longer than any cache here lags. */
const memory = 180_000

/** The first violation in the log; undefined if there is none. */
const judge = (log: ReadonlyArray<Entry>): string | undefined => {
  /** When a pod was last observed as healthy, by uid. */
  const healthy = new Map<string, number>()
  const names = new Map<string, string>()
  const current = new Map<string, Pod>()
  const letGo = new Set<string>()
  let before: PodDisruptionBudget | undefined
  let left = 0
  for (const { at, budget, pod, revision, type } of log) {
    if (pod !== undefined) {
      const uid = uidOf(pod)
      const known = current.get(uid)
      if (known !== undefined && isHealthy(known)) healthy.set(uid, at)
      if (type === "DELETED") current.delete(uid)
      else current.set(uid, pod)
      names.set(pod.metadata.name, uid)
      continue
    }
    if (budget === undefined || type === "DELETED") continue
    const [was, is] = [before?.status, budget.status]
    before = budget
    if (JSON.stringify(was) === JSON.stringify(is) || is === undefined) continue
    const granted = Object.keys(is.disruptedPods ?? {}).find((name) => was?.disruptedPods?.[name] === undefined)
    if (granted !== undefined) {
      if (is.observedGeneration !== budget.metadata.generation) return `${revision}: let go before it was looked at`
      if (left-- <= 0) return `${revision}: ${granted} is one too many`
      letGo.add(names.get(granted) ?? "")
      continue
    }
    if (is.conditions?.some(({ reason }) => reason === "SyncFailed") === true) {
      // The count failed: the former counts stay, and nothing is allowed.
      if (is.disruptionsAllowed !== 0) return `${revision}: allows ${is.disruptionsAllowed} without a count`
      left = 0
      continue
    }
    const seen = [...current.values()].filter(isHealthy).map(uidOf)
    const recent = [...healthy].filter(([, last]) => at - last < memory).map(([uid]) => uid)
    const most = [...new Set([...seen, ...recent])].filter((uid) => !letGo.has(uid)).length
    if ((is.currentHealthy ?? 0) > most) return `${revision}: ${is.currentHealthy} are healthy, of ${most} at most`
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

const play = (history: History) =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const server = yield* ApiServer
    const client = yield* undisturbed
    const logged = yield* record(client)
    let image = 1
    let replicas = 4
    let spec: (typeof specs)[number] = specs[0]
    const template = (tag: number) => ({
      metadata: { labels },
      spec: { containers: [{ name: "main", image: `web:${tag}` }], terminationGracePeriodSeconds: 5 }
    })
    yield* server.setFaults([
      ...silent("pods", history.pods),
      ...silent("poddisruptionbudgets.policy", history.budgets)
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
        // No caller waits for a budget here.
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
        yield* loop.stop(Exit.fail(new LeaderLost({ reason: "Stolen", message: "another one leads" })))
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
    const wrong = judge(logged())
    if (wrong !== undefined) return wrong
    const [budget] = yield* cluster.snapshot(PodDisruptionBudget)
    const { currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods } = budget?.status ?? {}
    const said = [currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed].join()
    const wanted = model(spec, replicas, yield* ours)
    if (said !== wanted) return `says ${said} in the end, not ${wanted}`
    const count = logged().length
    yield* cluster.advance("5 minutes")
    return logged()
      .slice(count)
      .some(({ budget: one }) => one !== undefined)
      ? "it goes on writing"
      : undefined
  }).pipe(Effect.scoped, Effect.provide(Layer.fresh(ClusterTest.layer({ nodes: 2 }))))

describe("a budget under fault injection", () => {
  it.effect(
    "is never overdrawn, counts no evicted pod as healthy, and converges",
    () =>
      Effect.map(
        Arbitrary.checkEffect(
          histories,
          (history) =>
            Effect.gen(function* () {
              const wrong = yield* play(history)
              if (wrong !== undefined) return yield* Effect.fail(wrong)
              return true
            }).pipe(Effect.provide(Layer.fresh(TestClock.layer()))),
          { runs: runs(15), seed }
        ),
        (result) => assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
      ),
    3_600_000
  )
})

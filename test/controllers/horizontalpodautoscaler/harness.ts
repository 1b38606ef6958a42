/**
 * The harness of the autoscaler tests: a target with ready pods, their metrics, and the results of a reconciliation.
 * Only the test creates pods.
 */
import { assert } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Autoscalers from "../../../src/controllers/HorizontalPodAutoscaler.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { Deployment, Event, HorizontalPodAutoscaler, Pod } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import * as ClusterTest from "../../../src/testing/ClusterTest.ts"
import { type Memory, MetricsApi, type PodMetrics } from "../../../src/layers/MetricsApi.ts"
import { Recorder } from "../../../src/layers/Recorder.ts"
import { advance, settle, withClient } from "../../support/cluster.ts"

export const namespace = "default"
export const labels = { app: "web" }

/** May be changed at any time. */
export interface Measured extends Memory {
  /** Quantities of CPU and memory by pod; undefined without a metrics server. */
  usage: Map<string, Readonly<Record<string, string>>> | undefined
  /** The measured container, by pod. Default: `main`. */
  containers?: ReadonlyMap<string, string>
  custom?: Memory["custom"]
  external?: Memory["external"]
}

/** Long before the test, so that no pod counts as starting. */
export const longAgo = Time.format(-3_600_000)

export { advance }

/** One more reconciliation of all autoscalers. */
export const reconcileOnce = advance("15 seconds")

const pod = (name: string, request: string) => ({
  metadata: { name, namespace, labels },
  spec: {
    containers: [{ name: "main", image: "web:1", resources: { requests: { cpu: request, memory: "100Mi" } } }]
  }
})

export const condition = (status: string, lastTransitionTime = longAgo) => ({
  type: "Ready",
  status,
  lastTransitionTime
})

export const running = { phase: "Running", startTime: longAgo, conditions: [condition("True")] }

/** A pod of the target with this status. */
export const addPod = (name: string, status: object = running, request = "1") =>
  withClient((client) =>
    Effect.andThen(client.create(Pod, pod(name, request)), () =>
      client.patch(Pod, { namespace, name }, Patch.merge({ status }), { subresource: "status" })
    )
  )

const removePod = (name: string) =>
  withClient((client) => client.delete(Pod, { namespace, name }, { gracePeriodSeconds: 0 }))

const podNames = withClient((client) =>
  Effect.map(client.list(Pod, { namespace }), ({ items }) => items.map(({ metadata }) => metadata.name).sort())
)

/** Makes the pods `web-0` and on, this many, ready, and sets the target's status. */
export const pods = (count: number, request = "1") =>
  Effect.gen(function* () {
    const present = new Set(yield* podNames)
    const wanted = Array.from({ length: count }, (_, i) => `web-${i}`)
    for (const name of wanted) if (!present.has(name)) yield* addPod(name, running, request)
    for (const name of present) if (!wanted.includes(name)) yield* removePod(name)
    yield* observed(count)
    yield* settle
  })

/** Sets the replicas in the target's status. */
export const observed = (replicas: number) =>
  withClient((client) =>
    client.patch(Deployment, { namespace, name: "web" }, Patch.merge({ status: { replicas } }), {
      subresource: "status"
    })
  )

/** The target, with all its pods. */
export const target = (replicas: number, request = "1") =>
  Effect.andThen(
    withClient((client) =>
      client.create(Deployment, {
        metadata: { name: "web", namespace },
        spec: {
          replicas,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: pod("", request).spec }
        }
      })
    ),
    () => pods(replicas, request)
  )

export const size = withClient((client) =>
  Effect.map(client.get(Deployment, { namespace, name: "web" }), ({ spec }) => spec?.replicas)
)

export const resize = (replicas: number) =>
  withClient((client) => client.patch(Deployment, { namespace, name: "web" }, Patch.merge({ spec: { replicas } })))

/** Creates or deletes pods until they match the target's size. */
export const follow = Effect.flatMap(size, (replicas) => pods(replicas ?? 0))

export const cpu = (averageUtilization: number) => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization } }
})

export const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" }

/** An autoscaler of the target for half of the CPU, between 1 and 10 by default. */
export const autoscaler = (spec: object = {}, name = "web") =>
  Effect.tap(
    withClient((client) =>
      client.create(HorizontalPodAutoscaler, {
        metadata: { name, namespace },
        spec: { scaleTargetRef, maxReplicas: 10, metrics: [cpu(50)], ...spec }
      })
    ),
    () => settle
  )

export const get = (name = "web") => withClient((client) => client.get(HorizontalPodAutoscaler, { namespace, name }))

export const change = (spec: object, name = "web") =>
  withClient((client) => client.patch(HorizontalPodAutoscaler, { namespace, name }, Patch.merge({ spec })))

/** `AbleToScale True ReadyForNewScale: …`, in order. */
export const conditions = Effect.map(get(), ({ status }) =>
  (status?.conditions ?? []).map(({ message, reason, status, type }) => `${type} ${status} ${reason}: ${message}`)
)

/** The same without the messages. */
export const reasons = Effect.map(get(), ({ status }) =>
  (status?.conditions ?? []).map(({ reason, status, type }) => `${type} ${status} ${reason}`)
)

/** `Normal SuccessfulRescale: …`, in the order of their first occurrence. */
export const events = Effect.gen(function* () {
  yield* (yield* Recorder).drained
  const all = yield* withClient((client) => client.list(Event, { namespace }))
  return all.items
    .filter(({ source }) => source?.component === "horizontal-pod-autoscaler")
    .map(({ message, metadata, reason, type }) => ({ at: metadata.name, text: `${type} ${reason}: ${message}` }))
    .sort((a, b) => (a.at < b.at ? -1 : 1))
    .map(({ text }) => text)
})

/** Sets the usage of every pod. */
export const uses = (measured: Measured, usage: Readonly<Record<string, string>>) =>
  Effect.map(podNames, (names) => {
    measured.usage = new Map(names.map((name) => [name, usage]))
  })

/** A target of this size, its autoscaler, and the CPU that each of its pods uses. */
export const autoscaled = Effect.fnUntraced(function* (measured: Measured, replicas: number, usedCpu: string) {
  yield* target(replicas)
  yield* autoscaler()
  yield* uses(measured, { cpu: usedCpu })
})

const memoryOf = (measured: Measured, now: () => number): Memory => ({
  pods: () =>
    measured.usage === undefined
      ? undefined
      : [...measured.usage].map(([name, usage]): PodMetrics => ({
          metadata: { name, namespace },
          timestamp: Time.format(now()),
          window: "15s",
          containers: [{ name: measured.containers?.get(name) ?? "main", usage }]
        })),
  custom: (query) => measured.custom?.(query),
  external: (query) => measured.external?.(query)
})

export interface Options extends ClusterTest.Options {
  readonly loop?: Autoscalers.Options
  /** False: the test starts the controller itself. */
  readonly isStarted?: boolean
}

/** Provides the test's metrics to controllers that it starts. */
export const metricsLayer = (measured: Measured) =>
  Layer.unwrap(
    Effect.map(Clock.Clock, (clock) =>
      MetricsApi.layerMemory(memoryOf(measured, () => clock.currentTimeMillisUnsafe()))
    )
  )

/** Starts a controller. */
export const start = (measured: Measured, { loop }: Options = {}) =>
  Effect.flatMap(ClusterTest.ClusterTest, (cluster) =>
    Effect.provide(cluster.run(Autoscalers.make(loop)), metricsLayer(measured))
  )

/** Runs the controller in a cluster without nodes. */
export const scenario = <A, E>(
  test: (measured: Measured) => Effect.Effect<A, E, ClusterTest.Provides | Scope.Scope>,
  options: Options = {}
) =>
  Effect.suspend(() => {
    const measured: Measured = { usage: new Map() }
    return Effect.andThen(options.isStarted === false ? Effect.void : start(measured, options), () => test(measured))
  }).pipe(Effect.scoped, Effect.provide(ClusterTest.ClusterTest.layer(options)))

/** Reconciles once, and asserts the size. */
export const becomes = (replicas: number) =>
  Effect.gen(function* () {
    yield* reconcileOnce
    assert.strictEqual(yield* size, replicas)
  })

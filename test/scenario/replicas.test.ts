/**
 * replicaset and replicationcontroller on a real API server, with its own patches, preconditions, quotas and grace periods. The test does what the
 * kubelet would do. In real time, waiting for watch events. Needs `KUBEBUILDER_ASSETS`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ReplicaOwner } from "../../src/controllers/shared/workload/replicas.ts"
import type { KubeObject } from "../../src/kube/Meta.ts"
import * as Owner from "../../src/kube/Owner.ts"
import * as Patch from "../../src/kube/Patch.ts"
import * as PodFacts from "../../src/kube/pod.ts"
import * as Resource from "../../src/kube/Resource.ts"
import { Event, Namespace, Pod } from "../../src/kube/resources.ts"
import * as Time from "../../src/kube/time.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Supervisor } from "../../src/layers/Supervisor.ts"
import { type Kind, kinds, labels } from "../controllers/shared/workload/harness.ts"
import * as envtest from "../support/envtest.ts"
import * as RealServer from "../support/realServer.ts"

const isMissing = envtest.isMissing("replicas on a real API server")

const [first, second] = kinds.map(({ controller }) => controller.layer)

const cluster = Layer.mergeAll(first ?? Layer.empty, second ?? Layer.empty).pipe(
  Layer.provideMerge(RealServer.services())
)

const ResourceQuota = Resource.make<KubeObject>()({
  group: "",
  version: "v1",
  kind: "ResourceQuota",
  plural: "resourcequotas"
})

/** The first watched state of an object of that kind for which the predicate holds. */
const until = <A extends KubeObject>(
  resource: Resource.Resource<A>,
  namespace: string,
  wanted: (object: A) => boolean
) =>
  Effect.flatMap(KubeClient, (client) =>
    client.watch(resource, { namespace }).pipe(
      Stream.filter(({ object, type }) => type !== "DELETED" && wanted(object as A)),
      Stream.map(({ object }) => object as A),
      Stream.runHead,
      Effect.map(Option.getOrThrow)
    )
  )

const patch = (resource: Resource.Any, namespace: string, name: string, body: object) =>
  Effect.flatMap(KubeClient, (client) => client.patch(resource, { namespace, name }, Patch.merge(body)))

const scale = (kind: Kind, namespace: string, replicas: number) =>
  patch(kind.resource, namespace, "web", { spec: { replicas } })

const pods = (namespace: string) =>
  Effect.flatMap(KubeClient, (client) => Effect.map(client.list(Pod, { namespace }), ({ items }) => items))

/** The owner in a namespace of its own; its pods name a node that does not exist, so that they are not deleted at once. */
const owner = (kind: Kind, namespace: string, spec: object = {}) =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "x" }], nodeName: "nowhere" } }
    const object = {
      metadata: { namespace, name: "web" },
      spec: { replicas: 3, selector: kind.selector(labels), template, ...spec }
    }
    return yield* client.create(kind.resource, object)
  })

const namespaceOf = (kind: Kind, what: string) =>
  Effect.gen(function* () {
    const namespace = `${kind.name.toLowerCase()}-${what}`
    yield* (yield* KubeClient).create(Namespace, { metadata: { name: namespace } })
    return namespace
  })

const settled =
  (replicas: number) =>
  ({ metadata, status }: ReplicaOwner): boolean =>
    status?.replicas === replicas && status.observedGeneration === metadata.generation

const makes = Effect.fnUntraced(function* (kind: Kind) {
  const namespace = yield* namespaceOf(kind, "makes")
  const created = yield* owner(kind, namespace)
  yield* until(kind.resource, namespace, settled(3))
  const all = yield* pods(namespace)
  assert.strictEqual(all.length, 3)
  for (const pod of all) assert.deepStrictEqual(Owner.controllerOf(pod), Owner.reference(kind.resource, created))
  const told = new Set<string>()
  yield* until(Event, namespace, (event) => {
    if (event.reason === "SuccessfulCreate" && event.source?.component === kind.component)
      told.add(String(event.message))
    return told.size === 3
  })
  assert.deepStrictEqual([...told].sort(), all.map(({ metadata }) => `Created pod: ${metadata.name}`).sort())
  yield* patch(Pod, namespace, String(all[1]?.metadata.name), {
    metadata: { annotations: { "controller.kubernetes.io/pod-deletion-cost": "-5" } }
  })
  yield* scale(kind, namespace, 2)
  yield* until(kind.resource, namespace, settled(2))
  const going = (yield* pods(namespace)).filter(PodFacts.isTerminating)
  assert.deepStrictEqual(
    going.map(({ metadata }) => metadata.name),
    [all[1]?.metadata.name]
  )
  assert.strictEqual(going[0]?.metadata.deletionGracePeriodSeconds, 30)
})

const adopts = Effect.fnUntraced(function* (kind: Kind) {
  const client = yield* KubeClient
  const namespace = yield* namespaceOf(kind, "adopts")
  const spec = { containers: [{ name: "main", image: "x" }] }
  yield* client.create(Pod, { metadata: { namespace, name: "orphan", labels }, spec })
  // The owner may reach the controller first, as in the original, which then creates two pods and deletes one.
  yield* RealServer.until(Pod, "orphan", (pod) => pod?.metadata.namespace === namespace)
  const { metadata } = yield* owner(kind, namespace, { replicas: 2 })
  yield* until(Pod, namespace, (pod) => pod.metadata.name === "orphan" && Owner.controlledBy(pod, metadata.uid))
  yield* until(kind.resource, namespace, settled(2))
  const before = (yield* pods(namespace)).map(({ metadata }) => metadata.name)
  assert.strictEqual(before.length, 2)
  assert.include(before, "orphan")

  yield* patch(Pod, namespace, "orphan", { metadata: { labels: { app: "spare" } } })
  yield* until(Pod, namespace, (pod) => pod.metadata.name === "orphan" && Owner.controllerOf(pod) === undefined)
  yield* until(Pod, namespace, ({ metadata }) => !before.includes(metadata.name))
  yield* until(kind.resource, namespace, settled(2))
  assert.strictEqual((yield* pods(namespace)).length, 3)
})

const replaces = Effect.fnUntraced(function* (kind: Kind) {
  const client = yield* KubeClient
  const namespace = yield* namespaceOf(kind, "replaces")
  yield* owner(kind, namespace, { replicas: 2 })
  yield* until(kind.resource, namespace, settled(2))
  const [victim] = yield* pods(namespace)
  const before = (yield* pods(namespace)).map(({ metadata }) => metadata.name)
  const target = { namespace, name: String(victim?.metadata.name) }
  yield* client.delete(Pod, target)
  yield* until(Pod, namespace, ({ metadata }) => !before.includes(metadata.name))
  yield* client.delete(Pod, target, { gracePeriodSeconds: 0 })
  yield* until(kind.resource, namespace, settled(2))
  assert.strictEqual((yield* pods(namespace)).length, 2)
})

const waits = Effect.fnUntraced(function* (kind: Kind) {
  const client = yield* KubeClient
  const namespace = yield* namespaceOf(kind, "waits")
  yield* owner(kind, namespace, { replicas: 1, minReadySeconds: 6 })
  yield* until(kind.resource, namespace, settled(1))
  const [pod] = yield* pods(namespace)
  const lastTransitionTime = Time.format(yield* Clock.currentTimeMillis)
  yield* client.patch(
    Pod,
    { namespace, name: String(pod?.metadata.name) },
    Patch.strategic({
      status: { phase: "Running", conditions: [{ type: "Ready", status: "True", lastTransitionTime }] }
    }),
    { subresource: "status" }
  )
  const ready = yield* until(kind.resource, namespace, ({ status }) => status?.readyReplicas === 1)
  assert.isUndefined(ready.status?.availableReplicas)
  yield* until(kind.resource, namespace, ({ status }) => status?.availableReplicas === 1)
})

/** The test also does what the quota controller would do: the server reads the allowed amounts from the quota's status. */
const isRefused = Effect.fnUntraced(function* (kind: Kind) {
  const client = yield* KubeClient
  const namespace = yield* namespaceOf(kind, "quota")
  const allow = (hard: string, used: string) =>
    client.patch(
      ResourceQuota,
      { namespace, name: "small" },
      Patch.merge({ status: { hard: { pods: hard }, used: { pods: used } } }),
      { subresource: "status" }
    )
  const quota = { metadata: { namespace, name: "small" }, spec: { hard: { pods: "1" } } }
  yield* client.create(ResourceQuota, quota)
  yield* allow("1", "0")
  yield* owner(kind, namespace)
  const failing = yield* until(kind.resource, namespace, ({ status }) => (status?.conditions?.length ?? 0) > 0)
  const [condition] = failing.status?.conditions ?? []
  assert.deepInclude(condition, { type: "ReplicaFailure", status: "True", reason: "FailedCreate" })
  assert.match(
    String(condition?.message),
    /^pods "web-.*" is forbidden: exceeded quota: small, requested: pods=1, used: pods=1, limited: pods=1$/
  )
  yield* until(Event, namespace, ({ message }) => message === `Error creating: ${condition?.message}`)
  yield* allow("10", "1")
  yield* until(kind.resource, namespace, (found) => settled(3)(found) && found.status?.conditions === undefined)
})

const endsWithItsNamespace = Effect.fnUntraced(function* (kind: Kind) {
  const client = yield* KubeClient
  const namespace = yield* namespaceOf(kind, "ends")
  yield* owner(kind, namespace, { replicas: 0 })
  yield* until(kind.resource, namespace, settled(0))
  // No namespace controller runs here, so the namespace stays.
  yield* client.delete(Namespace, { name: namespace })
  yield* scale(kind, namespace, 3)
  const { status } = yield* until(kind.resource, namespace, settled(0))
  assert.isUndefined(status?.conditions)
  assert.deepStrictEqual((yield* client.list(Event, { namespace })).items, [])
})

const cases = [makes, adopts, replaces, waits, isRefused, endsWithItsNamespace]

describe.skipIf(isMissing)("replicas on a real API server", () => {
  it.live("are created, adopted, released, replaced, ranked, refused and counted as on the embedded server", () =>
    Effect.gen(function* () {
      const { failure } = yield* Supervisor
      const all = kinds.flatMap((kind) => cases.map((one) => one(kind)))
      yield* Effect.raceFirst(Effect.all(all, { concurrency: "unbounded", discard: true }), failure)
    }).pipe(Effect.provide(cluster))
  )
})

import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Namespaces from "../../src/controllers/Namespace.ts"
import { table } from "../support/controllers.ts"
import * as ApiError from "../../src/kube/ApiError.ts"
import type { KubeObject } from "../../src/kube/Meta.ts"
import * as Patch from "../../src/kube/Patch.ts"
import type * as Resource from "../../src/kube/Resource.ts"
import { ConfigMap, Deployment, Namespace, Pod, Secret, Service } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import * as Faults from "../../src/apiserver/faults.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import type * as Controller from "../../src/layers/Controller.ts"
import { Defaults } from "../../src/layers/controller/defaults.ts"
import { Discovery } from "../../src/layers/Discovery.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Nodes from "../../src/simulation/Nodes.ts"

const app = "app"

const container = { name: "main", image: "example.test/main:1" }

/** An object of each of some kinds in two namespaces; only one of them is deleted. */
const namespaces = ["app", "other"]
  .map(
    (namespace) => `
apiVersion: v1
kind: Namespace
metadata: { name: ${namespace} }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: settings, namespace: ${namespace} }
---
apiVersion: v1
kind: Secret
metadata: { name: key, namespace: ${namespace} }
---
apiVersion: v1
kind: Service
metadata: { name: web, namespace: ${namespace} }
spec: { ports: [{ port: 80 }] }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: ${namespace} }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: main, image: "example.test/main:1" }] }
---
apiVersion: v1
kind: Pod
metadata: { name: web, namespace: ${namespace} }
spec: { containers: [{ name: main, image: "example.test/main:1" }] }
`
  )
  .join("---\n")

const crowded = (pods: number) => [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: app } },
  ...Array.from({ length: pods }, (_, i) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `web-${i}`, namespace: app },
    spec: { containers: [container] }
  }))
]

const twoNamespaces = ClusterTest.layer({ objects: namespaces })

const crowdedNamespace = ClusterTest.layer({ objects: crowded(2200) })

const withNodes = ClusterTest.layer({ nodes: 2, objects: namespaces })

/** Runs the controller, then stops the node of a pod, which therefore can be deleted but not removed. */
const startWithStuckPod = Effect.gen(function* () {
  const cluster = yield* ClusterTest
  const nodes = yield* Nodes.Nodes
  yield* cluster.run(Namespaces.make())
  yield* cluster.advance("10 seconds")
  yield* nodes.stop("worker-1")
  return { restoreNode: nodes.start("worker-1") }
})

const kinds: ReadonlyArray<Resource.Any> = [ConfigMap, Secret, Service, Deployment, Pod]

/** The plurals of the kinds with objects in the namespace. */
const content = (namespace: string) =>
  Effect.flatMap(ClusterTest, (cluster) =>
    Effect.map(
      Effect.forEach(kinds, (kind) =>
        Effect.map(cluster.snapshot(kind), (all: ReadonlyArray<KubeObject>) =>
          all.some(({ metadata }) => metadata.namespace === namespace) ? [kind.plural] : []
        )
      ),
      (found) => found.flat()
    )
  )

const everything = kinds.map(({ plural }) => plural)

const remove = (name = app) => Effect.flatMap(KubeClient, (client) => client.delete(Namespace, { name }))

const get = (name = app) => Effect.flatMap(KubeClient, (client) => client.get(Namespace, { name }))

/** Whether the namespace exists. */
const isThere = (name = app) =>
  Effect.flatMap(ClusterTest, (cluster) =>
    Effect.map(cluster.snapshot(Namespace), (all) => all.some(({ metadata }) => metadata.name === name))
  )

/** `type reason: message` of the conditions that are True. */
const trueConditions = Effect.map(get(), ({ status }) =>
  (status?.conditions ?? [])
    .filter((one) => one.status === "True")
    .map(({ message, reason, type }) => `${type} ${reason}: ${message}`)
)

const podsLeft = (count: number) =>
  `NamespaceContentRemaining SomeResourcesRemain: Some resources are remaining: pods. has ${count} resource instances`

const setFinalizers = (...finalizers: ReadonlyArray<string>) =>
  Effect.flatMap(KubeClient, (client) =>
    client.patch(ConfigMap, { namespace: app, name: "settings" }, Patch.merge({ metadata: { finalizers } }))
  )

/** Records requests without a fault. */
const recordRequests = (requests: Array<string>): Faults.Rule => ({
  match: ({ context, path }) => {
    requests.push(`${context.verb} ${path}`)
    return false
  },
  fault: { _tag: "Drop" }
})

describe("namespace", () => {
  it.effect("deletes all content after five seconds and removes the finalizer; other namespaces are untouched", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(Namespaces.make())
      yield* cluster.advance("1 minute")
      assert.deepStrictEqual(yield* content(app), everything)
      yield* remove()
      yield* cluster.advance("4999 millis")
      assert.deepStrictEqual(yield* content(app), everything)
      yield* cluster.advance("1 millis")
      assert.deepStrictEqual([yield* content(app), yield* isThere()], [[], false])
      assert.deepStrictEqual([yield* content("other"), yield* isThere("other")], [everything, true])
    }).pipe(Effect.scoped, Effect.provide(twoNamespaces))
  )

  it.effect("finds namespaces that were terminating before it started", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* remove()
      yield* cluster.run(Namespaces.make())
      yield* cluster.advance("5 seconds")
      assert.isFalse(yield* isThere())
    }).pipe(Effect.scoped, Effect.provide(twoNamespaces))
  )

  it.effect("deletes pods before anything else, and reports how many are left", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const { restoreNode } = yield* startWithStuckPod
      yield* remove()
      yield* cluster.advance("5 seconds")
      const [pod] = yield* cluster.snapshot(Pod)
      assert.isDefined(pod?.metadata.deletionTimestamp)
      assert.deepStrictEqual(yield* content(app), everything)
      assert.deepStrictEqual(
        (yield* get()).status?.conditions?.map(({ reason, status }) => `${status} ${reason}`),
        [
          "False ResourcesDiscovered",
          "False ParsedGroupVersions",
          "False ContentDeleted",
          "True SomeResourcesRemain",
          "False ContentHasNoFinalizers"
        ]
      )
      assert.deepStrictEqual(yield* trueConditions, [podsLeft(1)])
      yield* restoreNode
      // The next sync is half of the grace period and a second later.
      yield* cluster.eventually(
        Effect.filterOrFail(isThere(), (exists) => !exists),
        { within: "21 seconds" }
      )
      assert.deepStrictEqual(yield* content(app), [])
    }).pipe(Effect.scoped, Effect.provide(withNodes))
  )

  it.effect(
    "retries after half the grace period and a second, and reports a failure when the grace period has passed",
    () =>
      Effect.gen(function* () {
        const cluster = yield* ClusterTest
        const { restoreNode } = yield* startWithStuckPod
        const requests: Array<string> = []
        const syncs = Effect.sync(() => requests.splice(0).filter((one) => one === "get /api/v1/namespaces/app").length)
        yield* (yield* ApiServer).setFaults([recordRequests(requests)])
        yield* remove()
        // The first sync is at 5 s; the conditions that it writes cause another at 10 s.
        yield* cluster.advance("10 seconds")
        assert.strictEqual(yield* syncs, 2)
        // The second sync replaces the retry of the first, which was due at 5 + 16 s. The next is due at 10 + 30/2 + 1 s.
        yield* cluster.advance("15999 millis")
        assert.strictEqual(yield* syncs, 0)
        yield* cluster.advance("1 millis")
        assert.strictEqual(yield* syncs, 1)
        assert.deepStrictEqual(yield* trueConditions, [podsLeft(1)])
        yield* cluster.advance("25 seconds")
        assert.deepStrictEqual(yield* trueConditions, [
          "NamespaceDeletionContentFailure ContentDeletionFailed: Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: app for gvr: /v1, Resource=pods",
          podsLeft(1)
        ])
        assert.deepStrictEqual(yield* content(app), everything)
        yield* restoreNode
        yield* cluster.eventually(
          Effect.filterOrFail(isThere(), (exists) => !exists),
          { within: "65 seconds" }
        )
      }).pipe(Effect.scoped, Effect.provide(withNodes))
  )

  it.effect("reports remaining finalizers, retries after eight seconds, and completes when they are removed", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(Namespaces.make())
      yield* setFinalizers("example.test/b", "example.test/a")
      yield* remove()
      yield* cluster.advance("5 seconds")
      assert.deepStrictEqual(yield* content(app), ["configmaps"])
      assert.deepStrictEqual(yield* trueConditions, [
        "NamespaceContentRemaining SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances",
        "NamespaceFinalizersRemaining SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.test/a in 1 resource instances, example.test/b in 1 resource instances"
      ])
      yield* cluster.advance("10 seconds")
      const before = yield* (yield* ApiServer).revision
      yield* cluster.advance("10 minutes")
      assert.strictEqual(yield* (yield* ApiServer).revision, before, "written although nothing changed")
      yield* setFinalizers()
      yield* cluster.advance("8 seconds")
      assert.isFalse(yield* isThere())
    }).pipe(Effect.scoped, Effect.provide(twoNamespaces))
  )

  it.effect("keeps the finalizers of others on the namespace, in its spec and in its metadata", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      const finalizers = ["example.test/z", "kubernetes", "example.test/a"]
      const made = yield* get()
      yield* client.update(Namespace, { ...made, spec: { finalizers } }, { subresource: "finalize" })
      yield* client.patch(Namespace, { name: app }, Patch.merge({ metadata: { finalizers: ["example.test/m"] } }))
      yield* cluster.run(Namespaces.make())
      yield* remove()
      yield* cluster.advance("5 seconds")
      assert.deepStrictEqual(yield* content(app), [])
      const left = yield* get()
      assert.deepStrictEqual(left.spec?.finalizers, ["example.test/a", "example.test/z"])
      assert.deepStrictEqual(left.metadata.finalizers, ["example.test/m"])
      yield* client.update(Namespace, { ...left, spec: { finalizers: [] } }, { subresource: "finalize" })
      yield* cluster.advance("1 minute")
      assert.isTrue(yield* isThere())
      yield* client.patch(Namespace, { name: app }, Patch.merge({ metadata: { finalizers: null } }))
      assert.isFalse(yield* isThere())
    }).pipe(Effect.scoped, Effect.provide(twoNamespaces))
  )

  it.effect("deletes a large namespace page by page, and reports every ten seconds what is left", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const server = yield* ApiServer
      const requests: Array<string> = []
      yield* server.setFaults([
        recordRequests(requests),
        { match: Faults.on({ verb: "deletecollection", resource: "pods" }), fault: { _tag: "Delay", millis: 6000 } }
      ])
      yield* cluster.run(Namespaces.make())
      yield* remove()
      const at = (seconds: number) => Effect.andThen(cluster.advance(`${seconds} seconds`), trueConditions)
      assert.deepStrictEqual(yield* at(5 + 6), [podsLeft(1700)])
      assert.deepStrictEqual(yield* at(6), [podsLeft(1700)])
      assert.deepStrictEqual(yield* at(6), [podsLeft(700)])
      yield* cluster.advance("12 seconds")
      assert.isFalse(yield* isThere())
      assert.strictEqual(requests.filter((one) => one === "deletecollection /api/v1/namespaces/app/pods").length, 5)
    }).pipe(Effect.scoped, Effect.provide(crowdedNamespace))
  )

  it.effect("has no time limit for a pass, even if other controllers have one", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const requests: Array<string> = []
      yield* (yield* ApiServer).setFaults([
        recordRequests(requests),
        { match: Faults.on({ verb: "deletecollection", resource: "pods" }), fault: { _tag: "Delay", millis: 60_000 } }
      ])
      const entry = table.find(({ controller }) => controller.name === "namespace")
      assert(entry !== undefined)
      yield* cluster
        .run(entry.controller as Controller.Descriptor<Discovery>)
        .pipe(Effect.provideService(Defaults, { timeout: "2 minutes" }))
      yield* remove()
      yield* cluster.advance("6 minutes")
      const pages = requests.filter((one) => one === "deletecollection /api/v1/namespaces/app/pods").length
      const isGone = !(yield* isThere())
      yield* cluster.advance("30 minutes")
      assert.deepStrictEqual([pages, isGone], [5, true])
    }).pipe(Effect.scoped, Effect.provide(crowdedNamespace))
  )

  it.effect("deletes objects one by one if the server cannot delete a collection", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* (yield* ApiServer).setFaults([
        { match: Faults.on({ verb: "deletecollection" }), fault: { _tag: "Status", code: 404 } }
      ])
      yield* cluster.run(Namespaces.make())
      yield* remove()
      yield* cluster.advance("5 seconds")
      assert.deepStrictEqual([yield* content(app), yield* isThere()], [[], false])
      assert.deepStrictEqual(yield* content("other"), everything)
    }).pipe(Effect.scoped, Effect.provide(twoNamespaces))
  )

  it.effect("deletes what it can, reports failures, and retries within a minute", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const server = yield* ApiServer
      yield* server.setFaults([
        {
          match: Faults.on({ verb: "deletecollection", resource: "secrets" }),
          fault: { _tag: "Status", code: 403, message: "secrets are sealed" }
        }
      ])
      yield* cluster.run(Namespaces.make())
      yield* remove()
      yield* cluster.advance("5 minutes")
      assert.deepStrictEqual(yield* content(app), ["secrets"])
      assert.deepStrictEqual(yield* trueConditions, [
        "NamespaceDeletionContentFailure ContentDeletionFailed: Failed to delete all resource types, 1 remaining: secrets are sealed"
      ])
      yield* server.setFaults([])
      yield* cluster.advance("1 minute")
      assert.isFalse(yield* isThere())
    }).pipe(Effect.scoped, Effect.provide(twoNamespaces))
  )

  it.effect("deletes nothing else while pods cannot be listed", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* (yield* ApiServer).setFaults([
        {
          match: Faults.on({ verb: "deletecollection", resource: "pods" }),
          fault: { _tag: "Status", code: 403 }
        }
      ])
      yield* cluster.run(Namespaces.make())
      yield* remove()
      yield* cluster.advance("5 minutes")
      assert.deepStrictEqual(yield* content(app), everything)
    }).pipe(Effect.scoped, Effect.provide(twoNamespaces))
  )

  it.effect("deletes what it can when discovery fails for some groups, and keeps the finalizer", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const discovery = yield* Discovery
      const error = (detail: string) =>
        new ApiError.ApiError({
          reason: { _tag: "ServerError", retryAfter: undefined },
          context: { verb: "discover", path: "/apis" },
          detail
        })
      let failed = [
        {
          group: "metrics.k8s.io",
          version: "v1beta1",
          error: error("the server is currently unable to handle the request")
        },
        { group: "custom.test", version: "v1", error: error("no") }
      ]
      const partial = Discovery.of({
        ...discovery,
        resources: Effect.map(discovery.resources, (found) => ({ ...found, failed }))
      })
      yield* Effect.provideService(cluster.run(Namespaces.make()), Discovery, partial)
      yield* remove()
      yield* cluster.advance("5 seconds")
      assert.deepStrictEqual([yield* content(app), yield* isThere()], [[], true])
      assert.deepStrictEqual(yield* trueConditions, [
        "NamespaceDeletionDiscoveryFailure DiscoveryFailed: Discovery failed for some groups, 2 failing: unable to retrieve the complete list of server APIs: custom.test/v1: no, metrics.k8s.io/v1beta1: the server is currently unable to handle the request"
      ])
      failed = []
      yield* cluster.advance("1 minute")
      assert.isFalse(yield* isThere())
    }).pipe(Effect.scoped, Effect.provide(twoNamespaces))
  )

  it.effect("deletes nothing while discovery fails", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const server = yield* ApiServer
      yield* server.setFaults([
        {
          match: ({ path }) => path === "/apis",
          fault: { _tag: "Status", code: 403, message: "not for you" }
        }
      ])
      yield* cluster.run(Namespaces.make())
      yield* remove()
      yield* cluster.advance("1 minute")
      assert.deepStrictEqual(yield* content(app), everything)
      assert.deepStrictEqual(yield* trueConditions, ["NamespaceDeletionDiscoveryFailure DiscoveryFailed: not for you"])
      yield* server.setFaults([])
      yield* cluster.advance("1 minute")
      assert.isFalse(yield* isThere())
    }).pipe(Effect.scoped, Effect.provide(twoNamespaces))
  )

  it.effect("succeeds despite conflicts with other writers and server errors", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* (yield* ApiServer).setFaults([
        {
          match: Faults.on({ verb: "update", path: "/api/v1/namespaces/app/status" }),
          fault: { _tag: "Conflict" },
          times: 1
        },
        {
          match: Faults.on({ verb: "update", path: "/api/v1/namespaces/app/finalize" }),
          fault: { _tag: "Conflict" },
          times: 7
        },
        { match: Faults.on({ verb: "get", resource: "namespaces" }), fault: { _tag: "Status", code: 500 }, times: 2 },
        { match: Faults.on({ verb: "deletecollection" }), fault: { _tag: "DropAnswer" }, times: 3 },
        {
          match: Faults.on({ verb: "list", resource: "services" }),
          fault: { _tag: "Throttle", retryAfterSeconds: 1 },
          times: 1
        }
      ])
      yield* cluster.run(Namespaces.make())
      yield* remove()
      yield* cluster.advance("2 minutes")
      assert.deepStrictEqual([yield* content(app), yield* isThere()], [[], false])
    }).pipe(Effect.scoped, Effect.provide(twoNamespaces))
  )

  it.effect("sets the phase Terminating if the server has not set it", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      yield* setFinalizers("example.test/a")
      yield* remove()
      const deleted = yield* get()
      const updated = yield* client.update(
        Namespace,
        { ...deleted, status: { ...deleted.status, phase: "Active" } },
        { subresource: "status" }
      )
      assert.strictEqual(updated.status?.phase, "Active")
      yield* (yield* ApiServer).setFaults([
        { match: Faults.on({ verb: "update", resource: "namespaces/status" }), fault: { _tag: "Conflict" }, times: 3 }
      ])
      yield* cluster.run(Namespaces.make())
      yield* cluster.advance("5 seconds")
      assert.strictEqual((yield* get()).status?.phase, "Terminating")
      assert.strictEqual((yield* trueConditions).length, 2)
    }).pipe(Effect.scoped, Effect.provide(twoNamespaces))
  )

  it.effect("continues where an earlier run was interrupted", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const first = yield* cluster.run(Namespaces.make())
      yield* setFinalizers("example.test/a")
      yield* remove()
      yield* cluster.advance("5 seconds")
      yield* first.stop()
      yield* setFinalizers()
      yield* cluster.run(Namespaces.make())
      yield* cluster.advance("5 seconds")
      assert.isFalse(yield* isThere())
    }).pipe(Effect.scoped, Effect.provide(twoNamespaces))
  )

  it.effect("resyncs terminating namespaces every five minutes, and sends no other requests", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      const made = yield* get()
      yield* client.update(
        Namespace,
        { ...made, spec: { finalizers: ["example.test/a"] } },
        { subresource: "finalize" }
      )
      yield* cluster.run(Namespaces.make())
      yield* remove()
      yield* cluster.advance("1 minute")
      const requests: Array<string> = []
      yield* (yield* ApiServer).setFaults([recordRequests(requests)])
      const before = yield* (yield* ApiServer).revision
      yield* cluster.advance("4 minutes")
      const nonWatches = () => requests.filter((one) => !one.startsWith("watch"))
      assert.deepStrictEqual(nonWatches(), [])
      yield* cluster.advance("5 seconds")
      assert.strictEqual(nonWatches()[0], "get /api/v1/namespaces/app")
      assert.strictEqual(yield* (yield* ApiServer).revision, before)
      const count = nonWatches().length
      yield* cluster.advance("5 minutes")
      assert.strictEqual(nonWatches().length, 2 * count)
    }).pipe(Effect.scoped, Effect.provide(twoNamespaces))
  )

  it.effect("deletes many namespaces independently", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      const names = Array.from({ length: 25 }, (_, i) => `n${i}`)
      for (const name of names) {
        yield* client.create(Namespace, { metadata: { name } })
        yield* client.create(Pod, { metadata: { namespace: name, name: "p" }, spec: { containers: [container] } })
      }
      yield* cluster.run(Namespaces.make())
      yield* Effect.forEach(names, (name) => remove(name), { discard: true })
      yield* cluster.advance("5 seconds")
      assert.deepStrictEqual(
        (yield* cluster.snapshot(Namespace))
          .map(({ metadata }) => metadata.name)
          .filter((name) => names.includes(name)),
        []
      )
      assert.deepStrictEqual(yield* cluster.snapshot(Pod), [])
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )
})

import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"
import * as Access from "../../src/kube/Access.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { ConfigMap, Node, Pod } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import * as Controller from "../../src/layers/Controller.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Nodes from "../../src/simulation/Nodes.ts"

const manifest = `
# two documents, and an empty one
apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: { app: web }
spec:
  containers:
    - name: web
      image: example.test/web:1
---
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: kube-system
data:
  colour: blue
`

const stamp = Controller.make({
  name: "stamp",
  for: ConfigMap,
  access: [Access.patch(ConfigMap)],
  reconcile: ({ key, name, namespace }, { cache, client }) =>
    Effect.gen(function* () {
      const configMap = yield* cache.get(ConfigMap, key)
      if (configMap === undefined || configMap.data?.["stamped"] === "yes") return
      yield* client.patch(ConfigMap, { name, namespace }, Patch.merge({ data: { stamped: "yes" } }))
    })
})

describe("ClusterTest", () => {
  it.effect("the objects of the options exist at the start, and the nodes run pods", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      assert.strictEqual((yield* cluster.snapshot(Node)).length, 2)
      const pod = yield* cluster.eventually(
        Effect.filterOrFail(
          client.get(Pod, { namespace: "default", name: "web" }),
          (pod) => pod.status?.phase === "Running"
        )
      )
      assert.strictEqual(pod.spec?.nodeName, "worker-1")
    }).pipe(Effect.provide(ClusterTest.layer({ nodes: 2, objects: manifest })))
  )

  it.effect("apply stores every document, run starts the controller, and settle waits for its reconciles", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(stamp)
      const stored = yield* cluster.apply(manifest)
      assert.deepStrictEqual(
        stored.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`),
        ["Pod default/web", "ConfigMap kube-system/settings"]
      )
      yield* cluster.settle
      const [settings] = yield* cluster.snapshot(ConfigMap)
      assert.deepInclude(settings as object, { data: { colour: "blue", stamped: "yes" } })
      yield* cluster.apply(manifest)
      yield* cluster.settle
      assert.strictEqual((yield* cluster.snapshot(Pod)).length, 1)
    }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))
  )

  it.effect("eventually ends after its time with the failure of the check", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      let tries = 0
      const check = Effect.suspend(() => Effect.fail(`not yet ${++tries}`))
      const failure = yield* Effect.flip(cluster.eventually(check, { within: "1 second", every: "100 millis" }))
      assert.strictEqual(failure, "not yet 11")
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("a manifest that cannot be read fails with the document and the cause", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const messages: Array<string> = []
      for (const text of ["a: 1\n---\n[1]", "kind: Pod", "apiVersion: v9\nkind: Nope\nmetadata: { name: a }"]) {
        messages.push((yield* Effect.flip(cluster.apply(text))).message)
      }
      assert.match(messages[0] ?? "", /^document 2 of the manifest cannot be read: not an object/)
      assert.match(messages[1] ?? "", /needs apiVersion, kind and metadata.name/)
      assert.match(messages[2] ?? "", /does not serve kind Nope/)
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("Nodes makes machines and pods fail, and is provided where there are machines", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const nodes = yield* Nodes.Nodes
      const readiness = Effect.map(
        cluster.snapshot(Pod),
        ([pod]) => pod?.status?.conditions?.find(({ type }) => type === "Ready")?.status
      )
      yield* cluster.advance("10 seconds")
      assert.strictEqual(yield* readiness, "True")
      yield* nodes.crash({ name: "web" })
      yield* cluster.settle
      assert.strictEqual(yield* readiness, "False")
      yield* nodes.remove("worker-1")
      yield* cluster.advance("1 hour")
      assert.deepStrictEqual(
        (yield* cluster.snapshot(Node)).map(({ metadata }) => metadata.name),
        ["control-plane"]
      )
    }).pipe(Effect.provide(ClusterTest.layer({ nodes: 2, objects: manifest })))
  )

  it.effect("without nodes pods stay Pending; with none, Nodes can add a machine", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const nodes = yield* Nodes.Nodes
      yield* cluster.advance("1 minute")
      assert.strictEqual((yield* cluster.snapshot(Pod))[0]?.status?.phase, "Pending")
      yield* nodes.add("late")
      yield* cluster.eventually(
        Effect.map(cluster.snapshot(Pod), ([pod]) => assert.strictEqual(pod?.status?.phase, "Running"))
      )
    }).pipe(Effect.provide(ClusterTest.layer({ nodes: 0, objects: manifest })))
  )

  it.effect("admission plugins can be enabled", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const failure = yield* Effect.flip(cluster.apply(manifest.replace("spec:", "spec:\n  serviceAccountName: none")))
      assert.match(failure.message, /error looking up service account default\/none/)
    }).pipe(Effect.provide(ClusterTest.layer({ admission: { serviceAccount: true } })))
  )

  it.effect("two runs with one seed are equal byte by byte, and another seed gives another run", () =>
    Effect.gen(function* () {
      const history = (seed: number) =>
        Effect.gen(function* () {
          const cluster = yield* ClusterTest
          yield* cluster.advance("1 minute")
          const server = yield* ApiServer
          return JSON.stringify([yield* server.revision, yield* cluster.snapshot(Pod), yield* cluster.snapshot(Node)])
        }).pipe(
          // Its own clock, so that both runs begin at the same time.
          Effect.provide(
            ClusterTest.layer({ nodes: 3, objects: manifest, seed }).pipe(Layer.provideMerge(TestClock.layer()))
          )
        )
      const first = yield* history(1)
      assert.include(first, '"uid"')
      assert.strictEqual(yield* history(1), first)
      assert.notStrictEqual(yield* history(2), first)
    })
  )
})

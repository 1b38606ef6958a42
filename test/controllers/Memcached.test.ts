/** Memcacheds on a cluster with nodes and the controllers that theirs depends on. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Memcacheds from "../../src/controllers/Memcached.ts"
import { Memcached } from "../../src/controllers/memcached/kind.ts"
import { Deployment, Pod } from "../../src/kube/resources.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import * as Harness from "./memcached/harness.ts"

const { namespace } = Harness

/** Name, replicas, image and port of each Deployment. */
const servers = Effect.map(Harness.deployments, (all) =>
  all.map(({ metadata, spec }) => {
    const [container] = spec?.template.spec?.containers ?? []
    return `${metadata.name}: ${spec?.replicas} × ${container?.image} at ${container?.ports?.[0]?.containerPort}`
  })
)

const available = (name: string) =>
  Effect.map(Harness.get(name), ({ status }) => status?.conditions?.find(({ type }) => type === "Available"))

/** Waits until the Memcached is available. */
const ready = (name: string) =>
  Effect.flatMap(ClusterTest, (cluster) =>
    cluster.eventually(
      Effect.map(Effect.all([Harness.get(name), available(name)]), ([{ metadata }, condition]) => {
        assert.deepStrictEqual([condition?.status, condition?.observedGeneration], ["True", metadata.generation])
      })
    )
  )

describe("memcached", () => {
  it.effect("runs the requested number of servers, and lists them in the status", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* Harness.start()
      yield* cluster.apply([Harness.object("cache")])
      yield* cluster.settle
      assert.deepInclude(yield* available("cache"), { status: "False", reason: "ServersMissing" })
      yield* cluster.advance("1 minute")
      assert.deepStrictEqual(yield* servers, [`cache: 2 × ${Harness.image} at 11211`])
      const { metadata, status } = yield* Harness.get("cache")
      const pods = (yield* cluster.snapshot(Pod)).map((pod) => pod.metadata.name)
      assert.strictEqual(pods.length, 2)
      assert.deepStrictEqual(status?.nodes, pods.toSorted())
      assert.deepInclude(yield* available("cache"), {
        status: "True",
        reason: "ServersAvailable",
        message: "2 of 2 servers are available",
        observedGeneration: 1
      })
      assert.deepStrictEqual(metadata.finalizers, ["cache.example.com/finalizer"])
    }).pipe(Effect.scoped, Effect.provide(Harness.layer()))
  )

  it.effect("follows changes of size and port, and keeps transition times of unchanged conditions", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* Harness.start()
      yield* cluster.apply([Harness.object("cache", { size: 3 })])
      yield* cluster.advance("1 minute")
      const before = yield* available("cache")
      // The server that is to be deleted still counts as available.
      yield* Harness.edit("cache", { spec: { size: 1 } })
      yield* cluster.advance("1 minute")
      assert.deepStrictEqual(yield* servers, [`cache: 1 × ${Harness.image} at 11211`])
      assert.lengthOf((yield* Harness.get("cache")).status?.nodes ?? [], 1)
      yield* Harness.edit("cache", { spec: { containerPort: 4000 } })
      yield* cluster.advance("1 minute")
      assert.deepStrictEqual(yield* servers, [`cache: 1 × ${Harness.image} at 4000`])
      const replaced = yield* available("cache")
      assert.deepInclude(replaced, { status: "True", observedGeneration: 3 })
      assert.strictEqual(replaced?.lastTransitionTime, before?.lastTransitionTime)
      // Additional servers are missing until they are ready.
      yield* Harness.edit("cache", { spec: { size: 3 } })
      yield* cluster.advance("1 minute")
      const after = yield* available("cache")
      assert.deepInclude(after, { status: "True", observedGeneration: 4 })
      assert.notStrictEqual(after?.lastTransitionTime, before?.lastTransitionTime)
    }).pipe(Effect.scoped, Effect.provide(Harness.layer()))
  )

  it.effect("rolls out another image when started with one", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const operator = yield* Harness.start()
      yield* cluster.apply([Harness.object("cache")])
      yield* cluster.advance("1 minute")
      yield* operator.stop()
      yield* cluster.run(Harness.operatorOf("example.test/memcached:2"))
      yield* cluster.advance("2 minutes")
      assert.deepStrictEqual(yield* servers, ["cache: 2 × example.test/memcached:2 at 11211"])
      yield* ready("cache")
    }).pipe(Effect.scoped, Effect.provide(Harness.layer()))
  )

  it.effect("restores its fields of the Deployment, and keeps fields of other managers", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* Harness.start()
      yield* cluster.apply([Harness.object("cache")])
      yield* cluster.advance("1 minute")
      const drifts = [
        { spec: { replicas: 7 } },
        { spec: { template: { spec: { containers: [{ name: "memcached", image: "example.test/other:1" }] } } } },
        { metadata: { labels: { "app.kubernetes.io/name": "other" } } },
        { metadata: { ownerReferences: null } }
      ]
      for (const drift of drifts) {
        yield* Harness.editDeployment("cache", { metadata: { annotations: { theirs: "yes" } } })
        yield* Harness.editDeployment("cache", drift)
        yield* cluster.advance("1 minute")
        const [deployment] = yield* Harness.deployments
        assert.deepStrictEqual(yield* servers, [`cache: 2 × ${Harness.image} at 11211`])
        assert.strictEqual(deployment?.metadata.labels?.["app.kubernetes.io/name"], "memcached")
        assert.strictEqual(deployment?.metadata.annotations?.["theirs"], "yes")
        assert.strictEqual(deployment?.metadata.ownerReferences?.[0]?.name, "cache")
      }
      yield* (yield* KubeClient).delete(Deployment, { namespace, name: "cache" })
      yield* cluster.advance("1 minute")
      assert.deepStrictEqual(yield* servers, [`cache: 2 × ${Harness.image} at 11211`])
      yield* ready("cache")
    }).pipe(Effect.scoped, Effect.provide(Harness.layer()))
  )

  it.effect("is deleted with its dependents, with one event", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* Harness.start()
      yield* cluster.apply([Harness.object("cache"), Harness.object("other", { size: 1 })])
      yield* cluster.advance("1 minute")
      yield* (yield* KubeClient).delete(Memcached, { namespace, name: "cache" })
      yield* cluster.advance("2 minutes")
      yield* (yield* Recorder).flush
      assert.deepStrictEqual(
        (yield* cluster.snapshot(Memcached)).map(({ metadata }) => metadata.name),
        ["other"]
      )
      assert.deepStrictEqual(yield* servers, [`other: 1 × ${Harness.image} at 11211`])
      assert.lengthOf(yield* cluster.snapshot(Pod), 1)
      assert.deepStrictEqual(yield* Harness.events, ["cache Deleting"])
    }).pipe(Effect.scoped, Effect.provide(Harness.layer()))
  )

  it.effect(
    "does not take over a Deployment of another owner, reports the conflict, and continues when it is deleted",
    () =>
      Effect.gen(function* () {
        const cluster = yield* ClusterTest
        const client = yield* KubeClient
        const labels = { app: "theirs" }
        const template = {
          metadata: { labels },
          spec: { containers: [{ name: "main", image: "example.test/theirs:1" }] }
        }
        yield* client.create(Deployment, {
          metadata: { namespace, name: "cache" },
          spec: { replicas: 1, selector: { matchLabels: labels }, template }
        })
        yield* Harness.start()
        yield* cluster.apply([Harness.object("cache")])
        yield* cluster.advance("1 minute")
        assert.deepStrictEqual(yield* servers, ["cache: 1 × example.test/theirs:1 at undefined"])
        assert.deepInclude(yield* available("cache"), {
          status: "False",
          reason: "NameTaken",
          message: "The Deployment cache is not of this Memcached: rename one of them"
        })
        yield* client.delete(Deployment, { namespace, name: "cache" })
        yield* cluster.advance("2 minutes")
        assert.deepStrictEqual(yield* servers, [`cache: 2 × ${Harness.image} at 11211`])
        yield* ready("cache")
      }).pipe(Effect.scoped, Effect.provide(Harness.layer()))
  )

  it.effect("rejects what the Schema rejects, with the path", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const refused = yield* Effect.flip(cluster.apply([Harness.object("cache", { size: 4 })]))
      assert.include(
        refused.message,
        "spec.size: Invalid value: 4: spec.size in body should be less than or equal to 3"
      )
    }).pipe(Effect.scoped, Effect.provide(Harness.layer()))
  )

  it.effect("its webhooks default the port, and reject invalid specs and names that are too long", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.apply([Harness.object("cache")])
      assert.deepStrictEqual((yield* Harness.get("cache")).spec, { size: 2, containerPort: 11_211 })
      const long = yield* Effect.flip(cluster.apply([Harness.object("a".repeat(64))]))
      assert.match(
        long.message,
        /admission webhook "validate\.memcacheds\.cache\.example\.com" denied the request: .*must be no more than 63 characters/
      )
      const size = yield* Effect.flip(cluster.apply([Harness.object("wrong", { size: 4 })]))
      assert.match(size.message, /admission webhook .*spec\.size/)
    }).pipe(Effect.scoped, Effect.provide(Harness.layer({ crds: [Harness.loose], webhooks: Memcacheds.webhooks })))
  )

  it.effect("records an event for a Memcached stored before validation, and continues with the others", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.apply([Harness.object("old", { size: "three" }), Harness.object("cache")])
      yield* Harness.start()
      yield* ready("cache")
      yield* (yield* Recorder).flush
      assert.deepStrictEqual(yield* servers, [`cache: 2 × ${Harness.image} at 11211`])
      assert.deepStrictEqual(yield* Harness.events, ["old InvalidObject"])
      const condition = (yield* Harness.get("old")).status?.conditions?.[0]
      assert.deepInclude(condition, { type: "Valid", status: "False", reason: "InvalidObject" })
      assert.include(condition?.message, "Memcached default/old does not fit its schema: spec.size")
      yield* Harness.edit("old", { spec: { size: 1 } })
      yield* ready("old")
      assert.deepStrictEqual(
        (yield* Harness.get("old")).status?.conditions?.map(({ type }) => type),
        ["Available"]
      )
    }).pipe(Effect.scoped, Effect.provide(Harness.layer({ crds: [Harness.loose] })))
  )
})

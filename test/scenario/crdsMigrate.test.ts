/**
 * `crds migrate` as a process, on the embedded API server and on a real one: what is stored before, after a SIGKILL in the middle, and after the next runs.
 * On the real one that is read from etcd. It needs `KUBEBUILDER_ASSETS` with a kube-apiserver of 1.24 or newer.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { EmbeddedCluster } from "../../src/apiserver/server/EmbeddedCluster.ts"
import type { KubeObject } from "../../src/kube/Meta.ts"
import * as Resource from "../../src/kube/Resource.ts"
import { ConfigMap } from "../../src/kube/resources.ts"
import { Endpoint } from "../../src/layers/Endpoint.ts"
import { type Client, KubeClient } from "../../src/layers/KubeClient.ts"
import { Transport } from "../../src/layers/Transport.ts"
import { CustomResourceDefinition } from "../../src/manager/crds/Definitions.ts"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import * as Cluster from "../manager/crds/migration/cluster.ts"
import * as envtest from "../support/envtest.ts"
import * as Process from "../support/process.ts"

const objects = 200

const nameOf = (index: number) => `w${String(index).padStart(3, "0")}`

type Counts = Readonly<Record<string, number>>

interface Target {
  readonly client: Client
  readonly kubeconfig: string
  /** How many objects are stored in each version. */
  readonly stored: Effect.Effect<Counts>
}

const counted = (versions: ReadonlyArray<string>): Counts => {
  const counts: Record<string, number> = {}
  for (const version of versions) counts[version] = (counts[version] ?? 0) + 1
  return counts
}

const clientOf = Effect.fnUntraced(function* (endpoint: Endpoint["Service"]) {
  const transport = Layer.succeed(Transport, yield* HttpTransport.make(endpoint))
  return Context.get(yield* Layer.build(Layer.provide(KubeClient.layer, transport)), KubeClient)
})

/** Nothing else writes the objects, so one whose version number is that of its creation is stored as it was created. */
const embedded = Effect.gen(function* () {
  const context = yield* Layer.build(Layer.provideMerge(EmbeddedCluster.layerEndpoint, EmbeddedCluster.layer()))
  const client = yield* clientOf(Context.get(context, Endpoint))
  const created = new Map<string, string | undefined>()
  const stored = Effect.gen(function* () {
    const { items } = yield* Effect.orDie(client.list(Resource.metadataOnly(Cluster.v1)))
    return counted(
      items.map(({ metadata: { name, resourceVersion } }) => {
        if (!created.has(name)) created.set(name, resourceVersion)
        return created.get(name) === resourceVersion ? "v1" : "v2"
      })
    )
  })
  return { client, kubeconfig: Context.get(context, EmbeddedCluster).kubeconfig, stored } satisfies Target
})

const real = Effect.gen(function* () {
  const server = yield* envtest.start()
  const stored = Effect.map(server.stored("/registry/example.com/widgets/"), (values) =>
    counted(values.map((value) => (JSON.parse(value) as KubeObject).apiVersion?.split("/")[1] ?? ""))
  )
  return { client: yield* clientOf(server.endpoint), kubeconfig: server.kubeconfig, stored } satisfies Target
})

/** Nothing listens at the address, so writes of labelled objects fail. */
const blocking = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: "blocking" },
  webhooks: [
    {
      name: "blocking.example.com",
      admissionReviewVersions: ["v1"],
      clientConfig: { url: "https://127.0.0.1:9/" },
      rules: [{ operations: ["UPDATE"], apiGroups: ["example.com"], apiVersions: ["*"], resources: ["widgets"] }],
      objectSelector: { matchLabels: { blocked: "yes" } },
      sideEffects: "None"
    }
  ]
}

const configurations = Resource.make()({
  group: "admissionregistration.k8s.io",
  version: "v1",
  kind: "ValidatingWebhookConfiguration",
  plural: "validatingwebhookconfigurations",
  scope: "Cluster"
})

const scenario = (start: Effect.Effect<Target, unknown, Scope.Scope>) =>
  Effect.gen(function* () {
    const { client, kubeconfig, stored } = yield* start
    const storedVersions = Effect.map(
      client.get(CustomResourceDefinition, { name: Cluster.name }),
      ({ status }) => status?.storedVersions
    )
    yield* Effect.provideService(Cluster.install, KubeClient, client)
    yield* Effect.retry(client.list(Cluster.v1), { while: ({ reason }) => reason._tag === "NotFound" })
    yield* Effect.forEach(
      Array.from({ length: objects }, (_, index) => nameOf(index)),
      (name) => Effect.provideService(Cluster.put([name]), KubeClient, client),
      { concurrency: 8, discard: true }
    )
    const labels = { blocked: "yes" }
    yield* client.create(Cluster.v1, { metadata: { namespace: "default", name: "x", labels }, spec: { size: 1 } })
    assert.deepStrictEqual(yield* stored, { v1: objects + 1 })
    yield* client.create<KubeObject>(configurations, blocking)
    yield* Effect.provideService(Cluster.store("v2"), KubeClient, client)

    const command = ["crds", "migrate", Cluster.name, "--kubeconfig", kubeconfig]
    const dry = yield* Process.run([...command, "--dry-run"])
    assert.match(dry.stdout, /the server would refuse 1 of 201 objects/, dry.stderr)
    assert.strictEqual(dry.code, 1)
    assert.deepStrictEqual(yield* stored, { v1: objects + 1 })

    const paced = ["--page-size", "20", "--kube-api-qps", "100", "--kube-api-burst", "1"]
    const first = yield* Process.start([...command, ...paced])
    yield* client
      .watch(ConfigMap, { namespace: "kube-system", fieldSelector: "metadata.name=crds-migrate" })
      .pipe(Stream.take(2), Stream.runDrain)
    yield* first.kill("SIGKILL")
    yield* first.exit
    const half = yield* stored
    assert.isAbove(half["v1"] ?? 0, 0, JSON.stringify(half))
    assert.isAbove(half["v2"] ?? 0, 0, JSON.stringify(half))
    assert.deepStrictEqual(yield* storedVersions, ["v1", "v2"])

    const second = yield* Process.run([...command, "-o", "json"])
    assert.strictEqual(second.code, 1, second.stderr)
    const [report] = (JSON.parse(second.stdout) as { definitions: ReadonlyArray<Record<string, unknown>> }).definitions
    assert.deepInclude(report ?? {}, { outcome: "refused", resumed: true, refusals: 1, removedVersions: [] })
    assert.isBelow(Number(report?.["objects"]), objects)
    assert.match(JSON.stringify(report?.["refused"]), /default\/x.*blocking.example.com/)
    assert.deepStrictEqual(yield* stored, { v1: 1, v2: objects })
    assert.deepStrictEqual(yield* storedVersions, ["v1", "v2"])

    yield* client.delete(configurations, { name: "blocking" })
    const third = yield* Process.run(command)
    assert.strictEqual(third.code, 0, third.stderr)
    assert.match(third.stdout, /v1 is removed from status.storedVersions/)
    assert.deepStrictEqual(yield* stored, { v2: objects + 1 })
    assert.deepStrictEqual(yield* storedVersions, ["v2"])
    const fourth = yield* Process.run(command)
    assert.strictEqual(fourth.stdout, "widgets.example.com is stored in v2 only\n")
  }).pipe(Effect.scoped)

describe("crds migrate", () => {
  it.live("goes on after a SIGKILL, reports what is refused, and ends with one stored version", () =>
    scenario(embedded)
  )

  it.live.skipIf(envtest.lacksCustomObjects)(
    "on a real API server has all objects in etcd in the storage version",
    () => scenario(real)
  )
})

import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { execFile, spawn, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import * as ApiError from "../../../src/kube/ApiError.ts"
import { Event, Pod, ServiceAccount } from "../../../src/kube/resources.ts"
import { Cache } from "../../../src/layers/Cache.ts"
import { EmbeddedCluster } from "../../../src/apiserver/server/EmbeddedCluster.ts"
import { Endpoint } from "../../../src/layers/Endpoint.ts"
import * as HttpTransport from "../../../src/platform/HttpTransport.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as demo from "../../../src/simulation/demo.ts"
import * as Nodes from "../../../src/simulation/Nodes.ts"
import { portInUse } from "./harness.ts"

/** The layers of `npm start` below its controllers, over HTTPS. */
const cluster = Layer.unwrap(Effect.as(demo.seed({ demo: "web", nodes: 3 }), Nodes.layer())).pipe(
  Layer.provideMerge(Cache.layer()),
  Layer.provideMerge(KubeClient.layer),
  Layer.provideMerge(HttpTransport.layer),
  Layer.provideMerge(EmbeddedCluster.layerEndpoint),
  Layer.provideMerge(EmbeddedCluster.layer())
)

/** Waits until all pods are running. */
const allRunning = Effect.flatMap(Cache, (cache) => {
  const running = new Set<string>()
  return cache.changes(Pod).pipe(
    Stream.takeUntil(({ object }) => {
      if (object.status?.phase === "Running") running.add(object.metadata.uid ?? "")
      return running.size === 2
    }),
    Stream.runDrain
  )
})

const withToken = (token: string) =>
  Effect.gen(function* () {
    const { endpoint } = yield* EmbeddedCluster
    const client = Layer.fresh(KubeClient.layer).pipe(
      Layer.provide(Layer.fresh(HttpTransport.layer)),
      Layer.provide(
        Layer.succeed(Endpoint, Endpoint.fixed({ server: endpoint.server, tls: { ca: endpoint.ca }, token }))
      )
    )
    return yield* Effect.flip(
      Effect.provide(
        Effect.flatMap(KubeClient, (client) => client.list(Pod)),
        client
      )
    )
  })

it.live("runs the demo over HTTPS only, and rejects requests without a token", () =>
  Effect.gen(function* () {
    yield* allRunning
    const client = yield* KubeClient
    const pods = yield* client.list(Pod)
    assert.deepStrictEqual(pods.items.map((pod) => pod.metadata.name).sort(), ["dns-1", "dns-2"])
    assert.strictEqual(new Set(pods.items.map((pod) => pod.status?.podIP)).size, 2)
    const error = yield* withToken("wrong")
    assert.strictEqual(error.reason._tag, "Unauthorized")
    const { endpoint } = yield* EmbeddedCluster
    assert.match(endpoint.server, /^https:\/\/127\.0\.0\.1:\d+$/)
    assert.notInclude(JSON.stringify(endpoint), Redacted.value(endpoint.token))
    // Creating the demo objects again changes nothing.
    yield* demo.seed({ demo: "web", nodes: 3 })
  }).pipe(Effect.provide(cluster))
)

it.live("with the ServiceAccount plugin, a pod waits for the default account of its namespace", () =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    const create = (name: string, serviceAccountName?: string) =>
      client.create(Pod, {
        metadata: { namespace: "default", name },
        spec: {
          containers: [{ name: "main", image: "x" }],
          ...(serviceAccountName === undefined ? {} : { serviceAccountName })
        }
      })
    const refused = yield* Effect.flip(create("a", "none"))
    assert.match(refused.message, /error looking up service account default\/none: serviceaccount "none" not found$/)
    const account = { metadata: { namespace: "default", name: "default" } }
    const [pod] = yield* Effect.all([create("a"), client.create(ServiceAccount, account)], { concurrency: 2 })
    assert.strictEqual(pod.spec?.serviceAccountName, "default")
    assert.match(pod.spec?.volumes?.[0]?.name ?? "", /^kube-api-access-/)
  }).pipe(
    Effect.provide(
      KubeClient.layer.pipe(
        Layer.provide(HttpTransport.layer),
        Layer.provide(EmbeddedCluster.layerEndpoint),
        Layer.provide(EmbeddedCluster.layer({ admission: { serviceAccount: true } }))
      )
    )
  )
)

it.live("removes its file and listener when its scope closes", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(EmbeddedCluster.layer(), scope)
    const { endpoint, kubeconfig } = yield* Effect.provide(EmbeddedCluster, context)
    assert.isTrue(existsSync(kubeconfig))
    yield* Scope.close(scope, Exit.void)
    assert.isFalse(existsSync(kubeconfig))
    const { port } = new URL(endpoint.server)
    yield* Layer.build(EmbeddedCluster.layer({ port: Number(port) })) // the port is free again
  }).pipe(Effect.scoped)
)

it.live("fails with one sentence when the port is in use, or the directory cannot be used", () =>
  Effect.gen(function* () {
    const port = yield* portInUse
    const taken = yield* Effect.flip(Layer.build(EmbeddedCluster.layer({ port })))
    assert.match(taken.message, new RegExp(`^port ${port} on 127\\.0\\.0\\.1 is already in use: [^\n]+$`))
    const unusable = yield* Effect.flip(Layer.build(EmbeddedCluster.layer({ directory: "/dev/null/x" })))
    assert.match(unusable.message, /^cannot use the directory for the kubeconfig: [^\n]+$/)
  })
)

const missing = spawnSync("kubectl", ["version", "--client"]).status === 0 ? undefined : "no kubectl on PATH"

/** kubectl with its own home directory: it caches discovery by host and port for hours. */
const kubectl = Effect.gen(function* () {
  const { kubeconfig } = yield* EmbeddedCluster
  const home = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "kubectl-home-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const env = { PATH: process.env["PATH"], HOME: home, KUBECONFIG: kubeconfig }
  const run = (line: string) =>
    Effect.promise(
      () =>
        new Promise<string>((resolve, reject) => {
          execFile("kubectl", line.split(" "), { env }, (error, stdout, stderr) =>
            error === null ? resolve(stdout) : reject(new Error(`kubectl ${line}: ${stderr}`))
          )
        })
    )
  const lines = (line: string) =>
    Effect.gen(function* () {
      const child = yield* Effect.acquireRelease(
        Effect.sync(() => spawn("kubectl", line.split(" "), { env })),
        (child) => Effect.sync(() => child.kill())
      )
      const iterator = createInterface(child.stdout)[Symbol.asyncIterator]()
      return Effect.promise(async () => String((await iterator.next()).value))
    })
  return { run, lines }
})

if (missing !== undefined) console.log(`skipped: the kubectl tests, because there is ${missing}`)

it.live.skipIf(missing !== undefined)(
  "supports kubectl: get, -o wide, -w, describe with events, --raw, api-resources",
  () =>
    Effect.gen(function* () {
      yield* allRunning
      const { lines, run } = yield* kubectl
      assert.match(yield* run("get nodes"), /^NAME +STATUS +ROLES +AGE +VERSION\ncontrol-plane +Ready +control-plane +/)
      const pods = (yield* run("get pods -A -o wide")).trim().split("\n")
      assert.strictEqual(pods.length, 3)
      assert.match(pods[0] ?? "", /^NAMESPACE +NAME +READY +STATUS +RESTARTS +AGE +IP +NODE/)
      for (const pod of pods.slice(1)) assert.match(pod, / 1\/1 +Running +0 +\S+ +10\.244\.\d+\.\d+ +\S+ /)
      assert.include(yield* run("get leases -n kube-node-lease -o name"), "lease.coordination.k8s.io/worker-2")
      assert.match(yield* run("get --raw /version"), /"gitVersion":/)
      assert.strictEqual(yield* run("get --raw /readyz"), "ok")
      assert.match(yield* run("api-resources"), /pods +po +v1 +true +Pod\n/)

      const client = yield* KubeClient
      const pod = yield* client.get(Pod, { namespace: "kube-system", name: "dns-1" })
      yield* client.create(Event, {
        metadata: { name: "dns-1.1", namespace: "kube-system" },
        involvedObject: { kind: "Pod", name: "dns-1", namespace: "kube-system", uid: pod.metadata.uid ?? "" },
        type: "Normal",
        reason: "Counted",
        message: "pod count is 2",
        count: 1,
        firstTimestamp: "2026-01-01T00:00:00Z",
        lastTimestamp: "2026-01-01T00:00:00Z",
        source: { component: "test" }
      })
      assert.match(
        yield* run("describe pod -n kube-system dns-1"),
        /Events:[^]*Normal +Counted +\S+ +test +pod count is 2/
      )

      const next = yield* lines("get pods -n kube-system -w")
      assert.match(yield* next, /^NAME /)
      assert.match(yield* next, /^dns-1 /)
      assert.match(yield* next, /^dns-2 /)
      yield* client.delete(Pod, { namespace: "kube-system", name: "dns-2" })
      assert.match(yield* next, /^dns-2 +1\/1 +Terminating /)

      const gone = yield* Effect.flip(client.get(Pod, { namespace: "default", name: "nobody" }))
      assert.isTrue(ApiError.hasReason(gone, "NotFound"))
    }).pipe(Effect.provide(cluster))
)

import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../../src/kube/resources.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Nodes from "../../../src/simulation/Nodes.ts"
import { clients, condition, create, get, nodes, pass, reasons, remove, settle, wordOf } from "../harness.ts"

const namespace = "default"

const withClient = <A, E>(use: (client: KubeClient["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(KubeClient, use)

const createClaim = (name: string, spec: object = {}) =>
  withClient((client) =>
    client.create(PersistentVolumeClaim, {
      metadata: { name, namespace },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec }
    })
  )

const claim = (name: string) => withClient((client) => client.get(PersistentVolumeClaim, { name, namespace }))

const phase = (name: string) => Effect.map(claim(name), ({ status }) => status?.phase)

const volumes = withClient((client) => Effect.map(client.list(PersistentVolume), ({ items }) => items))

const removeClaim = (name: string) =>
  withClient((client) => client.delete(PersistentVolumeClaim, { name, namespace })).pipe(Effect.andThen(settle))

const createClass = (name: string, more: object = {}) =>
  withClient((client) =>
    client.create(StorageClass, { metadata: { name }, provisioner: "simulation/volumes", ...more })
  )

const createVolume = (name: string, spec: object = {}) =>
  withClient((client) =>
    client.create(PersistentVolume, {
      metadata: { name },
      spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "2Gi" }, hostPath: { path: "/data" }, ...spec }
    })
  )

const using = (name: string, ...claims: ReadonlyArray<string>) =>
  create(name, {
    containers: [{ name: "main", image: "i" }],
    volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }))
  })

const why = (name: string) => Effect.map(get(name), (pod) => condition(pod, "PodScheduled")?.message)

it.effect("a claim of the default class is bound to a new volume, which is deleted with it", () =>
  Effect.gen(function* () {
    yield* createClaim("data")
    yield* using("user", "data")
    yield* pass("1 second")
    const bound = yield* claim("data")
    const [volume] = yield* volumes
    assert.strictEqual(bound.spec?.storageClassName, "standard")
    assert.strictEqual(bound.spec?.volumeName, volume?.metadata.name)
    assert.deepInclude(bound.status, { phase: "Bound", accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" } })
    assert.strictEqual(volume?.status?.phase, "Bound")
    assert.deepInclude(volume?.spec, { storageClassName: "standard", persistentVolumeReclaimPolicy: "Delete" })
    assert.strictEqual(yield* wordOf("user"), "Running")
    assert.include(yield* reasons("data"), "Normal ProvisioningSucceeded")
    yield* removeClaim("data")
    assert.deepStrictEqual(yield* volumes, [])
  }).pipe(Effect.provide(nodes()))
)

it.effect("a pod waits for a claim that is missing or cannot be bound, with the scheduler's message", () =>
  Effect.gen(function* () {
    yield* createClaim("foreign", { storageClassName: "none-such" })
    yield* using("a", "later")
    yield* using("b", "foreign")
    yield* pass("1 minute")
    assert.strictEqual(yield* why("a"), `0/3 nodes are available: persistentvolumeclaim "later" not found.`)
    assert.strictEqual(yield* why("b"), "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.")
    assert.deepStrictEqual(yield* reasons("a"), ["Warning FailedScheduling"])
    assert.deepStrictEqual(yield* reasons("foreign"), ["Warning ProvisioningFailed"])
    yield* createClaim("later")
    yield* createClass("none-such")
    yield* pass("1 second")
    assert.deepStrictEqual([yield* wordOf("a"), yield* wordOf("b")], ["Running", "Running"])
  }).pipe(Effect.provide(nodes()))
)

it.effect("a claim that waits for its first consumer is bound when a pod that uses it has a node", () =>
  Effect.gen(function* () {
    yield* createClass("late", { volumeBindingMode: "WaitForFirstConsumer", reclaimPolicy: "Retain" })
    yield* createClaim("data", { storageClassName: "late" })
    yield* pass("1 minute")
    assert.strictEqual(yield* phase("data"), "Pending")
    assert.deepStrictEqual(yield* reasons("data"), ["Normal WaitForFirstConsumer"])
    yield* using("user", "data")
    yield* pass("1 second")
    assert.strictEqual(yield* wordOf("user"), "Running")
    const bound = yield* claim("data")
    assert.strictEqual(bound.status?.phase, "Bound")
    assert.match(bound.metadata.annotations?.["volume.kubernetes.io/selected-node"] ?? "", /^worker-/)
    yield* remove("user")
    yield* pass("2 seconds")
    yield* removeClaim("data")
    assert.deepStrictEqual(
      (yield* volumes).map(({ status }) => status?.phase),
      ["Released"]
    )
  }).pipe(Effect.provide(nodes()))
)

it.effect("a claim without a dynamic class gets the smallest suitable volume, and no volume has two claims", () =>
  Effect.gen(function* () {
    const manual = { storageClassName: "manual" }
    yield* createVolume("big", { ...manual, capacity: { storage: "10Gi" } })
    yield* createVolume("small", manual)
    yield* createVolume("tiny", { ...manual, capacity: { storage: "500Mi" } })
    yield* createVolume("shared", { ...manual, accessModes: ["ReadWriteMany"] })
    yield* createVolume("reserved", { ...manual, claimRef: { namespace, name: "mine" } })
    yield* Effect.forEach(["one", "two", "three", "mine"], (name) => createClaim(name, manual), {
      concurrency: "unbounded"
    })
    yield* pass("1 minute")
    const of = (name: string) => Effect.map(claim(name), ({ spec }) => spec?.volumeName)
    assert.sameMembers([yield* of("one"), yield* of("two"), yield* of("three")], ["small", "big", undefined])
    assert.strictEqual(yield* of("mine"), "reserved")
    const phases = Object.fromEntries((yield* volumes).map(({ metadata, status }) => [metadata.name, status?.phase]))
    assert.deepStrictEqual(phases, {
      big: "Bound",
      small: "Bound",
      reserved: "Bound",
      tiny: "Available",
      shared: "Available"
    })
    yield* createVolume("more", manual)
    yield* pass("1 minute")
    const all = [yield* phase("one"), yield* phase("two"), yield* phase("three")]
    assert.deepStrictEqual(all, ["Bound", "Bound", "Bound"])
  }).pipe(Effect.provide(nodes()))
)

it.effect("a bound claim grows with its request, and is Lost when its volume is deleted", () =>
  Effect.gen(function* () {
    yield* createClaim("data")
    yield* settle
    const request = Patch.merge({ spec: { resources: { requests: { storage: "5Gi" } } } })
    yield* withClient((client) => client.patch(PersistentVolumeClaim, { namespace, name: "data" }, request))
    yield* settle
    assert.deepStrictEqual((yield* claim("data")).status?.capacity, { storage: "5Gi" })
    const [volume] = yield* volumes
    assert.deepStrictEqual(volume?.spec?.capacity, { storage: "5Gi" })
    yield* withClient((client) => client.delete(PersistentVolume, { name: volume?.metadata.name ?? "" }))
    yield* settle
    assert.strictEqual(yield* phase("data"), "Lost")
    yield* using("user", "data")
    yield* settle
    assert.match((yield* why("user")) ?? "", /persistentvolumeclaim "data" bound to non-existent persistentvolume/)
  }).pipe(Effect.provide(nodes()))
)

it.effect(
  "claims that are older than the default class get it, and a default class that exists stays the only one",
  () =>
    Effect.gen(function* () {
      yield* createClaim("data")
      yield* createClass("own", { metadata: { name: "own", annotations: { [isDefault]: "true" } } })
      yield* Effect.gen(function* () {
        yield* settle
        assert.strictEqual((yield* claim("data")).spec?.storageClassName, "own")
        assert.strictEqual(yield* phase("data"), "Bound")
        const classes = yield* withClient((client) => client.list(StorageClass))
        assert.deepStrictEqual(
          classes.items.map(({ metadata }) => metadata.name),
          ["own"]
        )
      }).pipe(Effect.provide(Nodes.layer()))
    }).pipe(Effect.provide(clients))
)

const isDefault = "storageclass.kubernetes.io/is-default-class"

it.effect("without the simulated cloud claims stay Pending, and so do their pods", () =>
  Effect.gen(function* () {
    yield* createClaim("data")
    yield* using("user", "data")
    yield* pass("1 minute")
    assert.strictEqual(yield* phase("data"), "Pending")
    assert.strictEqual((yield* get("user")).status?.phase, "Pending")
  }).pipe(Effect.provide(nodes({ cloud: false })))
)

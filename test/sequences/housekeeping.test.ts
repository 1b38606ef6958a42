/**
 * Random operation sequences for ServiceAccount, Namespace and PodGC together: users create and delete namespaces and what is in them, nodes
 * are lost, controllers restart, requests fail. At every revision: pods are deleted before the service accounts and ConfigMaps that they use, and
 * no object is deleted without a reason. After the last step: what was being deleted is gone, the rest is unchanged, and nothing is written.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Namespaces from "../../src/controllers/Namespace.ts"
import * as PodGC from "../../src/controllers/PodGC.ts"
import * as ServiceAccounts from "../../src/controllers/ServiceAccount.ts"
import * as ApiError from "../../src/kube/ApiError.ts"
import type { KubeObject } from "../../src/kube/Meta.ts"
import * as Patch from "../../src/kube/Patch.ts"
import type * as Resource from "../../src/kube/Resource.ts"
import { ConfigMap, Namespace, Node, Pod, ServiceAccount } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import * as Faults from "../../src/apiserver/faults.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import type { Running } from "../../src/testing/TestCluster.ts"
import type { KubeClient } from "../../src/layers/KubeClient.ts"
import { LeaderLost } from "../../src/layers/Leadership.ts"
import * as Nodes from "../../src/simulation/Nodes.ts"
import { longRuns } from "../support/runs.ts"
import * as Log from "./log.ts"

const spaces = ["x", "y"] as const
const workers = ["worker-1", "worker-2"] as const

/** A fault for requests of the controllers. */
const Faulty = Schema.Struct({
  match: Schema.Struct({
    verb: Schema.Literals(["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"]),
    resource: Schema.optionalKey(Schema.Literals(["configmaps", "pods", "namespaces", "serviceaccounts", "nodes"]))
  }),
  fault: Faults.Fault,
  times: Schema.Literals([1, 2, 5])
})

const Step = Schema.Struct({
  what: Schema.Literals([
    "create namespace",
    "create config map",
    "create pod",
    "delete namespace",
    "delete namespace",
    "delete account",
    "delete pod",
    "remove finalizers",
    "lose node",
    "add node",
    "restart",
    "wait"
  ]),
  space: Schema.Literals(spaces),
  worker: Schema.Literals(workers),
  /** Picks one of several controllers or pods. */
  nth: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })),
  isHeld: Schema.Boolean,
  faults: Schema.Array(Faulty).check(Schema.isMaxLength(2)),
  seconds: Schema.Literals([0, 1, 5, 20, 45])
})

const sequences = Arbitrary.schema(Schema.Array(Step).check(Schema.isMinLength(3), Schema.isMaxLength(14)))

type Sequence = ReadonlyArray<typeof Step.Type>

const finalizers = ["example.test/held"]
const spec = { containers: [{ name: "main", image: "x" }], terminationGracePeriodSeconds: 5 }
const kinds = [ConfigMap, Pod, ServiceAccount] as ReadonlyArray<Resource.Any>

type Client = KubeClient["Service"]

/** A request that the server may refuse because of earlier steps. The step then does nothing. */
const unlessRefused = <A>(request: Effect.Effect<A, ApiError.ApiError>) =>
  Effect.catchIf(
    request,
    (error) => ApiError.hasReason(error, "NotFound", "AlreadyExists", "Conflict", "Forbidden"),
    () => Effect.void
  )

const perform = Effect.fnUntraced(function* (client: Client, step: typeof Step.Type, serial: number) {
  const { isHeld, nth, space: namespace, what, worker } = step
  const nodes = yield* Nodes.Nodes
  const metadata = { namespace, name: `o${serial}`, ...(isHeld ? { finalizers } : {}) }
  switch (what) {
    case "create namespace":
      return yield* unlessRefused(client.create(Namespace, { metadata: { name: namespace } }))
    case "create config map":
      return yield* unlessRefused(client.create(ConfigMap, { metadata }))
    case "create pod": {
      // Half of them are bound by the scheduler, the others have a node from the start.
      return yield* unlessRefused(
        client.create(Pod, { metadata, spec: nth < 5 ? spec : { ...spec, nodeName: worker } })
      )
    }
    case "delete namespace":
      return yield* unlessRefused(client.delete(Namespace, { name: namespace }))
    case "delete account":
      return yield* unlessRefused(client.delete(ServiceAccount, { namespace, name: "default" }))
    case "delete pod": {
      const { items } = yield* client.list(Pod)
      const pod = items[nth % Math.max(1, items.length)]
      return pod === undefined ? undefined : yield* unlessRefused(client.delete(Pod, pod.metadata))
    }
    case "remove finalizers":
      return yield* removeFinalizers(client)
    // In a fiber: the requests of nodes meet the faults as well, and may have to wait for the clock.
    case "lose node":
      return yield* Effect.forkScoped(Effect.ignore(nodes.remove(worker)))
    case "add node":
      return (yield* nodes.machines).some(({ machine }) => machine.name === worker)
        ? undefined
        : yield* Effect.forkScoped(Effect.ignore(nodes.add(worker)))
    case "restart":
    case "wait":
      return
  }
})

/** Removes all finalizers. */
const removeFinalizers = Effect.fnUntraced(function* (client: Client) {
  for (const resource of kinds) {
    for (const { metadata } of (yield* client.list(resource)).items) {
      if (metadata.finalizers === undefined) continue
      yield* unlessRefused(client.patch(resource, metadata, Patch.merge({ metadata: { finalizers: null } })))
    }
  }
})

/** The log of everything that the controllers of this file handle. */
const record = (client: Client) => Log.recordWrites(client, [...kinds, Namespace, Node])

type Entry = Log.Write<string, KubeObject>

/** Deletions without a reason or in the wrong order. `asked`: uids of the pods and service accounts that the user deleted. */
const violations = (log: ReadonlyArray<Entry>, asked: ReadonlySet<string>): ReadonlyArray<string> => {
  const found: Array<string> = []
  const pods = new Map<string, string>()
  const ending = new Set<string>()
  const machines = new Set<string>(["control-plane", ...workers])
  for (const { kind, object, revision, type } of log) {
    const { deletionTimestamp, name, namespace = "", uid = "" } = object.metadata
    const goes = type === "DELETED" || deletionTimestamp !== undefined
    if (kind === "Namespace") {
      if (type === "DELETED") ending.delete(name)
      else if (goes) ending.add(name)
      continue
    }
    if (kind === "Node") {
      if (type === "DELETED") machines.delete(name)
      else machines.add(name)
      continue
    }
    const what = `${revision}: ${kind} ${namespace}/${name}`
    if (goes && kind !== "Pod") {
      if (!ending.has(namespace) && !asked.has(uid)) found.push(`${what} is deleted without a reason`)
      if (!asked.has(uid) && [...pods.values()].includes(namespace)) found.push(`${what} is deleted before the pods`)
    }
    if (kind === "Pod") {
      if (type === "DELETED") pods.delete(uid)
      else pods.set(uid, namespace)
      const node = (object as Pod).spec?.nodeName
      const isLost = node !== undefined && !machines.has(node)
      if (goes && !ending.has(namespace) && !asked.has(uid) && !isLost)
        found.push(`${what} is deleted without a reason`)
      // A pod of a lost node needs no other reason later, even if a node of that name is added again.
      if (goes) asked = new Set([...asked, uid])
    }
  }
  return found
}

const snapshots = Effect.gen(function* () {
  const cluster = yield* ClusterTest
  const all = yield* Effect.forEach([...kinds, Namespace] as ReadonlyArray<Resource.Any>, cluster.snapshot)
  return all
    .flat()
    .map(({ metadata }) => `${metadata.namespace ?? ""}/${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`)
})

/** What must hold twenty minutes after the last step. */
const final = Effect.gen(function* () {
  const cluster = yield* ClusterTest
  const found: Array<string> = []
  const namespaces = yield* cluster.snapshot(Namespace)
  const machines = (yield* cluster.snapshot(Node)).map(({ metadata }) => metadata.name)
  const accounts = (yield* cluster.snapshot(ServiceAccount)).map(({ metadata }) => metadata.namespace)
  for (const { metadata } of namespaces) {
    if (metadata.deletionTimestamp !== undefined) found.push(`namespace ${metadata.name} is not gone`)
    if (!accounts.includes(metadata.name)) found.push(`namespace ${metadata.name} has no account`)
  }
  for (const resource of kinds) {
    for (const { metadata } of yield* cluster.snapshot(resource)) {
      if (!namespaces.some((one) => one.metadata.name === metadata.namespace))
        found.push(`${resource.kind} ${metadata.namespace}/${metadata.name} outlived its namespace`)
      if (metadata.deletionTimestamp !== undefined) found.push(`${resource.kind} ${metadata.name} is not gone`)
    }
  }
  for (const { metadata, spec } of yield* cluster.snapshot(Pod)) {
    if (spec?.nodeName !== undefined && !machines.includes(spec.nodeName))
      found.push(`pod ${metadata.name} is on no node`)
  }
  const before = yield* snapshots
  yield* cluster.advance("2 minutes")
  const after = yield* snapshots
  return [
    ...found,
    ...after.filter((one) => !before.includes(one)).map((one) => `${one} was written after convergence`)
  ]
})

const lost = Exit.fail(new LeaderLost({ reason: "Stolen", message: "the process is gone" }))

const run = (sequence: Sequence) =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const server = yield* ApiServer
    const client = yield* Log.withoutFaults
    const log = yield* record(client)
    const controllers = [ServiceAccounts.make, Namespaces.make, PodGC.make]
    const running: Array<Running> = []
    for (const make of controllers) running.push(yield* cluster.run(make()))
    const asked = new Set<string>()
    const recording: Client = {
      ...client,
      delete: (resource, target, options) =>
        Effect.tap(client.get(resource, target), ({ metadata }) =>
          Effect.sync(() => asked.add(metadata.uid ?? ""))
        ).pipe(Effect.andThen(client.delete(resource, target, options)))
    }
    for (const name of spaces) {
      yield* client.create(Namespace, { metadata: { name } })
      yield* client.create(ConfigMap, { metadata: { namespace: name, name: "first" } })
      yield* client.create(Pod, {
        metadata: { namespace: name, name: "first" },
        spec: { ...spec, nodeName: name === "x" ? "worker-1" : "worker-2" }
      })
    }
    yield* cluster.advance("10 seconds")
    for (const [serial, step] of sequence.entries()) {
      yield* perform(recording, step, serial)
      yield* server.setFaults(step.faults)
      const index = step.nth % controllers.length
      const make = controllers[index]
      if (step.what === "restart" && make !== undefined) {
        yield* running[index]?.stop(lost) ?? Effect.void
        running[index] = yield* cluster.run(make())
      }
      yield* cluster.advance(`${step.seconds} seconds`)
    }
    yield* server.setFaults([])
    yield* cluster.advance("2 minutes")
    yield* removeFinalizers(client)
    yield* cluster.advance("20 minutes")
    return [...violations(log(), asked), ...(yield* final)]
  }).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(ClusterTest.layer({ nodes: 3 }), TestClock.layer())))

const check = Arbitrary.checkEffect(
  sequences,
  (sequence) =>
    Effect.flatMap(run(sequence), (found) => (found.length === 0 ? Effect.succeed(true) : Effect.fail(found))),
  { size: 14, runs: longRuns(25), maxShrinks: 60 }
)

describe("ServiceAccount, Namespace and PodGC under random operation sequences", () => {
  it.effect(
    "delete in order and with a reason, and then write nothing",
    () => Effect.map(check, (result) => assert.isUndefined(Arbitrary.formatCheckFailure(result))),
    3_600_000
  )
})

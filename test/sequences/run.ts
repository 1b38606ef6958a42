/**
 * Runs a sequence on the embedded cluster in virtual time, with the controllers under test and simulated nodes, and returns all violations
 * as sentences: of the invariants of the log, and of what must hold after the last step. The requests of the user meet no faults.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as DeploymentController from "../../src/controllers/Deployment.ts"
import * as GarbageCollector from "../../src/controllers/GarbageCollector.ts"
import * as PodGC from "../../src/controllers/PodGC.ts"
import * as ReplicaSetController from "../../src/controllers/ReplicaSet.ts"
import type * as ApiError from "../../src/kube/ApiError.ts"
import * as Owner from "../../src/kube/Owner.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { Deployment, Pod, ReplicaSet } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import type { Running } from "../../src/testing/TestCluster.ts"
import type { Descriptor, Services } from "../../src/layers/Controller.ts"
import type { Discovery } from "../../src/layers/Discovery.ts"
import type { KubeClient } from "../../src/layers/KubeClient.ts"
import { LeaderLost } from "../../src/layers/Leadership.ts"
import * as Nodes from "../../src/simulation/Nodes.ts"
import * as Final from "./final.ts"
import * as Log from "./log.ts"
import { namespace } from "./names.ts"
import * as Steps from "./steps.ts"

const loops = {
  deployment: DeploymentController.make(),
  replicaset: ReplicaSetController.make(),
  garbagecollector: GarbageCollector.make(),
  podgc: PodGC.make()
} satisfies Record<string, Descriptor<Discovery>>

type Loops = typeof loops

type Client = KubeClient["Service"]

/** What a step acts on. */
interface Harness {
  readonly client: Client
  readonly nodes: Nodes.Nodes["Service"]
  readonly server: ApiServer["Service"]
  readonly run: (name: keyof Loops) => Effect.Effect<void, never, Services | Discovery | Scope.Scope>
  readonly crash: (name: keyof Loops) => Effect.Effect<void>
}

const template = (name: string, image: number) => ({
  metadata: { labels: { app: name } },
  spec: {
    terminationGracePeriodSeconds: 5,
    containers: [{ name: "main", image: `example.test/main:${image === 4 ? "404" : image}` }]
  }
})

/** A request that the server may refuse because of earlier steps, for example with NotFound. The step then does nothing. */
const unlessRefused = <A>(request: Effect.Effect<A, ApiError.ApiError>) =>
  Effect.catch(request, (error) =>
    ["NotFound", "AlreadyExists", "Conflict", "Invalid", "Forbidden"].includes(error.reason._tag)
      ? Effect.void
      : Effect.die(error)
  )

const patch = (client: Client, name: string, body: object) =>
  unlessRefused(client.patch(Deployment, { namespace, name }, Patch.merge(body)))

const create = (client: Client, name: string, replicas: number) =>
  unlessRefused(
    client.create(Deployment, {
      metadata: { namespace, name },
      spec: {
        replicas,
        revisionHistoryLimit: 2,
        selector: { matchLabels: { app: name } },
        template: template(name, 0)
      }
    })
  )

/** Creates a ReplicaSet as another controller manager would have, with a name and a hash that ours does not compute. */
const inherit = Effect.fnUntraced(function* (client: Client, name: string) {
  const { metadata, spec } = yield* client.get(Deployment, { namespace, name })
  const labels = { app: name, "pod-template-hash": "5d89bdfbf9" }
  yield* client.create(ReplicaSet, {
    metadata: {
      namespace,
      name: `${name}-5d89bdfbf9`,
      labels,
      annotations: { "deployment.kubernetes.io/revision": "1" },
      ownerReferences: [Owner.reference(Deployment, { metadata })]
    },
    spec: {
      replicas: spec?.replicas ?? 1,
      selector: { matchLabels: labels },
      template: { ...spec?.template, metadata: { labels } }
    }
  })
})

/** The revision `back` steps before the newest. 0 stays 0, which means the previous revision. */
const revisionBack = Effect.fnUntraced(function* (client: Client, name: string, back: number) {
  if (back === 0) return "0"
  const { items } = yield* client.list(ReplicaSet, { namespace, labelSelector: `app=${name}` })
  const revisions = items
    .map(({ metadata }) => BigInt(metadata.annotations?.["deployment.kubernetes.io/revision"] ?? "0"))
    .toSorted((left, right) => (left < right ? 1 : -1))
  return String(revisions[back] ?? 1n)
})

const pick = <A>(all: ReadonlyArray<A>, nth: number): A | undefined =>
  all.length === 0 ? undefined : all[nth % all.length]

const somePod = (client: Client, nth: number) =>
  Effect.map(client.list(Pod, { namespace }), ({ items }) => pick(items, nth)?.metadata.name)

const perform = Effect.fnUntraced(function* (harness: Harness, step: Steps.Do) {
  const { client, nodes } = harness
  switch (step._tag) {
    case "Create":
      return yield* create(client, step.deployment, step.replicas)
    case "SetImage":
      return yield* patch(client, step.deployment, { spec: { template: template(step.deployment, step.image) } })
    case "Scale":
      return yield* patch(client, step.deployment, { spec: { replicas: step.replicas } })
    case "Pause":
      return yield* patch(client, step.deployment, { spec: { paused: true } })
    case "Resume":
      return yield* patch(client, step.deployment, { spec: { paused: null } })
    case "Rollback": {
      const annotations = {
        "deprecated.deployment.rollback.to": yield* revisionBack(client, step.deployment, step.back)
      }
      return yield* patch(client, step.deployment, { metadata: { annotations } })
    }
    case "Recreate":
      return yield* patch(client, step.deployment, { spec: { strategy: { type: "Recreate", rollingUpdate: null } } })
    case "RollingUpdate": {
      const { maxSurge, maxUnavailable } = step
      const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } }
      return yield* patch(client, step.deployment, { spec: { strategy } })
    }
    case "Annotate":
      return yield* patch(client, step.deployment, {
        metadata: { annotations: { "example.test/note": String(step.value) } }
      })
    case "Delete":
      return yield* unlessRefused(
        client.delete(Deployment, { namespace, name: step.deployment }, { propagationPolicy: step.propagation })
      )
    case "CrashPod":
    case "EvictPod": {
      const name = yield* somePod(client, step.nth)
      if (name === undefined) return
      const fate = step._tag === "CrashPod" ? nodes.crash({ namespace, name }) : nodes.evict({ namespace, name })
      return yield* Effect.ignore(fate)
    }
    case "DeletePod": {
      const name = yield* somePod(client, step.nth)
      return name === undefined ? undefined : yield* unlessRefused(client.delete(Pod, { namespace, name }))
    }
    case "OrphanPod": {
      const name = yield* somePod(client, step.nth)
      if (name === undefined) return
      return yield* unlessRefused(
        client.patch(Pod, { namespace, name }, Patch.merge({ metadata: { ownerReferences: null } }))
      )
    }
    case "OrphanSet": {
      const set = pick((yield* client.list(ReplicaSet, { namespace })).items, step.nth)
      if (set === undefined) return
      return yield* unlessRefused(client.delete(ReplicaSet, set.metadata, { propagationPolicy: "Orphan" }))
    }
    case "LoseNode": {
      const workers = (yield* nodes.machines).filter(({ machine }) => machine.role === "worker")
      const lost = workers.length < 2 ? undefined : pick(workers, step.nth)
      return lost === undefined ? undefined : yield* Effect.ignore(nodes.remove(lost.machine.name))
    }
    case "Crash":
      yield* harness.crash(step.loop)
      return yield* harness.run(step.loop)
    case "Conflicts":
    case "Throttles":
    case "Errors":
    case "LostAnswers":
    case "Slow":
    case "Stale":
    case "Relist":
      return yield* harness.server.setFaults([Steps.faultOf(step)])
  }
})

/** Ends all faults, and replaces what can never become ready, so that the cluster can converge. */
const repair = Effect.fnUntraced(function* (harness: Harness) {
  yield* harness.server.setFaults([])
  const workers = (yield* harness.nodes.machines).filter(({ machine }) => machine.role === "worker").length
  for (let n = workers; n < 2; n++) yield* harness.nodes.add(`spare-${n}`)
  for (const name of ["a", "b"]) {
    yield* patch(harness.client, name, { spec: { paused: null } })
    const deployment = yield* Effect.option(harness.client.get(Deployment, { namespace, name }))
    if (deployment._tag === "None") continue
    const image = deployment.value.spec?.template.spec?.containers[0]?.image ?? ""
    if (image.endsWith(":404")) yield* patch(harness.client, name, { spec: { template: template(name, 1) } })
  }
})

const start = Effect.gen(function* () {
  const cluster = yield* ClusterTest
  const running = new Map<keyof Loops, Running>()
  const lost = Exit.fail(new LeaderLost({ reason: "Stolen", message: "the process is gone" }))
  const run = (name: keyof Loops) => Effect.map(cluster.run(loops[name]), (one) => void running.set(name, one))
  const crash = (name: keyof Loops) => running.get(name)?.stop(lost) ?? Effect.void
  for (const name of ["garbagecollector", "podgc", "replicaset", "deployment"] as const) yield* run(name)
  return { run, crash }
})

/** Runs a sequence and returns its violations. */
export const run = (
  sequence: Steps.Sequence,
  invariants: ReadonlyArray<(log: ReadonlyArray<Log.Entry>) => ReadonlyArray<string>>
) =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const server = yield* ApiServer
    const client = yield* Log.withoutFaults
    const log = yield* Log.record(client)
    yield* create(client, "a", sequence.replicas)
    if (sequence.inherits) yield* inherit(client, "a")
    const harness: Harness = { client, server, nodes: yield* Nodes.Nodes, ...(yield* start) }
    for (const { do: step, wait } of sequence.steps) {
      yield* perform(harness, step)
      yield* cluster.advance(wait)
    }
    yield* repair(harness)
    const unsettled = yield* Final.converges(client)
    const broken = invariants.flatMap((invariant) => invariant(log()))
    // The checks that follow assume a cluster that has converged.
    if (unsettled.length > 0 || broken.length > 0) return [...broken, ...unsettled]
    const restart = Effect.forEach(
      ["replicaset", "deployment"] as const,
      (name) => Effect.andThen(harness.crash(name), harness.run(name)),
      { discard: true }
    )
    // The nodes stop meanwhile: their heartbeats of an hour would take most of the time of the test.
    const names = (yield* harness.nodes.machines).map(({ machine }) => machine.name)
    const onEachNode = (what: (name: string) => Effect.Effect<void, Nodes.UnknownMachine>) =>
      Effect.forEach(names, (name) => Effect.orDie(what(name)), { discard: true })
    yield* onEachNode(harness.nodes.stop)
    const writes = yield* Final.writesNothing(log, restart)
    yield* onEachNode(harness.nodes.start)
    return [...writes, ...(yield* Final.rollsBack(client))]
  }).pipe(Effect.scoped, Effect.provide(cluster))

/** One control-plane node, on which no pod of the Deployments runs, and two workers. */
const cluster = ClusterTest.layer({ nodes: 3 })

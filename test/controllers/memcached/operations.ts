/**
 * Random operation sequences on Memcacheds: users, drift, restarts and faults, in virtual time on a simulated cluster. In the end faults stop, and
 * the cluster must match the specs.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as GarbageCollector from "../../../src/controllers/GarbageCollector.ts"
import * as Deployments from "../../../src/controllers/Deployment.ts"
import * as Memcacheds from "../../../src/controllers/Memcached.ts"
import * as ReplicaSets from "../../../src/controllers/ReplicaSet.ts"
import { Memcached } from "../../../src/controllers/memcached/kind.ts"
import * as Finalizers from "../../../src/kube/finalizers.ts"
import * as Owner from "../../../src/kube/Owner.ts"
import type * as Resource from "../../../src/kube/Resource.ts"
import { Deployment, Pod, ReplicaSet } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import type { Entry } from "../../../src/apiserver/audit/AuditLog.ts"
import type * as Faults from "../../../src/apiserver/faults.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import type { Running } from "../../../src/testing/TestCluster.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { Recorder } from "../../../src/layers/Recorder.ts"
import { disturb, Disturbance } from "../../support/faultSteps.ts"
import * as Harness from "./harness.ts"

const finalizer = "cache.example.com/finalizer"

const name = Schema.Literals(["a", "b"])

const Do = Schema.Union([
  Schema.TaggedStruct("Put", {
    name,
    size: Schema.Literals([1, 2, 3]),
    containerPort: Schema.Literals([11_211, 4000])
  }),
  Schema.TaggedStruct("Remove", { name }),
  Schema.TaggedStruct("Drift", {
    name,
    what: Schema.Literals(["replicas", "image", "port", "labels", "owner", "gone"])
  }),
  /** A user creates a Deployment of another owner under the name, if it is free. */
  Schema.TaggedStruct("Squat", { name }),
  Schema.TaggedStruct("KillPods", {}),
  /** The operator stops gracefully and starts again with that image. */
  Schema.TaggedStruct("Restart", { image: Schema.Literals(["one", "two"]) }),
  Schema.TaggedStruct("Fault", {
    resource: Schema.Literals(["memcacheds.cache.example.com", "deployments.apps", "pods"]),
    // `times` is below the number of attempts to remove a finalizer.
    ...Disturbance.fields
  })
])

export const History = Schema.Array(Schema.Struct({ do: Do, wait: Schema.Literals([0, 0, 50, 1000, 40_000]) }))

export type History = typeof History.Type

type Fault = Extract<typeof Do.Type, { readonly _tag: "Fault" }>

const writes = new Set(["create", "update", "patch", "delete"])

const ruleOf = (fault: Fault): Faults.Rule =>
  disturb(fault, fault.resource, ({ context }) => context.resource === fault.resource && writes.has(context.verb))

const foreign = { app: "theirs" }

const isForeign = ({ spec }: Deployment): boolean => spec?.selector.matchLabels?.["app"] === "theirs"

const driftOf = (what: Exclude<Extract<typeof Do.Type, { readonly _tag: "Drift" }>["what"], "gone">): object => {
  const running = (container: object) => ({
    spec: { template: { spec: { containers: [{ name: "memcached", image: Harness.image, ...container }] } } }
  })
  switch (what) {
    case "replicas":
      return { spec: { replicas: 7 } }
    case "image":
      return running({ image: "example.test/other:1" })
    case "port":
      return running({ ports: [{ containerPort: 1 }] })
    case "labels":
      return { metadata: { labels: { "app.kubernetes.io/name": "other" } } }
    case "owner":
      return { metadata: { ownerReferences: null } }
  }
}

const imageOf = (image: "one" | "two"): string => `example.test/memcached:${image}`

/** Counts the deletion events, by uid. */
const countingDeletionEvents = (deletionEvents: Map<string, number>) =>
  Layer.effect(
    Recorder,
    Effect.map(Recorder, (recorder) => ({
      ...recorder,
      named: (component: string) => {
        const sink = recorder.named(component)
        const warning: typeof sink.warning = (object, reason, ...rest) =>
          Effect.suspend(() => {
            const { uid = "" } = object.metadata
            if (reason === "Deleting") deletionEvents.set(uid, (deletionEvents.get(uid) ?? 0) + 1)
            return sink.warning(object, reason, ...rest)
          })
        return { ...sink, warning }
      }
    }))
  )

/** What a run records while it performs its steps. */
interface Records {
  /** By uid: how often the finalizer recorded the deletion event. */
  readonly deletionEvents: Map<string, number>
  /** The uids of objects that had the finalizer when a user deleted them. */
  readonly held: Set<string>
  /** The injected faults so far. */
  rules: Array<Faults.Rule>
  image: "one" | "two"
  /** Writes since the list was last emptied. */
  writesSoFar: Array<string>
}

const act = Effect.fnUntraced(function* (step: Exclude<typeof Do.Type, Fault>, records: Records) {
  const cluster = yield* ClusterTest
  const client = yield* KubeClient
  const { namespace } = Harness
  switch (step._tag) {
    case "Put": {
      const { containerPort, name, size } = step
      return void (yield* cluster.apply([Harness.object(name, { size, containerPort })]))
    }
    case "Remove": {
      const found = (yield* cluster.snapshot(Memcached)).find(({ metadata }) => metadata.name === step.name)
      if (found === undefined) return
      if (Finalizers.has(found, finalizer)) records.held.add(found.metadata.uid ?? "")
      return void (yield* client.delete(Memcached, { namespace, name: step.name }))
    }
    case "Drift":
      return void (yield* step.what === "gone"
        ? client.delete(Deployment, { namespace, name: step.name })
        : Harness.editDeployment(step.name, driftOf(step.what)))
    case "Squat":
      return void (yield* client.create(Deployment, {
        metadata: { namespace, name: step.name },
        spec: {
          replicas: 1,
          selector: { matchLabels: foreign },
          template: {
            metadata: { labels: foreign },
            spec: { containers: [{ name: "main", image: "example.test/x:1" }] }
          }
        }
      }))
    case "KillPods":
      for (const pod of yield* cluster.snapshot(Pod)) yield* client.delete(Pod, pod.metadata)
      return
    case "Restart":
      return
  }
})

/** Returns the violations at the end. */
export const run = (history: History) =>
  Effect.suspend(() => {
    const records: Records = { deletionEvents: new Map(), held: new Set(), rules: [], image: "one", writesSoFar: [] }
    const onEntry = ({ resource, user, verb }: Entry) => {
      if (writes.has(verb) && ours.has(resource)) records.writesSoFar.push(`${verb} ${resource} as ${user}`)
    }
    return Effect.provide(perform(history, records), Harness.layer({ nodes: 2, audit: { onEntry } })).pipe(
      Effect.scoped
    )
  })

/** The resources that are not written once the cluster matches the specs. */
const ours = new Set(["memcacheds", "deployments", "replicasets", "events"])

const perform = Effect.fnUntraced(function* (history: History, records: Records) {
  const cluster = yield* ClusterTest
  const server = yield* ApiServer
  const launch = () => {
    const { layer, ...rest } = Memcacheds.make({ image: imageOf(records.image) })
    return cluster.run({
      ...rest,
      layer: Layer.provide(layer, countingDeletionEvents(records.deletionEvents))
    })
  }
  for (const loop of [GarbageCollector.make(), ReplicaSets.make(), Deployments.make()]) yield* cluster.run(loop)
  let operator: Running = yield* launch()
  for (const { do: step, wait } of history) {
    if (step._tag === "Fault") {
      records.rules = [...records.rules, ruleOf(step)].slice(-2)
      yield* server.setFaults(records.rules)
    } else {
      // Requests of users get no faults; a rejected request is not repeated.
      yield* server.setFaults([])
      yield* Effect.ignore(act(step, records))
      yield* server.setFaults(records.rules)
    }
    if (step._tag === "Restart") {
      records.image = step.image
      // The operator completes running requests, and a response may be slow.
      const stopped = yield* Effect.forkChild(operator.stop())
      yield* cluster.advance("10 seconds")
      yield* Fiber.join(stopped)
      operator = yield* launch()
    }
    yield* cluster.advance(wait)
  }
  yield* server.setFaults([])
  for (const one of (yield* Harness.deployments).filter(isForeign)) {
    yield* Effect.ignore((yield* KubeClient).delete(Deployment, one.metadata))
  }
  // A watch that delivers nothing is detected only by its timeout.
  yield* cluster.advance(history.some(isStale) ? "12 minutes" : "2 minutes")
  records.writesSoFar = []
  yield* cluster.advance("2 minutes")
  return [
    ...(yield* violationsOf(records)),
    ...records.writesSoFar.map((write) => `written although nothing changed: ${write}`)
  ]
})

const isStale = (step: History[number]): boolean => step.do._tag === "Fault" && step.do.how === "stale"

const violationsOf = Effect.fnUntraced(function* ({ held, image, deletionEvents }: Records) {
  const cluster = yield* ClusterTest
  const all = <A extends Parameters<typeof Owner.controllerOf>[0]>(resource: Resource.Resource<A>) =>
    cluster.snapshot(resource)
  const memcacheds = yield* all(Memcached)
  const deployments = yield* all(Deployment)
  const pods = yield* all(Pod)
  const violations: Array<string> = []
  for (const one of memcacheds) {
    const { name, uid } = one.metadata
    const decoded = one.spec
    const deployment = deployments.find(({ metadata }) => metadata.name === name)
    const [container] = deployment?.spec?.template.spec?.containers ?? []
    const condition = one.status?.conditions?.find(({ type }) => type === "Available")
    const nodes = pods
      .filter(({ metadata }) => metadata.labels?.["app.kubernetes.io/instance"] === name)
      .map(({ metadata }) => metadata.name)
    const checks = {
      "has no finalizer": Finalizers.has(one, finalizer),
      "is still being deleted": !Finalizers.isDeleting(one),
      "has no Deployment of its own": deployment !== undefined && Owner.controlledBy(deployment, uid),
      "has another size": deployment?.spec?.replicas === decoded.size && nodes.length === decoded.size,
      "has another image": container?.image === imageOf(image),
      "has another port":
        container?.ports?.some(({ containerPort }) => containerPort === decoded.containerPort) === true,
      "is not Available in its status":
        condition?.status === "True" && condition.observedGeneration === one.metadata.generation,
      "has other pods in its status": JSON.stringify(one.status?.nodes ?? []) === JSON.stringify(nodes.toSorted())
    }
    for (const [what, holds] of Object.entries(checks)) if (!holds) violations.push(`${name} ${what}`)
  }
  const names = new Set(memcacheds.map(({ metadata }) => metadata.name))
  for (const { metadata } of [...deployments, ...(yield* all(ReplicaSet)), ...pods]) {
    if (!names.has(metadata.labels?.["app.kubernetes.io/instance"] ?? ""))
      violations.push(`${metadata.name} is an orphan`)
  }
  for (const uid of held)
    if (deletionEvents.get(uid) !== 1)
      violations.push(`the finalizer of ${uid} recorded ${deletionEvents.get(uid) ?? 0} events`)
  for (const [uid, times] of deletionEvents)
    if (times > 1 && !held.has(uid)) violations.push(`${uid} has ${times} deletion events`)
  return violations
})

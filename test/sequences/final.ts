/**
 * What must hold when everybody has left the cluster alone: it converges, then it is quiet, and every kept revision can be gone
 * back to. Answers are violations in words.
 */
import * as Effect from "effect/Effect"
import { controllerOf } from "../../src/kube/Owner.ts"
import * as Patch from "../../src/kube/Patch.ts"
import * as Pods from "../../src/kube/pod.ts"
import { Deployment, Node, Pod, ReplicaSet } from "../../src/kube/resources.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import type { KubeClient } from "../../src/layers/KubeClient.ts"
import type * as Log from "./log.ts"
import { namespace } from "./names.ts"

type Client = KubeClient["Service"]

const revisionAnnotation = "deployment.kubernetes.io/revision"

/** Everything there is, as the server has it. */
const everything = (client: Client) =>
  Effect.all({
    deployments: Effect.map(client.list(Deployment, { namespace }), ({ items }) => items),
    sets: Effect.map(client.list(ReplicaSet, { namespace }), ({ items }) => items),
    pods: Effect.map(client.list(Pod, { namespace }), ({ items }) => items),
    nodes: Effect.map(client.list(Node), ({ items }) => new Set(items.map(({ metadata }) => metadata.name)))
  })

type Everything = Effect.Success<ReturnType<typeof everything>>

/** What of a template a user has written: the hash label is the loop's. */
const templateOf = ({ spec }: Deployment | ReplicaSet): string => {
  const { "pod-template-hash": _, ...labels } = spec?.template?.metadata?.labels ?? {}
  return JSON.stringify([labels, spec?.template?.spec])
}

const conditionOf = (deployment: Deployment, type: string): string => {
  const found = deployment.status?.conditions?.find((condition) => condition.type === type)
  return `${found?.status} ${found?.reason}`
}

/** 1, for one Deployment. */
const unsettled = (deployment: Deployment, { pods, sets }: Everything): ReadonlyArray<string> => {
  const { metadata, spec, status } = deployment
  const wanted = spec?.replicas ?? 1
  const own = sets.filter((set) => controllerOf(set)?.uid === metadata.uid)
  const current = own.filter((set) => templateOf(set) === templateOf(deployment))
  const mine = pods.filter((pod) => own.some((set) => controllerOf(pod)?.uid === set.metadata.uid))
  const active = mine.filter(Pods.isActive)
  const holds: ReadonlyArray<readonly [what: string, is: unknown, should: unknown]> = [
    ["observed generation", status?.observedGeneration, metadata.generation],
    ["replicas", status?.replicas ?? 0, wanted],
    ["updated replicas", status?.updatedReplicas ?? 0, wanted],
    ["ready replicas", status?.readyReplicas ?? 0, wanted],
    ["available replicas", status?.availableReplicas ?? 0, wanted],
    ["unavailable replicas", status?.unavailableReplicas ?? 0, 0],
    ["condition Available", conditionOf(deployment, "Available"), "True MinimumReplicasAvailable"],
    ["condition Progressing", conditionOf(deployment, "Progressing"), "True NewReplicaSetAvailable"],
    ["replica sets of this template", current.length, 1],
    ["replicas of its replica set", current[0]?.spec?.replicas, wanted],
    ["replicas of all replica sets", own.reduce((sum, set) => sum + (set.spec?.replicas ?? 0), 0), wanted],
    ["revision", metadata.annotations?.[revisionAnnotation], current[0]?.metadata.annotations?.[revisionAnnotation]],
    ["active pods", active.length, wanted],
    ["ready pods", active.filter(Pods.isReady).length, wanted],
    ["old replica sets beyond the limit", Math.max(0, own.length - 1 - (spec?.revisionHistoryLimit ?? 10)), 0]
  ]
  return holds
    .filter(([, is, should]) => is !== should)
    .map(([what, is, should]) => `${metadata.name}: ${what}: ${String(is)} instead of ${String(should)}`)
}

const matches = ({ spec }: ReplicaSet, { metadata }: Pod): boolean =>
  Object.entries(spec?.selector.matchLabels ?? {}).every(([key, value]) => metadata.labels?.[key] === value)

/** What is left of owners that are gone. A pod that was taken away from a replica set that is gone has no owner. */
const leftOver = ({ deployments, pods, sets }: Everything): ReadonlyArray<string> => {
  const alive = new Set([...deployments, ...sets].map(({ metadata }) => metadata.uid))
  const isLeft = (object: Pod | ReplicaSet, mayBelong: boolean): boolean => {
    const owner = controllerOf(object)
    return owner === undefined ? mayBelong : !alive.has(owner.uid)
  }
  return [
    ...sets.filter((set) => isLeft(set, true)),
    ...pods.filter((pod) => isLeft(pod, Pods.isActive(pod) && sets.some((set) => matches(set, pod))))
  ].map(({ kind, metadata }) => `${kind} ${metadata.name} is left without its owner`)
}

const faultsIn = (all: Everything): ReadonlyArray<string> => [
  ...all.deployments.flatMap((deployment) => [
    ...unsettled(deployment, all),
    ...(deployment.metadata.deletionTimestamp === undefined
      ? []
      : [`${deployment.metadata.name} is still being deleted`])
  ]),
  ...leftOver(all),
  ...all.pods
    .filter(({ spec }) => spec?.nodeName !== undefined && !all.nodes.has(spec.nodeName))
    .map(({ metadata, spec }) => `${metadata.name} is on ${spec?.nodeName}, which is gone`),
  ...all.pods.filter((pod) => !Pods.isActive(pod) && !Pods.isTerminal(pod)).map((pod) => `${pod.metadata.name} lingers`)
]

/** Longer than every backoff, deadline and expectation together can take: the sequence made at most a dozen failures. */
const limit = { steps: 240, millis: 10_000 }

/** 1: within bounded time available = replicas, one replica set holds them all, and the status is right. */
export const converges = Effect.fnUntraced(function* (client: Client) {
  const cluster = yield* ClusterTest
  for (let step = 0; ; step++) {
    yield* cluster.advance(limit.millis)
    const faults = faultsIn(yield* everything(client))
    if (faults.length === 0 || step === limit.steps) return faults
  }
})

/** 4: an hour passes, in the middle of which the loops start anew and look at everything again, and no write follows. */
export const staysQuiet = <R>(log: () => ReadonlyArray<Log.Entry>, restart: Effect.Effect<void, never, R>) =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const before = log().length
    yield* cluster.advance("30 minutes")
    yield* restart
    yield* cluster.advance("30 minutes")
    return log()
      .slice(before)
      .map(
        ({ kind, object, revision, type }) => `written in peace: ${type} ${kind} ${object.metadata.name} at ${revision}`
      )
  })

/** 5: going back to the oldest kept revision gives exactly its template. */
export const undoes = Effect.fnUntraced(function* (client: Client) {
  const cluster = yield* ClusterTest
  const said: Array<string> = []
  for (const deployment of (yield* everything(client)).deployments) {
    const { name, uid } = deployment.metadata
    const kept = (yield* everything(client)).sets
      .filter((set) => controllerOf(set)?.uid === uid)
      .toSorted((left, right) => (revisionOf(left) < revisionOf(right) ? -1 : 1))
    const oldest = kept[0]
    if (oldest === undefined || kept.length < 2) continue
    const annotations = { "deprecated.deployment.rollback.to": String(revisionOf(oldest)) }
    yield* client.patch(Deployment, { namespace, name }, Patch.merge({ metadata: { annotations } }))
    if (isRunnable(oldest)) said.push(...(yield* converges(client)))
    else yield* cluster.advance("1 minute")
    const after = yield* client.get(Deployment, { namespace, name })
    if (templateOf(after) !== templateOf(oldest))
      said.push(`${name}: undo to ${revisionOf(oldest)} gave another template`)
  }
  return said
})

/** Its image can be pulled: going back to a template that never worked is allowed, and never comes to an end. */
const isRunnable = ({ spec }: ReplicaSet): boolean =>
  spec?.template?.spec?.containers.some(({ image }) => image?.endsWith(":404")) === false

const revisionOf = ({ metadata }: ReplicaSet): bigint => BigInt(metadata.annotations?.[revisionAnnotation] ?? "0")

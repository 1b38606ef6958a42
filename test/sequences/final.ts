/**
 * What must hold after the last step of a sequence: the cluster converges, then nothing is written, and a rollback to every kept revision
 * works. Each check returns its violations as sentences.
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

/** All objects that the checks need, read from the server. */
const everything = (client: Client) =>
  Effect.all({
    deployments: Effect.map(client.list(Deployment, { namespace }), ({ items }) => items),
    sets: Effect.map(client.list(ReplicaSet, { namespace }), ({ items }) => items),
    pods: Effect.map(client.list(Pod, { namespace }), ({ items }) => items),
    nodes: Effect.map(client.list(Node), ({ items }) => new Set(items.map(({ metadata }) => metadata.name)))
  })

type Everything = Effect.Success<ReturnType<typeof everything>>

/** The template as the user wrote it, without the hash label that the controller adds. */
const templateOf = ({ spec }: Deployment | ReplicaSet): string => {
  const { "pod-template-hash": _, ...labels } = spec?.template?.metadata?.labels ?? {}
  return JSON.stringify([labels, spec?.template?.spec])
}

const conditionOf = (deployment: Deployment, type: string): string => {
  const found = deployment.status?.conditions?.find((condition) => condition.type === type)
  return `${found?.status} ${found?.reason}`
}

/** How a Deployment differs from a complete rollout. */
const unsettled = (deployment: Deployment, { pods, sets }: Everything): ReadonlyArray<string> => {
  const { metadata, spec, status } = deployment
  const desired = spec?.replicas ?? 1
  const own = sets.filter((set) => controllerOf(set)?.uid === metadata.uid)
  const current = own.filter((set) => templateOf(set) === templateOf(deployment))
  const ownPods = pods.filter((pod) => own.some((set) => controllerOf(pod)?.uid === set.metadata.uid))
  const active = ownPods.filter(Pods.isActive)
  const checks: ReadonlyArray<readonly [what: string, actual: unknown, expected: unknown]> = [
    ["observed generation", status?.observedGeneration, metadata.generation],
    ["replicas", status?.replicas ?? 0, desired],
    ["updated replicas", status?.updatedReplicas ?? 0, desired],
    ["ready replicas", status?.readyReplicas ?? 0, desired],
    ["available replicas", status?.availableReplicas ?? 0, desired],
    ["unavailable replicas", status?.unavailableReplicas ?? 0, 0],
    ["condition Available", conditionOf(deployment, "Available"), "True MinimumReplicasAvailable"],
    ["condition Progressing", conditionOf(deployment, "Progressing"), "True NewReplicaSetAvailable"],
    ["replica sets of this template", current.length, 1],
    ["replicas of its replica set", current[0]?.spec?.replicas, desired],
    ["replicas of all replica sets", own.reduce((sum, set) => sum + (set.spec?.replicas ?? 0), 0), desired],
    ["revision", metadata.annotations?.[revisionAnnotation], current[0]?.metadata.annotations?.[revisionAnnotation]],
    ["active pods", active.length, desired],
    ["ready pods", active.filter(Pods.isReady).length, desired],
    ["old replica sets beyond the limit", Math.max(0, own.length - 1 - (spec?.revisionHistoryLimit ?? 10)), 0]
  ]
  return checks
    .filter(([, actual, expected]) => actual !== expected)
    .map(([what, actual, expected]) => `${metadata.name}: ${what}: ${String(actual)} instead of ${String(expected)}`)
}

const matches = ({ spec }: ReplicaSet, { metadata }: Pod): boolean =>
  Object.entries(spec?.selector.matchLabels ?? {}).every(([key, value]) => metadata.labels?.[key] === value)

/** Objects that should have been collected: their owner is gone, or they have none though a ReplicaSet selects them. */
const leftOver = ({ deployments, pods, sets }: Everything): ReadonlyArray<string> => {
  const alive = new Set([...deployments, ...sets].map(({ metadata }) => metadata.uid))
  const isLeft = (object: Pod | ReplicaSet, needsOwner: boolean): boolean => {
    const owner = controllerOf(object)
    return owner === undefined ? needsOwner : !alive.has(owner.uid)
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
  ...all.pods
    .filter((pod) => !Pods.isActive(pod) && !Pods.isTerminal(pod))
    .map((pod) => `${pod.metadata.name} is still being deleted`)
]

/** Longer than all backoffs, deadlines and expectations of a sequence together, which has at most a dozen failures. */
const limit = { steps: 240, millis: 10_000 }

/** Within a bounded time all replicas are available, in one ReplicaSet, and the status says so. */
export const converges = Effect.fnUntraced(function* (client: Client) {
  const cluster = yield* ClusterTest
  for (let step = 0; ; step++) {
    yield* cluster.advance(limit.millis)
    const faults = faultsIn(yield* everything(client))
    if (faults.length === 0 || step === limit.steps) return faults
  }
})

/** Nothing is written for an hour, in the middle of which the controllers restart and reconcile every key. */
export const writesNothing = <R>(log: () => ReadonlyArray<Log.Entry>, restart: Effect.Effect<void, never, R>) =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const before = log().length
    yield* cluster.advance("30 minutes")
    yield* restart
    yield* cluster.advance("30 minutes")
    return log()
      .slice(before)
      .map(
        ({ kind, object, revision, type }) =>
          `written after convergence: ${type} ${kind} ${object.metadata.name} at ${revision}`
      )
  })

/** A rollback to the oldest kept revision gives exactly its template. */
export const rollsBack = Effect.fnUntraced(function* (client: Client) {
  const cluster = yield* ClusterTest
  const violations: Array<string> = []
  for (const deployment of (yield* everything(client)).deployments) {
    const { name, uid } = deployment.metadata
    const kept = (yield* everything(client)).sets
      .filter((set) => controllerOf(set)?.uid === uid)
      .toSorted((left, right) => (revisionOf(left) < revisionOf(right) ? -1 : 1))
    const oldest = kept[0]
    if (oldest === undefined || kept.length < 2) continue
    const annotations = { "deprecated.deployment.rollback.to": String(revisionOf(oldest)) }
    yield* client.patch(Deployment, { namespace, name }, Patch.merge({ metadata: { annotations } }))
    if (isRunnable(oldest)) violations.push(...(yield* converges(client)))
    else yield* cluster.advance("1 minute")
    const after = yield* client.get(Deployment, { namespace, name })
    if (templateOf(after) !== templateOf(oldest))
      violations.push(`${name}: rollback to ${revisionOf(oldest)} gave another template`)
  }
  return violations
})

/** Whether its image can be pulled: a rollback to a template that never ran is allowed, and does not complete. */
const isRunnable = ({ spec }: ReplicaSet): boolean =>
  spec?.template?.spec?.containers.some(({ image }) => image?.endsWith(":404")) === false

const revisionOf = ({ metadata }: ReplicaSet): bigint => BigInt(metadata.annotations?.[revisionAnnotation] ?? "0")

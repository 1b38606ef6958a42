/**
 * The Deployment to apply and the status to write for a Memcached, each only if it differs from the present one. Pure; reads and writes are in
 * `../Memcached.ts`.
 */
import * as Conditions from "../../kube/conditions.ts"
import * as Equality from "../../kube/equality.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Owner from "../../kube/Owner.ts"
import type { Deployment } from "../../kube/resources.ts"
import { Memcached } from "./kind.ts"

export interface Snapshot {
  readonly memcached: Memcached
  /** The Deployment of the same name, whoever created it. */
  readonly deployment: Deployment | undefined
  /** The pods with the labels of the Memcached. */
  readonly pods: ReadonlyArray<KubeObject>
  /** The image of the servers. */
  readonly image: string
  /** Milliseconds since 1970. */
  readonly now: number
}

export interface Plan {
  /** Undefined if it is up to date or has another owner. */
  readonly deployment: ReturnType<typeof deploymentOf> | undefined
  /** Undefined if it is up to date. */
  readonly status: NonNullable<Memcached["status"]> | undefined
  /** The Deployment of that name has another owner. Its deletion causes no reconcile, so the reconcile is repeated after a while. */
  readonly isBlocked: boolean
}

export const plan = (snapshot: Snapshot): Plan => {
  const { deployment, image, memcached } = snapshot
  const wanted = deploymentOf(memcached, image)
  const isBlocked = deployment !== undefined && !mayAdopt(deployment, memcached)
  const status = statusOf(snapshot, isBlocked)
  return {
    deployment: isBlocked || isApplied(deployment, wanted, memcached) ? undefined : wanted,
    status: Equality.covers(memcached.status, status) ? undefined : status,
    isBlocked
  }
}

const label = "app.kubernetes.io/instance"

export const labelsOf = ({ metadata }: KubeObject) => ({
  "app.kubernetes.io/name": "memcached",
  "app.kubernetes.io/managed-by": "memcached-controller",
  [label]: metadata.name
})

/** The name of the Memcached that a pod belongs to; undefined for other pods. */
export const instanceOf = ({ metadata: { labels } }: KubeObject): string | undefined =>
  labels?.["app.kubernetes.io/managed-by"] === "memcached-controller" ? labels[label] : undefined

/** The fields of the Deployment that this controller manages; the apply leaves other fields to their managers. */
const deploymentOf = (memcached: Memcached, image: string) => {
  const { name, namespace = "" } = memcached.metadata
  const { containerPort, size } = memcached.spec
  const labels = labelsOf(memcached)
  const container = {
    name: "memcached",
    image,
    imagePullPolicy: "IfNotPresent",
    command: ["memcached", "-m=64", "-o", "modern", "-v", `-p=${containerPort}`],
    ports: [{ containerPort }],
    securityContext: { runAsNonRoot: true, runAsUser: 1001, allowPrivilegeEscalation: false }
  }
  return {
    metadata: { name, namespace, labels, ownerReferences: [Owner.reference(Memcached, memcached)] },
    spec: {
      replicas: size,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } }
    }
  }
}

/** Whether an apply would change nothing. Additional owner references are ignored. */
const isApplied = (live: Deployment | undefined, wanted: ReturnType<typeof deploymentOf>, owner: Memcached): boolean =>
  live !== undefined &&
  Owner.controlledBy(live, owner.metadata.uid) &&
  Equality.covers(live.metadata.labels, wanted.metadata.labels) &&
  Equality.covers(live.spec, wanted.spec)

/** Whether the Memcached controls the Deployment, or the Deployment has its selector and no controller. */
const mayAdopt = (deployment: Deployment, memcached: Memcached): boolean =>
  Owner.controlledBy(deployment, memcached.metadata.uid) ||
  (Owner.controllerOf(deployment) === undefined &&
    Equality.equal(deployment.spec?.selector.matchLabels, labelsOf(memcached)))

/** The fields of the status that this controller manages; it leaves other conditions to their managers. */
const statusOf = ({ deployment, memcached, now, pods }: Snapshot, isBlocked: boolean) => {
  const { name, generation } = memcached.metadata
  const { size } = memcached.spec
  const ready = isBlocked ? 0 : readyOf(deployment)
  const claim = {
    type: "Available",
    status: ready >= size,
    reason: isBlocked ? "NameTaken" : ready >= size ? "ServersAvailable" : "ServersMissing",
    message: isBlocked
      ? `The Deployment ${name} is not of this Memcached: rename one of them`
      : `${ready} of ${size} servers are available`,
    observedGeneration: generation
  }
  return {
    conditions: Conditions.set(memcached.status?.conditions, claim, now).filter(({ type }) => type === claim.type),
    nodes: pods.map(({ metadata }) => metadata.name).toSorted()
  }
}

/** The available replicas of the current template; 0 until the Deployment controller has observed the current generation. */
const readyOf = (deployment: Deployment | undefined): number => {
  const { availableReplicas = 0, observedGeneration = 0, updatedReplicas = 0 } = deployment?.status ?? {}
  return observedGeneration < (deployment?.metadata.generation ?? 0) ? 0 : Math.min(availableReplicas, updatedReplicas)
}

/**
 * What follows from a Memcached and its dependents: the Deployment to apply and the status to write, each only where it differs. Pure and total;
 * reads and writes are in `../Memcached.ts`.
 */
import * as Conditions from "../../kube/conditions.ts"
import * as Equality from "../../kube/equality.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Owner from "../../kube/Owner.ts"
import type { Deployment } from "../../kube/resources.ts"
import { Memcached } from "./kind.ts"

export interface Situation {
  readonly memcached: Memcached
  /** The Deployment of that name, whoever made it. */
  readonly deployment: Deployment | undefined
  /** The pods with its labels. */
  readonly pods: ReadonlyArray<KubeObject>
  /** What the servers run. */
  readonly image: string
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Undefined: nothing to write, or the Deployment has another owner. */
export interface Plan {
  readonly deployment: ReturnType<typeof deploymentOf> | undefined
  readonly status: NonNullable<Memcached["status"]> | undefined
  /** A Deployment of that name has another owner, and no watch event announces its deletion. */
  readonly isBlocked: boolean
}

export const plan = (situation: Situation): Plan => {
  const { deployment, image, memcached } = situation
  const wanted = deploymentOf(memcached, image)
  const isBlocked = deployment !== undefined && !mayTake(deployment, memcached)
  const status = statusOf(situation, isBlocked)
  return {
    deployment: isBlocked || isSo(deployment, wanted, memcached) ? undefined : wanted,
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

/** The name of the Memcached that a pod belongs to, if it does to one. */
export const instanceOf = ({ metadata: { labels } }: KubeObject): string | undefined =>
  labels?.["app.kubernetes.io/managed-by"] === "memcached-controller" ? labels[label] : undefined

/** All fields of the Deployment that are the controller's; others are left to whoever sets them. */
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

/** Whether applying it would change nothing. Further owner references are ignored. */
const isSo = (live: Deployment | undefined, wanted: ReturnType<typeof deploymentOf>, owner: Memcached): boolean =>
  live !== undefined &&
  Owner.controlledBy(live, owner.metadata.uid) &&
  Equality.covers(live.metadata.labels, wanted.metadata.labels) &&
  Equality.covers(live.spec, wanted.spec)

/** It is owned by the Memcached, or was and has no controller any more. */
const mayTake = (deployment: Deployment, memcached: Memcached): boolean =>
  Owner.controlledBy(deployment, memcached.metadata.uid) ||
  (Owner.controllerOf(deployment) === undefined &&
    Equality.equal(deployment.spec?.selector.matchLabels, labelsOf(memcached)))

/** What is this controller's to say; other conditions are those of others. */
const statusOf = ({ deployment, memcached, now, pods }: Situation, isBlocked: boolean) => {
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

/** How many servers are as the Deployment says, as far as its controller has seen what it says. */
const readyOf = (deployment: Deployment | undefined): number => {
  const { availableReplicas = 0, observedGeneration = 0, updatedReplicas = 0 } = deployment?.status ?? {}
  return observedGeneration < (deployment?.metadata.generation ?? 0) ? 0 : Math.min(availableReplicas, updatedReplicas)
}

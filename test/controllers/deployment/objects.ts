/** Deployments and ReplicaSets for property tests, made from generated facts. */
import * as Annotations from "../../../src/controllers/deployment/annotations.ts"
import type { Deployment, ReplicaSet } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"

export const template = (image: string, labels: Record<string, string> = { app: "web" }) => ({
  metadata: { labels },
  spec: { containers: [{ name: "main", image }] }
})

export interface DeploymentFacts {
  readonly replicas?: number
  readonly surge?: number | string
  readonly unavailable?: number | string
  readonly strategy?: string
  readonly image?: string
  readonly annotations?: Record<string, string>
  readonly spec?: object
  readonly status?: object
}

export const deployment = (facts: DeploymentFacts = {}): Deployment => ({
  metadata: { name: "web", namespace: "ns", uid: "web-uid", generation: 1, annotations: facts.annotations ?? {} },
  spec: {
    replicas: facts.replicas ?? 3,
    selector: { matchLabels: { app: "web" } },
    strategy: {
      type: facts.strategy ?? "RollingUpdate",
      rollingUpdate: { maxSurge: facts.surge ?? 1, maxUnavailable: facts.unavailable ?? 0 }
    },
    template: template(facts.image ?? "web:1"),
    ...facts.spec
  },
  status: { ...facts.status }
})

export interface SetFacts {
  readonly name?: string
  /** Seconds since 1970. */
  readonly created?: number
  readonly size?: number
  readonly replicas?: number
  readonly available?: number
  /** Absent: no annotation. */
  readonly revision?: string | undefined
  readonly desired?: number | undefined
  readonly max?: number | undefined
  readonly image?: string
  readonly labels?: Record<string, string>
  readonly annotations?: Record<string, string>
  readonly metadata?: object
  readonly status?: object
}

export const replicaSet = (facts: SetFacts = {}): ReplicaSet => ({
  metadata: {
    name: facts.name ?? "web-a",
    namespace: "ns",
    uid: `${facts.name ?? "web-a"}-uid`,
    generation: 1,
    creationTimestamp: Time.format((facts.created ?? 0) * 1000),
    annotations: {
      ...facts.annotations,
      ...(facts.revision === undefined ? {} : { [Annotations.revision]: facts.revision }),
      ...(facts.desired === undefined ? {} : { [Annotations.desiredReplicas]: String(facts.desired) }),
      ...(facts.max === undefined ? {} : { [Annotations.maxReplicas]: String(facts.max) })
    },
    ...facts.metadata
  },
  spec: {
    replicas: facts.size ?? 0,
    selector: { matchLabels: { app: "web" } },
    template: template(facts.image ?? "web:0", facts.labels)
  },
  status: {
    replicas: facts.replicas ?? facts.size ?? 0,
    availableReplicas: facts.available ?? 0,
    observedGeneration: 1,
    ...facts.status
  }
})

/** Objects and paths that many cases use. */
import * as Effect from "effect/Effect"
import type { KubeList, KubeObject } from "../../src/kube/Meta.ts"
import { ConfigMap } from "../../src/kube/resources.ts"
import { configMap, type Subject } from "./Case.ts"

/** Collections of a namespace. */
export const at = (namespace: string) => {
  const core = `/api/v1/namespaces/${namespace}`
  const apps = `/apis/apps/v1/namespaces/${namespace}`
  return {
    configMaps: `${core}/configmaps`,
    pods: `${core}/pods`,
    services: `${core}/services`,
    secrets: `${core}/secrets`,
    quotas: `${core}/resourcequotas`,
    limits: `${core}/limitranges`,
    events: `${core}/events`,
    deployments: `${apps}/deployments`,
    replicaSets: `${apps}/replicasets`,
    statefulSets: `${apps}/statefulsets`,
    daemonSets: `${apps}/daemonsets`,
    podTemplates: `${core}/podtemplates`,
    autoscalers: `/apis/autoscaling/v1/namespaces/${namespace}/horizontalpodautoscalers`,
    claims: `${core}/persistentvolumeclaims`,
    jobs: `/apis/batch/v1/namespaces/${namespace}/jobs`,
    leases: `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`
  }
}

export const containers = [{ name: "main", image: "registry.example/app:1" }]

export const template = (labels: Record<string, string>, spec: object = {}) => ({
  metadata: { labels },
  spec: { containers, ...spec }
})

/** Selector and template that fit. */
export const matching = { selector: { matchLabels: { app: "a" } }, template: template({ app: "a" }) }

export const deployment = (name: string, spec: object = matching) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name },
  spec
})

export const job = (name: string, spec: object = {}) => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name },
  spec: { template: { spec: { containers, restartPolicy: "Never" } }, ...spec }
})

export const service = (name: string, spec: object = { ports: [{ port: 80 }] }) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec
})

export const podOf = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...metadata },
  spec: { containers, ...spec }
})

/** Creates the ConfigMaps `x-a`, `x-b`, … with their letter as a label; the first, third, … also have the label `even`. */
export const createLetters = Effect.fnUntraced(function* ({ client, namespace }: Subject, count: number) {
  for (let i = 0; i < count; i++) {
    const letter = String.fromCharCode(97 + i)
    const labels = i % 2 === 0 ? { letter, even: "" } : { letter }
    yield* client.create(ConfigMap, configMap(`x-${letter}`, { letter }, labels), { namespace })
  }
})

/** A label selector for the objects of `createLetters`: a real server creates a ConfigMap of its own (a root CA) in each namespace. */
export const hasLetter = "letter"

export const namesOf = (list: KubeList<KubeObject>): ReadonlyArray<string> =>
  list.items.map((item) => item.metadata.name)

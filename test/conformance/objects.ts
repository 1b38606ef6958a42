/** Objects and paths that many cases use. */

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

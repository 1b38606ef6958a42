/** The objects of the demo `shop`, as data: what a small company might run, including what does not work. */
import type { KubeObject } from "../../kube/Meta.ts"
import * as Resource from "../../kube/Resource.ts"
import {
  CronJob,
  DaemonSet,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  Namespace,
  PodDisruptionBudget,
  Service,
  StatefulSet
} from "../../kube/resources.ts"
import * as Behavior from "../pod/behavior.ts"
import * as Usage from "../pod/usage.ts"

/** All objects but the cluster-scoped ones are in it. */
export const namespace = "shop"

export const image = (name: string, tag: string): string => `shop.example/${name}:${tag}`

/** The custom resources of the operators `memcached` and `ecsbinding`; the server has their definitions where the program installs them. */
const Memcached = Resource.make<KubeObject>()({
  group: "cache.example.com",
  version: "v1alpha1",
  kind: "Memcached",
  plural: "memcacheds"
})
const EcsBinding = Resource.make<KubeObject>()({
  group: "hopegi.com",
  version: "v1",
  kind: "EcsBinding",
  plural: "ecsbinding",
  scope: "Cluster"
})

/** The first pod of a Deployment must not count as ready before it serves. */
const probe = { httpGet: { path: "/healthz", port: 8080 }, initialDelaySeconds: 2, periodSeconds: 5 }

interface Part {
  readonly annotations?: Readonly<Record<string, string>>
  readonly container?: object
  readonly spec?: object
}

const template = (app: string, { annotations, container, spec }: Part = {}) => ({
  metadata: { labels: { app }, ...(annotations === undefined ? {} : { annotations }) },
  spec: {
    containers: [
      {
        name: app,
        image: image(app, "1.0"),
        resources: { requests: { cpu: "50m", memory: "64Mi" }, limits: { memory: "128Mi" } },
        ...container
      }
    ],
    ...spec
  }
})

const workload = (app: string, replicas: number, part?: Part) => ({
  metadata: { namespace, name: app, labels: { app } },
  spec: { replicas, selector: { matchLabels: { app } }, template: template(app, part) }
})

const deployment = (app: string, replicas: number, part?: Part) => {
  const { metadata, spec } = workload(app, replicas, part)
  return [Deployment, { metadata, spec: { ...spec, revisionHistoryLimit: 3, progressDeadlineSeconds: 30 } }] as const
}

const service = (app: string, spec: object = {}) =>
  [
    Service,
    {
      metadata: { namespace, name: app },
      spec: { selector: { app }, ports: [{ name: "http", port: 80, targetPort: 8080 }], ...spec }
    }
  ] as const

const task = (app: string, part: Part) => {
  const { metadata, spec } = template(app, part)
  return { metadata, spec: { restartPolicy: "Never", ...spec } }
}

const cronJob = (name: string, schedule: string, part: Part) => {
  const jobTemplate = { spec: { backoffLimit: 1, template: task(name, part) } }
  const history = { successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 2 }
  return [CronJob, { metadata: { namespace, name }, spec: { schedule, jobTemplate, ...history } }] as const
}

const claim = {
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
}

/** CPU of all pods together, which needs more of them now and then. */
const load = (pods: number) => ({ [Usage.loadAnnotation]: `cpu:${pods * 15}m..${pods * 55}m/10m` })

const exit = (text: string) => ({ annotations: { [Behavior.exitAnnotation]: text } })

/** In the order of their creation. The storefront has a pod for each node, within bounds. */
export const all = (nodes: number): ReadonlyArray<readonly [Resource.Resource<KubeObject>, KubeObject]> => {
  const size = Math.min(60, Math.max(3, nodes))
  const objects = [
    [Namespace, { metadata: { name: namespace } }],
    deployment("storefront", size, { container: { readinessProbe: probe }, annotations: load(size) }),
    service("storefront", { type: "LoadBalancer" }),
    [
      PodDisruptionBudget,
      {
        metadata: { namespace, name: "storefront" },
        spec: { minAvailable: "80%", selector: { matchLabels: { app: "storefront" } } }
      }
    ],
    [
      HorizontalPodAutoscaler,
      {
        metadata: { namespace, name: "storefront" },
        spec: {
          scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "storefront" },
          minReplicas: size,
          maxReplicas: size * 2,
          metrics: [
            { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } } }
          ]
        }
      }
    ],
    [
      Ingress,
      {
        metadata: { namespace, name: "storefront" },
        spec: { defaultBackend: { service: { name: "storefront", port: { number: 80 } } } }
      }
    ],
    deployment("catalog", 2, {
      container: { readinessProbe: probe },
      spec: { initContainers: [{ name: "migrate", image: image("migrate", "1.0") }] }
    }),
    service("catalog"),
    deployment("checkout", 3, {
      container: { readinessProbe: probe },
      spec: { initContainers: [{ name: "proxy", image: image("proxy", "1.0"), restartPolicy: "Always" }] }
    }),
    service("checkout"),
    // Exceeds its memory limit after a while, and is restarted.
    deployment("payments", 1, { annotations: { [Behavior.memoryAnnotation]: "payments=200Mi@45" } }),
    service("payments"),
    deployment("recommendations", 1, { container: { image: image("recommendations", "404") } }),
    [StatefulSet, statefulSet("orders", 2)],
    service("orders", { clusterIP: "None" }),
    [DaemonSet, daemonSet("log-agent")],
    [
      Job,
      {
        metadata: { namespace, name: "import-catalog" },
        spec: {
          completions: 6,
          parallelism: 2,
          completionMode: "Indexed",
          template: task("import-catalog", { container: { command: ["sleep", "10"] } })
        }
      }
    ],
    cronJob("stock-report", "* * * * *", exit("stock-report=0@15")),
    cronJob("currency-sync", "*/2 * * * *", exit("currency-sync=1@5")),
    [
      Memcached,
      {
        apiVersion: "cache.example.com/v1alpha1",
        kind: "Memcached",
        metadata: { namespace, name: "sessions" },
        spec: { size: 3, containerPort: 11_211 }
      }
    ],
    ...Array.from({ length: Math.min(3, nodes) }, (_, index) => binding(index + 1))
  ]
  // The models are classes with more members than an object needs.
  return objects as unknown as ReadonlyArray<readonly [Resource.Resource<KubeObject>, KubeObject]>
}

const statefulSet = (app: string, replicas: number) => {
  const { metadata, spec } = workload(app, replicas, {
    container: { volumeMounts: [{ name: claim.metadata.name, mountPath: "/data" }] }
  })
  return { metadata, spec: { ...spec, serviceName: app, volumeClaimTemplates: [claim] } }
}

const daemonSet = (app: string) => {
  const part = { spec: { tolerations: [{ operator: "Exists" }] } }
  return {
    metadata: { namespace, name: app },
    spec: { selector: { matchLabels: { app } }, template: template(app, part) }
  }
}

const binding = (number: number) => [
  EcsBinding,
  {
    apiVersion: "hopegi.com/v1",
    kind: "EcsBinding",
    metadata: { name: `machine-${number}` },
    spec: {
      id: `i-${number}`,
      name: `machine-${number}`,
      nodename: number === 1 ? "control-plane" : `worker-${number - 1}`,
      innerip: `10.0.0.${number}`
    }
  }
]

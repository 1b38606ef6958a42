/** The objects of a generated cluster as JSON, each made when it is asked for: nodes, their Leases, and what owns and selects the pods of `generator.ts`. */
import * as Generated from "../generator.ts"

/** Pods of a Deployment. */
export const replicas = 25

const meta = (i: number, version: number, rest: object) => ({
  name: `node-${i}`,
  uid: `5f0c2d1e-0000-4a7b-9c3d-${String(i).padStart(12, "0")}`,
  resourceVersion: String(version),
  creationTimestamp: "2026-01-01T00:00:00Z",
  ...rest
})

const resources = { cpu: "16", memory: "64Gi", "ephemeral-storage": "100Gi", pods: "110" }

/** With 50 images, as many as a kubelet reports by default (`nodeStatusMaxImages`). */
export const node = (i: number, version: number): string =>
  JSON.stringify({
    metadata: meta(i, version, {
      labels: {
        "kubernetes.io/hostname": `node-${i}`,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "topology.kubernetes.io/zone": `zone-${i % 3}`
      }
    }),
    spec: { podCIDR: `10.${i >> 8}.${i & 255}.0/24`, providerID: `example://zone-${i % 3}/node-${i}` },
    status: {
      capacity: resources,
      allocatable: resources,
      addresses: [
        { type: "InternalIP", address: `192.168.${i >> 8}.${i & 255}` },
        { type: "Hostname", address: `node-${i}` }
      ],
      conditions: ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"].map((type) => ({
        type,
        status: type === "Ready" ? "True" : "False",
        lastHeartbeatTime: new Date(version * 1000).toISOString(),
        lastTransitionTime: "2026-01-01T00:00:00Z",
        reason: "KubeletReports",
        message: "kubelet reports this condition"
      })),
      nodeInfo: { kubeletVersion: "v1.35.0", osImage: "Linux", architecture: "amd64", operatingSystem: "linux" },
      images: Array.from({ length: 50 }, (_, image) => ({
        names: [
          `registry.example.com/team/service-${image}@sha256:${String(image).padStart(64, "a")}`,
          `registry.example.com/team/service-${image}:1.${image}.0`
        ],
        sizeBytes: 100_000_000 + image
      }))
    }
  })

export const lease = (i: number, version: number): string =>
  JSON.stringify({
    metadata: meta(i, version, {
      namespace: "kube-node-lease",
      uid: `5f0c2d1e-0004-4a7b-9c3d-${String(i).padStart(12, "0")}`,
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: `node-${i}`, uid: meta(i, 0, {}).uid }]
    }),
    spec: {
      holderIdentity: `node-${i}`,
      leaseDurationSeconds: 40,
      renewTime: new Date(version * 1000).toISOString().replace("Z", "000Z")
    }
  })

export interface Stored {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string | undefined
    readonly uid: string
    resourceVersion: string
  }
  readonly spec?: object
  readonly status?: object
}

const named = (name: string, uid: string, rest: object) => ({
  name,
  uid,
  resourceVersion: "400000",
  creationTimestamp: "2026-01-01T00:00:00Z",
  ...rest
})

export const namespace = (name: string, i: number): Stored => ({
  metadata: named(name, `5f0c2d1e-0001-4a7b-9c3d-${String(i).padStart(12, "0")}`, {}),
  spec: { finalizers: ["kubernetes"] },
  status: { phase: "Active" }
})

/** What owns and selects the pods of a group: in a state in which no loop has anything to write to the first two. */
export const workload = (group: number) => {
  const app = Generated.appOf(group)
  const namespace = Generated.namespaceOf(group)
  const deploymentUid = `5f0c2d1e-0002-4a7b-9c3d-${String(group).padStart(12, "0")}`
  const [labels, hashed] = [
    { app, tier: "backend" },
    { app, "pod-template-hash": Generated.templateHash, tier: "backend" }
  ]
  const image = Generated.image(app, 0)
  const template = (labels: object) => ({ metadata: { labels }, spec: { containers: [{ name: "app", image }] } })
  const revision = { "deployment.kubernetes.io/revision": "1" }
  const counts = { replicas, readyReplicas: replicas, availableReplicas: replicas, observedGeneration: 1 }
  const condition = (type: string, reason: string) => ({
    type,
    status: "True",
    reason,
    message: `${app} is as wanted`,
    lastUpdateTime: "2026-01-01T00:00:00Z",
    lastTransitionTime: "2026-01-01T00:00:00Z"
  })
  const deployment: Stored = {
    metadata: named(app, deploymentUid, { namespace, generation: 1, labels, annotations: revision }),
    spec: {
      replicas,
      selector: { matchLabels: { app } },
      template: template(labels),
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600
    },
    status: {
      ...counts,
      updatedReplicas: replicas,
      conditions: [
        condition("Available", "MinimumReplicasAvailable"),
        condition("Progressing", "NewReplicaSetAvailable")
      ]
    }
  }
  const replicaSet: Stored = {
    metadata: named(`${app}-${Generated.templateHash}`, Generated.replicaSetUid(group), {
      namespace,
      generation: 1,
      labels: hashed,
      annotations: {
        ...revision,
        "deployment.kubernetes.io/desired-replicas": String(replicas),
        "deployment.kubernetes.io/max-replicas": String(replicas + Math.ceil(replicas / 4))
      },
      ownerReferences: [
        {
          apiVersion: "apps/v1",
          kind: "Deployment",
          name: app,
          uid: deploymentUid,
          controller: true,
          blockOwnerDeletion: true
        }
      ]
    }),
    spec: {
      replicas,
      selector: { matchLabels: { app, "pod-template-hash": Generated.templateHash } },
      template: template(hashed)
    },
    status: { ...counts, fullyLabeledReplicas: replicas }
  }
  const ip = `172.20.${group >> 8}.${group & 255}`
  const service: Stored = {
    metadata: named(app, `5f0c2d1e-0003-4a7b-9c3d-${String(group).padStart(12, "0")}`, { namespace, labels }),
    spec: {
      selector: { app },
      ports: [{ name: "http", port: 80, targetPort: 8080, protocol: "TCP" }],
      type: "ClusterIP",
      clusterIP: ip,
      clusterIPs: [ip],
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack"
    }
  }
  return { deployments: deployment, replicasets: replicaSet, services: service }
}

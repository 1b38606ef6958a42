/**
 * A server of generated pods, nodes and Leases over HTTPS, for `stored.ts`, in a process of its own: lists in pages, and watches that deliver changes when the
 * parent orders them. Objects are made for each response, so that clusters of any size need no memory here.
 */
import * as Redacted from "effect/Redacted"
import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import * as Certificate from "../../src/apiserver/server/certificate.ts"
import { pod } from "../generator.ts"

export type Kind = "pods" | "nodes" | "leases"

/** The argument: how many objects of each kind. */
export type Counts = Readonly<Record<Kind, number>>

/** Ordered by the parent: changes of objects in turn. */
export interface Changes {
  readonly kind: Kind
  readonly count: number
  /** Undefined: as fast as the client reads. */
  readonly perSecond?: number | undefined
}

export interface Address {
  readonly port: number
  readonly ca: string
  /** Bytes of one object. */
  readonly bytes: Readonly<Record<Kind, number>>
}

const meta = (i: number, version: number, rest: object) => ({
  name: `node-${i}`,
  uid: `5f0c2d1e-0000-4a7b-9c3d-${String(i).padStart(12, "0")}`,
  resourceVersion: String(version),
  creationTimestamp: "2026-01-01T00:00:00Z",
  ...rest
})

const resources = { cpu: "16", memory: "64Gi", "ephemeral-storage": "100Gi", pods: "110" }

/** With 50 images, as many as a kubelet reports by default (`nodeStatusMaxImages`). */
const node = (i: number, version: number): string =>
  JSON.stringify({
    metadata: meta(i, version, {
      labels: {
        "kubernetes.io/hostname": `node-${i}`,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
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

const lease = (i: number, version: number): string =>
  JSON.stringify({
    metadata: meta(i, version, {
      namespace: "kube-node-lease",
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: `node-${i}`, uid: `uid-of-node-${i}` }]
    }),
    spec: {
      holderIdentity: `node-${i}`,
      leaseDurationSeconds: 40,
      renewTime: new Date(version * 1000).toISOString().replace("Z", "000Z")
    }
  })

const kinds = {
  pods: { path: "/api/v1/pods", apiVersion: "v1", kind: "Pod", object: (i, version) => pod(i, false, version) },
  nodes: { path: "/api/v1/nodes", apiVersion: "v1", kind: "Node", object: node },
  leases: {
    path: "/apis/coordination.k8s.io/v1/leases",
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    object: lease
  }
} satisfies Record<
  Kind,
  { path: string; apiVersion: string; kind: string; object: (i: number, version: number) => string }
>

const counts = JSON.parse(process.argv[2] ?? "{}") as Counts
const pageSize = 500
let version = 1_000_000
const watchers = new Map<Kind, ServerResponse>()

const change = async ({ count, kind: name, perSecond }: Changes): Promise<void> => {
  const { apiVersion, kind, object } = kinds[name]
  const watcher = watchers.get(name)
  if (watcher === undefined) throw new Error(`no watch of ${name}`)
  const began = performance.now()
  for (let sent = 0; sent < count; sent++) {
    const head = `{"type":"MODIFIED","object":{"apiVersion":"${apiVersion}","kind":"${kind}",`
    // Steps of a prime, so that neighbours in the store do not change one after the other.
    const text = object((sent * 7919) % counts[name], ++version)
    // One record of TLS for each event, as servers send it.
    watcher.cork()
    process.nextTick(() => watcher.uncork())
    if (!watcher.write(`${head}${text.slice(1)}}\n`)) await once(watcher, "drain")
    if (perSecond === undefined) continue
    const early = began + (sent * 1000) / perSecond - performance.now()
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early))
  }
}

const { ca, certificate, key } = await Certificate.make(Date.now())
const server = createServer({ cert: certificate, key: Redacted.value(key) }, (request, response) => {
  const url = new URL(request.url ?? "/", "https://localhost")
  const query = url.searchParams
  const found = (Object.keys(kinds) as Array<Kind>).find((name) => kinds[name].path === url.pathname)
  const isStream = query.get("sendInitialEvents") === "true"
  if (found === undefined || isStream) {
    response.writeHead(found === undefined ? 404 : 422, { "content-type": "application/json" })
    const message = isStream
      ? "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
      : ""
    response.end(
      JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", reason: "Invalid", code: 422, message })
    )
    return
  }
  response.writeHead(200, { "content-type": "application/json" })
  if (query.get("watch") === "true") {
    watchers.set(found, response)
    response.flushHeaders()
    return
  }
  const from = Number(query.get("continue") ?? 0)
  const to = Math.min(from + pageSize, counts[found])
  const { apiVersion, kind, object } = kinds[found]
  const items = Array.from({ length: to - from }, (_, i) => object(from + i, 500_000 + from + i))
  const token = to < counts[found] ? `,"continue":"${to}"` : ""
  response.end(
    `{"kind":"${kind}List","apiVersion":"${apiVersion}","metadata":{"resourceVersion":"${version}"${token}},"items":[${items.join(",")}]}`
  )
})
server.listen(0, "127.0.0.1")
await once(server, "listening")
process.once("disconnect", () => process.exit(0))
process.on("message", (changes) => void change(changes as Changes))
const bytes = { pods: 0, nodes: 0, leases: 0 }
for (const name of Object.keys(bytes) as Array<Kind>) bytes[name] = kinds[name].object(1, version).length
process.send?.({ port: (server.address() as AddressInfo).port, ca, bytes } satisfies Address)

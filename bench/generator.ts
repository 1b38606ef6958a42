/**
 * A server of pods for benchmarks, in a process of its own: `GET /api/v1/pods` in pages as an API server would send them, and the same objects in one
 * body, unchanged or trimmed, for the lower bounds. Everything is serialized before the first request, so only the client is measured.
 * Watches stay open without events; streaming lists are refused, as by an older server.
 */
import * as http from "node:http"
import type { AddressInfo } from "node:net"

/** The version of the list. */
const version = "1000000"

const uid = (i: number, salt: string): string => {
  const hex = (i * 2_654_435_761 + salt.length * 97).toString(16).padStart(12, "0").slice(-12)
  return `5f0c2d1e-${salt}-4a7b-9c3d-${hex}`
}

const field = (key: string): string => `"f:${key}":{}`

/** About a third of an object, like the entries of a scheduler and a kubelet. */
const managedFields = (i: number): string => {
  const spec = `"f:spec":{"f:containers":{"k:{\\"name\\":\\"app\\"}":{".":{},${["image", "imagePullPolicy", "name", "resources", "terminationMessagePath"].map(field).join(",")}}},${["dnsPolicy", "restartPolicy", "schedulerName"].map(field).join(",")}}`
  const status = `"f:status":{${["conditions", "containerStatuses", "hostIP", "phase", "podIP", "startTime"].map(field).join(",")}}`
  const entry = (manager: string, fields: string, rest: string) =>
    `{"manager":"${manager}","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:${String(i % 60).padStart(2, "0")}:00Z","fieldsType":"FieldsV1","fieldsV1":{${fields}}${rest}}`
  return `[${entry("kube-controller-manager", spec, "")},${entry("kubelet", status, ',"subresource":"status"')}]`
}

/** Where a pod belongs. */
export interface Place {
  /** The number of its ReplicaSet. */
  readonly group: number
  readonly node: number
  readonly isReady: boolean
}

/** The name of a group of pods, of its Deployment and of its Service. */
export const appOf = (group: number): string => `service-${group}`

/** Of all pods here. */
export const templateHash = "7d9f8b6c5d"

export const namespaceOf = (group: number): string => `team-${group % 50}`

export const replicaSetUid = (group: number): string => uid(group, "c3d4")

export const image = (app: string, i: number): string => `registry.example.com/${app}:1.${i % 7}.0`

/** One pod as a list contains it: without apiVersion and kind, managedFields last in the metadata, as Go writes them. */
export const pod = (
  i: number,
  trimmed: boolean,
  version = 500_000 + i,
  { group, isReady, node }: Place = { group: i % 200, node: i % 300, isReady: true }
): string => {
  const app = appOf(group)
  const name = `${app}-${templateHash}-${i.toString(36).padStart(5, "x")}`
  const meta = [
    `"name":"${name}"`,
    `"generateName":"${app}-${templateHash}-"`,
    `"namespace":"${namespaceOf(group)}"`,
    `"uid":"${uid(i, "a1b2")}"`,
    `"resourceVersion":"${version}"`,
    `"creationTimestamp":"2026-01-01T00:00:00Z"`,
    `"labels":{"app":"${app}","pod-template-hash":"${templateHash}","tier":"backend"}`,
    `"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"${app}-${templateHash}","uid":"${replicaSetUid(group)}","controller":true,"blockOwnerDeletion":true}]`
  ]
  if (!trimmed) meta.push(`"managedFields":${managedFields(i)}`)
  const ip = `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`
  const spec = `{"containers":[{"name":"app","image":"${image(app, i)}","resources":{"requests":{"cpu":"100m","memory":"128Mi"}},"ports":[{"containerPort":8080,"protocol":"TCP"}],"env":[{"name":"LEVEL","value":"info"}],"terminationMessagePath":"/dev/termination-log","imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Always","dnsPolicy":"ClusterFirst","nodeName":"node-${node}","schedulerName":"default-scheduler"}`
  const status = `{"phase":"Running","conditions":[{"type":"Ready","status":"${isReady ? "True" : "False"}","lastTransitionTime":"2026-01-01T00:00:09Z"}],"hostIP":"192.168.1.${i % 250}","podIP":"${ip}","startTime":"2026-01-01T00:00:01Z","containerStatuses":[{"name":"app","ready":${isReady},"restartCount":0,"image":"${image(app, i)}","started":true}]}`
  const head = trimmed ? `"apiVersion":"v1","kind":"Pod",` : ""
  return `{${head}"metadata":{${meta.join(",")}},"spec":${spec},"status":${status}}`
}

const list = (items: ReadonlyArray<string>, token: string): Buffer =>
  Buffer.from(
    `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"${version}"${token === "" ? "" : `,"continue":"${token}"`}},"items":[${items.join(",")}]}`
  )

/** Serves on a free port of loopback until the parent disconnects; sends the parent the port and the sizes of one object. */
export const serve = async (count: number, pageSize = 500): Promise<void> => {
  const items = Array.from({ length: count }, (_, i) => pod(i, false))
  const all = list(items, "")
  const trimmed = list(
    items.map((_, i) => pod(i, true)),
    ""
  )
  const pages = new Map<string, Buffer>()
  for (let start = 0; start < count; start += pageSize) {
    const end = start + pageSize
    pages.set(start === 0 ? "" : String(start), list(items.slice(start, end), end < count ? String(end) : ""))
  }
  const refusal = Buffer.from(
    JSON.stringify({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      reason: "Invalid",
      code: 422,
      message: "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
    })
  )
  const answer = (response: http.ServerResponse, status: number, body: Buffer | undefined) => {
    const found = body ?? Buffer.from("{}")
    response.writeHead(body === undefined ? 404 : status, {
      "content-type": "application/json",
      "content-length": found.byteLength
    })
    response.end(found)
  }
  const server = http.createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost")
    const query = url.searchParams
    if (url.pathname === "/all") return answer(response, 200, all)
    if (url.pathname === "/trimmed") return answer(response, 200, trimmed)
    if (url.pathname !== "/api/v1/pods") return answer(response, 404, undefined)
    if (query.get("sendInitialEvents") === "true") return answer(response, 422, refusal)
    if (query.get("watch") !== "true") return answer(response, 200, pages.get(query.get("continue") ?? ""))
    response.writeHead(200, { "content-type": "application/json" })
    response.flushHeaders()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  process.once("disconnect", () => process.exit(0))
  process.send?.({
    port: (server.address() as AddressInfo).port,
    bytes: Math.round(all.byteLength / count),
    managed: Math.round(Buffer.byteLength(managedFields(1)))
  })
}

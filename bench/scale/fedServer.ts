/**
 * A server of a generated cluster over HTTPS, in a process of its own: lists in pages, and watches that deliver changes when the parent orders them. Pods,
 * nodes and Leases are made for each response, so that clusters of any size need no memory here. What a client writes is stored and delivered to its
 * watches; nothing is validated.
 */
import * as Redacted from "effect/Redacted"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createSecureServer } from "node:http2"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import * as Certificate from "../../src/apiserver/server/certificate.ts"
import * as Generated from "../generator.ts"
import * as Latency from "./latency.ts"
import * as Objects from "./objects.ts"
import * as Writes from "./writes.ts"

export type Kind = "pods" | "nodes" | "leases"

/** The argument: how many objects of each kind. `owned`: with Deployments, ReplicaSets and Services of the pods. */
export type Counts = Readonly<Record<Kind, number>> & { readonly owned?: boolean }

/** Ordered by the parent: changes of objects in turn, also while no client watches them. */
export interface Changes {
  readonly kind: Kind
  /** Undefined: until the end. */
  readonly count?: number | undefined
  /** Undefined: as fast as the client reads. */
  readonly perSecond?: number | undefined
  /** Pods become ready, or not ready, of so many ReplicaSets at a time. Undefined: pods change in their version alone. */
  readonly groups?: number | undefined
}

/** When the changes of an order were sent. */
export interface Sent {
  readonly kind: Kind
  readonly millis: number
  readonly latency: Latency.Summary | undefined
}

export interface Address {
  readonly port: number
  readonly ca: string
  /** Bytes of one object. */
  readonly bytes: Readonly<Record<Kind, number>>
}

const counts = JSON.parse(process.argv[2] ?? "{}") as Counts
const pageSize = 500
const groups = Math.ceil(counts.pods / Objects.replicas)
let version = 1_000_000
const nextVersion = (): number => ++version

/** Pods that are not ready. */
const notReady = new Set<number>()

const pod = (i: number, version: number): string =>
  counts.owned === true
    ? Generated.pod(i, false, version, {
        group: Math.floor(i / Objects.replicas),
        node: i % counts.nodes,
        isReady: !notReady.has(i)
      })
    : Generated.pod(i, false, version)

interface Generator {
  readonly path: string
  readonly apiVersion: string
  readonly kind: string
  readonly object: (i: number, version: number) => string
}

const kinds: Readonly<Record<Kind, Generator>> = {
  pods: { path: "/api/v1/pods", apiVersion: "v1", kind: "Pod", object: pod },
  nodes: { path: "/api/v1/nodes", apiVersion: "v1", kind: "Node", object: Objects.node },
  leases: {
    path: "/apis/coordination.k8s.io/v1/leases",
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    object: Objects.lease
  }
}

const watchers = new Map<string, Set<ServerResponse>>()

/** One record of TLS for each event, as servers send it. False: some client does not read as fast. */
const deliver = (path: string, line: string): boolean => {
  let isFast = true
  for (const watcher of watchers.get(path) ?? []) {
    watcher.cork()
    process.nextTick(() => watcher.uncork())
    if (!watcher.write(line)) isFast = false
  }
  return isFast
}

const stored = Writes.make({ nextVersion, deliver })
const latency = Latency.make()

if (counts.owned === true) {
  for (let i = 0; i < 50; i++) stored.add("/api/v1", "namespaces", Objects.namespace(`team-${i}`, i))
  for (let group = 0; group < groups; group++) {
    const { deployments, replicasets, services } = Objects.workload(group)
    stored.add("/apis/apps/v1", "deployments", deployments)
    stored.add("/apis/apps/v1", "replicasets", replicasets)
    stored.add("/api/v1", "services", services)
  }
}

/** The pod that changes next, when pods of so many groups at a time become ready or not ready. */
const turn = (sent: number, atOnce: number): number => {
  const width = Math.min(atOnce, groups)
  const round = Math.floor(sent / (width * Objects.replicas))
  const within = sent % (width * Objects.replicas)
  const group = (round * width + (within % width)) % groups
  const index = group * Objects.replicas + Math.floor(within / width)
  if (!notReady.delete(index)) notReady.add(index)
  let ready = 0
  for (let i = group * Objects.replicas; i < (group + 1) * Objects.replicas; i++) if (!notReady.has(i)) ready++
  latency.changed(`${Generated.namespaceOf(group)}/${Generated.appOf(group)}-${Generated.templateHash}`, ready)
  return index
}

/** Or closed. */
const drained = async (response: ServerResponse): Promise<void> => {
  const over = new AbortController()
  await Promise.race(["drain", "close"].map((event) => once(response, event, { signal: over.signal })))
  over.abort()
}

const change = async ({ count = Infinity, groups: atOnce, kind: name, perSecond }: Changes): Promise<void> => {
  const { apiVersion, kind, object, path } = kinds[name]
  if (atOnce !== undefined) latency.start()
  const began = performance.now()
  for (let sent = 0; sent < count; sent++) {
    // Steps of a prime, so that neighbours in the store do not change one after the other.
    const index = atOnce === undefined ? (sent * 7919) % counts[name] : turn(sent, atOnce)
    const line = `{"type":"MODIFIED","object":{"apiVersion":"${apiVersion}","kind":"${kind}",${object(index, nextVersion()).slice(1)}}\n`
    if (!deliver(path, line)) for (const one of watchers.get(path) ?? []) if (one.writableNeedDrain) await drained(one)
    if (perSecond === undefined) continue
    const early = began + (sent * 1000) / perSecond - performance.now()
    if (early > 0) await sleep(early)
  }
  const millis = performance.now() - began
  if (atOnce !== undefined) await sleep(2000)
  process.send?.({ kind: name, millis, latency: atOnce === undefined ? undefined : latency.stop() } satisfies Sent)
}

const respond = (response: ServerResponse, status: number, text: string): void => {
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
  response.end(text)
}

/** Only metadata, as a server sends it to a client that accepts nothing else. */
const projected = (accept: string | undefined, text: string): string => {
  if (!Writes.isPartial(accept)) return text
  const { metadata } = JSON.parse(text) as Objects.Stored
  return JSON.stringify({ apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata", metadata })
}

const list = (request: IncomingMessage, url: URL): string => {
  const generator = Object.values(kinds).find(({ path }) => path === url.pathname)
  const name =
    generator === undefined ? undefined : (Object.keys(kinds) as Array<Kind>).find((one) => kinds[one] === generator)
  const from = Number(url.searchParams.get("continue") ?? 0)
  const all = name === undefined ? stored.list(url.pathname) : undefined
  const size = name === undefined ? (all?.length ?? 0) : counts[name]
  const to = Math.min(from + pageSize, size)
  const items =
    name === undefined
      ? (all ?? []).slice(from, to)
      : Array.from({ length: to - from }, (_, i) => kinds[name].object(from + i, 500_000 + from + i))
  const token = to < size ? `,"continue":"${to}"` : ""
  const shown = items.map((item) => projected(request.headers.accept, item))
  return `{"kind":"${generator?.kind ?? ""}List","apiVersion":"${generator?.apiVersion ?? "v1"}","metadata":{"resourceVersion":"${version}"${token}},"items":[${shown.join(",")}]}`
}

const watch = (path: string, response: ServerResponse): void => {
  const open = watchers.get(path) ?? new Set()
  watchers.set(path, open.add(response))
  response.once("close", () => open.delete(response))
  response.writeHead(200, { "content-type": "application/json" })
  response.flushHeaders()
  // About once a minute, as servers do: a client reconnects if it receives nothing for longer.
  const bookmark = () =>
    response.write(
      `{"type":"BOOKMARK","object":{"kind":"${Writes.kindOf(path)}","apiVersion":"v1","metadata":{"resourceVersion":"${version}"}}}\n`
    )
  const timer = setInterval(bookmark, 55_000)
  response.once("close", () => clearInterval(timer))
}

const refusal = JSON.stringify({
  kind: "Status",
  apiVersion: "v1",
  status: "Failure",
  reason: "Invalid",
  code: 422,
  message: "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
})

const { ca, certificate, key } = await Certificate.make(Date.now())
const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
  const url = new URL(request.url ?? "/", "https://localhost")
  if (request.method !== "GET") {
    const pieces: Array<Buffer> = []
    request.on("data", (piece: Buffer) => pieces.push(piece))
    request.once("end", () => {
      const arrived = performance.now()
      const { accept } = request.headers
      const { body, status } = stored.write(
        request.method ?? "",
        url.pathname,
        Buffer.concat(pieces).toString(),
        accept
      )
      respond(response, status, body)
      latency.written(url.pathname, body, arrived)
    })
    return
  }
  const document = Writes.document(url.pathname)
  if (document !== undefined) return respond(response, 200, document)
  if (url.searchParams.get("sendInitialEvents") === "true") return respond(response, 422, refusal)
  if (url.searchParams.get("watch") === "true") return watch(url.pathname, response)
  const one = stored.get(url.pathname)
  if (one !== undefined) return respond(response, 200, one)
  respond(response, 200, list(request, url))
}
// As a real server it offers HTTP/2 and HTTP/1.1. Requests and responses of both have what is used here.
const server = createSecureServer({ cert: certificate, key: Redacted.value(key), allowHTTP1: true }, onRequest as never)
server.listen(0, "127.0.0.1")
await once(server, "listening")
process.once("disconnect", () => process.exit(0))
process.on("message", (changes) => void change(changes as Changes))
const bytes = { pods: 0, nodes: 0, leases: 0 }
for (const name of Object.keys(bytes) as Array<Kind>) bytes[name] = kinds[name].object(1, version).length
process.send?.({ port: (server.address() as AddressInfo).port, ca, bytes } satisfies Address)

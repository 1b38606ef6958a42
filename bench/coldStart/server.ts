/**
 * A server of a cluster with many pods, for `coldStart.ts`, in a process of its own over HTTPS: pods, their ReplicaSets, and every other collection empty. All
 * text is made before the first request, so that during a measurement it only writes bytes. It sends its parent the time of the first write of each client.
 */
import * as Redacted from "effect/Redacted"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createSecureServer } from "node:http2"
import type { AddressInfo } from "node:net"
import * as Certificate from "../../src/apiserver/server/certificate.ts"
import { pod, podsOfSet, replicaSet } from "./pod.ts"

/**
 * How it serves the state with which a watch begins: as a streaming list (kube-apiserver from 1.34 on), as one list of all objects (older ones, which ignore
 * the limit of a list from their cache), or in pages (those without a watch cache).
 */
export type Form = "stream" | "whole" | "pages"

/** The argument. */
export interface Options {
  readonly pods: number
  readonly form: Form
}

/** The first message. */
export interface Address {
  readonly port: number
  readonly ca: string
  /** Bytes of a pod in a list, and of its managedFields. */
  readonly bytes: number
  readonly managed: number
}

/** Sent at the first write that a client makes after a watch of ReplicaSets has begun. */
export interface Wrote {
  /** Milliseconds of the monotonic clock, which processes share. */
  readonly at: number
}

const { form, pods } = JSON.parse(process.argv[2] ?? "{}") as Options
const pageSize = 500
let version = 1_000_000

interface Collection {
  readonly apiVersion: string
  readonly kind: string
  /** Texts of the objects of one page each, separated by commas. */
  readonly pages: ReadonlyArray<Buffer>
  /** The same as events of a watch. */
  readonly events: ReadonlyArray<Buffer>
}

const collection = (apiVersion: string, kind: string, count: number, object: (i: number) => string): Collection => {
  const pages: Array<Buffer> = []
  for (let from = 0; from < count; from += pageSize) {
    const texts = Array.from({ length: Math.min(pageSize, count - from) }, (_, i) => object(from + i))
    const event = (text: string): string =>
      `{"type":"ADDED","object":{"kind":"${kind}","apiVersion":"${apiVersion}",${text.slice(1)}}\n`
    pages.push(Buffer.from(form === "stream" ? texts.map(event).join("") : texts.join(",")))
  }
  return { apiVersion, kind, pages: form === "stream" ? [] : pages, events: form === "stream" ? pages : [] }
}

const metadataOf = (text: string): string => {
  const { metadata } = JSON.parse(text) as { metadata: object }
  return JSON.stringify({ metadata })
}

const made: Record<string, Collection> = {
  "/api/v1/pods": collection("v1", "Pod", pods, pod),
  "/api/v1/pods metadata": collection("meta.k8s.io/v1", "PartialObjectMetadata", pods, (i) => metadataOf(pod(i))),
  "/apis/apps/v1/replicasets": collection("apps/v1", "ReplicaSet", Math.max(1, pods / podsOfSet), (set) =>
    replicaSet(set, pods === 0 ? 0 : podsOfSet)
  ),
  "/apis/apps/v1/replicasets metadata": collection(
    "meta.k8s.io/v1",
    "PartialObjectMetadata",
    Math.max(1, pods / podsOfSet),
    (set) => metadataOf(replicaSet(set, podsOfSet))
  )
}

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
const served = (groupVersion: string, resources: ReadonlyArray<readonly [string, string]>) => ({
  kind: "APIResourceList",
  apiVersion: "v1",
  groupVersion,
  resources: resources.map(([name, kind]) => ({ name, singularName: "", namespaced: true, kind, verbs }))
})

/** What the controllers that read pods need. */
const kinds: Record<string, ReadonlyArray<readonly [string, string]>> = {
  v1: [
    ["pods", "Pod"],
    ["nodes", "Node"],
    ["services", "Service"],
    ["endpoints", "Endpoints"],
    ["namespaces", "Namespace"],
    ["resourcequotas", "ResourceQuota"],
    ["replicationcontrollers", "ReplicationController"],
    ["persistentvolumeclaims", "PersistentVolumeClaim"]
  ],
  "apps/v1": [
    ["replicasets", "ReplicaSet"],
    ["daemonsets", "DaemonSet"],
    ["statefulsets", "StatefulSet"],
    ["deployments", "Deployment"],
    ["controllerrevisions", "ControllerRevision"]
  ],
  "batch/v1": [["jobs", "Job"]],
  "policy/v1": [["poddisruptionbudgets", "PodDisruptionBudget"]],
  "discovery.k8s.io/v1": [["endpointslices", "EndpointSlice"]],
  "coordination.k8s.io/v1": [["leases", "Lease"]]
}

const groups = Object.keys(kinds).filter((groupVersion) => groupVersion !== "v1")

const documents: Record<string, object> = {
  "/version": { major: "1", minor: "36", gitVersion: "v1.36.0" },
  "/api": { kind: "APIVersions", versions: ["v1"] },
  "/apis": {
    kind: "APIGroupList",
    apiVersion: "v1",
    groups: groups.map((groupVersion) => ({
      name: groupVersion.split("/")[0],
      versions: [{ groupVersion, version: "v1" }],
      preferredVersion: { groupVersion, version: "v1" }
    }))
  }
}
for (const [groupVersion, resources] of Object.entries(kinds))
  documents[groupVersion === "v1" ? "/api/v1" : `/apis/${groupVersion}`] = served(groupVersion, resources)

const watchers = new Set<ServerResponse>()

const json = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify(body))
}

const bookmark = (initial: boolean): string => {
  const annotations = initial ? `,"annotations":{"k8s.io/initial-events-end":"true"}` : ""
  return `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"${version}"${annotations}}}}\n`
}

const send = async (response: ServerResponse, texts: Iterable<string | Buffer>): Promise<void> => {
  for (const text of texts) if (!response.write(text)) await once(response, "drain")
}

const watch = async (path: string, found: Collection, isStream: boolean, response: ServerResponse): Promise<void> => {
  response.writeHead(200, { "content-type": "application/json" })
  response.flushHeaders()
  if (isStream) await send(response, [...found.events, bookmark(true)])
  if (path === "/apis/apps/v1/replicasets") watchers.add(response)
}

const list = async ({ apiVersion, kind, pages }: Collection, query: URLSearchParams, response: ServerResponse) => {
  const isPaged = form === "pages" && query.has("limit")
  const page = Number(query.get("continue") ?? 0)
  const token = isPaged && page + 1 < pages.length ? `,"continue":"${page + 1}"` : ""
  const of = isPaged ? pages.slice(page, page + 1) : pages
  response.writeHead(200, { "content-type": "application/json" })
  await send(response, [
    `{"kind":"${kind}List","apiVersion":"${apiVersion}","metadata":{"resourceVersion":"${version}"${token}},"items":[`,
    ...of.flatMap((text, i) => (i === 0 ? [text] : [",", text])),
    "]}\n"
  ])
  response.end()
}

let isFirst = true

/** The object with the status that the client writes; watches of ReplicaSets get it too. */
const write = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  if (isFirst && watchers.size > 0) {
    isFirst = false
    process.send?.({ at: Number(process.hrtime.bigint()) / 1e6 } satisfies Wrote)
  }
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = JSON.parse(Buffer.concat(chunks).toString()) as { metadata: object }
  const object = { ...body, metadata: { ...body.metadata, resourceVersion: String(++version) } }
  json(response, request.method === "POST" ? 201 : 200, object)
  if (!/\/replicasets\/[^/]+\/status$/.test(request.url?.split("?")[0] ?? "")) return
  for (const watcher of watchers) watcher.write(`${JSON.stringify({ type: "MODIFIED", object })}\n`)
}

const status = (code: number, reason: string, message: string) => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  reason,
  code,
  message
})

const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const { pathname, searchParams: query } = new URL(request.url ?? "/", "https://localhost")
  if (request.method !== "GET") return write(request, response)
  const document = documents[pathname]
  if (document !== undefined) return json(response, 200, document)
  const isMetadata = request.headers.accept?.includes("as=PartialObjectMetadata") === true
  const path = isMetadata ? `${pathname} metadata` : pathname
  const found = made[path] ?? { apiVersion: "v1", kind: "Object", pages: [], events: [] }
  const isStream = query.get("sendInitialEvents") === "true"
  if (isStream && form !== "stream") {
    const why = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
    return json(response, 422, status(422, "Invalid", why))
  }
  return query.get("watch") === "true" ? watch(path, found, isStream, response) : list(found, query, response)
}

const { ca, certificate, key } = await Certificate.make(Date.now())
const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
  response.once("close", () => watchers.delete(response))
  handle(request, response).catch(() => response.destroy())
}
// As a real server it offers HTTP/2 and HTTP/1.1. Requests and responses of both have what is used here.
const server = createSecureServer({ cert: certificate, key: Redacted.value(key), allowHTTP1: true }, onRequest as never)
server.listen(0, "127.0.0.1")
await once(server, "listening")
process.once("disconnect", () => process.exit(0))
/** The parent says when a new client begins. */
process.on("message", () => (isFirst = true))
process.send?.({
  port: (server.address() as AddressInfo).port,
  ca,
  bytes: pod(1).length,
  managed: (/"managedFields":(\[.*\])},"spec"/.exec(pod(1))?.[1] ?? "").length
} satisfies Address)

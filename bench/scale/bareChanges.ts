/**
 * The lower bound of a process that follows the changes of pods: it parses the same watches, counts ready pods, and writes the same four objects with undici,
 * at most five of a kind at a time and each with all changes that have arrived. It computes nothing else, a write contains what was read at the start, and its response is not
 * parsed.
 */
import { Agent, request } from "undici"
import * as BareEvents from "../bareEvents.ts"
import type { Address } from "./fedServer.ts"

/** The argument. */
export type Options = Pick<Address, "port" | "ca">

const { ca, port } = JSON.parse(process.argv[2] ?? "{}") as Options
process.once("disconnect", () => process.exit(0))

/** As many as each loop writes by default. */
const atOnce = 5
const origin = `https://127.0.0.1:${port}`
const dispatcher = new Agent({ connections: 4 * atOnce, pipelining: 1, connect: { ca } })

interface Found {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly uid: string
    readonly ownerReferences?: ReadonlyArray<{ readonly name: string }>
    readonly labels?: Record<string, string>
  }
  readonly status?: {
    readyReplicas?: number
    readonly conditions?: ReadonlyArray<{ readonly type: string; readonly status: string }>
  }
}

const watch = (path: string, onObject: (object: Found) => void): Promise<void> =>
  BareEvents.read({ ca, port, path }, (object) => onObject(object as Found))

const listed = async (path: string): Promise<ReadonlyArray<Found>> => {
  const all: Array<Found> = []
  for (let token: string | undefined = ""; token !== undefined;) {
    const { body } = await request(`${origin}${path}?limit=500&continue=${token}`, { dispatcher })
    const page = (await body.json()) as {
      readonly items: ReadonlyArray<Found>
      readonly metadata: { continue?: string }
    }
    all.push(...page.items)
    token = page.metadata.continue
  }
  return all
}

/** What is parsed last: kept, so that nothing is optimized away. */
const kept: { last?: unknown } = {}

/** The response is not parsed. */
const put = async (url: string, object: Found): Promise<void> => {
  const headers = { "content-type": "application/json" }
  const { body } = await request(url, { method: "PUT", headers, body: JSON.stringify(object), dispatcher })
  await body.dump()
}

/** Writes the objects of a kind: one that changes while it is written is written again. */
const writer = async (path: string, end: string, groupOf: (object: Found) => string) => {
  const objects = new Map((await listed(path)).map((object) => [groupOf(object), object]))
  const [root, plural] = [path.slice(0, path.lastIndexOf("/")), path.slice(path.lastIndexOf("/"))]
  const waiting = new Set<string>()
  const writing = new Set<string>()
  const next = (): void => {
    for (const group of waiting) {
      if (writing.size === atOnce) return
      const object = objects.get(group)
      if (writing.has(group) || object === undefined) continue
      waiting.delete(group)
      writing.add(group)
      const { name, namespace } = object.metadata
      const url = `${origin}${root}/namespaces/${namespace}${plural}/${name}${end}`
      void put(url, object).finally(() => {
        writing.delete(group)
        next()
      })
    }
  }
  await watch(path, (object) => void (kept.last = object))
  return {
    objects,
    changed: (group: string): void => {
      waiting.add(group)
      next()
    }
  }
}

const named = ({ metadata: { name, namespace } }: Found): string => `${namespace}/${name}`
const owned = ({ metadata: { namespace, ownerReferences } }: Found): string =>
  `${namespace}/${ownerReferences?.[0]?.name ?? ""}`

const sets = await writer("/apis/apps/v1/replicasets", "/status", owned)
const others = [
  await writer("/apis/apps/v1/deployments", "/status", named),
  await writer("/api/v1/endpoints", "", named),
  await writer("/apis/discovery.k8s.io/v1/endpointslices", "", owned)
]

for (const path of ["/api/v1/nodes", "/apis/coordination.k8s.io/v1/leases"])
  await watch(path, (object) => void (kept.last = object))
await watch("/api/v1/pods", ({ metadata, status }) => {
  const group = `${metadata.namespace}/${metadata.labels?.["app"] ?? ""}`
  const counted = sets.objects.get(group)?.status
  const isReady = status?.conditions?.some(({ status, type }) => type === "Ready" && status === "True") === true
  if (counted === undefined) return
  counted.readyReplicas = (counted.readyReplicas ?? 0) + (isReady ? 1 : -1)
  sets.changed(group)
  for (const other of others) other.changed(group)
})
process.send?.("ready")

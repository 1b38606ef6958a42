/** The same requests without a controller, for `fleets.ts` and `rollout.ts`, in a process of its own: it begins as cold as the program does. One line of JSON for each order. */
import { createInterface } from "node:readline"
import * as BareEvents from "./bareEvents.ts"
import * as CachedRequests from "./cachedRequests.ts"
import { type Access, type Plain, plainly } from "./plain.ts"

/** Pods of a namespace, one by one, with the names `pod-0` to `pod-<count - 1>`. */
export interface Order {
  readonly method: "POST" | "DELETE"
  readonly namespace: string
  readonly count: number
  /** So many events are created after the pods. Default: none. */
  readonly events?: number | undefined
  /** Whether the events of the namespace's pods are read and parsed, from here on. */
  readonly watched?: boolean | undefined
  /** Whether the requests are sent through the client and the cache of this library. */
  readonly cached?: boolean | undefined
}

const access = JSON.parse(process.argv[2] ?? "{}") as Access

const bodyOf =
  ({ count, namespace }: Order) =>
  (index: number) =>
    index < count ? pod(`pod-${index}`, namespace) : event(`event-${index}`, namespace)

const requestOf = (order: Order): ((index: number) => Plain) => {
  const { count, method, namespace } = order
  const [path, body] = [`/api/v1/namespaces/${namespace}`, bodyOf(order)]
  return (index) =>
    method === "DELETE"
      ? { method, path: `${path}/pods/pod-${index}` }
      : { method, path: `${path}/${index < count ? "pods" : "events"}`, body: body(index) }
}

/** As a ReplicaSet of a Deployment writes it. */
const pod = (name: string, namespace: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace, labels: { app: "load", of: "load-0", "pod-template-hash": "5d9c7f8b6c" } },
  spec: { containers: [{ name: "main", image: "example.test/main:1" }] }
})

/** As the program records it. */
const event = (name: string, namespace: string) => ({
  apiVersion: "v1",
  kind: "Event",
  metadata: { name, namespace },
  involvedObject: { apiVersion: "apps/v1", kind: "ReplicaSet", namespace, name: "load-0-5d9c7f8b6c", uid: name },
  reason: "SuccessfulCreate",
  type: "Normal",
  source: { component: "replicaset-controller" },
  firstTimestamp: "2026-01-01T00:00:00Z",
  lastTimestamp: "2026-01-01T00:00:00Z",
  count: 1,
  message: `Created pod: ${name}`,
  reportingComponent: "replicaset-controller",
  reportingInstance: ""
})

/** What is parsed last: kept, so that nothing is optimized away. */
const kept: { last?: unknown } = {}

const watch = (namespace: string): Promise<void> =>
  BareEvents.read(
    {
      ca: access.ca,
      port: new URL(access.url).port,
      path: `/api/v1/namespaces/${namespace}/pods`,
      headers: { authorization: `Bearer ${access.token}` },
      // As the cache of the library.
      interval: 20
    },
    (object) => void (kept.last = object)
  )

let cached: CachedRequests.Requests | undefined

const costOf = (order: Order) => {
  const { count, events = 0, method, namespace } = order
  if (order.cached !== true) return plainly(access, count + events, requestOf(order))
  cached ??= CachedRequests.make(access)
  return method === "DELETE"
    ? cached.remove(namespace, count)
    : cached.create(namespace, { pods: count, events }, bodyOf(order))
}

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as Order
  if (order.watched === true) await watch(order.namespace)
  console.log(JSON.stringify(await costOf(order)))
}

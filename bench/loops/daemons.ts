/**
 * A DaemonSet on five hundred nodes, whose pods become ready as soon as they exist: from its create until its status counts all of them as available.
 * The lower bound is the same pods created, and their statuses written once, by a bare loop.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { DaemonSet, Namespace } from "../../src/kube/resources.ts"
import type { KubeClient } from "../../src/layers/KubeClient.ts"
import type { Figure } from "../figure.ts"
import * as PodStatuses from "./podStatuses.ts"
import * as Stand from "./stand.ts"

const nodes = 500
const namespace = "load"

const podSpec = { containers: [{ name: "main", image: "example.test/main:1" }] }

const populate = (where: Stand.Server) =>
  Effect.promise(async () => {
    await Stand.plainly(where, nodes, (index) => ({
      method: "POST",
      path: "/api/v1/nodes",
      body: { metadata: { name: `node-${index}`, labels: { "kubernetes.io/hostname": `node-${index}` } } }
    }))
    await Stand.plainly(where, nodes, (index) => ({
      method: "PATCH",
      path: `/api/v1/nodes/node-${index}/status`,
      body: { status: { conditions: [{ type: "Ready", status: "True", reason: "", message: "" }] } }
    }))
  })

const available = (client: KubeClient["Service"], name: string) =>
  client.watch(DaemonSet, { namespace, timeoutSeconds: 900 }).pipe(
    Stream.takeUntil(
      ({ object }) =>
        (object as DaemonSet).metadata.name === name && (object as DaemonSet).status?.numberAvailable === nodes
    ),
    Stream.runDrain
  )

const create = (client: KubeClient["Service"], name: string) =>
  client.create(DaemonSet, {
    metadata: { namespace, name },
    spec: {
      selector: { matchLabels: { of: name } },
      template: { metadata: { labels: { of: name } }, spec: podSpec }
    }
  })

const floor = (where: Stand.Server, client: KubeClient["Service"]) =>
  Effect.gen(function* () {
    yield* client.create(Namespace, { metadata: { name: "floor" } })
    const path = "/api/v1/namespaces/floor/pods"
    return yield* Effect.promise(() =>
      Stand.plainly(where, 2 * nodes, (index) => {
        const name = `p-${index % nodes}`
        return index < nodes
          ? { method: "POST", path, body: { metadata: { name }, spec: podSpec } }
          : { method: "PATCH", path: `${path}/${name}/status`, body: { status: PodStatuses.running(index) } }
      })
    )
  })

const measured = Effect.gen(function* () {
  const where = yield* Stand.server
  const client = yield* Stand.client(where)
  const bare = yield* floor(where, client)
  yield* client.create(Namespace, { metadata: { name: namespace } })
  yield* populate(where)
  const running = yield* Stand.controllers(where, ["daemonset"])
  yield* Effect.forkScoped(PodStatuses.write(client, namespace, PodStatuses.running))
  // When the first is done, the caches have synced.
  yield* create(client, "first")
  yield* available(client, "first")
  const before = Stand.usageOf(running).cpuMillis
  const began = performance.now()
  yield* create(client, "load")
  yield* available(client, "load")
  const seconds = (performance.now() - began) / 1000
  const { cpuMillis, peakMiB } = Stand.usageOf(running)
  return Stand.figures(`a DaemonSet on 500 nodes on ${where.what}`, {
    seconds,
    floorSeconds: bare.millis / 1000,
    cpu: (cpuMillis - before) / nodes,
    floorCpu: 2 * bare.cpuEach,
    per: "pod",
    peakMiB
  })
})

export const run = (): Promise<Array<Figure>> => Effect.runPromise(Effect.scoped(measured))

/**
 * A thousand pods of StatefulSets that become ready as soon as they exist: 334 sets with three replicas created one after the other, and a thousand
 * sets of one. From the first create until every set counts all as available. The lower bound is the same pods created, and their statuses
 * written once, by a bare loop.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Namespace, StatefulSet } from "../../src/kube/resources.ts"
import type { KubeClient } from "../../src/layers/KubeClient.ts"
import type { Figure } from "../figure.ts"
import * as PodStatuses from "./podStatuses.ts"
import * as Stand from "./stand.ts"

const namespace = "load"

const podSpec = { containers: [{ name: "main", image: "example.test/main:1" }] }

const available = (client: KubeClient["Service"], prefix: string, sets: number, replicas: number) => {
  const done = new Set<string>()
  return client.watch(StatefulSet, { namespace, timeoutSeconds: 900 }).pipe(
    Stream.takeUntil(({ object }) => {
      const { metadata, status } = object as StatefulSet
      const isDone = status?.availableReplicas === replicas && status.replicas === replicas
      if (metadata.name.startsWith(prefix) && isDone) done.add(metadata.name)
      return done.size === sets
    }),
    Stream.runDrain
  )
}

const create = (client: KubeClient["Service"], name: string, replicas: number) =>
  client.create(StatefulSet, {
    metadata: { namespace, name },
    spec: {
      replicas,
      serviceName: name,
      selector: { matchLabels: { of: name } },
      template: { metadata: { labels: { of: name } }, spec: podSpec }
    }
  })

const floor = (where: Stand.Server, client: KubeClient["Service"], pods: number) =>
  Effect.gen(function* () {
    yield* client.create(Namespace, { metadata: { name: "floor" } })
    const path = "/api/v1/namespaces/floor/pods"
    return yield* Effect.promise(() =>
      Stand.plainly(where, 2 * pods, (index) => {
        const name = `p-${index % pods}`
        return index < pods
          ? { method: "POST", path, body: { metadata: { name }, spec: podSpec } }
          : { method: "PATCH", path: `${path}/${name}/status`, body: { status: PodStatuses.running(index) } }
      })
    )
  })

const measured = (sets: number, replicas: number) =>
  Effect.gen(function* () {
    const pods = sets * replicas
    // A real server of an old version does not store `availableReplicas`.
    const where = yield* Stand.embedded
    const client = yield* Stand.client(where)
    const bare = yield* floor(where, client, pods)
    yield* client.create(Namespace, { metadata: { name: namespace } })
    const running = yield* Stand.controllers(where, ["statefulset"])
    yield* Effect.forkScoped(PodStatuses.write(client, namespace, PodStatuses.running))
    // When the first is done, the caches have synced.
    yield* create(client, "first", replicas)
    yield* available(client, "first", 1, replicas)
    const before = Stand.usageOf(running).cpuMillis
    const began = performance.now()
    const names = Array.from({ length: sets }, (_, index) => `load-${index}`)
    yield* Effect.all(
      [
        available(client, "load-", sets, replicas),
        Effect.forEach(names, (name) => create(client, name, replicas), { concurrency: 8, discard: true })
      ],
      { concurrency: "unbounded" }
    )
    const seconds = (performance.now() - began) / 1000
    const { cpuMillis, peakMiB } = Stand.usageOf(running)
    return Stand.figures(`${sets} StatefulSets × ${replicas} on ${where.what}`, {
      seconds,
      floorSeconds: bare.millis / 1000,
      cpu: (cpuMillis - before) / pods,
      floorCpu: 2 * bare.cpuEach,
      per: "pod",
      peakMiB
    })
  })

export const run = async (): Promise<Array<Figure>> => {
  const figures: Array<Figure> = []
  for (const [sets, replicas] of [
    [334, 3],
    [1000, 1]
  ] as const)
    figures.push(...(await Effect.runPromise(Effect.scoped(measured(sets, replicas)))))
  return figures
}

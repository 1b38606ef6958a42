/**
 * The cost of the simulated nodes: a thousand pods for one virtual hour, in process, from an empty cluster to the last heartbeat. Most pods are servers;
 * some crash and are restarted, some end, some have an image that cannot be pulled, and one in ten is deleted after half an
 * hour.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as References from "effect/References"
import { TestClock } from "effect/testing"
import { Pod } from "../src/kube/resources.ts"
import { ApiServer } from "../src/apiserver/ApiServer.ts"
import { Cache } from "../src/layers/Cache.ts"
import { KubeClient } from "../src/layers/KubeClient.ts"
import * as Machine from "../src/simulation/Machine.ts"
import * as Nodes from "../src/simulation/Nodes.ts"
import { Quiescence } from "../src/layers/Quiescence.ts"
import type { Figure } from "./figure.ts"

const pods = 1_000

const machines = Array.from({ length: 11 }, (_, i) =>
  i === 0
    ? Machine.make("control-plane", 1, "control-plane")
    : Machine.make(`worker-${i}`, i + 1, "worker", { cpu: "16", memory: "64Gi", pods: 150 })
)

/** Of every ten: seven servers, one that crashes, one job, one that cannot be pulled or waits for resources. */
const specOf = (i: number): object => {
  const kinds: ReadonlyArray<object> = [
    { command: ["sh", "-c", "sleep 30; exit 1"] },
    { command: ["sleep", String(60 + (i % 600))] },
    i % 20 < 10 ? { image: "webserver:404" } : { resources: { requests: { cpu: "64" } } }
  ]
  const kind = kinds[i % 10] ?? { readinessProbe: { initialDelaySeconds: i % 7, httpGet: { path: "/", port: 80 } } }
  return {
    ...(i % 10 === 1 ? { restartPolicy: "Never" } : {}),
    containers: [{ name: "main", image: "example.test/main:1", resources: { requests: { cpu: "50m" } }, ...kind }]
  }
}

const create = (client: KubeClient["Service"], i: number) =>
  client.create(Pod, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `pod-${i}`, namespace: "default" },
    spec: specOf(i)
  } as never)

const scenario = Effect.gen(function* () {
  const client = yield* KubeClient
  const { settle } = yield* Quiescence
  for (let i = 0; i < pods; i++) yield* create(client, i)
  yield* settle
  yield* TestClock.adjust("30 minutes")
  for (let i = 9; i < pods; i += 10) yield* client.delete(Pod, { namespace: "default", name: `pod-${i}` })
  yield* settle
  yield* TestClock.adjust("30 minutes")
  yield* settle
  const server = yield* ApiServer
  return { objects: yield* server.snapshot(Pod), revision: yield* server.revision }
})

const layer = Nodes.layer({ machines }).pipe(
  Layer.provideMerge(Cache.layer()),
  Layer.provideMerge(KubeClient.layer),
  Layer.provideMerge(ApiServer.layerTransport),
  Layer.provideMerge(ApiServer.layer()),
  Layer.provideMerge(Quiescence.layer),
  // On any computer, the next sleeper is woken when the work of the previous one is done, and not after a second.
  Layer.provideMerge(TestClock.layer({ warningDelay: "1 hour" }))
)

const once = async () => {
  const start = performance.now()
  const result = await Effect.runPromise(
    scenario.pipe(Effect.provide(layer), Random.withSeed(1), Effect.provideService(References.MinimumLogLevel, "Error"))
  )
  return { ...result, seconds: (performance.now() - start) / 1_000 }
}

export const run = async (): Promise<Array<Figure>> => {
  const first = await once()
  const second = await once()
  const third = await once()
  const words = new Map<string, number>()
  for (const one of second.objects as unknown as ReadonlyArray<Pod>) {
    const { containerStatuses, phase } = one.status ?? {}
    const word = containerStatuses?.[0]?.state?.waiting?.reason ?? phase ?? "none"
    words.set(word, (words.get(word) ?? 0) + 1)
  }
  const seconds = Math.min(first.seconds, second.seconds, third.seconds)
  const same = [second, third].every((one) => JSON.stringify(one.objects) === JSON.stringify(first.objects))
  console.log(`1,000 pods after an hour: ${[...words].map(([word, count]) => `${count} ${word}`).join(", ")}`)
  return [
    { name: "1,000 pods, one virtual hour", value: seconds, unit: "s", bar: "≤ 5 s", ok: seconds <= 5 },
    {
      name: "writes in that hour",
      value: second.revision,
      unit: "revisions",
      bar: "the same in three runs with one seed",
      ok: same && first.revision === second.revision && first.revision === third.revision
    }
  ]
}

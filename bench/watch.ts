/**
 * The data path of an informer: 100,000 MODIFIED events on one watch, from bytes to deduplicated keys, compared with a plain loop that splits lines and
 * parses JSON; and the memory of the resulting cache, compared with the same trimmed objects in an array. Both sides run alternately in the
 * same process, and the fastest rounds are compared.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as ApiError from "../src/kube/ApiError.ts"
import type { KubeObject } from "../src/kube/Meta.ts"
import { Pod } from "../src/kube/resources.ts"
import * as Framing from "../src/streams/watch/decode.ts"
import { reflect } from "../src/streams/watch/watch.ts"
import * as Store from "../src/streams/store/Store.ts"
import * as Trigger from "../src/streams/store/trigger.ts"
import { trim } from "../src/streams/watch/decode.ts"
import { watch } from "../src/streams/watch/watch.ts"
import type { Figure } from "./figure.ts"

const context: ApiError.Context = { verb: "watch", path: "/api/v1/pods", resource: "pods" }
const objectCount = 20_000
const eventCount = 100_000
const chunkBytes = 64 * 1024

/** About 1.9 KB of JSON as a server sends it; managedFields, a third of it, comes last in the metadata as in Go. */
const podJson = (i: number, version: number): string =>
  JSON.stringify({
    metadata: {
      name: `web-${i}`,
      generateName: "web-",
      namespace: `ns-${i % 50}`,
      uid: `00000000-0000-4000-8000-${String(i).padStart(12, "0")}`,
      resourceVersion: String(version),
      generation: 1,
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { app: `web-${i % 100}`, "pod-template-hash": "6d4b75cb6d", tier: "frontend" },
      annotations: { "example.dev/checksum": `sha256:${String(i).repeat(8)}` },
      ownerReferences: [
        {
          apiVersion: "apps/v1",
          kind: "ReplicaSet",
          name: `web-${i % 100}`,
          uid: `rs-${i % 100}`,
          controller: true,
          blockOwnerDeletion: true
        }
      ],
      managedFields: [managed("kube-controller-manager", i), managed("kubelet", i)]
    },
    spec: {
      nodeName: `node-${i % 200}`,
      serviceAccountName: "default",
      restartPolicy: "Always",
      terminationGracePeriodSeconds: 30,
      containers: [
        {
          name: "web",
          image: "registry.example.dev/web:1.2.3",
          ports: [{ containerPort: 8080, protocol: "TCP" }],
          resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "256Mi" } },
          terminationMessagePath: "/dev/termination-log",
          imagePullPolicy: "IfNotPresent"
        }
      ],
      tolerations: [
        { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 }
      ]
    },
    status: {
      phase: "Running",
      podIP: `10.0.${i % 256}.${version % 256}`,
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }]
    }
  })

const managed = (manager: string, i: number) => ({
  manager,
  operation: "Update",
  apiVersion: "v1",
  time: "2026-01-01T00:00:00Z",
  fieldsType: "FieldsV1",
  fieldsV1: {
    "f:metadata": { "f:labels": { ".": {}, "f:app": {}, "f:tier": {} }, "f:ownerReferences": { ".": {} } },
    "f:spec": { "f:containers": { [`k:{"name":"web-${i % 10}"}`]: { ".": {}, "f:image": {}, "f:ports": {} } } }
  }
})

/** A response body as it comes from a socket: chunks that ignore line breaks. */
const bodyOf = (count: number): ReadonlyArray<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  let rest = Buffer.alloc(0)
  for (let i = 0; i < count; i++) {
    const line = `{"type":"MODIFIED","object":${podJson((i * 7919) % objectCount, objectCount + 1 + i)}}\n`
    rest = Buffer.concat([rest, Buffer.from(line)])
    if (rest.length < chunkBytes) continue
    chunks.push(new Uint8Array(rest.subarray(0, chunkBytes)))
    rest = Buffer.from(rest.subarray(chunkBytes))
  }
  if (rest.length > 0) chunks.push(new Uint8Array(rest))
  return chunks
}

/** The lower bound: split lines, parse. */
const plain = (body: ReadonlyArray<Uint8Array>): number => {
  const decoder = new TextDecoder()
  let rest = ""
  let count = 0
  for (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) if (JSON.parse(line).type === "MODIFIED") count++
  }
  return count
}

/** Frame, parse, trim, store, delta, trigger, deduplicate: the work of an informer and a controller's queue. */
const pipeline = (body: ReadonlyArray<Uint8Array>, freeze: boolean, omitManagedFields = true): Effect.Effect<number> =>
  Effect.suspend(() => {
    const store = Store.make<KubeObject>({ freeze })
    const keys = new Set<string>()
    const owner = Trigger.owner({ group: "apps", kind: "ReplicaSet" })
    const source = {
      list: () => Effect.succeed({ metadata: { resourceVersion: "1" }, items: [] }),
      watch: () => Framing.events(Stream.rechunk(Stream.fromArray(body), 1), context, { omitManagedFields })
    }
    let seen = 0
    const changes = watch<KubeObject>(source, {
      streamingList: "never",
      context,
      transform: trim(Pod)
    })
    return reflect(changes, store).pipe(
      Stream.runForEachArray((deltas) => {
        for (const delta of deltas) for (const key of owner(delta)) keys.add(key)
        seen += deltas.length
        return seen < eventCount ? Effect.void : Effect.fail("all seen")
      }),
      Effect.ignore,
      Effect.map(() => seen)
    )
  })

const seconds = async (work: () => number | Promise<number>): Promise<number> => {
  const start = process.hrtime.bigint()
  const count = await work()
  if (count !== eventCount) throw new Error(`${count} events of ${eventCount}`)
  return Number(process.hrtime.bigint() - start) / 1e9
}

/** The fastest round: other work of the machine can only add time. */
const fastest = (values: ReadonlyArray<number>): number => Math.min(...values)

const speed = async (rounds: number): Promise<ReadonlyArray<Figure>> => {
  const body = bodyOf(eventCount)
  const times = {
    plain: [] as Array<number>,
    pipeline: [] as Array<number>,
    frozen: [] as Array<number>,
    whole: [] as Array<number>
  }
  for (let round = 0; round < rounds; round++) {
    times.plain.push(await seconds(() => plain(body)))
    times.pipeline.push(await seconds(() => Effect.runPromise(pipeline(body, false))))
    times.whole.push(await seconds(() => Effect.runPromise(pipeline(body, false, false))))
    times.frozen.push(await seconds(() => Effect.runPromise(pipeline(body, true))))
  }
  const floor = Math.round(eventCount / fastest(times.plain))
  const figure = (name: string, taken: ReadonlyArray<number>): Figure => {
    const value = Math.round(eventCount / fastest(taken))
    return {
      name,
      value,
      unit: "events/s",
      floor,
      ratio: value / floor,
      bar: "≥ 0.75 of the floor",
      ok: value / floor >= 0.75
    }
  }
  return [
    figure("100,000 MODIFIED events to keys", times.pipeline),
    { ...figure("the same, managedFields parsed too", times.whole), bar: "none, for information", ok: true },
    { ...figure("the same, objects frozen on arrival", times.frozen), bar: "none, for information", ok: true }
  ]
}

const heap = (): number => {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const heapOf = (make: () => unknown): number => {
  const before = heap()
  const kept = make()
  const taken = heap() - before
  return kept === undefined ? 0 : taken
}

/** The heap of a store of 20,000 pods, and of an array of the same objects parsed from trimmed JSON. */
const memory = (): ReadonlyArray<Figure> => {
  if (globalThis.gc === undefined) return []
  const listed = Array.from({ length: objectCount }, (_, i) => podJson(i, i + 1))
  const trimmed = listed.map((text) => JSON.stringify(trim(Pod)(JSON.parse(text))))
  const transform = trim(Pod)
  const plainly = () => trimmed.map((text): unknown => JSON.parse(text))
  const cached = () => {
    const store = Store.make<KubeObject>()
    store.apply({ _tag: "Restarted" })
    store.apply({ _tag: "Listed", objects: listed.map((text) => transform(JSON.parse(text))) })
    store.apply({ _tag: "Synced", resourceVersion: "1" })
    return store
  }
  // The first of each also includes what V8 sets up once.
  const floor = [heapOf(plainly), heapOf(plainly)][1] ?? 0
  const value = [heapOf(cached), heapOf(cached)][1] ?? 0
  const ratio = value / floor
  return [
    {
      name: "heap of 20,000 cached pods",
      value,
      unit: "bytes",
      floor,
      ratio,
      bar: "≤ 1.15 of the floor",
      ok: ratio <= 1.15
    }
  ]
}

export const run = async (): Promise<Array<Figure>> => [...memory(), ...(await speed(5))]

/**
 * Replicas of a program with one sharded controller, for tests in virtual time. Each has a cache, a client and a runner of its own over one embedded API
 * server, and a connection that can fail. The controller copies a value inside each config map.
 */
import * as Context from "effect/Context"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Access from "../../../src/kube/Access.ts"
import * as Key from "../../../src/kube/Key.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as ShardHash from "../../../src/kube/shardHash.ts"
import { ConfigMap, Lease, Namespace, Node, Secret } from "../../../src/kube/resources.ts"
import { Cache } from "../../../src/layers/Cache.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { Recorder } from "../../../src/layers/Recorder.ts"
import { Shards } from "../../../src/layers/Shards.ts"
import { Supervisor } from "../../../src/layers/Supervisor.ts"
import * as Trigger from "../../../src/streams/store/trigger.ts"
import { type Request, Transport } from "../../../src/layers/Transport.ts"
import * as HeldShards from "../../../src/manager/shards/HeldShards.ts"
import * as Records from "../../../src/manager/shards/records.ts"
import * as Fleet from "./fleet.ts"

/** A run of a key: when it began and ended, in virtual milliseconds. */
export interface Run {
  readonly replica: string
  readonly key: string
  readonly value: string
  readonly from: number
  to: number
}

export interface Settings {
  readonly shards: number
  readonly expiration: Duration.Duration
  readonly shardBy?: Controller.ShardBy<ConfigMap>
  /** Each replica caches only the namespaces of its shards. */
  readonly isCacheDivided?: boolean
  /** How long a run takes. */
  readonly work?: Duration.Input
  /** Writes cannot be interrupted: as in a process that is stopped, and then sends what it had begun before it does anything else. */
  readonly isStubborn?: boolean
}

export interface World {
  readonly settings: Settings
  readonly runs: Array<Run>
  /** Runs that found their object without the Secret that each namespace has, or at their end not any more. */
  readonly incomplete: Array<string>
  /** Writes of the controller by a replica that did not have the lock of the shard when they reached the server. */
  readonly unlocked: Array<string>
}

export const world = (settings: Settings): World => ({ settings, runs: [], incomplete: [], unlocked: [] })

export const now = Effect.map(Clock.currentTimeMillis, Number)

const copier = (replica: string, { incomplete, runs, settings }: World) =>
  Controller.make({
    name: "copier",
    for: ConfigMap,
    shardBy: settings.shardBy ?? "namespace",
    concurrency: 8,
    backoff: { base: "100 millis", max: "5 seconds" },
    access: [Access.patch(ConfigMap), Access.read(Secret)],
    // Keys that come from no object of their namespace.
    watches: [
      Controller.watch(
        Node,
        Trigger.map(() => namespaces.map((namespace) => Key.make(namespace, "a")))
      )
    ],
    reconcile: ({ key, namespace }, { cache, client }) =>
      Effect.gen(function* () {
        const object = yield* cache.get(ConfigMap, key)
        const secret = yield* cache.get(Secret, Key.make(namespace, "secret"))
        if (object !== undefined && secret === undefined) incomplete.push(`${replica} ${key} at ${yield* now}`)
        const run: Run = { replica, key, value: object?.data?.["value"] ?? "", from: yield* now, to: Infinity }
        runs.push(run)
        yield* Effect.ensuring(
          Effect.gen(function* () {
            yield* Effect.sleep(settings.work ?? 0)
            if (object === undefined) return
            if ((yield* cache.get(ConfigMap, key)) === undefined)
              incomplete.push(`${replica} ${key} until ${yield* now}`)
            if (object.data?.["copy"] === run.value) return
            const { name, namespace } = object.metadata
            const write = client.patch(ConfigMap, { name, namespace }, Patch.merge({ data: { copy: run.value } }))
            yield* settings.isStubborn === true ? Effect.uninterruptible(write) : write
          }),
          Effect.map(now, (at) => void (run.to = at))
        )
      })
  })

/** Whether the replica has the lock of the shard of this write, as the server has it. */
const isLocked = Effect.fnUntraced(function* (
  client: KubeClient["Service"],
  replica: string,
  request: Request,
  { settings }: World
) {
  const { name, namespace } = Fleet.where
  const shard = ShardHash.shardOf(/namespaces\/([^/]+)\//.exec(request.path)?.[1] ?? "", settings.shards)
  const find = (lease: string) => Effect.option(client.get(Lease, { namespace, name: lease }))
  const lock = yield* find(Records.shardName(name, `default:${shard}`))
  const runner = yield* find(Records.runnerName(name, `${replica}:0`))
  return lock._tag === "Some" && runner._tag === "Some" && Records.lockedBy(lock.value) === runner.value.metadata.uid
})

export type Replica = Effect.Success<ReturnType<typeof start>>

/** Starts a replica. Its name must be new. */
export const start = Effect.fnUntraced(function* (replica: string, all: World) {
  const scope = yield* Scope.make()
  const gate = Fleet.openGate()
  const server = yield* KubeClient
  const sent = Effect.fnUntraced(function* (request: Request) {
    if (!request.path.includes("/configmaps") || (yield* isLocked(server, replica, request, all))) return
    all.unlocked.push(`${replica} ${request.method} ${request.path} at ${yield* now}`)
  })
  const transport = Fleet.gated(yield* Transport, gate, sent)
  const services = Recorder.layer.pipe(
    Layer.provideMerge(Cache.layer(all.settings.isCacheDivided === true ? { shards: all.settings.shards } : {})),
    Layer.provideMerge(KubeClient.layer),
    Layer.provideMerge(Layer.succeed(Transport, transport)),
    Layer.provideMerge(Supervisor.layer)
  )
  const { expiration, shards } = all.settings
  const divided = Layer.provideMerge(
    HeldShards.layerLeases({ ...Fleet.where, address: replica, shards, expiration }),
    services
  )
  const context = yield* Layer.buildWithScope(Layer.fresh(divided), scope)
  const own = yield* Scope.fork(scope)
  yield* Layer.buildWithScope(copier(replica, all).layer, own).pipe(Effect.provideContext(context))
  const held = new Set<number>()
  yield* (
    Context.get(context, Shards)?.each(({ number }) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => held.add(number)),
          () => Effect.sync(() => held.delete(number))
        )
      )
    ) ?? Effect.die("no shards")
  ).pipe(Scope.provide(scope))
  return {
    replica,
    gate,
    held,
    /** The namespaces of the objects in its cache, each once. */
    cached: Effect.map(Effect.orDie(Context.get(context, Cache).list(ConfigMap)), (items) =>
      Array.from(new Set(items.flatMap(({ metadata }) => metadata.namespace ?? []))).toSorted()
    ),
    /** An orderly end. */
    stop: Scope.close(scope, Exit.void)
  }
})

export const advance = (seconds: number) =>
  Effect.forEach(
    Array.from({ length: seconds * 2 }),
    () => Effect.andThen(TestClock.adjust("500 millis"), Fleet.settle),
    { discard: true }
  )

export const namespaces = Array.from({ length: 12 }, (_, index) => `shop-${index}`)

/** A namespace with two objects and a Secret. */
export const add = Effect.fnUntraced(function* (namespace: string) {
  const client = yield* KubeClient
  yield* client.create(Namespace, { metadata: { name: namespace } })
  yield* client.create(Secret, { metadata: { namespace, name: "secret" } })
  for (const name of ["a", "b"])
    yield* client.create(ConfigMap, { metadata: { namespace, name }, data: { value: "1" } })
})

/** All replicas receive a change of a cluster-scoped object. */
export const touch = Effect.fnUntraced(function* (value: string) {
  const client = yield* KubeClient
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: "node", labels: { value } } }
  yield* client.patch(Node, { name: "node" }, Patch.apply(node), { fieldManager: "test" })
})

export const populate = Effect.forEach(namespaces, add, { discard: true })

export const change = (namespace: string, name: string, value: string) =>
  Effect.flatMap(KubeClient, (client) => client.patch(ConfigMap, { namespace, name }, Patch.merge({ data: { value } })))

export const objects = Effect.flatMap(KubeClient, (client) => client.list(ConfigMap, {})).pipe(
  Effect.map(({ items }) => items.filter(({ metadata }) => metadata.namespace?.startsWith("shop-")))
)

/** Runs of one key on two replicas at the same time. */
export const overlaps = ({ runs }: World): ReadonlyArray<string> =>
  runs.flatMap((one, index) =>
    runs
      .slice(index + 1)
      .filter(
        (other) => other.key === one.key && other.replica !== one.replica && one.from < other.to && other.from < one.to
      )
      .map((other) => JSON.stringify([one, other]))
  )

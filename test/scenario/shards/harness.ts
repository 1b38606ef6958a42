/**
 * Replicas that share the work of one controller on a server with an audit log, and config maps that change all the time. Each replica has a connection that
 * can be cut. The log shows who held each shard and who wrote, in the order of the server's revisions.
 */
import * as Effect from "effect/Effect"
import * as Patch from "../../../src/kube/Patch.ts"
import * as ShardHash from "../../../src/kube/shardHash.ts"
import { ConfigMap, Namespace } from "../../../src/kube/resources.ts"
import * as Bundle from "../../support/bundle.ts"
import { full } from "../../support/runs.ts"
import * as Process from "../../support/process.ts"
import * as TcpProxy from "../../support/tcpProxy.ts"
import * as Cluster from "../cluster.ts"
import * as Kubeconfigs from "../kubeconfigs.ts"
import * as Audit from "../leadership/audit.ts"
import * as Servers from "../leadership/servers.ts"

export const shards = 16

/** Milliseconds: the program's default at full length; otherwise as short as a busy machine allows. */
export const expiration = full ? 15_000 : 9000

/** Milliseconds that a busy machine may add to any time. */
export const allowance = 3000

const namespaces = Array.from({ length: 24 }, (_, index) => `shop-${index}`)

/** In each namespace. So many that one is changed again only after about as long as a shard may have no holder: a later change would hide a lost one. */
const objects = 20

export interface Replica extends Process.Running {
  /** Its user on the server. */
  readonly user: string
  /** Its connection. */
  readonly proxy: TcpProxy.TcpProxy
}

export type Harness = Effect.Success<ReturnType<typeof make>>

/** `cache`: what each replica caches, as in `--sharding-cache`. */
export const make = Effect.fnUntraced(function* (server: Servers.Server, cache: "all" | "own") {
  const program = yield* Bundle.make("test/scenario/shards/program.ts")
  const client = yield* Cluster.client(server)
  yield* Servers.prepare(client)
  for (const namespace of namespaces) {
    yield* client.create(Namespace, { metadata: { name: namespace } })
    for (let number = 0; number < objects; number++) {
      yield* client.create(ConfigMap, { metadata: { namespace, name: nameOf(number) }, data: { value: "0" } })
    }
  }
  let started = 0
  const start = Effect.gen(function* () {
    const { token, user } = yield* Servers.account(client, `replica-${started++}`)
    const proxy = yield* TcpProxy.start(server.server)
    const kubeconfig = yield* Kubeconfigs.write({
      server: proxy.server,
      ca: server.ca,
      tlsServerName: "localhost",
      user: { token }
    })
    const where = ["--kubeconfig", kubeconfig, "--leader-elect-resource-namespace=default"]
    const args = [...where, `--sharding-cache=${cache}`]
    const replica: Replica = { ...(yield* Process.start([...args, ...flags], {}, { program })), user, proxy }
    yield* replica.says(/Starting Controller.*copies/)
    return replica
  })
  return { client, start, writes: server.writes }
})

const nameOf = (number: number): string => `copy-${number}`

/** The other times are those of an election, which are checked although there is none. */
const flags = [
  "--sharding",
  `--shards=${shards}`,
  `--leader-elect-lease-duration=${expiration}ms`,
  `--leader-elect-renew-deadline=${(expiration * 2) / 3}ms`,
  `--leader-elect-retry-period=${expiration / 8}ms`
]

/** A number from 1 on; undefined for other writes. */
const shardOfLease = ({ name, resource }: Audit.Write): number | undefined => {
  const [, number] = (resource === "leases" && /^copier-shards-shard-default-(\d+)$/.exec(name)) || []
  return number === undefined ? undefined : Number(number)
}

const byRevision = (a: Audit.Write, b: Audit.Write): number => (a.revision ?? 0) - (b.revision ?? 0)

/** The writes of the Leases of shards, by shard, in order: who wrote one last has the lock, or had it last. */
const claims = (writes: ReadonlyArray<Audit.Write>): ReadonlyMap<number, ReadonlyArray<Audit.Write>> => {
  const found = new Map<number, Array<Audit.Write>>()
  for (const write of writes) {
    const shard = shardOfLease(write)
    if (shard !== undefined) found.set(shard, [...(found.get(shard) ?? []), write])
  }
  return new Map([...found].map(([shard, of]) => [shard, of.toSorted(byRevision)]))
}

/** The accepted writes of config maps that changed something, by a replica that did not have the shard at that revision. */
export const late = (writes: ReadonlyArray<Audit.Write>): ReadonlyArray<Audit.Write> => {
  const held = claims(writes)
  return Audit.changing(writes).filter((write) => {
    if (write.resource !== "configmaps") return false
    const of = held.get(ShardHash.shardOf(write.namespace, shards)) ?? []
    return of.findLast(({ revision }) => (revision ?? 0) < (write.revision ?? 0))?.user !== write.user
  })
}

/** The shards by who has them now. */
export const holders = (writes: ReadonlyArray<Audit.Write>): ReadonlyMap<number, Audit.Write> =>
  new Map([...claims(writes)].flatMap(([shard, of]) => of.slice(-1).map((last) => [shard, last] as const)))

export const heldBy = (writes: ReadonlyArray<Audit.Write>, { user }: Replica): ReadonlyArray<number> =>
  [...holders(writes)].flatMap(([shard, write]) => (write.user === user ? [shard] : []))

/** Waits until these shards have other holders, and returns when (milliseconds since the epoch) the last one had. */
export const moved = ({ writes }: Harness, from: Replica, which: ReadonlyArray<number>) =>
  until(
    Effect.sync(() => {
      const now = holders(writes())
      const taken = which.flatMap((shard) => now.get(shard) ?? []).filter(({ user }) => user !== from.user)
      return taken.length === which.length ? Math.max(...taken.map(({ completed }) => completed)) : undefined
    })
  )

/** Waits until the replicas have all shards together, and each its part. */
export const divided = ({ writes }: Harness, replicas: ReadonlyArray<Replica>) =>
  until(
    Effect.sync(() => {
      const of = replicas.map((replica) => heldBy(writes(), replica).length)
      const isFair = of.every((count) => count >= Math.floor(shards / replicas.length))
      return isFair && of.reduce((sum, count) => sum + count, 0) === shards ? true : undefined
    })
  )

/** Repeats the check until it holds. */
const until = Effect.fnUntraced(function* <A, E>(look: Effect.Effect<A | undefined, E>) {
  while (true) {
    const found = yield* look
    if (found !== undefined) return found
    yield* Effect.sleep("50 millis")
  }
})

const isReconciled = ({ data }: ConfigMap): boolean => data?.["copy"] === data?.["value"]

/** Changes the objects one after another, each once its last change is reconciled, as long as it runs. */
export const changes = ({ client }: Harness) =>
  Effect.gen(function* () {
    for (let value = 1; ; value++) {
      const name = nameOf(value % objects)
      for (const namespace of namespaces) {
        const look = Effect.map(client.get(ConfigMap, { namespace, name }), isReconciled)
        yield* until(Effect.map(look, (is) => (is ? true : undefined)))
        yield* client.patch(ConfigMap, { namespace, name }, Patch.merge({ data: { value: String(value) } }))
        yield* Effect.sleep("40 millis")
      }
    }
  })

/** The objects with a change that was forgotten: two minutes after the last change they are still not reconciled. */
export const forgotten = Effect.fnUntraced(function* ({ client }: Harness) {
  for (let left = 120; ; left--) {
    const { items } = yield* client.list(ConfigMap, {})
    const ours = items.filter(({ metadata }) => namespaces.includes(metadata.namespace ?? ""))
    const rest = ours
      .filter((one) => !isReconciled(one))
      .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
    if (rest.length === 0 || left === 0) return rest
    yield* Effect.sleep("1 second")
  }
})

/**
 * Replicas that share the work of one controller on a server with an audit log, and config maps that change all the time. The log shows who held each shard
 * and who wrote, in the order of the server's revisions.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Patch from "../../../src/kube/Patch.ts"
import * as ShardHash from "../../../src/kube/shardHash.ts"
import { ConfigMap, Namespace } from "../../../src/kube/resources.ts"
import * as Bundle from "../../support/bundle.ts"
import { full } from "../../support/runs.ts"
import * as Process from "../../support/process.ts"
import * as Cluster from "../cluster.ts"
import * as Kubeconfigs from "../kubeconfigs.ts"
import type { Write } from "../leadership/audit.ts"
import * as Servers from "../leadership/servers.ts"

export const shards = 16

/** Milliseconds: the program's default at full length; otherwise as short as a busy machine allows. */
export const expiration = full ? 15_000 : 9000

/** Milliseconds that a busy machine may add to any time. */
export const allowance = full ? 1000 : 3000

const namespaces = Array.from({ length: 24 }, (_, index) => `shop-${index}`)

export interface Replica extends Process.Running {
  /** Its user on the server. */
  readonly user: string
}

export type Harness = Effect.Success<ReturnType<typeof make>>

export const make = Effect.fnUntraced(function* (server: Servers.Server) {
  const program = yield* Bundle.make("test/scenario/shards/program.ts")
  const client = yield* Cluster.client(server)
  yield* Servers.prepare(client)
  for (const namespace of namespaces) {
    yield* client.create(Namespace, { metadata: { name: namespace } })
    yield* client.create(ConfigMap, { metadata: { namespace, name: "one" }, data: { value: "0" } })
  }
  let started = 0
  /** `address`: of the server as the replica sees it. */
  const start = Effect.fnUntraced(function* (address: string = server.server) {
    const { token, user } = yield* Servers.account(client, `replica-${started++}`)
    const kubeconfig = yield* Kubeconfigs.write({
      server: address,
      ca: server.ca,
      tlsServerName: "localhost",
      user: { token }
    })
    const args = ["--kubeconfig", kubeconfig, "--leader-elect-resource-namespace=default"]
    const replica: Replica = { ...(yield* Process.start([...args, ...flags], {}, { program })), user }
    yield* replica.says(/Starting Controller.*copies/)
    return replica
  })
  return { client, start, writes: server.writes }
})

/** The other times are those of an election, which are checked although there is none. */
const flags = [
  "--sharding",
  `--shards=${shards}`,
  `--leader-elect-lease-duration=${expiration}ms`,
  `--leader-elect-renew-deadline=${(expiration * 2) / 3}ms`,
  `--leader-elect-retry-period=${expiration / 8}ms`
]

/** A number from 1 on; undefined for other writes. */
const shardOfLease = ({ name, resource }: Write): number | undefined => {
  const [, number] = /^copier-shards-shard-default-(\d+)$/.exec(name) ?? []
  return resource === "leases" && number !== undefined ? Number(number) : undefined
}

const byRevision = (a: Write, b: Write): number => (a.revision ?? 0) - (b.revision ?? 0)

/** The writes of the Leases of shards, by shard, in order: who wrote one last has the lock, or had it last. */
const claims = (writes: ReadonlyArray<Write>): ReadonlyMap<number, ReadonlyArray<Write>> => {
  const found = new Map<number, Array<Write>>()
  for (const write of writes.toSorted(byRevision)) {
    const shard = shardOfLease(write)
    if (shard !== undefined) found.set(shard, [...(found.get(shard) ?? []), write])
  }
  return found
}

/** The accepted writes of config maps by a replica that did not have the shard at that revision. */
export const late = (writes: ReadonlyArray<Write>): ReadonlyArray<Write> => {
  const held = claims(writes)
  return writes.filter((write) => {
    if (write.resource !== "configmaps") return false
    const of = held.get(ShardHash.shardOf(write.namespace, shards)) ?? []
    return of.findLast(({ revision }) => (revision ?? 0) < (write.revision ?? 0))?.user !== write.user
  })
}

/** The shards by who has them now. */
export const holders = (writes: ReadonlyArray<Write>): ReadonlyMap<number, Write> =>
  new Map([...claims(writes)].flatMap(([shard, of]) => of.slice(-1).map((last) => [shard, last] as const)))

export const heldBy = (writes: ReadonlyArray<Write>, { user }: Replica): ReadonlyArray<number> =>
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

/** Waits until each of the replicas has some of the shards, and they have all of them together. */
export const divided = ({ writes }: Harness, replicas: ReadonlyArray<Replica>) =>
  until(
    Effect.sync(() => {
      const of = replicas.map((replica) => heldBy(writes(), replica).length)
      return of.every((count) => count > 0) && of.reduce((sum, count) => sum + count, 0) === shards ? true : undefined
    })
  )

/** Repeats the check until it holds. */
const until = Effect.fnUntraced(function* <A>(look: Effect.Effect<A | undefined>) {
  while (true) {
    const found = yield* look
    if (found !== undefined) return found
    yield* Effect.sleep("50 millis")
  }
})

/** Changes the objects one after another, as long as it runs. */
export const changes = ({ client }: Harness) =>
  Effect.gen(function* () {
    for (let value = 1; ; value++) {
      for (const namespace of namespaces) {
        const patch = Patch.merge({ data: { value: String(value) } })
        yield* client.patch(ConfigMap, { namespace, name: "one" }, patch)
        yield* Effect.sleep("40 millis")
      }
    }
  })

/** Waits until each object is reconciled: none was forgotten. */
export const settled = ({ client }: Harness) =>
  until(
    Effect.map(Effect.orDie(client.list(ConfigMap, {})), ({ items }) => {
      const ours = items.filter(({ metadata }) => namespaces.includes(metadata.namespace ?? ""))
      assert.lengthOf(ours, namespaces.length)
      return ours.every(({ data }) => data?.["copy"] === data?.["value"]) ? true : undefined
    })
  )

/**
 * Days of a manager, in virtual time: all loops under leases that are lost now and then, informers that are disconnected and relist, workloads and
 * namespaces that are created, changed and deleted. Each hour ends as it began, and so does the process: it holds no more memory than an
 * hour, or a day, before. `SOAK=1` runs 24 hours, `npm test` a few.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { tableOf } from "../support/controllers.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { Deployment, Lease, Namespace, Pod, ReplicaSet } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { CloudProvider } from "../../src/layers/CloudProvider.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Leadership } from "../../src/layers/Leadership.ts"
import * as Manager from "../../src/manager/Manager.ts"
import * as Election from "../../src/leader/Election.ts"
import * as Census from "../support/census.ts"
import { full } from "../support/runs.ts"

/** Virtual hours, and how many of them are for warming up: caches of bounded size fill, code is compiled. */
const hours = full ? 24 : 3
const warm = full ? 6 : 2
/** Milliseconds of the leases, and between two counts of pods: the program's defaults in full runs. */
const times = full
  ? { lease: 15_000, renew: 10_000, retry: 2000, count: 10_000 }
  : { lease: 90_000, renew: 60_000, retry: 15_000, count: 60_000 }

const isRefusal = ({ reason }: { readonly reason: { readonly _tag: string } }): boolean =>
  ["NotFound", "AlreadyExists", "Conflict", "Forbidden"].includes(reason._tag)

const ignoringRefusals = <A, E extends { readonly reason: { readonly _tag: string } }, R>(
  effect: Effect.Effect<A, E, R>
) => Effect.catch(effect, (error) => (isRefusal(error) ? Effect.void : Effect.die(error)))

const deployment = (name: string, namespace: string, replicas: number) => ({
  metadata: { name, namespace },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: "main", image: "example.test/a:1" }] }
    }
  }
})

/** What happens in the n-th five minutes of an hour; in the last of them everything that is left is deleted. */
const churn = Effect.fnUntraced(function* (turn: number) {
  const client = yield* KubeClient
  const server = yield* ApiServer
  const target = { namespace: "default", name: `web-${turn % 3}` }
  if (turn === 11) {
    for (const name of ["web-0", "web-1", "web-2"]) {
      yield* ignoringRefusals(client.delete(Deployment, { namespace: "default", name }))
    }
    return yield* ignoringRefusals(client.delete(Namespace, { name: "passing" }))
  }
  yield* ignoringRefusals(client.create(Deployment, deployment(target.name, "default", 1 + (turn % 4))))
  const image = `example.test/a:${turn}`
  const spec = { replicas: turn % 5, template: { spec: { containers: [{ name: "main", image }] } } }
  yield* ignoringRefusals(client.patch(Deployment, target, Patch.strategic({ spec })))
  if (turn === 2) {
    yield* ignoringRefusals(client.create(Namespace, { metadata: { name: "passing" } }))
    yield* ignoringRefusals(client.create(Deployment, deployment("inside", "passing", 2)))
  }
  if (turn === 4) {
    // The watches end, and their resourceVersion is too old to continue.
    yield* server.setFaults([
      { match: { verb: "watch" }, fault: { _tag: "CutWatch", after: 0, how: "reset" }, times: 4 },
      { match: { verb: "watch" }, fault: { _tag: "Gone" }, times: 12 }
    ])
  }
  if (turn === 6) {
    for (const name of ["own", "core"]) {
      const otherHolder = { spec: { holderIdentity: "thief", leaseDurationSeconds: 15 } }
      yield* client.patch(Lease, { namespace: "kube-system", name }, Patch.merge(otherHolder))
    }
  }
  if (turn === 8) {
    const { items } = yield* client.list(Pod, { namespace: "default" })
    const [first] = items
    if (first !== undefined) {
      yield* ignoringRefusals(client.delete(Pod, { namespace: "default", name: first.metadata.name }))
    }
  }
}, Effect.orDie)

const manager = Effect.gen(function* () {
  const lead = (name: string) =>
    Election.make({
      namespace: "kube-system",
      name,
      identity: "me",
      leaseDuration: times.lease,
      renewDeadline: times.renew,
      retryPeriod: times.retry
    })
  const all = tableOf({ "pod-count-interval": `${times.count}ms` })
  const of = (group: "core" | undefined) => all.filter((one) => one.group === group).map(({ controller }) => controller)
  return yield* Manager.run({
    controllers: of(undefined),
    groups: [{ leadership: yield* lead("core"), controllers: of("core") }],
    onLost: "rejoin"
  }).pipe(Effect.provideService(Leadership, yield* lead("own")), Effect.provide(CloudProvider.layerMemory(() => ({}))))
})

describe("a manager that runs for days", () => {
  it.live("is measured by a census that finds what is held", () =>
    Effect.gen(function* () {
      const before = yield* Census.take
      const held = new Map(Array.from({ length: 5000 }, (_, index) => [index, `entry ${index}`]))
      yield* Effect.forEach(Array.from({ length: 100 }), () => Effect.forkScoped(Effect.never), { discard: true })
      const timer = setTimeout(() => {}, 100_000)
      const after = yield* Census.take
      clearTimeout(timer)
      assert.isAtLeast(after.entries - before.entries, held.size)
      assert.isAtLeast(after.heap - before.heap, 100_000)
      assert.isAtLeast(after.fibers - before.fibers, 100)
      assert.isAtLeast(after.resources - before.resources, 1)
    }).pipe(Effect.scoped)
  )

  it.effect(
    "holds in the end what it held in the beginning",
    () =>
      Effect.gen(function* () {
        const cluster = yield* ClusterTest
        const client = yield* KubeClient
        const fiber = yield* Effect.forkScoped(manager)
        yield* cluster.advance("1 minute")
        const seen: Array<Census.Census> = []
        for (let hour = 0; hour < hours; hour++) {
          for (let turn = 0; turn < 12; turn++) {
            yield* churn(turn)
            for (let i = 0; i < 5; i++) yield* cluster.advance("1 minute")
          }
          assert.isUndefined(fiber.pollUnsafe(), "it still runs")
          assert.lengthOf((yield* client.list(ReplicaSet)).items, 0, "what was deleted is gone")
          seen.push(yield* Census.take)
          process.stderr.write(`hour ${hour + 1}: ${JSON.stringify(seen.at(-1))}\n`)
        }
        const leases = (yield* client.list(Lease)).items.map(({ spec }) => spec)
        for (const lease of leases.filter((one) => one?.holderIdentity === "me")) {
          assert.isAtLeast(lease?.leaseTransitions ?? 0, hours, "it was robbed each hour")
        }
        const [before, after] = [seen.slice(warm - 1, -1), seen.slice(-1)] as const
        const most = (of: (one: Census.Census) => number) => Math.max(...before.map(of))
        for (const last of after) {
          assert.isAtMost(
            last.fibers,
            most(({ fibers }) => fibers),
            "fibers"
          )
          assert.isAtMost(
            last.resources,
            most(({ resources }) => resources),
            "sockets and timers"
          )
          assert.isAtMost(last.entries, most(({ entries }) => entries) * 1.01, "entries of maps and sets")
          assert.isAtMost(last.heap, most(({ heap }) => heap) * 1.03 + 500_000, "heap")
        }
      }).pipe(Effect.provide([ClusterTest.layer({ nodes: 2 }), Logger.layer([])])),
    full ? 3_600_000 : 600_000
  )
})

/**
 * Leader election between processes: replicas of the program on one API server, each through a door of its own, so that the
 * server's side tells who wrote what. Leaders go in every way there is: asked to stop, killed, robbed, cut off.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Patch from "../../src/kube/Patch.ts"
import { Event, EventsEvent, Lease } from "../../src/kube/resources.ts"
import * as envtest from "../support/envtest.ts"
import * as Gateway from "../support/gateway.ts"
import * as Process from "../support/process.ts"
import * as Cluster from "./cluster.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

/** Long enough for a machine with better things to do, short enough to wait for. */
const flags = [
  "--leader-elect",
  "--leader-elect-lease-duration=4s",
  "--leader-elect-renew-deadline=3s",
  "--leader-elect-retry-period=400ms",
  "--pod-count-interval=200ms"
]
const target = { namespace: "kube-system", name: "effect-controller-manager" }

interface Replica extends Process.Running {
  readonly number: number
  readonly gateway: Gateway.Gateway
}

interface Written {
  readonly replica: number
  readonly line: string
}

/** Replicas at work on a node and two pods. */
const replicas = Effect.fnUntraced(function* (upstream: Gateway.Upstream, count: number) {
  const client = yield* Cluster.client(upstream)
  yield* Cluster.addNode(client)
  for (const name of ["a", "b"]) yield* Cluster.addPod(client, name)
  const written: Array<Written> = []
  const start = Effect.fnUntraced(function* (number: number) {
    const gateway = yield* Gateway.start(upstream, (line) => {
      if (!line.startsWith("GET ")) written.push({ replica: number, line })
    })
    const kubeconfig = yield* Kubeconfigs.write({ ...gateway })
    const running = yield* Process.start(["--kubeconfig", kubeconfig, ...flags])
    return { ...running, number, gateway } satisfies Replica
  })
  const all = yield* Effect.forEach(
    Array.from({ length: count }, (_, number) => number),
    start,
    { concurrency: "unbounded" }
  )
  return { client, written, all }
})

const isLease = ({ line }: Written) => line.includes("/leases")
const isLabel = ({ line }: Written) => line.startsWith("PATCH /api/v1/nodes/")

/** Who has written labels, one entry a spell. */
const spells = (written: ReadonlyArray<Written>) =>
  written
    .filter(isLabel)
    .map(({ replica }) => replica)
    .filter((replica, index, all) => replica !== all[index - 1])

/** Waits until somebody other than `before` holds the lease and has labelled the node with the count. */
const nextLeader = Effect.fnUntraced(function* (
  { all, client, written }: Effect.Success<ReturnType<typeof replicas>>,
  before: string,
  count: number
) {
  const began = performance.now()
  const lease = yield* Cluster.until(client, Lease, { namespace: target.namespace }, ({ metadata, spec }) => {
    const holder = spec?.holderIdentity ?? ""
    return metadata.name === target.name && holder !== "" && holder !== before
  })
  const took = performance.now() - began
  yield* Cluster.labelled(client, count)
  const leader = all[written.findLast(isLabel)?.replica ?? -1]
  if (leader === undefined) throw new Error("nobody has written")
  const [, identity = ""] = yield* leader.says(/leading: (\S+) holds lease/)
  assert.strictEqual(identity, lease.spec?.holderIdentity)
  return { leader, identity, took }
})

/** Only leaders write, apart from what they all try with the lease. */
const onlyWrote = (written: ReadonlyArray<Written>, leaders: ReadonlyArray<Replica>) => {
  const writers = new Set(written.filter((one) => !isLease(one)).map(({ replica }) => replica))
  assert.sameMembers(
    [...writers],
    leaders.map(({ number }) => number)
  )
}

const lastLine = (text: string) => text.trimEnd().split("\n").at(-1)

describe.concurrent("replicas", () => {
  it.live(
    "one of three writes; another does when it stops, when it is killed, and none when the lease is stolen",
    () =>
      Effect.gen(function* () {
        const cluster = yield* replicas(yield* Cluster.embedded, 3)
        const { client, written } = cluster
        const first = yield* nextLeader(cluster, "", 2)
        yield* Cluster.addPod(client, "c")
        yield* Cluster.labelled(client, 3)
        yield* Cluster.recorded(client, "c", 3)
        onlyWrote(written, [first.leader])

        yield* first.leader.kill("SIGTERM")
        yield* Cluster.addPod(client, "d")
        const second = yield* nextLeader(cluster, first.identity, 4)
        // Before the lease could have run out: it was given back.
        assert.isBelow(second.took, 3500)
        const stopped = yield* first.leader.exit
        assert.strictEqual(stopped.code, 0, stopped.stderr)
        assert.include(stopped.stderr, `released lease ${target.namespace}/${target.name}`)
        onlyWrote(written, [first.leader, second.leader])

        yield* second.leader.kill("SIGKILL")
        yield* Cluster.addPod(client, "e")
        const third = yield* nextLeader(cluster, second.identity, 5)
        assert.isAbove(third.took, 2500)
        assert.isBelow(third.took, 12_000)
        assert.strictEqual((yield* second.leader.exit).code, "SIGKILL")

        yield* client.patch(Lease, target, Patch.merge({ spec: { holderIdentity: "thief" } }))
        const robbed = yield* third.leader.exit
        assert.strictEqual(robbed.code, 1)
        const line = `leader election lost: lease ${target.namespace}/${target.name} is now held by thief`
        assert.strictEqual(lastLine(robbed.stderr), `effect-controller-manager: ${line}`)
        assert.strictEqual(robbed.stderr.split("leader election lost").length, 2)
        assert.strictEqual((yield* client.get(Lease, target)).spec?.holderIdentity, "thief")

        assert.deepStrictEqual(
          spells(written),
          [first, second, third].map(({ leader }) => leader.number)
        )
      }).pipe(Effect.scoped),
    60_000
  )

  it.live(
    "a leader cut off from the server ends, and the other one takes over only after it",
    () =>
      Effect.gen(function* () {
        const cluster = yield* replicas(yield* Cluster.embedded, 2)
        const { client, written } = cluster
        const first = yield* nextLeader(cluster, "", 2)
        first.leader.gateway.hold = () => true
        yield* Cluster.addPod(client, "c")
        const second = yield* nextLeader(cluster, first.identity, 3)
        const lost = yield* first.leader.exit
        assert.strictEqual(lost.code, 1)
        assert.match(lastLine(lost.stderr) ?? "", /^effect-controller-manager: leader election lost: \S/)
        // What it tried while it was cut off came before the other one's first write.
        assert.deepStrictEqual(spells(written), [first.leader.number, second.leader.number])
        yield* second.leader.kill("SIGTERM")
        assert.strictEqual((yield* second.leader.exit).code, 0)
      }).pipe(Effect.scoped),
    60_000
  )
})

const assets = envtest.assets()
if ("missing" in assets) process.stderr.write(`replicas on a real API server skipped: ${assets.missing}\n`)

describe.skipIf("missing" in assets)("replicas on a real API server", () => {
  it.live(
    "one of three writes, another does when it stops; events are seen in both groups",
    () =>
      Effect.gen(function* () {
        const { ca, token, url } = yield* envtest.start("folder" in assets ? assets.folder : "")
        const cluster = yield* replicas({ server: url, ca, token }, 3)
        const { client, written } = cluster
        const first = yield* nextLeader(cluster, "", 2)
        const event = yield* Cluster.recorded(client, "a", 2)
        const modern = yield* client.get(EventsEvent, event.metadata)
        assert.strictEqual(modern.note, event.message)
        assert.strictEqual(modern.regarding?.uid, event.involvedObject.uid)
        onlyWrote(written, [first.leader])
        yield* first.leader.kill("SIGTERM")
        yield* Cluster.addPod(client, "c")
        const second = yield* nextLeader(cluster, first.identity, 3)
        assert.isBelow(second.took, 3500)
        assert.strictEqual((yield* first.leader.exit).code, 0)
        assert.deepStrictEqual(spells(written), [first.leader.number, second.leader.number])
        const onLease = (event: Event) => event.message === `${second.identity} became leader`
        yield* Cluster.until(client, Event, { namespace: target.namespace }, onLease)
      }).pipe(Effect.scoped),
    90_000
  )
})

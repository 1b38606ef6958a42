/**
 * Leader election between processes: replicas of the program on one API server, each through a gateway of its own, so that the server's side
 * shows which replica wrote. Leaders end in several ways: they are asked to stop, killed, robbed of the lease, or disconnected.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Patch from "../../src/kube/Patch.ts"
import { Event, EventsEvent, Lease } from "../../src/kube/resources.ts"
import * as envtest from "../support/envtest.ts"
import * as Cluster from "./cluster.ts"
import * as Leaders from "./leaders.ts"

describe.concurrent("replicas", () => {
  it.live(
    "one of three writes; another takes over when it stops and when it is killed, and none when another holder takes the lease",
    () =>
      Effect.gen(function* () {
        const cluster = yield* Leaders.replicas(yield* Cluster.embedded, 3)
        const { client, written } = cluster
        const first = yield* Leaders.nextLeader(cluster, "", 2)
        yield* Cluster.addPod(client, "c")
        yield* Cluster.labelled(client, 3)
        yield* Cluster.recorded(client, "c", 3)
        Leaders.onlyWrote(written, [first.leader])

        yield* first.leader.kill("SIGTERM")
        yield* Cluster.addPod(client, "d")
        const second = yield* Leaders.nextLeader(cluster, first.identity, 4)
        // Sooner than the lease could have expired: it was released.
        assert.isBelow(second.took, 3500)
        const stopped = yield* first.leader.exit
        assert.strictEqual(stopped.code, 0, stopped.stderr)
        assert.include(stopped.stderr, `released lease ${Leaders.target.namespace}/${Leaders.target.name}`)
        Leaders.onlyWrote(written, [first.leader, second.leader])

        yield* second.leader.kill("SIGKILL")
        yield* Cluster.addPod(client, "e")
        const third = yield* Leaders.nextLeader(cluster, second.identity, 5)
        assert.isAbove(third.took, 2500)
        assert.isBelow(third.took, 12_000)
        assert.strictEqual((yield* second.leader.exit).code, "SIGKILL")

        yield* client.patch(Lease, Leaders.target, Patch.merge({ spec: { holderIdentity: "thief" } }))
        const afterLoss = yield* third.leader.exit
        assert.strictEqual(afterLoss.code, 1)
        const line = `leader election lost: lease ${Leaders.target.namespace}/${Leaders.target.name} is now held by thief`
        assert.strictEqual(Leaders.lastLine(afterLoss.stderr), `effect-controller-manager: ${line}`)
        assert.strictEqual(afterLoss.stderr.split("is now held by thief").length, 2, "one line says so")
        assert.strictEqual((yield* client.get(Lease, Leaders.target)).spec?.holderIdentity, "thief")

        assert.deepStrictEqual(
          Leaders.spells(written),
          [first, second, third].map(({ leader }) => leader.number)
        )
      }).pipe(Effect.scoped)
  )

  it.live("a leader that is disconnected from the server ends, and the other one takes over only after that", () =>
    Effect.gen(function* () {
      const cluster = yield* Leaders.replicas(yield* Cluster.embedded, 2)
      const { client, written } = cluster
      const first = yield* Leaders.nextLeader(cluster, "", 2)
      first.leader.gateway.hold = () => true
      yield* Cluster.addPod(client, "c")
      const second = yield* Leaders.nextLeader(cluster, first.identity, 3)
      const lost = yield* first.leader.exit
      assert.strictEqual(lost.code, 1)
      assert.match(Leaders.lastLine(lost.stderr) ?? "", /^effect-controller-manager: leader election lost: \S/)
      // Its attempts while it was disconnected came before the other one's first write.
      assert.deepStrictEqual(Leaders.spells(written), [first.leader.number, second.leader.number])
      yield* second.leader.kill("SIGTERM")
      assert.strictEqual((yield* second.leader.exit).code, 0)
    }).pipe(Effect.scoped)
  )
})

const isMissing = envtest.isMissing("replicas on a real API server")

describe.skipIf(isMissing)("replicas on a real API server", () => {
  it.live("one of three writes, another takes over when it stops; events are visible in both API groups", () =>
    Effect.gen(function* () {
      const { ca, token, url } = yield* envtest.start()
      const cluster = yield* Leaders.replicas({ server: url, ca, token }, 3)
      const { client, written } = cluster
      const first = yield* Leaders.nextLeader(cluster, "", 2)
      const event = yield* Cluster.recorded(client, "a", 2)
      const modern = yield* client.get(EventsEvent, event.metadata)
      assert.strictEqual(modern.note, event.message)
      assert.strictEqual(modern.regarding?.uid, event.involvedObject.uid)
      Leaders.onlyWrote(written, [first.leader])
      yield* first.leader.kill("SIGTERM")
      yield* Cluster.addPod(client, "c")
      const second = yield* Leaders.nextLeader(cluster, first.identity, 3)
      assert.isBelow(second.took, 3500)
      assert.strictEqual((yield* first.leader.exit).code, 0)
      assert.deepStrictEqual(Leaders.spells(written), [first.leader.number, second.leader.number])
      const onLease = (event: Event) => event.message === `${second.identity} became leader`
      yield* Cluster.until(client, Event, { namespace: Leaders.target.namespace }, onLease)
    }).pipe(Effect.scoped)
  )
})

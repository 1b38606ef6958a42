/**
 * The code of the renewing thread, run without a thread in virtual time. A lease is renewed while the main thread sends heartbeats, and for one
 * renew deadline after the last one; then it expires and is never taken again.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Candidate from "../../../src/leader/candidate.ts"
import type * as Renewal from "../../../src/leader/renewal.ts"
import { Memory } from "../../../src/manager/renewal/protocol.ts"
import * as Thread from "../../../src/manager/renewal/thread.ts"
import * as Harness from "../../leader/harness.ts"

const settings = { identity: "a", leaseDuration: 15_000, renewDeadline: 10_000, retryPeriod: 2_000 }
const target = { namespace: "kube-system", name: "demo" }
const path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/demo"

const millis = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

/** A lease that is held and renewed from now on, and the messages about it. */
const kept = Effect.gen(function* () {
  const server = Harness.server()
  const client = yield* Effect.provide(KubeClient, Harness.client(Harness.faulty(server.transport, () => Harness.fine)))
  const candidate = Candidate.make({ client, settings, ...target })
  const held = yield* candidate.attempt
  assert.strictEqual(held._tag, "Held")
  const began = yield* millis
  const memory = new Memory()
  memory.provenAt = began
  memory.heartbeatAt = began
  const heard: Array<string> = []
  const holding: Renewal.Holding = { settings, ...target, labels: undefined, ...candidate.keptUnsafe(), sentAt: began }
  yield* Effect.forkScoped(Thread.keep(client, { holding, memory: memory.buffer }, ({ _tag }) => void heard.push(_tag)))
  const writes = () => server.requests.filter(({ method }) => method === "PUT").map(({ at }) => at)
  return { server, memory, began, heard, writes }
})

const beating = (memory: Memory) =>
  Effect.forkScoped(
    Effect.forever(
      Effect.andThen(
        Effect.map(millis, (now) => (memory.heartbeatAt = now)),
        Effect.sleep(500)
      )
    )
  )

describe("the renewing thread", () => {
  /** The main thread sends one heartbeat only. */
  it.effect("renews a lease for one renew deadline after the last heartbeat, and then lets it expire", () =>
    Effect.gen(function* () {
      const { began, heard, memory, writes } = yield* kept
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(writes(), [2000, 4000, 6000, 8000, 10_000])
      assert.strictEqual(memory.provenAt - began, 10_000)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(writes().length, 5, "a leader that shows no life is not kept")
      assert.deepStrictEqual([...new Set(heard)], ["Renewed"])
      // The heartbeat resumes after the last renewal has expired: too late.
      yield* beating(memory)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(writes().length, 5)
    })
  )

  it.effect("continues after a shorter pause of the heartbeat, or while the last renewal is still valid", () =>
    Effect.gen(function* () {
      const { memory, writes } = yield* kept
      yield* TestClock.adjust("14 seconds")
      assert.strictEqual(writes().length, 5)
      yield* beating(memory)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(writes().length, 10)
    })
  )

  it.effect("stops for good when another holder has the lease", () =>
    Effect.gen(function* () {
      const { heard, memory, server, writes } = yield* kept
      yield* beating(memory)
      yield* TestClock.adjust("2 seconds")
      server.edit(path, (lease) => (lease.spec = { ...lease.spec, holderIdentity: "thief" }))
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(heard, ["Renewed", "Lost"])
      const before = writes().length
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(writes().length, before, "what was lost is not taken back, not even when it runs out")
      assert.strictEqual(server.objects.get(path)?.["spec"].holderIdentity, "thief")
    })
  )
})

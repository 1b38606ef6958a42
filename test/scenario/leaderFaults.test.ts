/**
 * Faults of a leader's process that it survives: its event loop is blocked for less than its lease allows, it loses the renewal thread, and it
 * loses its lease to another holder with --leader-elect-on-lost=rejoin. Faults that end its term are tested in `leadership/`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as Patch from "../../src/kube/Patch.ts"
import { Lease } from "../../src/kube/resources.ts"
import * as Process from "../support/process.ts"
import * as Cluster from "./cluster.ts"
import * as Leaders from "./leaders.ts"

/** The program with an event loop that SIGUSR2 blocks for a fixed time. */
const blockable = Effect.fnUntraced(function* (millis: number) {
  const path = join(yield* Process.folder, "block.cjs")
  const text = `if (require("node:worker_threads").isMainThread) process.on("SIGUSR2", () => {
    const end = performance.now() + ${millis}
    process.stderr.write("blocked\\n")
    while (performance.now() < end);
    process.stderr.write("free again\\n")
  })\n`
  yield* Effect.promise(() => writeFile(path, text))
  return { env: { NODE_OPTIONS: `--require ${path}` } }
})

const holderOf = (client: Cluster.Client) =>
  Effect.map(client.get(Lease, Leaders.target), ({ spec }) => spec?.holderIdentity)

const isRenewal = (number: number) => (one: Leaders.Written) =>
  one.replica === number && one.line.startsWith("PUT ") && Leaders.isLease(one)

describe("a leader's process", () => {
  it.live("blocked for longer than its renew deadline: its lease is renewed meanwhile, and it continues", () =>
    Effect.gen(function* () {
      // 3 s after the last renewal the term would end; the thread renews for 3 s, and the proof lasts 3 s more.
      const cluster = yield* Leaders.replicas(yield* Cluster.embedded, 2, yield* blockable(4200))
      const { client, written } = cluster
      const first = yield* Leaders.nextLeader(cluster, "", 2)
      const { number } = first.leader
      // The renewal thread works.
      const seen = written.filter(isRenewal(number)).length
      while (written.filter(isRenewal(number)).length < seen + 2) yield* Effect.sleep(50)
      const mark = written.length
      yield* first.leader.kill("SIGUSR2")
      yield* first.leader.says(/free again/)
      assert.isAtLeast(written.slice(mark).filter(isRenewal(number)).length, 4, "renewed while it was blocked")
      yield* Cluster.addPod(client, "c")
      yield* Cluster.labelled(client, 3)
      assert.deepStrictEqual(Leaders.spells(written), [number])
      assert.strictEqual(yield* holderOf(client), first.identity)
      yield* first.leader.kill("SIGTERM")
      const ended = yield* first.leader.exit
      assert.strictEqual(ended.code, 0, ended.stderr)
    }).pipe(Effect.scoped)
  )

  it.live("without the renewal thread: it logs that, renews in the main thread, and continues", () =>
    Effect.gen(function* () {
      const path = join(yield* Process.folder, "end.cjs")
      const text = `if (!require("node:worker_threads").isMainThread) setTimeout(() => process.exit(3), 1500)\n`
      yield* Effect.promise(() => writeFile(path, text))
      const cluster = yield* Leaders.replicas(yield* Cluster.embedded, 1, {
        env: { NODE_OPTIONS: `--require ${path}` }
      })
      const { client, written } = cluster
      const { identity, leader } = yield* Leaders.nextLeader(cluster, "", 2)
      yield* leader.says(/the thread that renews leases has ended: it ended with 3/)
      yield* leader.says(/is renewed in the main thread from now on/)
      const seen = written.filter(isRenewal(0)).length
      while (written.filter(isRenewal(0)).length < seen + 10) yield* Effect.sleep(50)
      assert.strictEqual(yield* holderOf(client), identity)
      yield* leader.kill("SIGTERM")
      assert.strictEqual((yield* leader.exit).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live(
    "loses its lease with --leader-elect-on-lost=rejoin: it contends again, leads again, and then stops as usual",
    () =>
      Effect.gen(function* () {
        const more = { more: ["--leader-elect-on-lost=rejoin"] }
        const cluster = yield* Leaders.replicas(yield* Cluster.embedded, 1, more)
        const { client, written } = cluster
        const { leader } = yield* Leaders.nextLeader(cluster, "", 2)
        const otherHolder = { spec: { holderIdentity: "thief", leaseDurationSeconds: 1 } }
        yield* client.patch(Lease, Leaders.target, Patch.merge(otherHolder))
        yield* leader.says(/leader election lost: lease \S+ is now held by thief; contending again/)
        yield* leader.says(/contending again[^]*leading: \S+ holds lease/)
        yield* Cluster.addPod(client, "c")
        yield* Cluster.labelled(client, 3)
        assert.deepStrictEqual(Leaders.spells(written), [0])
        yield* leader.kill("SIGTERM")
        const ended = yield* leader.exit
        assert.strictEqual(ended.code, 0, ended.stderr)
      }).pipe(Effect.scoped)
  )
})

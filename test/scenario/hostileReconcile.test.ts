/**
 * Reconciles that fail in hard ways, in processes of their own: one throws, one hangs, one takes all memory. Only their key is affected, and the
 * others continue. When a process dies, another one leads in time, no more often than leases expire, and the key is reconciled
 * as soon as it is repaired. A reconcile that blocks the event loop is tested in `leadership/blocked.test.ts`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ConfigMap } from "../../src/kube/resources.ts"
import * as Patch from "../../src/kube/Patch.ts"
import * as Bundle from "../support/bundle.ts"
import * as Process from "../support/process.ts"
import { full } from "../support/runs.ts"
import * as Cluster from "./cluster.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

/** Milliseconds: those of `hostile/program.ts`, and an allowance for a busy machine. */
const times = { lease: 4000, retry: 400, allowance: 10_000 }
const namespace = "default"

const add = (client: Cluster.Client, name: string, data: Readonly<Record<string, string>>) =>
  client.create(ConfigMap, { metadata: { namespace, name }, data })

const want = (client: Cluster.Client, name: string, wanted: string) =>
  client.patch(ConfigMap, { namespace, name }, Patch.merge({ data: { wanted } }))

const copied = (client: Cluster.Client, name: string, wanted: string) =>
  Cluster.until(
    client,
    ConfigMap,
    { namespace },
    ({ metadata }) => metadata.name === name && metadata.annotations?.["copied"] === wanted
  )

/** The config map `good` is reconciled after each change while `bad` fails. */
const othersContinue = Effect.fnUntraced(function* (client: Cluster.Client) {
  for (const wanted of ["1", "2", "3"]) {
    yield* want(client, "good", wanted)
    yield* copied(client, "good", wanted)
  }
})

/** Corrects the config map `bad`, and waits until it is reconciled. */
const repaired = Effect.fnUntraced(function* (client: Cluster.Client) {
  yield* client.patch(ConfigMap, { namespace, name: "bad" }, Patch.merge({ data: { mood: "", wanted: "1" } }))
  yield* copied(client, "bad", "1")
})

/** A cluster, and replicas of the program on it. */
const fixture = Effect.gen(function* () {
  const upstream = yield* Cluster.embedded
  const kubeconfig = yield* Kubeconfigs.write({ ...upstream, user: { token: upstream.token } })
  const program = yield* Bundle.make("test/scenario/hostile/program.ts")
  const start = (identity: string, more: ReadonlyArray<string> = [], env: Readonly<Record<string, string>> = {}) =>
    Process.start(["--kubeconfig", kubeconfig, "--identity", identity, ...more], env, { program })
  return { client: yield* Cluster.client(upstream), start }
})

const leads = (one: Process.Running) => one.says(/leading: \S+ holds lease/)

/** Moments at which it said so, in milliseconds: looked at each time it has said something. */
const moments = Effect.fnUntraced(function* (one: Process.Running, text: string, count: number) {
  const found: Array<number> = []
  for (let seen = 1; seen <= count; seen++) {
    yield* one.says(new RegExp(`(?:${text}\\n[^]*?){${seen}}`))
    found.push(performance.now())
  }
  return found
})

describe("a reconcile that", () => {
  it.live.each(["throw", "fail"])(
    "%ss is tried again with backoff, and the others go on",
    (mood) =>
      Effect.gen(function* () {
        const { client, start } = yield* fixture
        yield* add(client, "bad", { mood })
        yield* add(client, "good", { wanted: "0" })
        const one = yield* start("a", ["--backoff=100"])
        yield* leads(one)
        const runs = yield* moments(one, "run bad", 6)
        // Each wait is twice the one before; seen late they look shorter by what the first of two was late.
        const gaps = runs.slice(1).map((at, index) => at - (runs[index] ?? 0))
        const least = gaps.map((_, index) => 100 * 2 ** index)
        assert.isAtLeast((runs.at(-1) ?? 0) - (runs[0] ?? 0), least.reduce((a, b) => a + b) - 1000)
        yield* othersContinue(client)
        assert.isBelow(one.said().split("run bad\n").length - 1, 16, "no more runs than its backoff lets through")
        // It is worth something again as soon as it is mended, whatever its backoff.
        yield* repaired(client)
      }).pipe(Effect.scoped),
    300_000
  )

  it.live(
    "hangs is interrupted when its time is over and tried again, and the others go on in between",
    () =>
      Effect.gen(function* () {
        const { client, start } = yield* fixture
        yield* add(client, "bad", { mood: "hang" })
        yield* add(client, "good", { wanted: "0" })
        const one = yield* start("a", ["--timeout=500", "--backoff=200"])
        yield* leads(one)
        const runs = yield* moments(one, "run bad", 3)
        assert.isAtLeast((runs.at(-1) ?? 0) - (runs[0] ?? 0), 2 * 500 + 200 + 400 - 1000)
        yield* othersContinue(client)
        yield* repaired(client)
      }).pipe(Effect.scoped),
    300_000
  )

  it.live(
    "allocates without end kills its process, and each that leads after it, but no faster than leases run out",
    () =>
      Effect.gen(function* () {
        const { client, start } = yield* fixture
        yield* add(client, "a-good", { wanted: "0" })
        yield* add(client, "z-good", { wanted: "0" })
        let number = 0
        const another = Effect.suspend(() => start(`r${number++}`, [], { NODE_OPTIONS: "--max-old-space-size=64" }))
        let leader = yield* another
        yield* leads(leader)
        yield* copied(client, "z-good", "0")
        let standby = yield* another
        yield* standby.says(/is held by/)
        yield* add(client, "m-bad", { mood: "allocate" })
        const deaths: Array<number> = []
        for (let round = 0; round < (full ? 5 : 2); round++) {
          const ended = yield* leader.exit
          deaths.push(performance.now())
          assert.match(String(ended.code), /SIGABRT|134/, ended.stderr)
          assert.match(ended.stderr, /heap out of memory/)
          leader = standby
          // The kubelet would wait longer each time.
          standby = yield* another
          // Objects that are listed before the failing key are reconciled before it.
          yield* want(client, "a-good", `${round}`)
          yield* leads(leader)
          const took = performance.now() - (deaths.at(-1) ?? 0)
          assert.isBelow(took, times.lease + 2.2 * times.retry + times.allowance)
          process.stderr.write(`out of memory, until another one leads: ${Math.round(took)} ms\n`)
        }
        const gaps = deaths.slice(1).map((at, index) => at - (deaths[index] ?? 0))
        for (const gap of gaps) assert.isAbove(gap, times.lease - 2.2 * times.retry - 500)
        process.stderr.write(`out of memory, from death to death: ${gaps.map(Math.round).join(", ")} ms\n`)
        yield* client.delete(ConfigMap, { namespace, name: "m-bad" })
        for (const name of ["a-good", "z-good"]) {
          yield* want(client, name, "last")
          yield* copied(client, name, "last")
        }
      }).pipe(Effect.scoped),
    300_000
  )
})

/**
 * Ten minutes of two hundred changes a second among ten thousand pods, over HTTPS, with the server and the controller in processes of their own
 * (`SOAK=1`; ten seconds and a thousand pods otherwise). The memory of the controller's process does not grow after the first minutes, in the end
 * its cache equals the server's list, and at full length it meets the documented figures for latency and memory.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import * as Patch from "../../src/kube/Patch.ts"
import { Pod } from "../../src/kube/resources.ts"
import * as Bundle from "../support/bundle.ts"
import * as Process from "../support/process.ts"
import { full } from "../support/runs.ts"
import * as Cluster from "./cluster.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"
import * as Servers from "./leadership/servers.ts"

/** What the controller's process reports about an interval. */
export interface Figures {
  /** Reconciles. */
  readonly runs: number
  /** Milliseconds from just before a write was sent until its reconcile: the 99th percentile, and the median. */
  readonly late: number
  readonly lateMedian: number
  /** Milliseconds that the event loop was late, the 99th percentile of its wakes. */
  readonly lag: number
  /** Bytes; the heap and buffers after a collection. */
  readonly rss: number
  readonly heap: number
  readonly buffers: number
  readonly sockets: number
  readonly pods: number
  readonly digest: string
}

const [pods, periods, seconds] = full ? [10_000, 10, 60] : [1000, 4, 2.5]
const rate = 200

const name = (index: number) => `pod-${String(index % pods).padStart(5, "0")}`

/** A typical pod: one container, some labels, a few hundred bytes of spec. */
const pod = (index: number) => ({
  metadata: { name: name(index), namespace: "default", labels: { app: `app-${index % 50}`, tier: "load" } },
  spec: {
    nodeName: `node-${index % 100}`,
    containers: [
      {
        name: "main",
        image: "example.org/team/service:1.2.3",
        env: Array.from({ length: 6 }, (_, one) => ({ name: `SETTING_${one}`, value: `value ${one} of ${index}` })),
        resources: { requests: { cpu: "100m", memory: "64Mi" }, limits: { memory: "128Mi" } }
      }
    ]
  }
})

/** Changes at a steady rate; delayed changes are made up for. */
const change = Effect.fnUntraced(function* (client: Cluster.Client, from: number) {
  const began = performance.now()
  let sent = 0
  while (true) {
    const passed = (performance.now() - began) / 1000
    const due = Math.floor(Math.min(passed, seconds) * rate)
    const batch = Array.from({ length: due - sent }, (_, one) => from + sent + one)
    yield* Effect.forEach(
      batch,
      (index) =>
        Effect.suspend(() => {
          const annotations = { written: String(Date.now()) }
          const target = { namespace: "default", name: name(index * 7919) }
          return client.patch(Pod, target, Patch.merge({ metadata: { annotations } }))
        }),
      { concurrency: 16, discard: true }
    )
    sent = due
    if (passed >= seconds) return sent
    yield* Effect.sleep(10)
  }
})

const ask = Effect.fnUntraced(function* (one: Process.Running, number: number) {
  yield* one.kill("SIGUSR2")
  const [line] = yield* one.says(new RegExp(`(?:^\\{"runs".*\\n[^]*?){${number}}`, "m"))
  return JSON.parse(
    line
      .trimEnd()
      .split("\n")
      .findLast((text) => text.startsWith('{"runs"')) ?? ""
  ) as Figures
})

const digest = (client: Cluster.Client) =>
  Effect.map(client.list(Pod, { namespace: "default" }), ({ items }) => {
    const lines = items.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).toSorted()
    return createHash("sha256").update(lines.join()).digest("hex")
  })

describe("a controller under sustained load", () => {
  it.live(
    "holds no more memory in the end than after its first interval, and has missed nothing",
    () =>
      Effect.gen(function* () {
        const server = yield* Servers.embedded
        const client = yield* Cluster.client(server)
        yield* Effect.forEach(
          Array.from({ length: pods }, (_, index) => index),
          (index) => client.create(Pod, pod(index)),
          { concurrency: 16, discard: true }
        )
        const kubeconfig = yield* Kubeconfigs.write({ ...server, user: { token: server.token } })
        const program = yield* Bundle.make("test/scenario/sustained/program.ts")
        const one = yield* Process.start([kubeconfig], {}, { program })
        yield* one.says(/Starting Controller/)
        let asked = 0
        for (let found = 0; found < pods; found = (yield* ask(one, ++asked)).pods) yield* Effect.sleep(100)
        const all: Array<Figures> = []
        let sent = 0
        for (let period = 0; period < periods; period++) {
          sent += yield* change(client, sent)
          const figures = yield* ask(one, ++asked)
          process.stderr.write(`${seconds} s at ${rate}/s: ${JSON.stringify(figures)}\n`)
          all.push(figures)
        }
        const live = yield* digest(client)
        for (let shown = ""; shown !== live; shown = (yield* ask(one, ++asked)).digest) yield* Effect.sleep(50)
        const [first, ...later] = all.slice(full ? 2 : 1) as [Figures, ...Array<Figures>]
        for (const figures of later) {
          assert.isAtMost(figures.sockets, first.sockets + 1, "sockets: a watch may just be renewed")
          assert.isAtMost(figures.heap, first.heap * 1.03 + 1_000_000, "heap")
          assert.isAtMost(figures.buffers, first.buffers + 4_000_000, "buffers")
        }
        if (!full) return
        // Of the minutes, the one in the middle: other work of the machine affects some.
        const middle = (of: (one: Figures) => number) =>
          all.map(of).toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN
        assert.isBelow(
          middle(({ late }) => late),
          100,
          "ms from event to reconcile, p99"
        )
        assert.isBelow(
          middle(({ lag }) => lag),
          50,
          "ms that the event loop is late, p99"
        )
        assert.isBelow(Math.max(...all.map(({ rss }) => rss)), 350 * 2 ** 20, "resident memory")
      }).pipe(Effect.scoped),
    full ? 1_800_000 : 600_000
  )
})

/**
 * A controller of pods that only measures how late it is: the annotation `written` says when a pod was written. At each SIGUSR2 it prints a line of JSON with what
 * it has measured and holds in memory, and starts to count again. For `sustainedLoad.test.ts`.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createHash } from "node:crypto"
import { createHistogram, monitorEventLoopDelay } from "node:perf_hooks"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Cache, Controller, Pod } from "../../../src/index.ts"
import { Leadership, Manager } from "../../../src/internals.ts"
import * as ProgramServices from "../programServices.ts"
import type { Figures } from "../sustainedLoad.test.ts"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

const [kubeconfig = ""] = process.argv.slice(2)
/** Milliseconds from the write to the reconcile. Microseconds would not be exact, because two processes have two clocks. */
const late = createHistogram()
const lag = monitorEventLoopDelay({ resolution: 10 })
lag.enable()
let runs = 0

const meter = Controller.make({
  name: "meter",
  for: Pod,
  concurrency: 4,
  reconcile: ({ key }, { cache }) =>
    Effect.map(cache.get(Pod, key), (pod) => {
      runs++
      const written = pod?.metadata.annotations?.["written"]
      if (written !== undefined) late.record(Math.max(1, Date.now() - Number(written)))
    })
})

/** The content of the cache, as a digest. */
const shown = Effect.gen(function* () {
  const pods = yield* (yield* Cache).list(Pod)
  const lines = pods.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).toSorted()
  return { pods: pods.length, digest: createHash("sha256").update(lines.join()).digest("hex") }
})

const figures = Effect.map(shown, (shown): Figures => {
  const seen = { runs, late: late.percentile(99), lateMedian: late.percentile(50), lag: lag.percentile(99) / 1e6 - 10 }
  const rss = process.memoryUsage.rss()
  collect()
  const sockets = process.getActiveResourcesInfo().filter((name) => /TCP|TLS/.test(name)).length
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return { ...seen, ...shown, rss, heap: heapUsed, buffers: arrayBuffers, sockets }
})

const services = Layer.merge(ProgramServices.over(kubeconfig), Leadership.layerAlways)

const printing = Effect.map(Effect.context<Cache>(), (context) => {
  process.on("SIGUSR2", () => {
    Effect.runForkWith(context)(
      Effect.map(figures, (line) => {
        process.stdout.write(`${JSON.stringify(line)}\n`)
        late.reset()
        lag.reset()
        runs = 0
      })
    )
  })
})

await Effect.andThen(printing, Manager.run({ controllers: [meter] })).pipe(Effect.provide(services), Effect.runPromise)

/**
 * What fixed pieces of work cost, exactly: a number that differs from the one in `recorded.txt`, higher or lower, fails. To record a change that is intended:
 *
 *     npx vitest run test/counts --update
 */
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"
import { CloudProvider } from "../../src/layers/CloudProvider.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { tableOf } from "../support/controllers.ts"
import * as Counting from "./counting.ts"
import * as Http from "./http.ts"
import * as Work from "./work.ts"

/** Every loop that needs no cloud. */
const controllers = tableOf({ "service-account-private-key-file": "sa.key" })
  .filter(
    ({ controller, embeddedOnly, group }) => group === "core" && controller.cloud !== true && embeddedOnly === undefined
  )
  .map(({ controller }) => controller)

const lines = (title: string, counts: Counting.Counts): ReadonlyArray<string> =>
  Array.from(counts, ([name, count]) => `${title}: ${name}: ${count}`).sort()

const onCluster = Effect.provide([ClusterTest.layer(), CloudProvider.layerMemory(() => ({})), Logger.layer([])])

const costs = Effect.gen(function* () {
  const counting = yield* Counting.make(controllers, { isTraced: false })
  const heldWhen = (when: string) => Effect.map(counting.held, (counts) => lines(`held ${when}`, counts))
  const started = ["the loops start", yield* counting.counted(counting.start)] as const
  const atStart = yield* heldWhen("at the start")
  const worked = yield* Effect.forEach(Work.pieces, ([title, work]) =>
    Effect.map(counting.counted(work), (measured) => [title, measured] as const)
  )
  const atEnd = yield* heldWhen("at the end")
  yield* (yield* ClusterTest).advance("3 hours")
  const afterRest = yield* heldWhen("after 3 hours of rest")
  const bytesOf = yield* Http.make
  const out = yield* Effect.forEach([started, ...worked], ([title, { counts, requests }]) =>
    Effect.map(bytesOf(requests), (bytes) => lines(title, new Map([...counts, ["bytes of HTTP requests", bytes]])))
  )
  return [...out.flat(), ...atStart, ...atEnd, ...afterRest]
}).pipe(Effect.scoped, onCluster)

const spans = Effect.gen(function* () {
  const out: Array<string> = []
  const counting = yield* Counting.make(controllers, { isTraced: true })
  yield* counting.start
  for (const [title, work] of Work.pieces) {
    const { counts } = yield* counting.counted(work)
    out.push(...lines(`${title}, traced`, counts).filter((line) => line.includes("spans: ")))
  }
  return out
}).pipe(Effect.scoped, onCluster)

const resyncs = Effect.gen(function* () {
  const cache = { resync: { period: Work.resyncPeriod, spread: "around" } } as const
  const loops = controllers.filter(({ name }) => name === "deployment" || name === "replicaset")
  const counting = yield* Counting.make(loops, { isTraced: false, cache })
  yield* counting.start
  yield* Work.prepareResyncs
  const { counts } = yield* counting.counted(Work.resyncs)
  return lines("1,000 resyncs that change nothing", counts)
}).pipe(Effect.scoped, onCluster)

it("work costs exactly what is recorded", async () => {
  const all = Effect.provide(Effect.all([costs, spans, resyncs]), TestClock.layer())
  const text = [...(await Effect.runPromise(all)).flat(), ""].join("\n")
  await expect(text, "if the change is intended: npx vitest run test/counts --update").toMatchFileSnapshot(
    "recorded.txt"
  )
})

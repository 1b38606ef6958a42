/** What a term does first with the DaemonSets of another: it asks once each, and only if there is something to do. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { LeaderLost } from "../../../src/layers/Leadership.ts"
import * as Stand from "./harness.ts"

const lost = Exit.fail(new LeaderLost({ reason: "Stolen", message: "the process is gone" }))

/** Lists of pods, from now on, that are no cache's. */
const asking = Effect.gen(function* () {
  const asked: Array<string> = []
  yield* (yield* ApiServer).setFaults([
    {
      match: ({ context, query }) => {
        if (context.verb === "list" && context.resource === "pods" && query?.["labelSelector"] !== undefined)
          asked.push(String(query["labelSelector"]))
        return false
      },
      fault: { _tag: "Drop" }
    }
  ])
  return asked
})

const cluster = ClusterTest.layer({ nodes: 3 })

/** Where the cache begins with a list, so that its watch may be silent from the start. */
const listing = ClusterTest.layer({ nodes: 3, cache: { streamingList: "never" } })

describe("a new term", () => {
  it.effect("asks nothing of a DaemonSet on which all is well, and once before its first deed", () =>
    Effect.gen(function* () {
      const first = yield* Stand.start
      yield* Stand.create(Stand.DaemonSet, Stand.daemonSet())
      yield* Stand.advance("1 minute")
      yield* first.stop(lost)
      const asked = yield* asking
      yield* Stand.start
      yield* Stand.advance("1 minute")
      assert.deepStrictEqual(asked, [])
      yield* Stand.useImage("log:2")
      yield* Stand.advance("1 minute")
      assert.deepStrictEqual(yield* Stand.shape, ["worker-1 log:2", "worker-2 log:2"])
      assert.deepStrictEqual(asked, ["app=log"])
    }).pipe(Effect.scoped, Effect.provide(cluster))
  )

  it.effect("asks nothing of a DaemonSet that it has seen made", () =>
    Effect.gen(function* () {
      yield* Stand.start
      const asked = yield* asking
      yield* Stand.create(Stand.DaemonSet, Stand.daemonSet())
      yield* Stand.advance("1 minute")
      assert.deepStrictEqual([yield* Stand.places, asked], [["worker-1", "worker-2"], []])
    }).pipe(Effect.scoped, Effect.provide(cluster))
  )

  it.effect("makes no second pod where the answer to a creation was lost and the cache says nothing", () =>
    Effect.gen(function* () {
      yield* (yield* ApiServer).setFaults([
        { match: { verb: "create", resource: "pods" }, fault: { _tag: "DropAnswer" }, times: 1 },
        { match: { verb: "watch", resource: "pods" }, fault: { _tag: "CutWatch", after: 0, how: "silence" } }
      ])
      yield* Stand.start
      yield* Stand.create(Stand.DaemonSet, Stand.daemonSet())
      yield* Stand.advance("30 seconds")
      assert.deepStrictEqual(yield* Stand.places, ["worker-1"])
      // In time the cache knows that its watch is dead.
      yield* (yield* ApiServer).setFaults([])
      yield* Stand.advance("10 minutes")
      assert.deepStrictEqual(yield* Stand.places, ["worker-1", "worker-2"])
      const deleted = (yield* Stand.events).filter((line) => line.includes("SuccessfulDelete"))
      assert.deepStrictEqual(deleted, [])
    }).pipe(Effect.scoped, Effect.provide(listing))
  )
})

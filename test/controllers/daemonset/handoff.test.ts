/** A new leadership term compares each DaemonSet's pods with the server once, before its first write for it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { leaderLost } from "../../support/cluster.ts"
import * as Harness from "./harness.ts"

/** Lists of pods from now on that do not come from a cache. */
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

/** Where the cache begins with a list, so that its watch may deliver nothing from the start. */
const listing = ClusterTest.layer({ nodes: 3, cache: { streamingList: "never" } })

describe("a new leadership term", () => {
  it.effect("sends no list for a DaemonSet that needs no change, and one before its first write", () =>
    Effect.gen(function* () {
      const first = yield* Harness.start
      yield* Harness.create(Harness.DaemonSet, Harness.daemonSet())
      yield* Harness.advance("1 minute")
      yield* first.stop(leaderLost)
      const asked = yield* asking
      yield* Harness.start
      yield* Harness.advance("1 minute")
      assert.deepStrictEqual(asked, [])
      yield* Harness.useImage("log:2")
      yield* Harness.advance("1 minute")
      assert.deepStrictEqual(yield* Harness.shape, ["worker-1 log:2", "worker-2 log:2"])
      assert.deepStrictEqual(asked, ["app=log"])
    }).pipe(Effect.scoped, Effect.provide(cluster))
  )

  it.effect("sends no list for a DaemonSet whose creation it observed", () =>
    Effect.gen(function* () {
      yield* Harness.start
      const asked = yield* asking
      yield* Harness.create(Harness.DaemonSet, Harness.daemonSet())
      yield* Harness.advance("1 minute")
      assert.deepStrictEqual([yield* Harness.places, asked], [["worker-1", "worker-2"], []])
    }).pipe(Effect.scoped, Effect.provide(cluster))
  )

  it.effect("creates no second pod after a creation whose response was lost while the cache is stale", () =>
    Effect.gen(function* () {
      yield* (yield* ApiServer).setFaults([
        { match: { verb: "create", resource: "pods" }, fault: { _tag: "DropAnswer" }, times: 1 },
        { match: { verb: "watch", resource: "pods" }, fault: { _tag: "CutWatch", after: 0, how: "silence" } }
      ])
      yield* Harness.start
      yield* Harness.create(Harness.DaemonSet, Harness.daemonSet())
      yield* Harness.advance("30 seconds")
      assert.deepStrictEqual(yield* Harness.places, ["worker-1"])
      // After a while the cache detects that its watch is dead.
      yield* (yield* ApiServer).setFaults([])
      yield* Harness.advance("10 minutes")
      assert.deepStrictEqual(yield* Harness.places, ["worker-1", "worker-2"])
      const deleted = (yield* Harness.events).filter((line) => line.includes("SuccessfulDelete"))
      assert.deepStrictEqual(deleted, [])
    }).pipe(Effect.scoped, Effect.provide(listing))
  )
})

import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Machine from "../../../src/streams/watch/watchMachine.ts"
import { runs } from "../../support/runs.ts"
import { natural, plan } from "../arbitraries.ts"
import { check } from "./watchModel.ts"
import { bookmark, context, gone, refused, status, tooLarge } from "./watchServer.ts"

describe("a watch under a misbehaving server", () => {
  it.effect.prop(
    "ends with the server's state, at a bounded rate of requests, after any failures",
    { plan },
    ({ plan }) => Effect.map(check(plan), (wrong) => assert.isUndefined(wrong)),
    { arbitrary: { runs: runs(400) }, timeout: 60_000 }
  )
})

const settings: Machine.Settings<KubeObject> = {
  pageSize: 2,
  idleTimeout: Duration.seconds(70),
  transform: (object) => object,
  context
}

const object = (version: number) => ({
  metadata: { name: `o${version % 3}`, resourceVersion: String(version) }
})

/** Inputs of every kind, in any order. */
const inputs: ReadonlyArray<(n: number) => Machine.Input<KubeObject>> = [
  () => ({ _tag: "Started" }),
  () => ({ _tag: "Woke" }),
  () => ({ _tag: "Ended" }),
  () => ({ _tag: "Idle" }),
  (n) => ({ _tag: "Page", list: { metadata: { resourceVersion: String(n) }, items: [object(n)] } }),
  (n) => ({ _tag: "Page", list: { metadata: { resourceVersion: String(n), continue: "token" }, items: [object(n)] } }),
  () => ({ _tag: "Page", list: { metadata: {}, items: [{}] } as never }),
  (n) => ({ _tag: "Events", events: [{ type: "ADDED", object: object(n) }, bookmark(n + 1)] }),
  (n) => ({ _tag: "Events", events: [{ type: "DELETED", object: object(n) }, bookmark(n + 1, true), bookmark(n + 2)] }),
  (n) => ({ _tag: "Events", events: [bookmark(n), { type: "MODIFIED", object: "malformed" }, bookmark(n + 1)] }),
  () => ({ _tag: "Events", events: [] }),
  () => ({ _tag: "Failed", error: gone() }),
  () => ({ _tag: "Failed", error: tooLarge() }),
  () => ({ _tag: "Failed", error: refused() }),
  () => ({ _tag: "Failed", error: status(422, "Invalid") })
]

/** The last version emitted, by the changes themselves. */
const emittedVersions = (output: Machine.Step<KubeObject>["output"]): ReadonlyArray<string> =>
  output.flatMap((change) => (change._tag === "Synced" || change._tag === "Changed" ? [change.resourceVersion] : []))

describe("the machine", () => {
  it.prop(
    "is total, never stops, and never resumes after a version that it has not emitted",
    {
      picks: Arbitrary.array(Arbitrary.schema(Schema.Struct({ input: natural, n: natural, millis: natural })), {
        minLength: 50,
        maxLength: 150
      })
    },
    ({ picks }) => {
      const step = Machine.step(settings)
      let now = 0
      let { request, state } = step(
        Machine.initial("auto"),
        { _tag: "Started" },
        { now, random: 0, streamingFrom: -Infinity }
      )
      for (const pick of picks) {
        now += pick.millis
        const before = state
        const made = inputs[pick.input % inputs.length]?.(pick.n + 1) ?? { _tag: "Idle" }
        const next = step(state, made, { now, random: (pick.n % 100) / 100, streamingFrom: -Infinity })
        state = next.state
        const listing = before.phase._tag === "Streaming" || before.phase._tag === "Listing"
        const versions = listing ? emittedVersions(next.output).slice(-1) : emittedVersions(next.output)
        if (next.request === undefined && state.phase !== before.phase) {
          assert.strictEqual(state.phase._tag, "Watching")
          assert.strictEqual(before.phase._tag, "Streaming")
        }
        if (next.request?._tag === "Watch" && next.request.options.sendInitialEvents !== true) {
          assert.strictEqual(next.request.options.resourceVersion, versions.at(-1) ?? before.version)
        }
        if (next.request?._tag === "Sleep") assert.isAtLeast(next.request.millis, 800)
        for (const change of next.output) {
          if (change._tag === "Failed") assert.isTrue(change.attempt > 0 || Duration.isZero(change.delay))
        }
        request = next.request ?? request
      }
      assert.isDefined(request)
    },
    { arbitrary: { runs: runs(200) } }
  )

  it("doubles the wait from 0.8 s to 30 s with jitter, and Retry-After is its lower bound", () => {
    const step = Machine.step(settings)
    const waits = (random: number, error: () => ReturnType<typeof refused>) => {
      let state: Machine.State = { ...Machine.initial("never"), phase: { _tag: "Watching", since: 0 }, version: "1" }
      return Array.from({ length: 8 }, () => {
        const next = step(state, { _tag: "Failed", error: error() }, { now: 0, random, streamingFrom: -Infinity })
        state = { ...next.state, phase: { _tag: "Watching", since: 0 } }
        return next.request?._tag === "Sleep" ? next.request.millis : undefined
      })
    }
    assert.deepStrictEqual(waits(0, refused), [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000])
    assert.deepStrictEqual(waits(0.5, refused).slice(0, 2), [1200, 2400])
    const later = () => status(503, "ServiceUnavailable", { retryAfterSeconds: 10 })
    assert.deepStrictEqual(waits(0, later), [10_000, 10_000, 10_000, 10_000, 12_800, 25_600, 30_000, 30_000])
  })
})

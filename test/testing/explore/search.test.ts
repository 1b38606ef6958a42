/** What a search explores, and what it says when it cannot. */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Access from "../../../src/kube/Access.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import * as Invariants from "../../../src/testing/explore/invariants.ts"
import { type Kind, parseCase } from "../../../src/testing/explore/perturbation.ts"
import type { Progress, Report } from "../../../src/testing/explore/search.ts"
import * as Reconcile from "../../../src/streams/reconcile/Reconcile.ts"
import { copier, map, scenario } from "./harness.ts"

const copying = explore("copier", { controllers: [copier], scenario })

/** Marks each ConfigMap, and then does something else. */
const marker = (body: Effect.Effect<void>) =>
  Controller.make({
    name: "marker",
    for: ConfigMap,
    access: [Access.patch(ConfigMap)],
    reconcileObject: (one, { client }) =>
      one.metadata.annotations?.["marked"] === "true"
        ? body
        : client
            .patch(ConfigMap, one.metadata, Patch.merge({ metadata: { annotations: { marked: "true" } } }))
            .pipe(Effect.andThen(body))
  })

/** Marks each ConfigMap, or gives up; an edit of the user leads to another run. */
const forgetful = Controller.make({
  name: "forgetful",
  for: ConfigMap,
  access: [Access.patch(ConfigMap)],
  reconcileObject: ({ metadata }, { client }) =>
    metadata.annotations?.["marked"] === "true"
      ? Effect.void
      : Effect.ignore(client.patch(ConfigMap, metadata, Patch.merge({ metadata: { annotations: { marked: "true" } } })))
})

/** Without its duration, which no two runs share. */
const comparable = (report: Report): object => ({ ...report, millis: 0 })

describe("a search", () => {
  it.live("tries every kind at each of its points, and finds nothing wrong with a correct controller", () =>
    Effect.gen(function* () {
      const seen: Array<Progress> = []
      const onProgress = (progress: Progress) => void seen.push(progress)
      const { coverage, failures, problem, runs, undisturbed } = yield* copying.run({ onProgress })
      assert.isUndefined(problem)
      assert.deepStrictEqual(failures, [])
      assert.deepInclude(undisturbed, { steps: 2, writes: 4, calls: 6 })
      // Those of the first step run once more with a scenario that ends there.
      const points = coverage.reduce((sum, one) => sum + one.points, 0)
      assert.isAbove(runs, points + 1)
      assert.isBelow(runs, 2 * points)
      for (const { kind, points, tried } of coverage) assert.strictEqual(tried, points, kind)
      assert.deepStrictEqual(seen.at(-1), { name: "copier", runs, singles: points, tried: points, failures: 0 })
      assert.isTrue(seen.every(({ tried }, i) => tried - (seen[i - 1]?.tried ?? 0) <= 1))
    })
  )

  it.live("gives equal reports for equal seeds, and shares of it try each perturbation once", () =>
    Effect.gen(function* () {
      const settings = { seed: 7, combinations: 12 }
      const copying = explore("copier", { controllers: [copier], scenario: (cluster) => cluster.apply([map("a")]) })
      const whole = yield* copying.run(settings)
      assert.deepStrictEqual(comparable(yield* copying.run(settings)), comparable(whole))
      assert.isAbove(whole.combinations, 6)
      const shares = yield* Effect.forEach([0, 1, 2], (index) => copying.run({ ...settings, share: { index, of: 3 } }))
      const tried = (kind: Kind) =>
        shares.reduce((sum, { coverage }) => sum + (coverage.find((one) => one.kind === kind)?.tried ?? 0), 0)
      for (const { kind, points } of whole.coverage) assert.strictEqual(tried(kind), points, kind)
      assert.strictEqual(
        shares.reduce((sum, { combinations }) => sum + combinations, 0),
        whole.combinations
      )
    })
  )

  it.live("finds what a later step covers up, by a scenario that ends before it", () =>
    Effect.gen(function* () {
      const { failures } = yield* explore("forgetful", {
        controllers: [forgetful],
        scenario: (cluster) =>
          Effect.gen(function* () {
            yield* cluster.apply([map("a")])
            yield* cluster.advance("1 minute")
            yield* cluster.edit(ConfigMap, { namespace: "default", name: "a" }, { data: { colour: "blue" } })
          })
      }).run()
      assert.include(
        failures.map(({ id }) => id),
        "conflict@call#2~1"
      )
    })
  )

  it.live("leaves out what the exploration leaves out", () =>
    Effect.gen(function* () {
      const without = { touch: "objects of this kind are never edited" }
      const { coverage } = yield* explore("copier", { controllers: [copier], scenario, without }).run()
      assert.notInclude(
        coverage.map(({ kind }) => kind),
        "touch"
      )
    })
  )

  it.live("ends when its budget is used up, and says what it has not tried", () =>
    Effect.gen(function* () {
      const { coverage } = yield* copying.run({ budget: 0 })
      assert.isAbove(coverage.length, 10)
      for (const { kind, tried } of coverage) assert.strictEqual(tried, 0, kind)
    })
  )

  it.live("says that a scenario fails by itself", () =>
    Effect.gen(function* () {
      const failing = explore("failing", {
        controllers: [copier],
        scenario: (cluster) => cluster.delete(ConfigMap, { namespace: "default", name: "none" })
      })
      assert.match((yield* failing.run()).problem ?? "", /fails by itself: .*none.* not found/)
    })
  )

  /** Writes the number of the present minute to each ConfigMap. */
  const minutes = (isEndless: boolean) =>
    Controller.make({
      name: "minutes",
      for: ConfigMap,
      access: [Access.patch(ConfigMap)],
      reconcileObject: ({ metadata }, { client }) =>
        Effect.gen(function* () {
          const minute = String(Math.floor((yield* Clock.currentTimeMillis) / 60_000))
          if (isEndless || metadata.annotations?.["minute"] !== minute) {
            const annotations = isEndless ? { minute, version: metadata.resourceVersion } : { minute }
            yield* client.patch(ConfigMap, metadata, Patch.merge({ metadata: { annotations } }))
          }
          return Reconcile.after("1 minute")
        })
    })

  it.live("says that a scenario does not converge by itself", () =>
    Effect.gen(function* () {
      const running = (isEndless: boolean) =>
        explore("minutes", {
          controllers: [minutes(isEndless)],
          scenario: (cluster) => cluster.apply([map("a")])
        }).run()
      assert.match((yield* running(false)).problem ?? "", /does not converge by itself: .*patch configmaps default\/a/)
      assert.match((yield* running(true)).problem ?? "", /does not converge by itself: .*more than 5000 calls/)
    })
  )

  it.live("says where two runs of a scenario differ", () =>
    Effect.gen(function* () {
      let runs = 0
      const random = explore("random", {
        controllers: [copier],
        scenario: (cluster) => cluster.apply([map(`a${runs++}`)])
      })
      assert.match(
        (yield* random.run()).problem ?? "",
        /two runs of the scenario differ: entry 4 .*default\/a0.*default\/a1/
      )
    })
  )

  it.live("says which entry only the second of two runs has", () =>
    Effect.gen(function* () {
      let runs = 0
      const growing = explore("growing", {
        controllers: [copier],
        scenario: (cluster) =>
          runs++ === 0 ? Effect.void : Effect.andThen(cluster.advance("1 minute"), cluster.apply([map("a")]))
      })
      assert.match((yield* growing.run()).problem ?? "", /two runs of the scenario differ: entry 4 is missing, then/)
    })
  )

  it.live("replays one run", () =>
    Effect.gen(function* () {
      const { runs } = yield* copying.run({ replay: parseCase("crash@write#1") })
      assert.strictEqual(runs, 2)
    })
  )

  it.live("reports a broken invariant with the write that broke it", () =>
    Effect.gen(function* () {
      const limited = explore("limited", {
        controllers: [copier],
        scenario,
        invariants: [
          Invariants.neverMoreThan(1, ConfigMap, ({ metadata }) => metadata.annotations?.["copied"] === "true")
        ]
      })
      const { failures } = yield* limited.run({ budget: 0 })
      assert.deepInclude(failures[0], { rule: "invariant", id: "" })
      assert.include(failures[0]?.details ?? [], "broken by write #4: patch configmaps default/b")
      assert.match(failures[0]?.message ?? "", /never more than 1 configmaps: there are 2: default\/a, default\/b/)
    })
  )

  it.live("reports defects", () =>
    Effect.gen(function* () {
      const dying = explore("dying", {
        controllers: [marker(Effect.die(new Error("no plan")))],
        scenario: (cluster) => cluster.apply([map("a")])
      })
      const { failures } = yield* dying.run({ budget: 0 })
      assert.deepInclude(failures[0], { rule: "defect", message: "marker died in the run of default/a: no plan" })
    })
  )

  it.live("fails a check with a message that says how to repeat the run", () =>
    Effect.gen(function* () {
      const exploration = explore("forgetful", {
        controllers: [forgetful],
        scenario: (cluster) => cluster.apply([map("a")])
      })
      const failed = yield* Effect.flip(exploration.check())
      assert.match(failed.message, /ConfigMap default\/a/)
      assert.match(failed.message, /explore --replay 'forgetful:conflict@call#2'/)
    })
  )
})

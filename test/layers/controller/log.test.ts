/** The log lines of a loop on the embedded server: messages, levels and annotations. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import { TestClock } from "effect/testing"
import * as ApiError from "../../../src/kube/ApiError.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Line from "../../../src/manager/logs/line.ts"
import * as Cluster from "../../support/cluster.ts"

/** Every line of every level, as JSON. */
const recording = () => {
  const lines: Array<Record<string, unknown>> = []
  const logger = Logger.make((entry) => {
    lines.push(JSON.parse(Line.json({ stacktraceLevel: "None", time: undefined }, entry)))
  })
  return { lines, layer: Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, "All")) }
}

const conflict = ApiError.fromStatus({ context: { verb: "update", path: "/a" }, status: 409, body: "" })

const made = Effect.flatMap(KubeClient, (client) =>
  client.create(ConfigMap, { metadata: { name: "a", namespace: "default" } })
)

/** The lines of a controller that was started, ran for a while, and was stopped. */
const linesOf = <E>(reconcile: Effect.Effect<void, E>) => {
  const { layer, lines } = recording()
  return Effect.gen(function* () {
    yield* made
    const { stop } = yield* Cluster.start(Controller.make({ name: "test", for: ConfigMap, reconcile: () => reconcile }))
    yield* TestClock.adjust("100 millis")
    yield* stop()
    return lines.filter(({ controller }) => controller === "test")
  }).pipe(Effect.provide(Layer.provideMerge(Cluster.layer, layer)))
}

describe("the lines of a controller", () => {
  it.effect("have the start and stop lines of controller-runtime", () =>
    Effect.map(linesOf(Effect.void), (lines) => {
      const known = { level: "debug", controller: "test", controllerGroup: "", controllerKind: "ConfigMap" }
      const framing = lines.filter(({ msg }) => /EventSource|workers/.test(String(msg)))
      assert.deepStrictEqual(
        framing.map(({ msg }) => msg),
        ["Starting EventSource", "Starting workers", "Stopping workers"]
      )
      assert.deepInclude(framing[0], { ...known, source: "kind source: ConfigMap" })
      assert.strictEqual(framing[1]?.["worker count"], 1)
    })
  )

  it.effect("have debug level for the first three conflicts in a row", () =>
    Effect.map(linesOf(Effect.fail(conflict)), (lines) => {
      const errors = lines.filter(({ msg }) => msg === "Reconciler error")
      assert.deepStrictEqual(
        errors.slice(0, 4).map(({ attempt, level }) => [attempt, level]),
        [
          [1, "debug"],
          [2, "debug"],
          [3, "debug"],
          [4, "warn"]
        ]
      )
      assert.deepInclude(errors[0], { error: "HTTP status 409", call: { verb: "update", path: "/a" } })
    })
  )

  it.effect("have the object and the id of the run, both for lines of the run and for the line about its end", () =>
    Effect.map(linesOf(Effect.andThen(Effect.logInfo("at work"), Effect.fail("no"))), (lines) => {
      const ids = (message: string) => lines.filter(({ msg }) => msg === message).map(({ reconcileID }) => reconcileID)
      assert.isAbove(ids("at work").length, 2)
      assert.deepStrictEqual(ids("at work"), ids("Reconciler error"))
      assert.strictEqual(new Set(ids("at work")).size, ids("at work").length)
      for (const message of ["at work", "Reconciler error"]) {
        const line = lines.find(({ msg }) => msg === message)
        assert.deepInclude(line, {
          controllerKind: "ConfigMap",
          ConfigMap: { namespace: "default", name: "a" },
          namespace: "default",
          name: "a"
        })
      }
      assert.strictEqual(lines.find(({ msg }) => msg === "Reconciler error")?.["level"], "warn")
    })
  )

  it.effect("have the reason of the run: the change at first, then the retry and what it follows", () =>
    Effect.map(linesOf(Effect.andThen(Effect.logInfo("at work"), Effect.fail(conflict))), (lines) => {
      const reasons = lines.filter(({ msg }) => msg === "at work").map(({ reason }) => reason)
      assert.deepStrictEqual(reasons.slice(0, 3), [
        "ConfigMap default/a listed",
        "retry 1 after 409 Conflict",
        "retry 2 after 409 Conflict"
      ])
    })
  )
})

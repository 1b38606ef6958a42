/** What a controller's loop says, through a real loop on the embedded server: which lines, at which level, with which values. */
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
  const logger = Logger.make((said) => {
    lines.push(JSON.parse(Line.json({ stacktraceLevel: "None", time: undefined }, said)))
  })
  return { lines, layer: Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, "All")) }
}

const conflict = ApiError.fromStatus({ context: { verb: "update", path: "/a" }, status: 409, body: "" })

const made = Effect.flatMap(KubeClient, (client) =>
  client.create(ConfigMap, { metadata: { name: "a", namespace: "default" } })
)

/** The lines of a controller that was started, left alone for a while and stopped. */
const said = <E>(reconcile: Effect.Effect<void, E>) => {
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
  it.effect("begin and end with what operators know", () =>
    Effect.map(said(Effect.void), (lines) => {
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

  it.effect("whisper of the first three conflicts in a row", () =>
    Effect.map(said(Effect.fail(conflict)), (lines) => {
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

  it.effect("name the object and the run, the same for what the run says and for how it ended", () =>
    Effect.map(said(Effect.andThen(Effect.logInfo("at work"), Effect.fail("no"))), (lines) => {
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
})

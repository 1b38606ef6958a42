/**
 * Concurrent writers with slow webhooks: every stored state was admitted by the webhooks in exactly that state, and every request has
 * one response and one audit entry.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { TestClock } from "effect/testing"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import * as Caller from "../../../src/apiserver/webhook/WebhookCaller.ts"
import { runs } from "../../support/runs.ts"
import { call, configMap, configMaps, patch, put, remove, watch } from "../client.ts"
import { answer, configure, hook, patching } from "./harness.ts"

const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const Step = Schema.Struct({
  /** Milliseconds since the start of the test. */
  at: int(0, 4_000),
  verb: Schema.Literals(["create", "patch", "patch", "replace", "delete"]),
  name: Schema.Literals(["a", "b"]),
  key: Schema.Literals(["x", "y"]),
  /** The validating webhook denies `bad`. */
  value: Schema.Literals(["1", "2", "bad"])
})

const Plan = Schema.Struct({
  steps: Schema.Array(Step).check(Schema.isMinLength(1), Schema.isMaxLength(12)),
  /** Delays of the webhook calls in milliseconds, in order. */
  delays: Schema.Array(int(0, 1_500)).check(Schema.isMinLength(1), Schema.isMaxLength(5))
})
type Plan = typeof Plan.Type

const perform = ({ key, name, value, verb }: (typeof Step)["Type"]) => {
  const path = `${configMaps}/${name}`
  switch (verb) {
    case "create":
      return call("POST", configMaps, configMap(name, { [key]: value }))
    case "patch":
      return patch(path, "merge", { data: { [key]: value } })
    case "replace":
      return put(path, configMap(name, { [key]: value }))
    case "delete":
      return remove(path)
  }
}

const stateOf = ({ data = {}, metadata }: any): string => JSON.stringify([metadata.name, data.m, data.x, data.y])

/** Runs a plan against a server; fails with what went wrong. */
const live = ({ delays, steps }: Plan) => {
  const approved = new Set<string>()
  let calls = 0
  const nextDelay = () => `${delays[calls++ % delays.length] ?? 0} millis` as const
  const caller = Caller.handlers({
    "https://hooks.example/m": (review: any) =>
      Effect.delay(Effect.succeed(answer(review, patching({ op: "add", path: "/data/m", value: "1" }))), nextDelay()),
    "https://hooks.example/v": (review: any) =>
      Effect.delay(
        Effect.sync(() => {
          const { object, oldObject, operation } = review.request
          const allowed = operation === "DELETE" || !Object.values(object.data ?? {}).includes("bad")
          if (allowed) approved.add(`${operation} ${stateOf(object ?? oldObject)}`)
          return answer(review, { allowed })
        }),
        nextDelay()
      )
  })
  const layer = ApiServer.layerTransport.pipe(
    Layer.provideMerge(ApiServer.layer()),
    Layer.provide(Layer.succeed(Caller.WebhookCaller, caller))
  )
  return Effect.gen(function* () {
    yield* configure("mutating", [hook("m", { rules: [{ ...rules, operations: ["CREATE", "UPDATE"] }] })])
    yield* configure("validating", [hook("v")])
    const seen = yield* watch(configMaps)
    const all = Effect.forEach(steps, (step) => Effect.exit(Effect.delay(perform(step), step.at)), {
      concurrency: "unbounded"
    })
    const fiber = yield* Effect.forkScoped(all)
    // Each of two webhooks is called at most six times for a write.
    yield* TestClock.adjust("60 seconds")
    const exits = fiber.pollUnsafe()
    if (exits === undefined) return "a request has no response"
    yield* seen.settled
    for (const { object, type } of seen.events as ReadonlyArray<any>) {
      const operation = type === "ADDED" ? "CREATE" : type === "MODIFIED" ? "UPDATE" : "DELETE"
      const state = `${operation} ${stateOf(object)}`
      if (!approved.has(state)) return `${state} was not admitted`
    }
    const { audit } = yield* ApiServer
    const entries = (yield* audit).filter((entry) => entry.resource === "configmaps" && entry.verb !== "watch")
    if (entries.length !== steps.length) return `${entries.length} entries for ${steps.length} requests`
    const done = Exit.isSuccess(exits) ? exits.value.filter(Exit.isSuccess).length : 0
    // A patch that changes nothing sends no event.
    if (seen.events.length > done) return "there are more events than successful responses"
    return ""
  }).pipe(Effect.scoped, Effect.provide(layer))
}

const rules = { apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }

describe("concurrent writers with slow webhooks", () => {
  it.effect.prop(
    "every stored state was admitted by the webhooks",
    { plan: Arbitrary.schema(Plan) },
    ({ plan }) => Effect.map(live(plan), (wrong) => assert.strictEqual(wrong, "")),
    { arbitrary: { runs: runs(60) } }
  )
})

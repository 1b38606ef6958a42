/** Concurrent writers of two versions with a slow and failing conversion webhook: all watchers see the same history, each in its version. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { TestClock } from "effect/testing"
import { ApiServer } from "../../../../src/apiserver/ApiServer.ts"
import * as Caller from "../../../../src/apiserver/webhook/WebhookCaller.ts"
import { runs } from "../../../support/runs.ts"
import { get, patch, post, remove, watch } from "../../client.ts"
import { collection, convert, definition, widget, type Version } from "./widgets.ts"

const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const Step = Schema.Struct({
  /** Milliseconds since the start of the test. */
  at: int(0, 4_000),
  verb: Schema.Literals(["create", "patch", "patch", "patch", "hold", "delete", "clear"]),
  version: Schema.Literals(["v1", "v2"]),
  name: Schema.Literals(["a", "b"]),
  size: int(1, 9)
})

const Plan = Schema.Struct({
  steps: Schema.Array(Step).check(Schema.isMinLength(1), Schema.isMaxLength(12)),
  /** Delays of the webhook calls in milliseconds, in turn. */
  delays: Schema.Array(int(0, 900)).check(Schema.isMinLength(1), Schema.isMaxLength(4)),
  /** Indexes of the calls that fail; calls for reads after the writes succeed. */
  refusals: Schema.Array(int(0, 30)).check(Schema.isMaxLength(2))
})
type Plan = typeof Plan.Type

const perform = ({ name, size, verb, version }: (typeof Step)["Type"]) => {
  const path = `${collection(version)}/${name}`
  const finalizers = ["example.com/held"]
  switch (verb) {
    case "create":
      return post(collection(version), widget(version, name, size))
    case "patch":
      return patch(path, "merge", { spec: widget(version, name, size).spec })
    case "hold":
      return patch(path, "merge", { metadata: { finalizers } })
    case "delete":
      return remove(path)
    case "clear":
      return remove(collection(version))
  }
}

/** Name, resourceVersion and size of an object, whatever the name of the size in its version. */
const seenAs = (version: Version, { metadata, spec }: any): string => {
  const own = version === "v1" ? spec.size : spec.replicas
  const other = version === "v1" ? spec.replicas : spec.size
  return `${metadata.name} ${metadata.resourceVersion} ${own} ${metadata.deletionTimestamp ?? ""} ${other ?? ""}`
}

const live = ({ delays, refusals, steps }: Plan) => {
  let calls = 0
  let isRefusing = true
  const caller = Caller.handlers({
    "https://hooks.example/convert": (review: any) =>
      Effect.suspend(() => {
        const context = calls++
        const answer =
          isRefusing && refusals.includes(context)
            ? { result: { status: "Failed", message: "no" } }
            : convert(review.request)
        const { apiVersion, kind, request } = review
        return Effect.delay(
          Effect.succeed({ apiVersion, kind, response: { uid: request.uid, ...answer } }),
          `${delays[context % delays.length] ?? 0} millis`
        )
      })
  })
  const layer = ApiServer.layerTransport.pipe(
    Layer.provideMerge(ApiServer.layer({ crds: [definition("https://hooks.example/convert")] })),
    Layer.provide(Layer.succeed(Caller.WebhookCaller, caller))
  )
  return Effect.gen(function* () {
    const since = (yield* get(collection("v1"))).metadata.resourceVersion
    const all = Effect.forEach(steps, (step) => Effect.exit(Effect.delay(perform(step), step.at)), {
      concurrency: "unbounded"
    })
    const fiber = yield* Effect.forkScoped(all)
    const early = yield* watch(collection("v1"), { resourceVersion: since })
    yield* TestClock.adjust("120 seconds")
    const exits = fiber.pollUnsafe()
    if (exits === undefined) return "a request has no answer"
    isRefusing = false
    const late = {
      v1: yield* watch(collection("v1"), { resourceVersion: since }),
      v2: yield* watch(collection("v2"), { resourceVersion: since })
    }
    yield* TestClock.adjust("60 seconds")
    const history = (version: Version, events: ReadonlyArray<any>) =>
      events.map(({ object, type }) => `${type} ${seenAs(version, object)}`)
    const [first, second] = [history("v1", late.v1.events), history("v2", late.v2.events)]
    if (JSON.stringify(first) !== JSON.stringify(second))
      return `${JSON.stringify(first)} is not ${JSON.stringify(second)}`
    // Only this watch may have received a failure of the webhook, which ends it.
    const told = history("v1", early.events)
    const isOver = early.fiber.pollUnsafe() !== undefined
    if (isOver ? refusals.length === 0 : told.length < first.length) return "a watch ended for nothing"
    if (JSON.stringify(told) !== JSON.stringify(first.slice(0, told.length))) {
      return `${JSON.stringify(told)} is no beginning of ${JSON.stringify(first)}`
    }
    const left = new Map<string, string>()
    for (const { object, type } of late.v2.events as ReadonlyArray<any>) {
      if (type === "DELETED") left.delete(object.metadata.name)
      else left.set(object.metadata.name, seenAs("v2", object))
    }
    for (const version of ["v1", "v2"] as const) {
      const { items } = yield* get(collection(version))
      const listed = items.map((one: any) => seenAs(version, one))
      const followed = ["a", "b"].flatMap((name) => left.get(name) ?? [])
      if (JSON.stringify(listed) !== JSON.stringify(followed)) return `${version} lists ${JSON.stringify(listed)}`
    }
    const answers = Exit.isSuccess(exits) ? exits.value : []
    for (const [index, answer] of answers.entries()) {
      const { verb, version } = steps[index] ?? { verb: "clear", version: "v1" }
      if (Exit.isFailure(answer) || verb === "clear" || answer.value.spec === undefined) continue
      const { apiVersion, spec } = answer.value
      const own = version === "v1" ? spec.size : spec.replicas
      if (own === undefined || !apiVersion.endsWith(version))
        return `${verb} in ${version} was answered with ${JSON.stringify(spec)}`
    }
    return first.length > 0 && !answers.some(Exit.isSuccess) ? "what was refused was done" : ""
  }).pipe(Effect.scoped, Effect.provide(layer))
}

describe("writers of two versions", () => {
  it.effect.prop(
    "everybody sees one history, each in the version of their own",
    { plan: Arbitrary.schema(Plan) },
    ({ plan }) => Effect.map(live(plan), (wrong) => assert.strictEqual(wrong, "")),
    { arbitrary: { runs: runs(60) } }
  )
})

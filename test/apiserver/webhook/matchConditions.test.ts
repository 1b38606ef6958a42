/** `matchConditions` of webhooks: which requests are sent, and what an error does. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { configMap, configMaps, names, get, post, refused, remove, same } from "../client.ts"
import { ask } from "../policy/harness.ts"
import { configure, everyWrite, hook, layer, patching, says } from "./harness.ts"

const conditions = (...expressions: ReadonlyArray<string>) => ({
  matchConditions: expressions.map((expression, index) => ({ name: `c${index}`, expression }))
})

const counted = <A, E, R>(asked: ReadonlyArray<unknown>, effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const before = asked.length
    return Effect.map(effect, () => asked.length - before)
  })

it.effect("a validating webhook is called only for requests for which all conditions hold", () => {
  const asked: Array<any> = []
  return Effect.gen(function* () {
    yield* configure("validating", [
      hook(
        "a",
        conditions("object == null || object.metadata.name.size() > 1", "request.userInfo.username != 'nobody'")
      )
    ])
    same(yield* counted(asked, post(configMaps, configMap("x"))), 0)
    same(yield* counted(asked, post(configMaps, configMap("xy"))), 1)
    same(yield* counted(asked, remove(`${configMaps}/x`)), 1)
  }).pipe(Effect.provide(layer({ a: says({}) }, asked)))
})

it.effect("a mutating webhook sees the object as the one before has patched it", () => {
  const asked: Array<any> = []
  const labelled = patching({ op: "add", path: "/metadata/labels", value: { first: "1" } })
  return Effect.gen(function* () {
    yield* configure("mutating", [
      hook("a", conditions("true")),
      hook("b", conditions("has(object.metadata.labels) && object.metadata.labels.first == '1'")),
      hook("c", conditions("!has(object.metadata.labels)"))
    ])
    same(yield* counted(asked, post(configMaps, configMap("x"))), 2)
  }).pipe(Effect.provide(layer({ a: says(labelled), b: says({}), c: says({ allowed: false }) }, asked)))
})

it.effect("an error refuses with failurePolicy Fail and skips with Ignore; any false condition skips", () => {
  const asked: Array<any> = []
  const error = "object.spec.x == 1"
  return Effect.gen(function* () {
    yield* configure("validating", [hook("a", conditions(error, "object.metadata.name != 'y'"))], "fail")
    const refusal = yield* refused(post(configMaps, configMap("x")))
    same(
      [refusal.status, refusal.message],
      [403, `configmaps "x" is forbidden: expression 'object.spec.x == 1' resulted in error: no such key: spec`]
    )
    same(yield* counted(asked, post(configMaps, configMap("y"))), 0)
    yield* remove("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/fail")
    yield* configure("validating", [hook("a", { ...conditions(error), failurePolicy: "Ignore" })], "ignore")
    same(yield* counted(asked, post(configMaps, configMap("x"))), 0)
    same(names(yield* get(configMaps)), ["x", "y"])
  }).pipe(Effect.provide(layer({ a: says({}) }, asked)))
})

it.effect("several errors are reported together, each once", () =>
  Effect.gen(function* () {
    yield* configure("validating", [hook("a", conditions("object.a == 1", "object.b == 1", "object.a == 1"))])
    const { message } = yield* refused(post(configMaps, configMap("x")))
    same(
      message,
      `configmaps "x" is forbidden: [expression 'object.a == 1' resulted in error: no such key: a, expression 'object.b == 1' resulted in error: no such key: b]`
    )
  }).pipe(Effect.provide(layer({ a: says({}) })))
)

it.effect("conditions on connections see the options as the object, and webhooks are called for them", () => {
  const asked: Array<any> = []
  const rules = [{ ...everyWrite, resources: ["pods/exec"], operations: ["CONNECT"] }]
  return Effect.gen(function* () {
    yield* configure("validating", [hook("a", { rules, ...conditions("'rm' in object.command") })])
    const exec = (command: string) =>
      ask("POST", "/api/v1/namespaces/default/pods/p/exec", undefined, { query: { command, stdin: "true" } })
    same((yield* exec("ls")).status, 404)
    const refusal = yield* exec("rm")
    assert.include(refusal.body.message, "denied the request")
    same(
      asked.map(({ kind, object, operation, options }) => ({ kind: kind.kind, object, operation, options })),
      [
        {
          kind: "PodExecOptions",
          operation: "CONNECT",
          options: null,
          object: { kind: "PodExecOptions", apiVersion: "v1", stdin: true, command: ["rm"] }
        }
      ]
    )
  }).pipe(Effect.provide(layer({ a: says({ allowed: false }) }, asked)))
})

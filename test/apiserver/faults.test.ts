/** Each fault as a client of the in-process transport observes it. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as ApiError from "../../src/kube/ApiError.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { always, isWatch, on } from "../../src/apiserver/faults.ts"
import type { Rule } from "../../src/apiserver/faults.ts"
import { all as kinds } from "../../src/apiserver/scheme/resources.ts"
import { configMap, configMaps, get, layer, post, refused, same, settle, watch } from "./client.ts"

const script = (...rules: ReadonlyArray<Rule>) => Effect.flatMap(ApiServer, (server) => server.setFaults(rules))

describe("faults of requests", () => {
  it.effect("Status has its reason and Retry-After, for the given number of times", () =>
    Effect.gen(function* () {
      yield* script({
        match: on({ path: configMaps }),
        fault: { _tag: "Status", code: 429, retryAfterSeconds: 7 },
        times: 2
      })
      const { error } = yield* refused(get(configMaps))
      same([error.reason._tag, ApiError.retryAfter(error)], ["TooManyRequests", Duration.seconds(7)])
      same((yield* refused(post(configMaps, configMap("a")))).status, 429)
      same((yield* get(configMaps)).items, [])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("Drop does not execute the call, DropAnswer does", () =>
    Effect.gen(function* () {
      yield* script({ match: always, fault: { _tag: "Drop" }, times: 1 })
      same((yield* refused(post(configMaps, configMap("a")))).error.reason._tag, "Network")
      same((yield* get(configMaps)).items.length, 0)
      yield* script({ match: always, fault: { _tag: "DropAnswer" }, times: 1 })
      same((yield* refused(post(configMaps, configMap("a")))).error.reason._tag, "Network")
      same((yield* get(configMaps)).items.length, 1)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("delays add up in virtual time", () =>
    Effect.gen(function* () {
      const delay = { match: always, fault: { _tag: "Delay", millis: 2000 } } as const
      yield* script(delay, delay)
      const fiber = yield* Effect.forkChild(get(configMaps), { startImmediately: true })
      yield* TestClock.adjust("3999 millis")
      same(fiber.pollUnsafe(), undefined)
      yield* TestClock.adjust("1 millis")
      same((yield* Fiber.join(fiber)).items, [])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("Gone is 410", () =>
    Effect.gen(function* () {
      yield* script({ match: always, fault: { _tag: "Gone" } })
      same((yield* refused(get(configMaps))).error.reason._tag, "Gone")
    }).pipe(Effect.provide(layer()))
  )
})

describe("a rule for a resource of a group", () => {
  const rule = (resource: string) => ({ match: { resource }, fault: { _tag: "Drop" } }) as const
  const defect = (resource: string) =>
    Effect.map(Effect.exit(script(rule(resource))), (exit) =>
      Exit.isSuccess(exit) ? undefined : String(Cause.squash(exit.cause))
    )

  it.effect("dies without the group, and names the qualified resource", () =>
    Effect.gen(function* () {
      const sentence = (said: string, meant: string) => `Error: no call is about "${said}": in full it is "${meant}"`
      const roles = "clusterroles.rbac.authorization.k8s.io"
      same(yield* defect("clusterroles"), sentence("clusterroles", roles))
      same(yield* defect("deployments/scale"), sentence("deployments/scale", "deployments.apps/scale"))
      for (const { group, plural } of kinds)
        if (group !== "" && !isCore(plural)) assert.include(yield* defect(plural), `"${plural}.${group}"`)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("applies to matcher functions too", () =>
    Effect.gen(function* () {
      assert.throws(() => on({ resource: "jobs" }), 'no call is about "jobs": in full it is "jobs.batch"')
      const exit = yield* Effect.exit(script({ match: { resource: "pods" }, fault: { _tag: "Drop" } }, rule("jobs")))
      same(Exit.isFailure(exit), true)
      // The previous rules are replaced too.
      same((yield* get("/api/v1/namespaces/default/pods")).items, [])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("accepts qualified names, core resources, and unknown resources", () =>
    Effect.gen(function* () {
      for (const { group, plural } of kinds)
        same(yield* defect(group === "" ? plural : `${plural}.${group}`), undefined)
      for (const name of ["events", "pods/status", "widgets.example.com", "widgets", "deployments.example.com"])
        same(yield* defect(name), undefined)
    }).pipe(Effect.provide(layer()))
  )

  const isCore = (plural: string) => kinds.some((resource) => resource.group === "" && resource.plural === plural)
})

describe("faults of watches", () => {
  const cut = (how: "end" | "reset" | "silence") =>
    Effect.gen(function* () {
      yield* script({ match: isWatch, fault: { _tag: "CutWatch", after: 1, how } })
      const seen = yield* watch(configMaps)
      yield* post(configMaps, configMap("a"))
      yield* post(configMaps, configMap("b"))
      yield* settle
      return seen
    })

  it.effect("CutWatch ends a watch after so many events", () =>
    Effect.gen(function* () {
      const ended = yield* cut("end")
      same([ended.seen(), Exit.isSuccess(yield* ended.done)], [["ADDED a"], true])
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )
  it.effect("CutWatch resets a watch after so many events", () =>
    Effect.gen(function* () {
      const reset = yield* cut("reset")
      same([reset.seen(), (yield* Effect.flip(Fiber.join(reset.fiber))).reason._tag], [["ADDED a"], "Network"])
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )
  it.effect("CutWatch stops a watch without an end after so many events", () =>
    Effect.gen(function* () {
      const silent = yield* cut("silence")
      yield* TestClock.adjust("2 hours")
      same([silent.seen(), silent.fiber.pollUnsafe()], [["ADDED a"], undefined])
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )
  it.effect("Gone fails with 410 in the stream", () =>
    Effect.gen(function* () {
      yield* script({ match: isWatch, fault: { _tag: "Gone", after: 1 }, times: 1 })
      const gone = yield* watch(configMaps)
      yield* post(configMaps, configMap("a"))
      yield* settle
      same([gone.seen(), (yield* Effect.flip(Fiber.join(gone.fiber))).reason._tag], [["ADDED a"], "Gone"])
      const next = yield* watch(configMaps)
      yield* settle
      same(next.seen(), ["ADDED a"])
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )
})

/** Whether the cache shows an object and its pods as the server has them, and that a lost response ends the trust in it. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Handoff from "../../../../src/controllers/shared/workload/handoff.ts"
import * as ApiError from "../../../../src/kube/ApiError.ts"
import type { Pod } from "../../../../src/kube/resources.ts"
import { checkProperty } from "../../../support/property.ts"

const Facts = Schema.Struct({
  version: Schema.Literals(["1", "2", "8", "9"]),
  phase: Schema.Literals(["Pending", "Running"]),
  isReady: Schema.Boolean,
  isGoing: Schema.Literals([false, false, true]),
  isHeld: Schema.Literals([false, false, true]),
  node: Schema.Literals(["a", "a", "b"]),
  label: Schema.Literals(["x", "x", "y"]),
  index: Schema.Literals(["0", "0", "1"]),
  /** A field without influence on decisions. */
  restarts: Schema.Literals([0, 1])
})

type Facts = typeof Facts.Type

const podOf = (facts: Facts, uid: string): Pod => ({
  metadata: {
    name: uid,
    uid,
    resourceVersion: facts.version,
    labels: { hash: facts.label },
    annotations: { index: facts.index },
    ...(facts.isHeld ? { finalizers: ["held"] } : {}),
    ...(facts.isGoing ? { deletionTimestamp: "2000-01-01T00:00:00Z" } : {})
  },
  spec: { containers: [], nodeName: facts.node },
  status: {
    phase: facts.phase,
    conditions: [{ type: "Ready", status: facts.isReady ? "True" : "False" }],
    containerStatuses: [
      {
        name: "main",
        image: "",
        imageID: "",
        ready: facts.isReady,
        restartCount: facts.restarts,
        state: { running: {} }
      }
    ]
  }
})

const Change = Schema.UndefinedOr(
  Schema.Literals(["version", "phase", "isReady", "isGoing", "isHeld", "node", "label", "index", "restarts"])
)

const lists = Arbitrary.schema(
  Schema.Struct({
    pods: Schema.Array(Schema.Struct({ facts: Facts, change: Change })).check(Schema.isMaxLength(3)),
    /** A pod that is missing on the other side. */
    extra: Schema.Literals(["none", "none", "cached", "live", "another"])
  })
)

const others: Readonly<Record<string, Facts>> = {
  one: {
    version: "9",
    phase: "Pending",
    isReady: false,
    isGoing: true,
    isHeld: true,
    node: "b",
    label: "y",
    index: "1",
    restarts: 1
  },
  two: {
    version: "8",
    phase: "Running",
    isReady: true,
    isGoing: false,
    isHeld: false,
    node: "a",
    label: "x",
    index: "0",
    restarts: 0
  }
}

/** The pod after a change; its resource version always changes. */
const changed = (facts: Facts, change: typeof Change.Type): Facts => {
  if (change === undefined) return facts
  const other = others["one"] as Facts
  const next: Facts = { ...facts, version: facts.version === "9" ? "8" : "9" }
  const value = facts[change] === other[change] ? (others["two"] as Facts)[change] : other[change]
  return { ...next, ...(change === "version" ? {} : { [change]: value }) }
}

const decides = (change: typeof Change.Type): boolean =>
  change !== undefined && change !== "version" && change !== "restarts"

const failures = Arbitrary.schema(
  Schema.Struct({
    status: Schema.Literals([200, 400, 403, 404, 409, 422, 429, 500, 503, "network"]),
    uid: Schema.UndefinedOr(Schema.Literals(["u", "v"]))
  })
)

const context = { verb: "create", path: "/" } as const

const callOf = (status: number | string): Effect.Effect<void, ApiError.ApiError> => {
  if (status === 200) return Effect.void
  const error =
    typeof status === "string"
      ? ApiError.network(context, new Error("reset"))
      : ApiError.fromStatus({ context, status, body: "no" })
  return Effect.fail(error)
}

describe("Handoff", () => {
  checkProperty("the cache is fresh if it has all pods with all fields that decisions depend on", lists, (one) => {
    const cached = one.pods.map(({ facts }, i) => podOf(facts, `p${i}`))
    const live = one.pods.map(({ change, facts }, i) => podOf(changed(facts, change), `p${i}`)).toReversed()
    const extra = (name: string) => podOf(others["two"] as Facts, name)
    const expected = one.extra === "none" && !one.pods.some(({ change }) => decides(change))
    return (
      Handoff.isSame(
        one.extra === "cached" || one.extra === "another" ? [...cached, extra("a")] : cached,
        one.extra === "live" || one.extra === "another" ? [...live, extra("b")] : live
      ) === expected
    )
  })

  checkProperty("an owner is trusted until it is distrusted", failures, ({ uid = "w" }) => {
    const expectations = Handoff.make()
    const before = expectations.isTrusted(uid)
    expectations.trust(uid)
    const after = expectations.isTrusted(uid)
    expectations.distrust(uid)
    return !before && after && !expectations.isTrusted(uid)
  })

  checkProperty("only a lost response ends the trust, and only in that owner", failures, ({ status, uid }) =>
    Effect.gen(function* () {
      const expectations = Handoff.make()
      expectations.trust("u")
      const done = yield* Effect.exit(Handoff.watched(expectations, uid, callOf(status)))
      const isUnanswered = status === "network" || status === 500 || status === 503
      return (
        expectations.isTrusted("u") !== (isUnanswered && uid === "u") && (done._tag === "Success") === (status === 200)
      )
    })
  )

  it.effect("the checks run in order until one fails, and none runs for a trusted object", () =>
    Effect.gen(function* () {
      const trust = Handoff.make()
      const asked: Array<string> = []
      const check = (name: string, isSame: boolean) => Effect.sync(() => (asked.push(name), isSame))
      const fresh = (first: boolean, second: boolean) =>
        Handoff.isFresh(trust, "u", [check("first", first), check("second", second)])
      assert.deepStrictEqual([yield* fresh(false, true), yield* fresh(true, false)], [false, false])
      assert.isFalse(trust.isTrusted("u"))
      assert.deepStrictEqual([yield* fresh(true, true), yield* fresh(false, false)], [true, true])
      assert.deepStrictEqual(asked, ["first", "first", "second", "first", "second"])
      trust.distrust("u")
      assert.isFalse(yield* fresh(false, true))
    })
  )

  it.effect("an object is fresh if the live one has its uid and version", () =>
    Effect.gen(function* () {
      const of = (uid: string, resourceVersion: string) => ({ metadata: { name: "web", uid, resourceVersion } })
      const isSame = (live: Effect.Effect<ReturnType<typeof of>, ApiError.ApiError>) =>
        Handoff.isSameVersion(of("u", "1"), live)
      assert.isTrue(yield* isSame(Effect.succeed(of("u", "1"))))
      assert.isFalse(yield* isSame(Effect.succeed(of("u", "2"))))
      assert.isFalse(yield* isSame(Effect.succeed(of("v", "1"))))
      const failing = (status: number) => Effect.fail(ApiError.fromStatus({ context, status, body: "no" }))
      assert.isFalse(yield* isSame(failing(404)))
      assert.strictEqual((yield* Effect.flip(isSame(failing(503)))).status, 503)
    })
  )

  it.effect("pods of other owners do not count", () =>
    Effect.gen(function* () {
      const owner = { metadata: { name: "web", uid: "u" } }
      const podOfOwner = (name: string, uid: string): Pod => ({
        metadata: {
          name,
          uid: name,
          ownerReferences: [{ apiVersion: "v1", kind: "Owner", name: "web", uid, controller: true }]
        }
      })
      const own = podOfOwner("a", "u")
      const other = podOfOwner("b", "v")
      assert.isTrue(yield* Handoff.hasSamePods(owner, [own], Effect.succeed([other, own])))
      assert.isFalse(yield* Handoff.hasSamePods(owner, [own], Effect.succeed([other])))
    })
  )
})

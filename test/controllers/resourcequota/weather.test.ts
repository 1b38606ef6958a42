/**
 * Quotas in bad weather: conflicts, refusals, lost answers, caches that lag, and a loop that ends between any two of its writes, while what they
 * count comes, changes and goes. Afterwards they say what is there, and nobody writes any more. Mutants that believe too much, or give up
 * too early, do not get there.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as TestClock from "effect/testing/TestClock"
import * as ResourceQuotaController from "../../../src/controllers/ResourceQuota.ts"
import * as Quantity from "../../../src/kube/quantity.ts"
import { Pod, ResourceQuota, Secret, Service } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/layers/apiserver/ApiServer.ts"
import type { Fault, Rule } from "../../../src/layers/apiserver/faults.ts"
import { ClusterTest } from "../../../src/layers/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { LeaderLost } from "../../../src/layers/Leadership.ts"
import { int, oneOf } from "../../support/laws.ts"
import { loadThrough } from "../../support/mutant.ts"
import { runs, seed } from "../../support/runs.ts"
import * as Stand from "./stand.ts"

const step = Arbitrary.all({
  what: oneOf("pod", "pod", "end", "gone", "secret", "free", "service", "type", "limit", "quota", "meddle", "wait"),
  which: int(0, 2),
  fault: oneOf("none", "none", "conflict", "refusal", "lost", "lagging", "crash", "cut"),
  /** How many calls the fault meets. */
  times: int(1, 3)
})
const history = Arbitrary.array(step, { minLength: 1, maxLength: 12 })

type Step = typeof step extends Arbitrary.Arbitrary<infer A> ? A : never

const faults: Partial<Record<Step["fault"], Fault>> = {
  conflict: { _tag: "Conflict" },
  refusal: { _tag: "Status", code: 500 },
  lost: { _tag: "DropAnswer" },
  crash: { _tag: "DropAnswer" }
}

/** What meets the writes of the loop, and what the watches. */
const rulesOf = ({ fault, times }: Step): ReadonlyArray<Rule> => {
  const onWrites = faults[fault]
  if (onWrites !== undefined)
    return [
      {
        match: ({ context, method }) => context.resource === "resourcequotas/status" && method === "PUT",
        fault: onWrites,
        times
      }
    ]
  const cut: Fault = { _tag: "CutWatch", after: 0, how: "reset" }
  const watches = fault === "lagging" ? ["resourcequotas"] : fault === "cut" ? ["pods", "secrets", "services"] : []
  return watches.map((resource) => ({ match: { verb: "watch", resource }, fault: cut, times }))
}

const hard = {
  pods: "2",
  "count/pods": "4",
  "requests.cpu": "1",
  secrets: "3",
  services: "9",
  "services.nodeports": "9"
}

const quietly = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.ignore(effect)

const act = ({ what, which }: Step, i: number) => {
  const name = `a${which}`
  switch (what) {
    case "pod":
      return quietly(Stand.pod(name, { cpu: "200m" }))
    case "end":
      return quietly(Stand.patch(Pod, name, { status: { phase: "Succeeded" } }, "status"))
    case "gone":
      return quietly(Stand.remove(Pod, name))
    case "secret":
      return quietly(Stand.create(Secret, name))
    case "free":
      return quietly(Stand.remove(Secret, name))
    case "service":
      return quietly(Stand.create(Service, name, { spec: { type: "NodePort", ports: [{ port: 80 }] } }))
    case "type":
      return quietly(Stand.patch(Service, name, { spec: { type: "ClusterIP", ports: [{ port: 80, nodePort: null }] } }))
    case "limit":
      return quietly(Stand.patch(ResourceQuota, "q", { spec: { hard: { secrets: String(3 + (i % 2)) } } }))
    case "quota":
      return Effect.andThen(quietly(Stand.remove(ResourceQuota, "q")), () => quietly(Stand.quota("q", hard)))
    case "meddle":
      return quietly(Stand.patch(ResourceQuota, "q", { status: { used: { secrets: "0" } } }, "status"))
    case "wait":
      return Stand.advance("3 seconds")
  }
}

/** What is there. */
const expected = Effect.gen(function* () {
  const client = yield* KubeClient
  const { items: pods } = yield* client.list(Pod, { namespace: Stand.namespace })
  const { items: secrets } = yield* client.list(Secret, { namespace: Stand.namespace })
  const { items: services } = yield* client.list(Service, { namespace: Stand.namespace })
  const live = pods.filter(({ status }) => status?.phase !== "Succeeded").length
  return {
    pods: String(live),
    "count/pods": String(pods.length),
    "requests.cpu": Quantity.canonical({ nanos: BigInt(live) * 200_000_000n, form: "decimal" }),
    secrets: String(secrets.length),
    services: String(services.length),
    "services.nodeports": String(services.filter(({ spec }) => spec?.type === "NodePort").length)
  }
})

const gone = Exit.fail(new LeaderLost({ reason: "Stolen", message: "the process is gone" }))

type Make = typeof ResourceQuotaController.make

/** Plays it, and answers with what is wrong in the end. */
const play = (steps: ReadonlyArray<Step>, make: Make = ResourceQuotaController.make) =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const server = yield* ApiServer
    yield* Stand.quota("q", hard)
    let running = yield* cluster.run(make())
    for (const [i, one] of steps.entries()) {
      yield* server.setFaults(rulesOf(one))
      yield* act(one, i)
      if (one.fault !== "crash") continue
      // The loop ends where it is, and another takes over.
      yield* running.stop(gone)
      running = yield* cluster.run(make())
    }
    yield* server.setFaults([])
    yield* Stand.advance("10 minutes")
    const calls = yield* Stand.recording
    yield* Stand.advance("1 hour")
    const found = yield* Effect.flatMap(KubeClient, (client) =>
      client.get(ResourceQuota, { namespace: Stand.namespace, name: "q" })
    )
    const [told, there] = [found.status?.used ?? {}, yield* expected]
    return [
      ...Object.entries(there).flatMap(([name, amount]) =>
        told[name] === amount ? [] : [`${name} is ${told[name]} instead of ${amount}`]
      ),
      ...(JSON.stringify(found.status?.hard) === JSON.stringify(found.spec?.hard) ? [] : ["the limits differ"]),
      ...calls.map(({ path }) => `${path} is written for nothing`)
    ]
  }).pipe(Effect.scoped, Effect.provide(Stand.layer))

const check = (make?: Make) => (steps: ReadonlyArray<Step>) =>
  Effect.map(Effect.provide(play(steps, make), TestClock.layer()), (wrong) => {
    assert.deepStrictEqual(wrong, [])
    return true
  })

describe("in any weather", () => {
  it.effect(
    "quotas say in the end what is there, and are left alone then",
    () =>
      Effect.gen(function* () {
        const result = yield* Arbitrary.checkEffect(history, check(), { runs: runs(12), maxShrinks: 50, seed })
        assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
      }),
    120_000
  )
})

/** Short ones, of which each mutant breaks one. */
const told: ReadonlyArray<ReadonlyArray<Partial<Step>>> = [
  [{ what: "secret" }, { what: "secret", which: 1 }, { what: "free", fault: "conflict", times: 3 }],
  [{ what: "pod" }, { what: "end" }, { what: "pod", which: 1 }, { what: "gone", which: 1 }],
  [{ what: "wait" }, { what: "limit", fault: "lost" }],
  [{ what: "secret" }, { what: "meddle" }, { what: "secret", which: 1 }],
  [{ what: "secret" }, { what: "quota" }, { what: "secret", which: 1 }, { what: "free" }]
]

const mutants = [
  {
    title: "what failed to be freed is forgotten",
    path: "controllers/resourcequota/loop.ts",
    find: "mayFree ? freeing.add(key) : undefined",
    replace: "undefined"
  },
  {
    title: "other limits are no news",
    path: "controllers/resourcequota/loop.ts",
    find: 'delta._tag === "Created" || !hasSameLimits(delta.previous, object)',
    replace: 'delta._tag === "Created"'
  },
  {
    title: "nothing that goes frees anything",
    path: "controllers/resourcequota/loop.ts",
    find: "for (const key of less) ask(key)",
    replace: "less.length"
  },
  {
    title: "what comes and was not charged is not added",
    path: "controllers/resourcequota/loop.ts",
    find: "for (const key of more) askLater(key)",
    replace: "more.length"
  },
  {
    title: "nothing is counted, ever",
    path: "controllers/resourcequota/loop.ts",
    find: "hasBegun = true",
    replace: "hasBegun = false"
  },
  {
    title: "what is used is only ever added to",
    path: "controllers/resourcequota/plan.ts",
    find: "known.nanos > now.nanos && !mayFree",
    replace: "known.nanos > now.nanos"
  },
  {
    title: "kinds are counted by the sums of others",
    path: "controllers/resourcequota/books.ts",
    find: "if (counted.some(Usage.isMeasured))",
    replace: "if (!counted.some(Usage.isMeasured))"
  }
]

/** Before everything is counted anew, which would mend them. */
const promptly = (steps: ReadonlyArray<Partial<Step>>, make: Make = ResourceQuotaController.make) =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const server = yield* ApiServer
    yield* Stand.quota("q", hard)
    yield* cluster.run(make({ syncPeriod: "1 day" }))
    yield* Stand.settle
    for (const [i, one] of steps.entries()) {
      const whole: Step = { what: "wait", which: 0, fault: "none", times: 1, ...one }
      yield* server.setFaults(rulesOf(whole))
      yield* act(whole, i)
    }
    yield* Stand.advance("1 minute")
    const { spec, status } = yield* Effect.flatMap(KubeClient, (client) =>
      client.get(ResourceQuota, { namespace: Stand.namespace, name: "q" })
    )
    return [status?.used, status?.hard, yield* expected, spec?.hard] as const
  }).pipe(Effect.scoped, Effect.provide(Stand.layer))

const isRight = ([used, limits, there, spec]: Effect.Success<ReturnType<typeof promptly>>): boolean =>
  JSON.stringify(limits) === JSON.stringify(spec) &&
  Object.entries(there).every(([name, amount]) => used?.[name] === amount)

describe("without counting anew", () => {
  it.effect("quotas are told the truth promptly", () =>
    Effect.gen(function* () {
      for (const steps of told) assert.isTrue(isRight(yield* promptly(steps)), JSON.stringify(steps))
    })
  )

  for (const mutation of mutants)
    it.effect(
      `mutant is caught: ${mutation.title}`,
      () =>
        Effect.gen(function* () {
          const { make } = yield* Effect.promise(() =>
            loadThrough<typeof ResourceQuotaController>("controllers/ResourceQuota.ts", mutation.path, mutation)
          )
          let isCaught = false
          for (const steps of told) isCaught ||= !isRight(yield* promptly(steps, make))
          assert.isTrue(isCaught)
        }),
      60_000
    )
})

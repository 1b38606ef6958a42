/**
 * Fault injection for resource quotas: conflicts, failed requests, lost responses, caches that lag, and a controller that stops between any two
 * of its writes, while the objects that they count are created, updated and deleted. Afterwards the status of each quota equals the usage in
 * the API server, and the controller writes nothing more.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ResourceQuotaController from "../../../src/controllers/ResourceQuota.ts"
import * as Quantity from "../../../src/kube/quantity.ts"
import { Pod, ResourceQuota, Secret, Service } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import type { Fault, Rule } from "../../../src/apiserver/faults.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { writeFaults } from "../../support/cluster.ts"
import { performSteps } from "../../support/faultSteps.ts"
import { checkSequences, int, oneOf } from "../../support/property.ts"
import { runs, seed } from "../../support/runs.ts"
import * as Harness from "./harness.ts"

const step = Arbitrary.all({
  what: oneOf("pod", "pod", "end", "gone", "secret", "free", "service", "type", "limit", "quota", "meddle", "wait"),
  which: int(0, 2),
  fault: oneOf("none", "none", "conflict", "refusal", "lost", "lagging", "crash", "cut"),
  /** How many calls the fault affects. */
  times: int(1, 3)
})
const history = Arbitrary.array(step, { minLength: 1, maxLength: 12 })

type Step = typeof step extends Arbitrary.Arbitrary<infer A> ? A : never

/** The faults of the controller's writes and of its watches. */
const rulesOf = ({ fault, times }: Step): ReadonlyArray<Rule> => {
  const onWrites = writeFaults[fault]
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
      return quietly(Harness.pod(name, { cpu: "200m" }))
    case "end":
      return quietly(Harness.patch(Pod, name, { status: { phase: "Succeeded" } }, "status"))
    case "gone":
      return quietly(Harness.remove(Pod, name))
    case "secret":
      return quietly(Harness.create(Secret, name))
    case "free":
      return quietly(Harness.remove(Secret, name))
    case "service":
      return quietly(Harness.create(Service, name, { spec: { type: "NodePort", ports: [{ port: 80 }] } }))
    case "type":
      return quietly(
        Harness.patch(Service, name, { spec: { type: "ClusterIP", ports: [{ port: 80, nodePort: null }] } })
      )
    case "limit":
      return quietly(Harness.patch(ResourceQuota, "q", { spec: { hard: { secrets: String(3 + (i % 2)) } } }))
    case "quota":
      return Effect.andThen(quietly(Harness.remove(ResourceQuota, "q")), () => quietly(Harness.quota("q", hard)))
    case "meddle":
      return quietly(Harness.patch(ResourceQuota, "q", { status: { used: { secrets: "0" } } }, "status"))
    case "wait":
      return Harness.advance("3 seconds")
  }
}

/** The usage in the API server. */
const expected = Effect.gen(function* () {
  const client = yield* KubeClient
  const { items: pods } = yield* client.list(Pod, { namespace: Harness.namespace })
  const { items: secrets } = yield* client.list(Secret, { namespace: Harness.namespace })
  const { items: services } = yield* client.list(Service, { namespace: Harness.namespace })
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

/** Runs the steps and returns the final violations. */
const run = (steps: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    yield* Harness.quota("q", hard)
    yield* performSteps([ResourceQuotaController.make()], steps, rulesOf, act)
    const calls = yield* Harness.recording
    yield* Harness.advance("1 hour")
    const found = yield* Effect.flatMap(KubeClient, (client) =>
      client.get(ResourceQuota, { namespace: Harness.namespace, name: "q" })
    )
    const [status, usage] = [found.status?.used ?? {}, yield* expected]
    return [
      ...Object.entries(usage).flatMap(([name, amount]) =>
        status[name] === amount ? [] : [`${name} is ${status[name]} instead of ${amount}`]
      ),
      ...(JSON.stringify(found.status?.hard) === JSON.stringify(found.spec?.hard) ? [] : ["the limits differ"]),
      ...calls.map(({ path }) => `${path} is written although nothing changed`)
    ]
  }).pipe(Effect.scoped, Effect.provide(Harness.layer))

describe("ResourceQuota under fault injection", () => {
  checkSequences("converges to the usage in the API server and then writes nothing", history, run, {
    runs: runs(12),
    maxShrinks: 50,
    seed
  })
})

/** Short sequences, each about one way in which usage could be wrong until the next full recount. */
const sequences: ReadonlyArray<ReadonlyArray<Partial<Step>>> = [
  [{ what: "secret" }, { what: "secret", which: 1 }, { what: "free", fault: "conflict", times: 3 }],
  [{ what: "pod" }, { what: "end" }, { what: "pod", which: 1 }, { what: "gone", which: 1 }],
  [{ what: "wait" }, { what: "limit", fault: "lost" }],
  [{ what: "secret" }, { what: "meddle" }, { what: "secret", which: 1 }],
  [{ what: "secret" }, { what: "quota" }, { what: "secret", which: 1 }, { what: "free" }]
]

/** Status and usage before the next full recount, which would correct the status. */
const promptly = (steps: ReadonlyArray<Partial<Step>>) =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const server = yield* ApiServer
    yield* Harness.quota("q", hard)
    yield* cluster.run(ResourceQuotaController.make({ syncPeriod: Duration.days(1) }))
    yield* Harness.settle
    for (const [i, one] of steps.entries()) {
      const whole: Step = { what: "wait", which: 0, fault: "none", times: 1, ...one }
      yield* server.setFaults(rulesOf(whole))
      yield* act(whole, i)
    }
    yield* Harness.advance("1 minute")
    const { spec, status } = yield* Effect.flatMap(KubeClient, (client) =>
      client.get(ResourceQuota, { namespace: Harness.namespace, name: "q" })
    )
    return [status?.used, status?.hard, yield* expected, spec?.hard] as const
  }).pipe(Effect.scoped, Effect.provide(Harness.layer))

const isRight = ([used, limits, usage, spec]: Effect.Success<ReturnType<typeof promptly>>): boolean =>
  JSON.stringify(limits) === JSON.stringify(spec) &&
  Object.entries(usage).every(([name, amount]) => used?.[name] === amount)

describe("ResourceQuota between full recounts", () => {
  it.effect("updates the status after each change of usage or limits", () =>
    Effect.gen(function* () {
      for (const steps of sequences) assert.isTrue(isRight(yield* promptly(steps)), JSON.stringify(steps))
    })
  )
})

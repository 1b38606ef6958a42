/**
 * EndpointSlices and Endpoints under fault injection: conflicts, refusals, lost responses, a lagging cache, and
 * processes that end between any two writes. Afterwards they match the pods, and the controllers write nothing more.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as EndpointsController from "../../../src/controllers/Endpoints.ts"
import * as EndpointSliceController from "../../../src/controllers/EndpointSlice.ts"
import { EndpointSlice, Pod, Service } from "../../../src/kube/resources.ts"
import type { Fault, Rule } from "../../../src/apiserver/faults.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { checkSequences, int, oneOf } from "../../support/property.ts"
import { writeFaults } from "../../support/cluster.ts"
import { performSteps } from "../../support/faultSteps.ts"
import * as Harness from "../shared/services/harness.ts"

const slices = "endpointslices.discovery.k8s.io"

const step = Arbitrary.all({
  what: oneOf(
    "add",
    "add",
    "add",
    "ready",
    "unready",
    "delete",
    "kill",
    "relabel",
    "service",
    "wait",
    "meddle",
    "steal"
  ),
  pod: int(0, 4),
  fault: oneOf("none", "none", "conflict", "refusal", "lost", "lagging", "crash", "cut"),
  /** How many calls the fault affects. */
  times: int(1, 3)
})
const history = Arbitrary.array(step, { minLength: 1, maxLength: 10 })

type Step = typeof step extends Arbitrary.Arbitrary<infer A> ? A : never

const isWrite = (resource: string | undefined, method: string): boolean =>
  method !== "GET" && (resource === slices || resource === "endpoints")

/** Faults of the controllers' writes, and of the watches. */
const rulesOf = ({ fault, times, what }: Step): ReadonlyArray<Rule> => {
  // These would affect the user's own writes.
  if (what === "meddle" || what === "steal") return []
  const onWrites = writeFaults[fault]
  if (onWrites !== undefined) {
    return [{ match: ({ context, method }) => isWrite(context.resource, method), fault: onWrites, times }]
  }
  // Until the watch is restarted, after a pause, the cache lags.
  const cut: Fault = { _tag: "CutWatch", after: 0, how: "reset" }
  if (fault === "lagging")
    return [slices, "endpoints"].map((resource) => ({ match: { verb: "watch", resource }, fault: cut, times }))
  if (fault === "cut") return [{ match: { verb: "watch", resource: "pods" }, fault: cut, times }]
  return []
}

const quietly = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.ignore(effect)

const act = ({ pod, what }: Step, i: number) => {
  const name = `web-${pod}`
  switch (what) {
    case "add":
      return quietly(Harness.running(name, `10.1.${i}.${pod}`))
    case "ready":
    case "unready":
      return quietly(Harness.runs(name, [`10.1.${i}.${pod}`], what === "ready"))
    case "delete":
      return quietly(Harness.remove(Pod, name))
    case "kill":
      return quietly(Harness.remove(Pod, name, { gracePeriodSeconds: 0 }))
    case "relabel":
      return quietly(Harness.patch(Pod, name, { metadata: { labels: { app: pod % 2 === 0 ? "web" : "other" } } }))
    case "service":
      return Effect.andThen(quietly(Harness.remove(Service, "web")), () => quietly(Harness.expose()))
    case "meddle":
      return quietly(Effect.flatMap(oneSlice, (slice) => Harness.patch(EndpointSlice, slice, { endpoints: [] })))
    case "steal":
      return quietly(Effect.flatMap(oneSlice, (slice) => Harness.remove(EndpointSlice, slice)))
    case "wait":
      return Harness.advance("3 seconds")
  }
}

const oneSlice = Effect.map(Harness.slices(), ([slice]) => slice?.metadata.name ?? "none")

/** The expected addresses. */
const expected = Effect.map(Harness.list(Pod), (all) =>
  all
    .filter(({ metadata, status }) => metadata.labels?.["app"] === "web" && (status?.podIP ?? "") !== "")
    .map(({ metadata, status }) => {
      const serving = status?.conditions?.some((one) => one.type === "Ready" && one.status === "True") === true
      const terminating = metadata.deletionTimestamp !== undefined
      return [
        "IPv4",
        status?.podIP,
        ...(serving && !terminating ? ["ready"] : []),
        ...(serving ? ["serving"] : []),
        ...(terminating ? ["terminating"] : [])
      ].join(" ")
    })
    .sort()
)

const inEndpoints = Effect.map(Harness.endpoints(), (one) =>
  (one?.subsets ?? [])
    .flatMap(({ addresses = [], notReadyAddresses = [] }) =>
      addresses.map(({ ip }) => `IPv4 ${ip} ready serving`).concat(notReadyAddresses.map(({ ip }) => `IPv4 ${ip}`))
    )
    .sort()
)

/** Runs the steps, and returns the final violations. */
const run = (steps: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    const controllers = [EndpointsController.make(), EndpointSliceController.make({ maxEndpointsPerSlice: 2 })]
    yield* Harness.node("a", "zone-a")
    yield* Harness.expose()
    yield* performSteps(controllers, steps, rulesOf, act)
    const calls = yield* Harness.recording()
    yield* Harness.advance("1 hour")
    const wanted = yield* expected
    const found = yield* Harness.behind
    const full = (yield* Harness.sizes).filter((size) => size > 2)
    return [
      ...(wanted.join() === found.join() ? [] : [`slices say ${found.join()} instead of ${wanted.join()}`]),
      ...((yield* inEndpoints).join() === wanted.filter((one) => !one.includes("terminating")).join()
        ? []
        : [`Endpoints say ${(yield* inEndpoints).join()} instead of ${wanted.join()}`]),
      ...full.map((size) => `a slice has ${size} endpoints`),
      ...calls.map((call) => `${Harness.line(call)} for nothing`)
    ]
  }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))

describe("random operation sequences under fault injection", () => {
  checkSequences("slices and Endpoints match the pods in the end, and are not written any more", history, run)
})

/** Every kind of step and of fault, one after the other. */
const all: ReadonlyArray<Step> = [
  { what: "add", pod: 0, fault: "none", times: 1 },
  { what: "add", pod: 1, fault: "conflict", times: 1 },
  { what: "add", pod: 2, fault: "lost", times: 2 },
  { what: "meddle", pod: 0, fault: "none", times: 1 },
  { what: "wait", pod: 0, fault: "none", times: 1 },
  { what: "steal", pod: 0, fault: "none", times: 1 },
  { what: "wait", pod: 0, fault: "none", times: 1 },
  { what: "relabel", pod: 1, fault: "crash", times: 1 },
  { what: "service", pod: 0, fault: "none", times: 1 },
  { what: "kill", pod: 2, fault: "refusal", times: 3 },
  { what: "unready", pod: 0, fault: "cut", times: 1 },
  { what: "meddle", pod: 0, fault: "lagging", times: 1 }
]

describe("fixed operation sequences", () => {
  it.effect("slices and Endpoints match the pods after every kind of step and fault", () =>
    Effect.map(run(all), (wrong) => assert.deepStrictEqual(wrong, []))
  )

  const add = { what: "add", pod: 0, fault: "none", times: 1 } as const
  const wait = { ...add, what: "wait" } as const

  for (const [title, last] of [
    ["a client changes a slice", { what: "meddle" }],
    ["a client deletes a slice", { what: "steal" }],
    ["the only pod is deleted while writes meet conflicts", { what: "kill", fault: "conflict", times: 10 }],
    ["the Service is deleted and created again", { what: "service" }],
    ["the only pod is deleted", { what: "kill" }]
  ] as const) {
    it.effect(`slices and Endpoints match the pods after ${title}`, () =>
      Effect.map(run([add, wait, { ...add, ...last }]), (wrong) => assert.deepStrictEqual(wrong, []))
    )
  }
})

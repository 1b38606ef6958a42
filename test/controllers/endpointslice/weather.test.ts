/**
 * Slices and Endpoints in bad weather: conflicts, refusals, lost answers, a cache that lags, and a loop that ends between any two of its
 * writes. Afterwards they say what the pods say, and nobody writes any more. Mutants that believe too much or too little of the cache do not
 * get there.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as TestClock from "effect/testing/TestClock"
import * as EndpointsController from "../../../src/controllers/Endpoints.ts"
import * as EndpointSliceController from "../../../src/controllers/EndpointSlice.ts"
import { EndpointSlice, Pod, Service } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/layers/apiserver/ApiServer.ts"
import type { Fault, Rule } from "../../../src/layers/apiserver/faults.ts"
import { ClusterTest } from "../../../src/layers/ClusterTest.ts"
import { LeaderLost } from "../../../src/layers/Leadership.ts"
import { int, oneOf } from "../../support/laws.ts"
import { loadThrough } from "../../support/mutant.ts"
import { runs, seed } from "../../support/runs.ts"
import * as Stand from "../services/stand.ts"

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
  /** How many calls the fault meets. */
  times: int(1, 3)
})
const history = Arbitrary.array(step, { minLength: 1, maxLength: 10 })

type Step = typeof step extends Arbitrary.Arbitrary<infer A> ? A : never

const faults: Partial<Record<Step["fault"], Fault>> = {
  conflict: { _tag: "Conflict" },
  refusal: { _tag: "Status", code: 500 },
  lost: { _tag: "DropAnswer" },
  crash: { _tag: "DropAnswer" }
}

const isWrite = (resource: string | undefined, method: string): boolean =>
  method !== "GET" && (resource === slices || resource === "endpoints")

/** What meets the writes of the loops, and what the watches. */
const rulesOf = ({ fault, times, what }: Step): ReadonlyArray<Rule> => {
  // These would meet the user's own writes.
  if (what === "meddle" || what === "steal") return []
  const onWrites = faults[fault]
  if (onWrites !== undefined) {
    return [{ match: ({ context, method }) => isWrite(context.resource, method), fault: onWrites, times }]
  }
  // Until the watch is there again, after a pause, the cache lags behind.
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
      return quietly(Stand.running(name, `10.1.${i}.${pod}`))
    case "ready":
    case "unready":
      return quietly(Stand.runs(name, [`10.1.${i}.${pod}`], what === "ready"))
    case "delete":
      return quietly(Stand.remove(Pod, name))
    case "kill":
      return quietly(Stand.remove(Pod, name, { gracePeriodSeconds: 0 }))
    case "relabel":
      return quietly(Stand.patch(Pod, name, { metadata: { labels: { app: pod % 2 === 0 ? "web" : "other" } } }))
    case "service":
      return Effect.andThen(quietly(Stand.remove(Service, "web")), () => quietly(Stand.expose()))
    case "meddle":
      return quietly(Effect.flatMap(oneSlice, (slice) => Stand.patch(EndpointSlice, slice, { endpoints: [] })))
    case "steal":
      return quietly(Effect.flatMap(oneSlice, (slice) => Stand.remove(EndpointSlice, slice)))
    case "wait":
      return Stand.advance("3 seconds")
  }
}

const oneSlice = Effect.map(Stand.slices(), ([slice]) => slice?.metadata.name ?? "none")

/** What the pods say. */
const expected = Effect.map(Stand.list(Pod), (all) =>
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

const inEndpoints = Effect.map(Stand.endpoints(), (one) =>
  (one?.subsets ?? [])
    .flatMap(({ addresses = [], notReadyAddresses = [] }) =>
      addresses.map(({ ip }) => `IPv4 ${ip} ready serving`).concat(notReadyAddresses.map(({ ip }) => `IPv4 ${ip}`))
    )
    .sort()
)

const gone = Exit.fail(new LeaderLost({ reason: "Stolen", message: "the process is gone" }))

/** Plays it, and answers with what is wrong in the end. */
const play = (steps: ReadonlyArray<Step>, make: typeof EndpointSliceController.make = EndpointSliceController.make) =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const server = yield* ApiServer
    const loops = [EndpointsController.make(), make({ maxEndpointsPerSlice: 2 })]
    yield* Stand.node("a", "zone-a")
    yield* Stand.expose()
    let running = yield* Effect.forEach(loops, (one) => cluster.run(one))
    for (const [i, one] of steps.entries()) {
      yield* server.setFaults(rulesOf(one))
      yield* act(one, i)
      if (one.fault !== "crash") continue
      // The loops end where they are, and others take over.
      yield* Effect.forEach(running, ({ stop }) => stop(gone))
      running = yield* Effect.forEach(loops, (one) => cluster.run(one))
    }
    yield* server.setFaults([])
    yield* Stand.advance("10 minutes")
    const calls = yield* Stand.recording()
    yield* Stand.advance("1 hour")
    const wanted = yield* expected
    const found = yield* Stand.behind
    const full = (yield* Stand.sizes).filter((size) => size > 2)
    return [
      ...(wanted.join() === found.join() ? [] : [`slices say ${found.join()} instead of ${wanted.join()}`]),
      ...((yield* inEndpoints).join() === wanted.filter((one) => !one.includes("terminating")).join()
        ? []
        : [`Endpoints say ${(yield* inEndpoints).join()} instead of ${wanted.join()}`]),
      ...full.map((size) => `a slice has ${size} endpoints`),
      ...calls.map((call) => `${Stand.line(call)} for nothing`)
    ]
  }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))

describe("in any weather", () => {
  it.effect(
    "slices and Endpoints say in the end what the pods say, and are left alone then",
    () =>
      Effect.gen(function* () {
        const result = yield* Arbitrary.checkEffect(
          history,
          (steps) =>
            play(steps).pipe(
              Effect.provide(TestClock.layer()),
              Effect.flatMap((said) => (said.length === 0 ? Effect.succeed(true) : Effect.fail(said)))
            ),
          { runs: runs(25), maxShrinks: 50, seed }
        )
        assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
      }),
    120_000
  )
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

const isKnown = 'return ResourceVersion.isAtLeast(version, slice.metadata.resourceVersion ?? "")'

describe("a history of everything", () => {
  it.effect("ends well", () => Effect.map(play(all), (said) => assert.deepStrictEqual(said, [])))

  const add = { what: "add", pod: 0, fault: "none", times: 1 } as const
  const wait = { ...add, what: "wait" } as const

  for (const [title, path, find, replace, last] of [
    ["changes by others are taken for our own", "books.ts", isKnown, "return true", { what: "meddle" }],
    [
      "deletions by others are taken for our own",
      "books.ts",
      "return wasOurs",
      "return wasOurs || true",
      { what: "steal" }
    ],
    [
      "a failed sync is taken for done",
      "sync.ts",
      "...(yield* apply(ports, memory, { key, service, plan }))",
      "...((yield* apply(ports, memory, { key, service, plan })), [])",
      { what: "kill", fault: "conflict", times: 10 }
    ],
    [
      "slices are not deleted",
      "sync.ts",
      "yield* Effect.mapError(Calls.unlessGone(ports.remove(slice)), failure(what))",
      "void what",
      { what: "service" }
    ],
    [
      "every slice is taken for deleted",
      "books.ts",
      "isGone: (service, slice) => of(service, slice) === gone",
      "isGone: () => true",
      { what: "kill" }
    ]
  ] as const) {
    const steps: ReadonlyArray<Step> = [add, wait, { ...add, ...last }]

    it.effect(`a loop in which ${title} does not get there, ours does`, () =>
      Effect.gen(function* () {
        const mutant = yield* Effect.promise(() =>
          loadThrough<typeof EndpointSliceController>(
            "controllers/EndpointSlice.ts",
            `controllers/endpointslice/${path}`,
            {
              title,
              find,
              replace
            }
          )
        )
        assert.deepStrictEqual(yield* play(steps), [])
        assert.isNotEmpty(yield* play(steps, mutant.make))
      })
    )
  }
})

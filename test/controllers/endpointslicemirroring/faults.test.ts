/**
 * Mirrored slices under fault injection: conflicts, refusals, lost responses, a lagging cache, and processes that end
 * between any two writes. Afterwards they match the Endpoints, and the controller writes nothing more.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Mirroring from "../../../src/controllers/EndpointSliceMirroring.ts"
import * as Repack from "../../../src/controllers/shared/services/repack.ts"
import { Endpoints, EndpointSlice, Namespace, Service } from "../../../src/kube/resources.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import type { Fault, Rule } from "../../../src/apiserver/faults.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { checkSequences, int, oneOf, type ValueOf } from "../../support/property.ts"
import { writeFaults } from "../../support/cluster.ts"
import { performSteps } from "../../support/faultSteps.ts"
import * as Harness from "../shared/services/harness.ts"
import * as MirroringHarness from "./harness.ts"

const slices = "endpointslices.discovery.k8s.io"

const step = Arbitrary.all({
  what: oneOf("say", "say", "say", "ports", "empty", "skip", "select", "service", "remove", "wait", "meddle", "steal"),
  one: int(1, 4),
  two: int(0, 3),
  fault: oneOf("none", "none", "conflict", "refusal", "lost", "lagging", "crash", "cut"),
  /** How many calls the fault affects. */
  times: int(1, 3)
})

type Step = ValueOf<typeof step>

const rulesOf = ({ fault, times, what }: Step): ReadonlyArray<Rule> => {
  // These would affect the user's own writes.
  if (what === "meddle" || what === "steal") return []
  const onWrites = writeFaults[fault]
  if (onWrites !== undefined) {
    return [{ match: ({ context, method }) => method !== "GET" && context.resource === slices, fault: onWrites, times }]
  }
  // Until the watch is restarted, after a pause, the cache lags.
  const cut: Fault = { _tag: "CutWatch", after: 0, how: "reset" }
  if (fault === "lagging") return [{ match: { verb: "watch", resource: slices }, fault: cut, times }]
  if (fault === "cut") return [{ match: { verb: "watch", resource: "endpoints" }, fault: cut, times }]
  return []
}

const quietly = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.ignore(effect)

const say = (subsets: ReadonlyArray<object>) =>
  Effect.catch(MirroringHarness.change({ subsets }), () => Effect.asVoid(MirroringHarness.createEndpoints(subsets)))

const act = ({ one, two, what }: Step, i: number) => {
  switch (what) {
    case "say":
      return quietly(
        say([MirroringHarness.of(`10.0.${i}.${one}`, ...(two === 0 ? [`fd00::${one}`] : [`10.0.0.${two}`]))])
      )
    case "ports":
      return quietly(
        say([
          MirroringHarness.of(`10.0.0.${one}`),
          { ...MirroringHarness.of(`10.0.${i}.1`), ports: [{ name: "http", port: 9000 + two }] }
        ])
      )
    case "empty":
      return quietly(say([]))
    case "skip":
      return quietly(
        MirroringHarness.change({
          metadata: { labels: { "endpointslice.kubernetes.io/skip-mirror": String(two === 0) } }
        })
      )
    case "select":
      return quietly(MirroringHarness.select(two === 0 ? Harness.labels : null))
    case "service":
      return Effect.andThen(quietly(Harness.remove(Service, "web")), () => quietly(MirroringHarness.createService()))
    case "remove":
      return quietly(Harness.remove(Endpoints, "web"))
    case "meddle":
      return quietly(MirroringHarness.patchSlice({ endpoints: [], metadata: { annotations: { mine: "x" } } }))
    case "steal":
      return quietly(MirroringHarness.deleteSlice)
    case "wait":
      return Harness.advance("3 seconds")
  }
}

/** The expected content, if the Endpoints are mirrored. */
const expected = Effect.gen(function* () {
  const endpoints = yield* Harness.endpoints()
  const service = (yield* Harness.list(Service)).find(({ metadata }) => metadata.name === "web")
  const isSkipped = endpoints?.metadata.labels?.["endpointslice.kubernetes.io/skip-mirror"] === "true"
  if (isSkipped || service === undefined || service.spec?.selector !== undefined) return []
  const said = new Map<string, Set<string>>()
  for (const { addresses = [], ports = [] } of Repack.repack(endpoints?.subsets ?? [])) {
    // Ports of one name are in different slices.
    const lists = new Set(ports.map(({ name }) => name)).size < ports.length ? ports.map((one) => [one]) : [ports]
    for (const { ip } of addresses) {
      const family = ip.includes(":") ? "IPv6" : "IPv4"
      for (const list of lists) {
        const key = [family, ...list.map(({ name = "", port }) => `${name}:${port}`)].join(" ")
        said.set(key, (said.get(key) ?? new Set()).add(ip))
      }
    }
  }
  return Array.from(said, ([key, ips]) => [key, ...[...ips].toSorted()].join(" ")).toSorted()
})

/** Runs the steps, and returns the final violations. */
const run = (steps: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    yield* MirroringHarness.createService()
    yield* MirroringHarness.createEndpoints([MirroringHarness.of("10.0.0.1")])
    yield* performSteps([Mirroring.make()], steps, rulesOf, act)
    const calls = yield* Harness.recording()
    yield* Harness.advance("1 hour")
    const [wanted, found] = [yield* expected, yield* MirroringHarness.shown]
    return [
      ...(wanted.join() === found.join() ? [] : [`slices say ${found.join()} instead of ${wanted.join()}`]),
      ...calls.map((call) => `${Harness.line(call)} for nothing`)
    ]
  }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer()))

describe("random operation sequences under fault injection", () => {
  checkSequences(
    "slices match the Endpoints in the end, and are not written any more",
    Arbitrary.array(step, { minLength: 1, maxLength: 10 }),
    run
  )
})

const plain = { what: "say", one: 2, two: 1, fault: "none", times: 1 } as const

/** Every kind of step and of fault, one after the other. */
const all: ReadonlyArray<Step> = [
  plain,
  { ...plain, two: 0, fault: "lost" },
  { ...plain, what: "ports", fault: "conflict" },
  { ...plain, what: "meddle" },
  { ...plain, what: "steal" },
  { ...plain, what: "skip", two: 0, fault: "refusal", times: 3 },
  { ...plain, what: "skip" },
  { ...plain, what: "select", two: 0, fault: "crash" },
  { ...plain, what: "select" },
  { ...plain, what: "service", fault: "lost" },
  { ...plain, what: "remove", fault: "crash" },
  { ...plain, what: "say", fault: "crash", times: 2 },
  { ...plain, what: "empty", fault: "cut" },
  { ...plain, what: "ports", fault: "lagging" }
]

describe("fixed operation sequences", () => {
  it.effect("slices match the Endpoints after every kind of step and fault", () =>
    Effect.map(run(all), (wrong) => assert.deepStrictEqual(wrong, []))
  )

  for (const [title, last] of [
    ["an update meets a conflict", { fault: "conflict" }],
    ["the Endpoints become empty", { what: "empty" }],
    ["a create is refused", { two: 0, fault: "refusal" }],
    ["a client deletes a slice", { what: "steal" }]
  ] as const) {
    it.effect(`slices match the Endpoints after ${title}`, () =>
      Effect.map(run([plain, { ...plain, what: "wait" }, { ...plain, one: 3, ...last }]), (wrong) =>
        assert.deepStrictEqual(wrong, [])
      )
    )
  }
})

const refusal = (times: number, verb: "create" | "update" | "delete", fault: Fault): Rule => ({
  match: { verb, resource: slices },
  fault,
  times
})

describe("a failed write", () => {
  const refused: Fault = { _tag: "Status", code: 500, message: "no disk" }

  for (const [title, verb, act, fault, message] of [
    [
      "a create",
      "create",
      MirroringHarness.createEndpoints([MirroringHarness.of("10.0.0.1")]),
      refused,
      "failed to create EndpointSlice for Endpoints default/web: no disk"
    ],
    [
      "an update",
      "update",
      MirroringHarness.change({ subsets: [MirroringHarness.of("10.0.0.1", "10.0.0.2")] }),
      // Other refusals of an update are retried by the client itself.
      { _tag: "Conflict" },
      "failed to update NAME EndpointSlice for Endpoints default/web: "
    ]
  ] as const) {
    it.effect(`leads to an event, and is retried after one, two and four seconds: ${title}`, () =>
      MirroringHarness.scenario(
        Effect.gen(function* () {
          yield* MirroringHarness.createService()
          if (verb === "update") yield* MirroringHarness.createEndpoints([MirroringHarness.of("10.0.0.1")])
          const name = yield* MirroringHarness.nameOf
          const calls = yield* Harness.recording([refusal(3, verb, fault)])
          yield* act
          const count = () => calls.filter(({ context }) => context.verb === verb && context.resource === slices).length
          assert.strictEqual(count(), 1)
          for (const [seconds, times] of [
            ["999 millis", 1],
            ["1 millis", 2],
            ["1999 millis", 2],
            ["1 millis", 3],
            ["3999 millis", 3],
            ["1 millis", 4]
          ] as const) {
            yield* Harness.advance(seconds)
            assert.strictEqual(count(), times)
          }
          assert.lengthOf(yield* MirroringHarness.mirrored, 1)
          const [said] = yield* Harness.events
          assert.include(
            said,
            `endpoint-slice-mirroring-controller: Warning FailedToUpdateEndpointSlices Error updating Endpoint Slices for Endpoints default/web: ${message.replace("NAME", name)}`
          )
        })
      )
    )
  }

  it.effect("because the slice no longer exists counts as a success: a delete", () =>
    MirroringHarness.scenario(
      Effect.gen(function* () {
        yield* MirroringHarness.createService()
        yield* MirroringHarness.createEndpoints([MirroringHarness.of("10.0.0.1")])
        const calls = yield* Harness.recording([refusal(1, "delete", { _tag: "DropAnswer" })])
        yield* MirroringHarness.change({ subsets: [] })
        yield* Harness.advance("1 hour")
        assert.deepStrictEqual(yield* MirroringHarness.shown, [])
        assert.isAtMost(calls.filter(({ context }) => context.verb === "delete").length, 2)
      })
    )
  )

  it.effect("because another client was faster is no failure and no event: a delete", () =>
    MirroringHarness.scenario(
      Effect.gen(function* () {
        yield* MirroringHarness.createService()
        yield* MirroringHarness.createEndpoints([MirroringHarness.of("10.0.0.1")])
        const calls = yield* Harness.recording([
          refusal(1, "delete", { _tag: "Status", code: 404, reason: "NotFound" })
        ])
        yield* MirroringHarness.change({ subsets: [] })
        yield* Harness.advance("1 hour")
        assert.deepStrictEqual(calls.map(Harness.line), ["patch endpoints", `delete ${slices}`])
        assert.deepStrictEqual(yield* Harness.events, [])
      })
    )
  )

  it.effect("because its response was lost leaves no second slice: a create", () =>
    MirroringHarness.scenario(
      Effect.gen(function* () {
        yield* MirroringHarness.createService()
        yield* (yield* ApiServer).setFaults([refusal(1, "create", { _tag: "DropAnswer" })])
        yield* MirroringHarness.createEndpoints([MirroringHarness.of("10.0.0.1")])
        yield* Harness.advance("1 minute")
        assert.deepStrictEqual(yield* MirroringHarness.shown, ["IPv4 http:8080 10.0.0.1"])
        assert.lengthOf(yield* MirroringHarness.mirrored, 1)
      })
    )
  )

  it.effect("because the namespace is terminating leads to no event and no retry", () =>
    MirroringHarness.scenario(
      Effect.gen(function* () {
        const client = yield* KubeClient
        const namespace = "late"
        const key = { namespace, name: "web" }
        yield* client.create(Namespace, { metadata: { name: namespace } })
        yield* client.create(Service, { metadata: key, spec: { ports: [{ port: 80 }] } })
        const labels = { "endpointslice.kubernetes.io/skip-mirror": "true" }
        yield* client.create(Endpoints, {
          metadata: { ...key, labels },
          subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }]
        })
        yield* client.delete(Namespace, { name: namespace })
        const calls = yield* Harness.recording()
        yield* client.patch(Endpoints, key, Patch.merge({ metadata: { labels: { [Object.keys(labels)[0]!]: null } } }))
        yield* Harness.advance("1 hour")
        assert.deepStrictEqual(calls.map(Harness.line), ["patch endpoints", `create ${slices}`])
        assert.lengthOf((yield* client.list(EndpointSlice, { namespace })).items, 0)
        assert.deepStrictEqual(yield* Harness.events, [])
      })
    )
  )
})

describe("a write that the cache does not show yet", () => {
  it.effect("is not repeated", () =>
    Harness.withLoop(
      Effect.gen(function* () {
        const silent: Rule = {
          match: { verb: "watch", resource: slices },
          fault: { _tag: "CutWatch", after: 0, how: "silence" },
          times: 1
        }
        const calls = yield* Harness.recording([silent])
        yield* Harness.start([Mirroring.make()])
        yield* MirroringHarness.createService()
        yield* MirroringHarness.createEndpoints([MirroringHarness.of("10.0.0.1")])
        yield* MirroringHarness.change({ subsets: [MirroringHarness.of("10.0.0.2")] })
        yield* Harness.advance("1 minute")
        assert.deepStrictEqual(yield* MirroringHarness.shown, ["IPv4 http:8080 10.0.0.1"])
        yield* Harness.advance("1 hour")
        assert.deepStrictEqual(yield* MirroringHarness.shown, ["IPv4 http:8080 10.0.0.2"])
        assert.lengthOf(
          calls.filter((call) => Harness.line(call) === `create ${slices}`),
          1
        )
      }),
      { controllers: [], cache: { streamingList: "never" } }
    )
  )
})

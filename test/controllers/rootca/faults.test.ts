/**
 * Fault injection for the root CA publisher: whichever requests fail, however far the cache is behind and wherever the process stops, in the
 * end every active namespace has the ConfigMap with the right content, and the controller writes nothing more.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as RootCa from "../../../src/controllers/RootCa.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { ConfigMap, Namespace } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import type * as Faults from "../../../src/apiserver/faults.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { LeaderLost } from "../../../src/layers/Leadership.ts"
import type { Request } from "../../../src/layers/Transport.ts"
import { runs } from "../../support/runs.ts"

const map = "kube-root-ca.crt"

const Step = Schema.Union([
  Schema.TaggedStruct("Namespace", {
    name: Schema.Literals(["a", "b"]),
    isThere: Schema.Literals([true, true, false])
  }),
  /** A user deletes it, changes it, or creates one. */
  Schema.TaggedStruct("Meddle", {
    name: Schema.Literals(["a", "b", "default"]),
    how: Schema.Literals(["delete", "change", "make"])
  }),
  Schema.TaggedStruct("Fault", {
    fault: Schema.Literals(["Conflict", "Drop", "DropAnswer", "Forbidden"]),
    times: Schema.Literals([1, 2, 3])
  }),
  /** The process ends without a word, at whatever it was doing, and another one comes. */
  Schema.TaggedStruct("Crash", {}),
  Schema.TaggedStruct("Pass", { millis: Schema.Literals([0, 1, 20, 1000, 5000]) })
])

type Step = typeof Step.Type

const History = Schema.Struct({
  /** The cache sees so many changes, loses its watch, and comes back a little later, again and again; or it is never behind. */
  lag: Schema.Literals(["none", 0, 1, 2]),
  steps: Schema.Array(Step).check(Schema.isMaxLength(20))
})

type History = typeof History.Type

const lagging = ({ lag }: History): ReadonlyArray<Faults.Rule> =>
  lag === "none"
    ? []
    : ["configmaps", "namespaces"].map((resource) => ({
        match: { verb: "watch", resource },
        fault: { _tag: "CutWatch", after: lag, how: "reset" }
      }))

const faultOf = ({ fault }: Extract<Step, { readonly _tag: "Fault" }>): Faults.Fault =>
  fault === "Forbidden" ? { _tag: "Status", code: 403 } : { _tag: fault }

/** What the loop writes: users patch, and make others. */
const isOurs = ({ body, context: { resource, verb } }: Request): boolean =>
  resource === "configmaps" &&
  (verb === "update" || (verb === "create" && (body as ConfigMap).data?.["ca.crt"] !== undefined))

/** The user does not wait for an answer that is late. */
const ask = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.asVoid(Effect.forkScoped(Effect.ignore(effect), { startImmediately: true }))

const take = Effect.fnUntraced(function* (
  step: Exclude<Step, { readonly _tag: "Crash" }>,
  always: ReadonlyArray<Faults.Rule>
) {
  const client = yield* KubeClient
  const cluster = yield* ClusterTest
  switch (step._tag) {
    case "Namespace":
      return yield* ask(
        step.isThere
          ? client.create(Namespace, { metadata: { name: step.name } })
          : client.delete(Namespace, { name: step.name })
      )
    case "Meddle": {
      const target = { namespace: step.name, name: map }
      if (step.how === "delete") return yield* ask(client.delete(ConfigMap, target))
      if (step.how === "make") return yield* ask(client.create(ConfigMap, { metadata: target, data: { own: "x" } }))
      return yield* ask(client.patch(ConfigMap, target, Patch.merge({ data: { "ca.crt": "others", more: "x" } })))
    }
    case "Fault":
      return yield* (yield* ApiServer).setFaults([
        ...always,
        { match: isOurs, fault: faultOf(step), times: step.times }
      ])
    case "Pass":
      return yield* cluster.advance(step.millis)
  }
})

const data = JSON.stringify({ "ca.crt": "the authorities of the test cluster" })

/** Returns what is wrong in the end. */
const play = (history: History) =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const server = yield* ApiServer
    const always = lagging(history)
    yield* server.setFaults(always)
    let running = yield* cluster.run(RootCa.make())
    for (const step of history.steps) {
      if (step._tag !== "Crash") yield* take(step, always)
      else {
        yield* running.stop(Exit.fail(new LeaderLost({ reason: "Stolen", message: "the process is gone" })))
        running = yield* cluster.run(RootCa.make())
      }
    }
    yield* server.setFaults([])
    yield* cluster.advance("30 minutes")
    const before = yield* server.revision
    const maps = (yield* cluster.snapshot(ConfigMap)).filter(({ metadata }) => metadata.name === map)
    const wrong: Array<string> = []
    // One that is going is left as it is.
    for (const { metadata, status } of yield* cluster.snapshot(Namespace)) {
      if (status?.phase !== "Active") continue
      const found = maps.find((one) => one.metadata.namespace === metadata.name)
      if (found === undefined) wrong.push(`${metadata.name} has none`)
      else if (JSON.stringify(found.data) !== data) wrong.push(`${metadata.name} has another`)
    }
    yield* cluster.advance("2 hours")
    return (yield* server.revision) === before ? wrong : [...wrong, "it goes on writing"]
  }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ cache: { streamingList: "never" } })))

const check = Arbitrary.checkEffect(
  Arbitrary.schema(History),
  (history) =>
    Effect.flatMap(play(history), (wrong) => (wrong.length === 0 ? Effect.succeed(true) : Effect.fail(wrong))),
  { size: 25, runs: runs(20) }
)

describe("RootCa under fault injection", () => {
  it.effect(
    "publishes the root CA to every active namespace in the end",
    () =>
      Effect.map(check, (result) => assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))),
    600_000
  )
})

/**
 * The root CA publisher under fault injection: failed requests, a lagging cache, and a process that stops at any time. Finally every active namespace
 * has the ConfigMap with the right content, and the controller writes nothing more.
 */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as RootCa from "../../../src/controllers/RootCa.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { ConfigMap, Namespace } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import type * as Faults from "../../../src/apiserver/faults.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import type { Request } from "../../../src/layers/Transport.ts"
import { leaderLost } from "../../support/cluster.ts"
import { Crash, faultOf, inBackground, Lag, lagging } from "../../support/faultSteps.ts"
import { checkSequences } from "../../support/property.ts"
import { runs } from "../../support/runs.ts"

const map = "kube-root-ca.crt"

const Step = Schema.Union([
  Schema.TaggedStruct("Namespace", {
    name: Schema.Literals(["a", "b"]),
    isThere: Schema.Literals([true, true, false])
  }),
  /** A user deletes the ConfigMap, changes it, or creates one. */
  Schema.TaggedStruct("Meddle", {
    name: Schema.Literals(["a", "b", "default"]),
    how: Schema.Literals(["delete", "change", "make"])
  }),
  Schema.TaggedStruct("Fault", {
    fault: Schema.Literals(["Conflict", "Drop", "DropAnswer", "Forbidden"]),
    times: Schema.Literals([1, 2, 3])
  }),
  Crash,
  Schema.TaggedStruct("Pass", { millis: Schema.Literals([0, 1, 20, 1000, 5000]) })
])

type Step = typeof Step.Type

const History = Schema.Struct({
  lag: Lag,
  steps: Schema.Array(Step).check(Schema.isMaxLength(20))
})

type History = typeof History.Type

/** Writes of the controller; users patch, and create ConfigMaps without a CA bundle. */
const isOurs = ({ body, context: { resource, verb } }: Request): boolean =>
  resource === "configmaps" &&
  (verb === "update" || (verb === "create" && (body as ConfigMap).data?.["ca.crt"] !== undefined))

const take = Effect.fnUntraced(function* (
  step: Exclude<Step, { readonly _tag: "Crash" }>,
  always: ReadonlyArray<Faults.Rule>
) {
  const client = yield* KubeClient
  const cluster = yield* ClusterTest
  switch (step._tag) {
    case "Namespace":
      return yield* inBackground(
        step.isThere
          ? client.create(Namespace, { metadata: { name: step.name } })
          : client.delete(Namespace, { name: step.name })
      )
    case "Meddle": {
      const target = { namespace: step.name, name: map }
      if (step.how === "delete") return yield* inBackground(client.delete(ConfigMap, target))
      if (step.how === "make")
        return yield* inBackground(client.create(ConfigMap, { metadata: target, data: { own: "x" } }))
      return yield* inBackground(
        client.patch(ConfigMap, target, Patch.merge({ data: { "ca.crt": "others", more: "x" } }))
      )
    }
    case "Fault":
      return yield* (yield* ApiServer).setFaults([
        ...always,
        { match: isOurs, fault: faultOf(step.fault), times: step.times }
      ])
    case "Pass":
      return yield* cluster.advance(step.millis)
  }
})

const data = JSON.stringify({ "ca.crt": "the authorities of the test cluster" })

/** Returns the final violations. */
const run = (history: History) =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const server = yield* ApiServer
    const always = lagging(history.lag, "configmaps", "namespaces")
    yield* server.setFaults(always)
    let running = yield* cluster.run(RootCa.make())
    for (const step of history.steps) {
      if (step._tag !== "Crash") yield* take(step, always)
      else {
        yield* running.stop(leaderLost)
        running = yield* cluster.run(RootCa.make())
      }
    }
    yield* server.setFaults([])
    yield* cluster.advance("30 minutes")
    const before = yield* server.revision
    const maps = (yield* cluster.snapshot(ConfigMap)).filter(({ metadata }) => metadata.name === map)
    const violations: Array<string> = []
    // Terminating namespaces are ignored.
    for (const { metadata, status } of yield* cluster.snapshot(Namespace)) {
      if (status?.phase !== "Active") continue
      const found = maps.find((one) => one.metadata.namespace === metadata.name)
      if (found === undefined) violations.push(`${metadata.name} has no ConfigMap`)
      else if (JSON.stringify(found.data) !== data) violations.push(`${metadata.name} has other data`)
    }
    yield* cluster.advance("2 hours")
    return (yield* server.revision) === before
      ? violations
      : [...violations, "writes continue although nothing changes"]
  }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ cache: { streamingList: "never" } })))

describe("RootCa under fault injection", () => {
  checkSequences("finally publishes the CA bundle to every active namespace", Arbitrary.schema(History), run, {
    size: 25,
    runs: runs(20),
    timeout: 600_000
  })
})

/**
 * Service account tokens under fault injection: lost, refused or late requests and responses, a lagging cache, and a process that stops at any time.
 * Finally every token Secret belongs to an existing service account, and nothing is written any more. A token is never replaced, and the token of an
 * existing service account is never deleted.
 */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ServiceAccountToken from "../../../src/controllers/ServiceAccountToken.ts"
import { Secret, ServiceAccount } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import type * as Faults from "../../../src/apiserver/faults.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { leaderLost } from "../../support/cluster.ts"
import { Crash, faultOf, inBackground, Lag, lagging } from "../../support/faultSteps.ts"
import { checkSequences } from "../../support/property.ts"
import { runs, seed } from "../../support/runs.ts"

const namespace = "default"

const Step = Schema.Union([
  Schema.TaggedStruct("Account", { name: Schema.Literals(["x", "y"]), isThere: Schema.Boolean }),
  Schema.TaggedStruct("Secret", {
    name: Schema.Literals(["a", "b"]),
    of: Schema.Literals(["x", "y"]),
    isThere: Schema.Boolean
  }),
  Schema.TaggedStruct("Fault", {
    fault: Schema.Literals(["Conflict", "Drop", "DropAnswer", "Forbidden"]),
    resource: Schema.Literals(["secrets", "serviceaccounts"]),
    times: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 }))
  }),
  Crash,
  Schema.TaggedStruct("Pass", { millis: Schema.Literals([0, 1, 20, 1000]) })
])

type Step = typeof Step.Type

const secret = (name: string, of: string) => ({
  metadata: { namespace, name, annotations: { "kubernetes.io/service-account.name": of } },
  type: "kubernetes.io/service-account-token"
})

const History = Schema.Struct({ lag: Lag, steps: Schema.Array(Step).check(Schema.isMaxLength(20)) })

type History = typeof History.Type

/** Records forbidden requests of the controller. Users delete without a uid and write no tokens, so their requests are not recorded. */
const watching = (accounts: () => ReadonlyArray<ServiceAccount>, secrets: () => ReadonlyArray<Secret>) => {
  const violations: Array<string> = []
  const rule: Faults.Rule = {
    match: ({ body, context: { name, resource, verb } }) => {
      if (resource !== "secrets") return false
      const stored = secrets().find(({ metadata }) => metadata.name === name)
      const { preconditions } = (body ?? {}) as { readonly preconditions?: { readonly uid?: string } }
      const annotations = stored?.metadata.annotations ?? {}
      const [uid, of] = ["uid", "name"].map((what) => annotations[`kubernetes.io/service-account.${what}`])
      const isLive = accounts().some(({ metadata }) =>
        uid === undefined ? metadata.name === of : metadata.uid === uid
      )
      if (verb === "delete" && preconditions?.uid !== undefined && preconditions.uid === stored?.metadata.uid && isLive)
        violations.push(`the token ${name} of an existing account is deleted`)
      const before = stored?.data?.["token"]
      const after = verb === "update" ? (body as Secret).data?.["token"] : undefined
      if (before !== undefined && after !== undefined && before !== after)
        violations.push(`the token ${name} is replaced`)
      return false
    },
    fault: { _tag: "Drop" }
  }
  return { rule, violations }
}

const take = Effect.fnUntraced(function* (
  step: Exclude<Step, { readonly _tag: "Crash" }>,
  always: ReadonlyArray<Faults.Rule>
) {
  const client = yield* KubeClient
  const cluster = yield* ClusterTest
  const server = yield* ApiServer
  const target = { namespace, name: "name" in step ? step.name : "" }
  switch (step._tag) {
    case "Account":
      return yield* inBackground(
        step.isThere
          ? client.create(ServiceAccount, { metadata: target, secrets: [{ name: "a" }, { name: "b" }] })
          : client.delete(ServiceAccount, target)
      )
    case "Secret":
      return yield* inBackground(
        step.isThere ? client.create(Secret, secret(step.name, step.of)) : client.delete(Secret, target)
      )
    case "Fault":
      return yield* server.setFaults([
        ...always,
        {
          match: ({ context: { resource, verb } }) => resource === step.resource && verb !== "watch",
          fault: faultOf(step.fault),
          times: step.times
        }
      ])
    case "Pass":
      return yield* cluster.advance(step.millis)
  }
})

const run = (history: History) =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const server = yield* ApiServer
    const { steps } = history
    const { rule, violations } = watching(
      () => Effect.runSync(cluster.snapshot(ServiceAccount)),
      () => Effect.runSync(cluster.snapshot(Secret))
    )
    const always = [rule, ...lagging(history.lag, "secrets", "serviceaccounts")]
    yield* server.setFaults(always)
    let running = yield* cluster.run(ServiceAccountToken.make())
    const restart = Effect.gen(function* () {
      yield* running.stop(leaderLost)
      running = yield* cluster.run(ServiceAccountToken.make())
    })
    for (const step of steps) yield* step._tag === "Crash" ? restart : take(step, always)
    yield* server.setFaults([rule])
    // A Secret that was dropped from the queue after ten failures is synced again by the next process.
    yield* restart
    yield* cluster.advance("10 minutes")
    const before = yield* server.revision
    const [secrets, accounts] = [yield* cluster.snapshot(Secret), yield* cluster.snapshot(ServiceAccount)]
    for (const { data, metadata } of secrets) {
      const owner = accounts.find(
        (one) => one.metadata.uid === metadata.annotations?.["kubernetes.io/service-account.uid"]
      )
      if (owner?.metadata.name !== metadata.annotations?.["kubernetes.io/service-account.name"])
        violations.push(`${metadata.name} names another account than its uid`)
      const user = yield* server.authenticate(Buffer.from(data?.["token"] ?? "", "base64").toString())
      if (user?.uid !== owner?.metadata.uid) violations.push(`the token of ${metadata.name} is of another account`)
    }
    yield* cluster.advance("1 hour")
    if ((yield* server.revision) !== before) violations.push("writes continue although nothing changes")
    return violations
  }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ cache: { streamingList: "never" } })))

describe("ServiceAccountToken under fault injection", () => {
  checkSequences(
    "keeps the tokens of existing service accounts and deletes all others",
    Arbitrary.schema(History),
    run,
    {
      size: 25,
      seed,
      runs: runs(40),
      timeout: 600_000
    }
  )
})

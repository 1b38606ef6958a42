/**
 * Fault injection for service account tokens: whichever requests or responses are lost, refused or late, however far the cache is behind, and
 * wherever the process stops, in the end every token Secret belongs to an existing service account, and then nothing is written any more. A
 * token is never replaced, and the token of an existing service account never deleted.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as ServiceAccountToken from "../../../src/controllers/ServiceAccountToken.ts"
import { Secret, ServiceAccount } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import type * as Faults from "../../../src/apiserver/faults.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { LeaderLost } from "../../../src/layers/Leadership.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
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
  /** The process ends without a word, at whatever it was doing, and another one comes. */
  Schema.TaggedStruct("Crash", {}),
  Schema.TaggedStruct("Pass", { millis: Schema.Literals([0, 1, 20, 1000]) })
])

type Step = typeof Step.Type

const faultOf = ({ fault }: Extract<Step, { readonly _tag: "Fault" }>): Faults.Fault =>
  fault === "Forbidden" ? { _tag: "Status", code: 403 } : { _tag: fault }

const secret = (name: string, of: string) => ({
  metadata: { namespace, name, annotations: { "kubernetes.io/service-account.name": of } },
  type: "kubernetes.io/service-account-token"
})

/** The cache sees so many changes, loses its watch, and comes back a little later, again and again; or it is never behind. */
const Lag = Schema.Literals(["none", 0, 1, 2])

const History = Schema.Struct({ lag: Lag, steps: Schema.Array(Step).check(Schema.isMaxLength(20)) })

type History = typeof History.Type

const lagging = ({ lag }: History): ReadonlyArray<Faults.Rule> =>
  lag === "none"
    ? []
    : ["secrets", "serviceaccounts"].map((resource) => ({
        match: { verb: "watch", resource },
        fault: { _tag: "CutWatch", after: lag, how: "reset" }
      }))

/** What the loop did that it should not have, seen as its requests come; users give no uid to a deletion, and write no token. */
const watching = (accounts: () => ReadonlyArray<ServiceAccount>, secrets: () => ReadonlyArray<Secret>) => {
  const wrong: Array<string> = []
  const rule: Faults.Rule = {
    match: ({ body, context: { name, resource, verb } }) => {
      if (resource !== "secrets") return false
      const stored = secrets().find(({ metadata }) => metadata.name === name)
      const { preconditions } = (body ?? {}) as { readonly preconditions?: { readonly uid?: string } }
      const said = stored?.metadata.annotations ?? {}
      const [uid, of] = ["uid", "name"].map((what) => said[`kubernetes.io/service-account.${what}`])
      const isLive = accounts().some(({ metadata }) =>
        uid === undefined ? metadata.name === of : metadata.uid === uid
      )
      if (verb === "delete" && preconditions?.uid !== undefined && preconditions.uid === stored?.metadata.uid && isLive)
        wrong.push(`the token ${name} of a live account is deleted`)
      const before = stored?.data?.["token"]
      const after = verb === "update" ? (body as Secret).data?.["token"] : undefined
      if (before !== undefined && after !== undefined && before !== after) wrong.push(`the token ${name} is made anew`)
      return false
    },
    fault: { _tag: "Drop" }
  }
  return { rule, wrong }
}

/** The user does not wait for an answer that is late. */
const ask = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.asVoid(Effect.forkScoped(Effect.ignore(effect), { startImmediately: true }))

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
      return yield* ask(
        step.isThere
          ? client.create(ServiceAccount, { metadata: target, secrets: [{ name: "a" }, { name: "b" }] })
          : client.delete(ServiceAccount, target)
      )
    case "Secret":
      return yield* ask(
        step.isThere ? client.create(Secret, secret(step.name, step.of)) : client.delete(Secret, target)
      )
    case "Fault":
      return yield* server.setFaults([
        ...always,
        {
          match: ({ context: { resource, verb } }) => resource === step.resource && verb !== "watch",
          fault: faultOf(step),
          times: step.times
        }
      ])
    case "Pass":
      return yield* cluster.advance(step.millis)
  }
})

const play = (history: History) =>
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const server = yield* ApiServer
    const { steps } = history
    const { rule, wrong } = watching(
      () => Effect.runSync(cluster.snapshot(ServiceAccount)),
      () => Effect.runSync(cluster.snapshot(Secret))
    )
    const always = [rule, ...lagging(history)]
    yield* server.setFaults(always)
    let running = yield* cluster.run(ServiceAccountToken.make())
    const restart = Effect.gen(function* () {
      yield* running.stop(Exit.fail(new LeaderLost({ reason: "Stolen", message: "the process is gone" })))
      running = yield* cluster.run(ServiceAccountToken.make())
    })
    for (const step of steps) yield* step._tag === "Crash" ? restart : take(step, always)
    yield* server.setFaults([rule])
    // What ten failures in a row have put aside is looked at again by the next process.
    yield* restart
    yield* cluster.advance("10 minutes")
    const before = yield* server.revision
    const [secrets, accounts] = [yield* cluster.snapshot(Secret), yield* cluster.snapshot(ServiceAccount)]
    for (const { data, metadata } of secrets) {
      const owner = accounts.find(
        (one) => one.metadata.uid === metadata.annotations?.["kubernetes.io/service-account.uid"]
      )
      assert.strictEqual(owner?.metadata.name, metadata.annotations?.["kubernetes.io/service-account.name"])
      const held = yield* server.authenticate(Buffer.from(data?.["token"] ?? "", "base64").toString())
      assert.strictEqual(held?.uid, owner?.metadata.uid)
    }
    assert.deepStrictEqual(wrong, [])
    yield* cluster.advance("1 hour")
    assert.strictEqual(yield* server.revision, before)
  }).pipe(Effect.scoped, Effect.provide(ClusterTest.layer({ cache: { streamingList: "never" } })))

/** Runs random operation sequences. */
const check = Arbitrary.checkEffect(
  Arbitrary.schema(History),
  (history) => Effect.map(Effect.exit(play(history)), Exit.isSuccess),
  { size: 25, seed, runs: runs(40) }
)

describe("ServiceAccountToken under fault injection", () => {
  it.effect(
    "keeps the tokens of existing service accounts and deletes all others",
    () =>
      Effect.map(check, (result) => assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))),
    600_000
  )
})

/** Secrets get the tokens of their accounts and are deleted with them. Source: pkg/controller/serviceaccount: TokensController. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ServiceAccountToken from "../../src/controllers/ServiceAccountToken.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { Secret, ServiceAccount } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import * as Faults from "../../src/apiserver/faults.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"

const namespace = "default"
const type = "kubernetes.io/service-account-token"
const nameOf = "kubernetes.io/service-account.name"
const uidOf = "kubernetes.io/service-account.uid"

const account = (name: string, more: object = {}) =>
  Effect.flatMap(KubeClient, (client) => client.create(ServiceAccount, { metadata: { namespace, name }, ...more }))

const secret = (name: string, of: string, more: { readonly annotations?: object; readonly type?: string } = {}) =>
  Effect.flatMap(KubeClient, (client) =>
    client.create(Secret, {
      metadata: { namespace, name, annotations: { [nameOf]: of, ...more.annotations } },
      type: more.type ?? type
    })
  )

const get = (name: string) => Effect.flatMap(KubeClient, (client) => client.get(Secret, { namespace, name }))

const names = Effect.flatMap(ClusterTest, (cluster) =>
  Effect.map(cluster.snapshot(Secret), (all) => all.map(({ metadata }) => metadata.name))
)

const read = (text: string | undefined) => Buffer.from(text ?? "", "base64").toString()

const tokenIn = ({ data }: Secret) => read(data?.["token"])

const holderOf = (token: string) => Effect.flatMap(ApiServer, ({ authenticate }) => authenticate(token))

const run = Effect.flatMap(ClusterTest, (cluster) => cluster.run(ServiceAccountToken.make()))

const settle = Effect.flatMap(ClusterTest, (cluster) => cluster.settle)

const test = <E>(title: string, body: Effect.Effect<void, E>) => it.effect(title, () => body)

/** Runs the test in a cluster of its own, with the controller. */
const testInCluster = <E, R>(title: string, body: Effect.Effect<void, E, R>) =>
  test(title, body.pipe(Effect.scoped, Effect.provide(ClusterTest.layer())) as Effect.Effect<void, unknown>)

/** Counts requests for a kind without a fault. */
const counting = (count: { requests: number }): Faults.Rule => ({
  match: ({ method }) => {
    if (method !== "GET") count.requests++
    return false
  },
  fault: { _tag: "Drop" }
})

describe("serviceaccount-token", () => {
  testInCluster(
    "writes to a Secret a token that authenticates its account, the CA bundle and the namespace",
    Effect.gen(function* () {
      const { metadata } = yield* account("robot")
      yield* run
      yield* secret("token", "robot")
      yield* settle
      const filled = yield* get("token")
      assert.strictEqual(filled.metadata.annotations?.[uidOf], metadata.uid)
      assert.strictEqual(read(filled.data?.["namespace"]), namespace)
      assert.strictEqual(read(filled.data?.["ca.crt"]), "the authorities of the test cluster")
      const [head, claims] = tokenIn(filled).split(".")
      const part = (text = ""): unknown => JSON.parse(Buffer.from(text, "base64url").toString())
      assert.deepStrictEqual(part(head), { alg: "RS256", kid: "embedded" })
      assert.deepStrictEqual(part(claims), {
        iss: "kubernetes/serviceaccount",
        "kubernetes.io/serviceaccount/namespace": namespace,
        "kubernetes.io/serviceaccount/secret.name": "token",
        "kubernetes.io/serviceaccount/service-account.name": "robot",
        "kubernetes.io/serviceaccount/service-account.uid": metadata.uid,
        sub: "system:serviceaccount:default:robot"
      })
      assert.deepStrictEqual(yield* holderOf(tokenIn(filled)), {
        name: "system:serviceaccount:default:robot",
        uid: metadata.uid ?? "",
        groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"]
      })
    })
  )

  testInCluster(
    "does not change other Secrets, and adds no Secret to an account",
    Effect.gen(function* () {
      yield* account("robot")
      yield* run
      yield* secret("other", "robot", { type: "Opaque" })
      yield* settle
      assert.isUndefined((yield* get("other")).data)
      assert.deepStrictEqual(yield* names, ["other"])
    })
  )

  testInCluster(
    "deletes the Secrets of a deleted account, of a recreated account, and of an account that never existed",
    Effect.gen(function* () {
      const client = yield* KubeClient
      yield* account("robot")
      yield* run
      yield* secret("a", "robot")
      yield* secret("b", "robot", { annotations: { [uidOf]: "another" } })
      yield* secret("c", "nobody")
      yield* settle
      assert.deepStrictEqual(yield* names, ["a"])
      const { token } = (yield* get("a")).data ?? {}
      yield* client.delete(ServiceAccount, { namespace, name: "robot" })
      yield* settle
      assert.deepStrictEqual(yield* names, [])
      assert.isUndefined(yield* holderOf(read(token)))
    })
  )

  testInCluster(
    "does not keep the tokens of a deleted account for a new account of the same name",
    Effect.gen(function* () {
      const client = yield* KubeClient
      yield* account("robot")
      const running = yield* run
      yield* secret("a", "robot")
      yield* settle
      yield* running.stop()
      yield* client.delete(ServiceAccount, { namespace, name: "robot" })
      yield* account("robot")
      yield* run
      yield* settle
      assert.deepStrictEqual(yield* names, [])
    })
  )

  testInCluster(
    "removes only the reference to a deleted Secret from its account, despite concurrent writes",
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      yield* account("robot", { secrets: [{ name: "a" }, { name: "b" }] })
      yield* run
      yield* secret("a", "robot")
      yield* settle
      const conflict = { match: Faults.on({ verb: "update", resource: "serviceaccounts" }), times: 9 }
      yield* (yield* ApiServer).setFaults([{ ...conflict, fault: { _tag: "Status", code: 409, reason: "Conflict" } }])
      yield* client.delete(Secret, { namespace, name: "a" })
      yield* cluster.advance("3 seconds")
      const robot = yield* client.get(ServiceAccount, { namespace, name: "robot" })
      assert.deepStrictEqual(robot.secrets, [{ name: "b" }])
    })
  )

  testInCluster(
    "restores data that users removed, and a CA bundle that users changed",
    Effect.gen(function* () {
      const client = yield* KubeClient
      yield* account("robot")
      yield* run
      yield* secret("a", "robot")
      yield* settle
      const before = yield* get("a")
      yield* client.patch(
        Secret,
        { namespace, name: "a" },
        Patch.merge({ data: { "ca.crt": "eA==", namespace: null } })
      )
      yield* settle
      const after = yield* get("a")
      assert.deepStrictEqual(after.data, before.data)
      // The token was not replaced, so its holders can still use it.
      yield* client.patch(Secret, { namespace, name: "a" }, Patch.merge({ data: { token: null } }))
      yield* settle
      assert.notStrictEqual(tokenIn(yield* get("a")), "")
    })
  )

  testInCluster(
    "retries a Secret ten times, and then not before it changes",
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const client = yield* KubeClient
      yield* account("robot")
      yield* run
      let tries = 0
      yield* (yield* ApiServer).setFaults([
        {
          match: (request) => Faults.on({ verb: "update", resource: "secrets" })(request) && ++tries > 0,
          fault: { _tag: "Status", code: 403 }
        }
      ])
      yield* secret("a", "robot")
      yield* cluster.advance("1 hour")
      assert.strictEqual(tries, 11)
      yield* (yield* ApiServer).setFaults([])
      yield* client.patch(Secret, { namespace, name: "a" }, Patch.merge({ metadata: { labels: { again: "" } } }))
      yield* settle
      assert.notStrictEqual(tokenIn(yield* get("a")), "")
    })
  )

  testInCluster(
    "writes nothing while nothing changes",
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* account("robot")
      yield* run
      yield* secret("a", "robot")
      yield* settle
      const count = { requests: 0 }
      yield* (yield* ApiServer).setFaults([counting(count)])
      yield* cluster.advance("1 day")
      assert.strictEqual(count.requests, 0)
    })
  )
})

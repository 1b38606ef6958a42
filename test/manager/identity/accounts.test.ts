/** Tokens of service accounts, requested from an embedded server in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { TestClock } from "effect/testing"
import { ServiceAccount } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import * as TokenSigner from "../../../src/apiserver/server/tokenSigner.ts"
import { Endpoint } from "../../../src/layers/Endpoint.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Accounts from "../../../src/manager/identity/accounts.ts"

const layer = KubeClient.layer.pipe(
  Layer.provide(ApiServer.layerTransport),
  Layer.provideMerge(ApiServer.layer({ authentication: { signer: TokenSigner.make() } }))
)

const base = Endpoint.fixed({
  server: "https://example.test",
  tls: { ca: "ca", cert: "cert", key: Redacted.make("key") },
  token: "root"
})

const tokenOf = (endpoint: Endpoint["Service"]) =>
  Effect.map(endpoint.identity, ({ headers }) => String(Redacted.value(headers)["authorization"]))

const made = Effect.flatMap(KubeClient, (client) => Accounts.endpoint(base, client, "deployment-controller"))

const isToken = (path: string) => path.endsWith("/serviceaccounts/deployment-controller/token")

describe("the account of a controller", () => {
  it.effect("is created if it is missing, and authenticates with a token and without a certificate", () =>
    Effect.gen(function* () {
      const endpoint = yield* made
      const { headers, tls } = yield* endpoint.identity
      assert.match(String(Redacted.value(headers)["authorization"]), /^Bearer [\w-]+\.[\w-]+\.[\w-]+$/)
      assert.deepStrictEqual(tls, { rejectUnauthorized: true, ca: "ca" })
      const client = yield* KubeClient
      const account = yield* client.get(ServiceAccount, { namespace: "kube-system", name: "deployment-controller" })
      assert.strictEqual(account.metadata.name, "deployment-controller")
      assert.strictEqual(yield* endpoint.identity, yield* endpoint.identity)
    }).pipe(Effect.provide(layer))
  )

  it.effect("gets a new token after four fifths of the lifetime, and after a 401", () =>
    Effect.gen(function* () {
      const endpoint = yield* made
      const first = yield* tokenOf(endpoint)
      yield* TestClock.adjust("47 minutes")
      assert.strictEqual(yield* tokenOf(endpoint), first)
      yield* TestClock.adjust("1 minute")
      const second = yield* tokenOf(endpoint)
      assert.notStrictEqual(second, first)
      const refused = yield* endpoint.identity
      assert.isTrue(yield* endpoint.renew(refused))
      const third = yield* endpoint.identity
      assert.notStrictEqual(third, refused)
      // Another request got a 401 with the same token, which has been replaced meanwhile.
      assert.isTrue(yield* endpoint.renew(refused))
      assert.strictEqual(yield* endpoint.identity, third)
    }).pipe(Effect.provide(layer))
  )

  it.effect(
    "uses the last token until it expires while no new one can be obtained, and does not retry on every call",
    () =>
      Effect.gen(function* () {
        const { setFaults } = yield* ApiServer
        const endpoint = yield* made
        const first = yield* tokenOf(endpoint)
        let asked = 0
        yield* setFaults([
          {
            match: ({ path }) => isToken(path) && ++asked > 0,
            fault: { _tag: "Status", code: 403, message: "no" }
          }
        ])
        yield* TestClock.adjust("50 minutes")
        for (let call = 0; call < 10; call++) assert.strictEqual(yield* tokenOf(endpoint), first)
        assert.strictEqual(asked, 1)
        yield* TestClock.adjust("31 seconds")
        assert.strictEqual(yield* tokenOf(endpoint), first)
        assert.strictEqual(asked, 2)
        yield* TestClock.adjust("10 minutes")
        const error = yield* Effect.flip(endpoint.identity)
        assert.match(error.message, /^no token for service account kube-system\/deployment-controller: no$/)
        yield* setFaults([])
        assert.notStrictEqual(yield* tokenOf(endpoint), first)
      }).pipe(Effect.provide(layer))
  )

  it.effect("requests one token for concurrent calls", () =>
    Effect.gen(function* () {
      const { setFaults } = yield* ApiServer
      let asked = 0
      yield* setFaults([{ match: ({ path }) => isToken(path) && (asked++, false), fault: { _tag: "Drop" } }])
      const endpoint = yield* made
      const tokens = yield* Effect.all(
        Array.from({ length: 20 }, () => tokenOf(endpoint)),
        {
          concurrency: "unbounded"
        }
      )
      assert.strictEqual(new Set(tokens).size, 1)
      // One request without an account, and one after it was created.
      assert.strictEqual(asked, 2)
    }).pipe(Effect.provide(layer))
  )
})

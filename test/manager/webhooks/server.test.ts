import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { TestClock } from "effect/testing"
import { rm, writeFile } from "node:fs/promises"
import { request } from "node:https"
import { join } from "node:path"
import * as Health from "../../../src/layers/Health.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { text } from "../../../src/layers/http/handler.ts"
import { Certificates } from "../../../src/layers/http/Certificates.ts"
import { Listener } from "../../../src/layers/http/Listener.ts"
import { certificates } from "../../../src/platform/listener/certificates.ts"
import { listener } from "../../../src/platform/listener/Listener.ts"
import * as Signing from "../../../src/platform/listener/signing.ts"
import * as Server from "../../../src/manager/webhooks/server.ts"
import { Transport } from "../../../src/layers/Transport.ts"
import * as Process from "../../support/process.ts"
import * as Tls from "../../support/tls.ts"

const day = 86_400_000
/** The time of this machine, which clients use. The server uses the test clock. */
const now = Date.now()
const year = { notBefore: now - day, notAfter: now + 365 * day }
const authority = await Signing.authority({ name: "authority", ...year })
const pair = await Signing.signed(authority, {
  name: "server",
  hosts: ["localhost"],
  ...year,
  notAfter: now + 10 * day
})
const clients = await Tls.authority("clients")
const [client, stranger] = [await clients.issue("client"), await (await Tls.authority("strangers")).issue("stranger")]

const mounted = Effect.gen(function* () {
  const directory = yield* Process.folder
  yield* Effect.promise(() =>
    Promise.all([
      writeFile(join(directory, "tls.crt"), pair.cert),
      writeFile(join(directory, "tls.key"), Redacted.value(pair.key)),
      writeFile(join(directory, "ca.crt"), clients.cert)
    ])
  )
  return { directory, cert: "tls.crt", key: "tls.key" }
})

const options = (files: Effect.Success<typeof mounted> & { readonly clientAuthorities?: string }) => ({
  address: { host: "127.0.0.1", port: 0 },
  source: { _tag: "Mounted", files } as const,
  http2: false,
  handle: () => Effect.succeed(text(200, "reviewed"))
})

const isReady = Effect.flatMap(Health.Health, (health) =>
  Effect.flatMap(health.checks("readiness"), ([check]) => {
    assert.strictEqual(check?.name, "webhook")
    return check?.run ?? Effect.undefined
  })
)

const alone = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => Effect.provideService(effect, Health.Health, Health.makeUnsafe())).pipe(
    // A mounted certificate needs no request to the API server.
    Effect.provide(Layer.provide(KubeClient.layer, Transport.layerNoop)),
    Effect.provideService(Certificates, certificates),
    Effect.provideService(Listener, listener)
  )

const ask = (port: number, shown: { readonly cert?: string; readonly key?: string } = {}) =>
  Effect.callback<string, Error>((resume) => {
    request({ host: "localhost", port, method: "POST", agent: false, ca: authority.cert, ...shown }, (response) => {
      let body = ""
      response.setEncoding("utf8").on("data", (part: string) => (body += part))
      response.on("end", () => resume(Effect.succeed(body)))
    })
      .on("error", (error) => resume(Effect.fail(error)))
      .end("{}")
  })

describe("the server of webhooks", () => {
  it.effect("is ready while it listens, and not with an expired certificate", () =>
    alone(
      Effect.gen(function* () {
        yield* TestClock.setTime(now)
        const scope = yield* Scope.make()
        const { port } = yield* Scope.provide(Server.start(options(yield* mounted)), scope)
        assert.isUndefined(yield* isReady)
        assert.strictEqual(yield* ask(port), "reviewed")
        yield* TestClock.setTime(now + 10 * day)
        assert.match((yield* isReady) ?? "", /^the webhooks' certificate has expired, on /)
        const check = (yield* (yield* Health.Health).checks("readiness"))[0]
        yield* Scope.close(scope, Exit.void)
        assert.match((yield* check?.run ?? Effect.undefined) ?? "", /^the webhooks are not served: /)
      }).pipe(Effect.scoped)
    )
  )

  it.effect("lets a review in flight finish within a minute when it closes", () =>
    alone(
      Effect.gen(function* () {
        yield* TestClock.setTime(now)
        const scope = yield* Scope.make()
        const [begun, may] = [yield* Latch.make(), yield* Latch.make()]
        const handle = () =>
          Effect.andThen(
            begun.open,
            Effect.andThen(may.await, () => Effect.succeed(text(200, "late")))
          )
        const { port } = yield* Scope.provide(Server.start({ ...options(yield* mounted), handle }), scope)
        const asking = yield* Effect.forkChild(ask(port))
        yield* begun.await
        const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
        yield* TestClock.adjust("50 seconds")
        assert.isUndefined(closing.pollUnsafe())
        yield* may.open
        assert.strictEqual(yield* Fiber.join(asking), "late")
      }).pipe(Effect.scoped)
    )
  )

  it.effect("with client authorities accepts only clients with a certificate signed by one of them", () =>
    alone(
      Effect.gen(function* () {
        yield* TestClock.setTime(now)
        const { port } = yield* Server.start(options({ ...(yield* mounted), clientAuthorities: "ca.crt" }))
        assert.strictEqual(yield* ask(port, client), "reviewed")
        yield* Effect.flip(ask(port, stranger))
        yield* Effect.flip(ask(port))
        assert.isUndefined(yield* isReady)
      }).pipe(Effect.scoped)
    )
  )

  it.effect(
    "does not start if the certificate is missing, not yet valid or expired, or the authorities are missing",
    () =>
      alone(
        Effect.gen(function* () {
          const files = yield* mounted
          const said = (more = {}) =>
            Effect.map(
              Effect.flip(Effect.scoped(Server.start(options({ ...files, ...more })))),
              ({ message }) => message
            )
          yield* TestClock.setTime(now + 20 * day)
          assert.match(yield* said(), /: it has expired, on .*; mount a valid pair there/)
          yield* TestClock.setTime(now - 2 * day)
          assert.match(yield* said(), /: it is not valid before /)
          yield* TestClock.setTime(now)
          assert.match(yield* said({ clientAuthorities: "tls.key" }), /: tls\.key has no certificate; /)
          yield* Effect.promise(() => rm(join(files.directory, "tls.key")))
          assert.match(yield* said(), /ENOENT: .*tls\.key.*; mount a valid pair there/)
        }).pipe(Effect.scoped)
      )
  )
})

import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ClusterTest } from "../../../../../src/layers/ClusterTest.ts"
import * as Custody from "../../../../../src/layers/manager/webhooks/certificates/Custody.ts"

const custody = { namespace: "kube-system", name: "webhook-cert", hosts: ["hooks.kube-system.svc", "127.0.0.1"] }

describe("certificates that the manager makes itself", () => {
  it.effect("are made by whoever comes first, and read by the others", () =>
    Effect.gen(function* () {
      const [a, b, c] = yield* Effect.all([Custody.open(custody), Custody.open(custody), Custody.open(custody)], {
        concurrency: "unbounded"
      })
      assert.strictEqual(a.certificate.cert, b.certificate.cert)
      assert.strictEqual(b.certificate.cert, c.certificate.cert)
      assert.deepStrictEqual(a.state.serving.names, custody.hosts)
    }).pipe(Effect.provide(ClusterTest.layer()))
  )
})

import { assert, it } from "@effect/vitest"
import * as Random from "effect/Random"
import * as Effect from "effect/Effect"
import { make } from "../../../../src/layers/apiserver/http/tokenSigner.ts"

it.effect("knows its own signatures of exactly what was signed, and no others, however they are made", () =>
  Effect.gen(function* () {
    const random = yield* Random.Random
    const circumstances = { random, now: 0, expires: 1000 }
    const [ours, theirs] = [make(), make()]
    const signature = ours.sign("head.claims", circumstances)
    assert.isTrue(ours.verify("head.claims", signature))
    assert.isFalse(ours.verify("head.other", signature))
    assert.isFalse(ours.verify("head.claims", theirs.sign("head.claims", circumstances)))
    assert.notStrictEqual(ours.keyId, theirs.keyId)
    for (const length of [0, 1, 63, 64, 65, 200]) {
      assert.isFalse(ours.verify("head.claims", new Uint8Array(length).fill(255)))
    }
  })
)

import { assert, it } from "@effect/vitest"
import { make } from "../../../src/apiserver/server/tokenSigner.ts"

it("verifies only its own signatures of the signed input, with each algorithm", () => {
  const [ours, theirs] = [make(), make()]
  const signature = ours.sign("head.claims")
  assert.isTrue(ours.verify("head.claims", signature))
  assert.isFalse(ours.verify("head.other", signature))
  assert.isFalse(ours.verify("head.claims", theirs.sign("head.claims")))
  assert.notStrictEqual(ours.keyId, theirs.keyId)
  for (const length of [0, 1, 63, 64, 65, 200]) {
    assert.isFalse(ours.verify("head.claims", new Uint8Array(length).fill(255)))
  }
})

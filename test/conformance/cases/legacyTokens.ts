/** Legacy service account tokens: valid as long as the Secret has that token and the account has the same uid. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { generateKeyPairSync } from "node:crypto"
import { legacyToken } from "../../../src/controllers/ServiceAccountToken.ts"
import type { ApiError } from "../../../src/kube/ApiError.ts"
import * as TokenSigner from "../../../src/apiserver/server/tokenSigner.ts"
import { done } from "../assertions.ts"
import type { Case, Subject } from "../Case.ts"
import { at } from "../objects.ts"

/** The status of a list with the token: 403 for a user without permission, 401 for an invalid token. */
const status = ({ as, namespace }: Subject, token: string) =>
  Effect.gen(function* () {
    const path = at(namespace).pods
    const send = (yield* as(token)).send({ method: "GET", path, context: { verb: "list", path } })
    return yield* Effect.match(send, { onSuccess: () => 200, onFailure: ({ status }: ApiError) => status })
  })

/** Waits until the token is invalid: a server may cache a valid token for ten seconds. */
const untilInvalid = (subject: Subject, token: string) =>
  Effect.gen(function* () {
    for (let left = 150; left > 0; left--) {
      if ((yield* status(subject, token)) === 401) return
      yield* Effect.sleep(100)
    }
    assert.fail("the token is still valid")
  })

/** The uid of a new account. */
const createAccount = ({ ask, namespace }: Subject) =>
  Effect.map(
    ask("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: "robot" } }),
    (reply): string => done(reply, 201).metadata.uid
  )

/** A Secret with the token, as the controller writes it. */
const storeToken = ({ ask, namespace }: Subject, name: string, token: string) =>
  Effect.map(
    ask("POST", at(namespace).secrets, {
      metadata: { name, annotations: { "kubernetes.io/service-account.name": "robot" } },
      type: "kubernetes.io/service-account-token",
      data: { token: Buffer.from(token).toString("base64") }
    }),
    (reply) => done(reply, 201)
  )

/** A token of a new account for the Secret `kept`, which does not exist yet. */
const tokenOfNewAccount = (subject: Subject) =>
  Effect.map(createAccount(subject), (uid) =>
    legacyToken(signerOf(subject), { namespace: subject.namespace, account: "robot", uid, secret: "kept" })
  )

const signerOf = ({ signer }: Subject) => {
  assert.isDefined(signer)
  return signer
}

export const legacyTokens: ReadonlyArray<Case> = [
  {
    title: "a token authenticates its account until its Secret is deleted",
    since: 20,
    needs: "credentials",
    run: Effect.fnUntraced(function* (subject) {
      const { ask, namespace } = subject
      const token = yield* tokenOfNewAccount(subject)
      assert.strictEqual(yield* status(subject, token), 401, "no Secret has the token yet")
      yield* storeToken(subject, "kept", token)
      assert.strictEqual(yield* status(subject, token), 403)
      done(yield* ask("DELETE", `${at(namespace).secrets}/kept`))
      yield* untilInvalid(subject, token)
    })
  },
  {
    title: "a token is invalid after its account is deleted, also if an account of the same name exists again",
    since: 20,
    needs: "credentials",
    run: Effect.fnUntraced(function* (subject) {
      const { ask, namespace } = subject
      const token = yield* tokenOfNewAccount(subject)
      yield* storeToken(subject, "kept", token)
      assert.strictEqual(yield* status(subject, token), 403)
      done(yield* ask("DELETE", `/api/v1/namespaces/${namespace}/serviceaccounts/robot`))
      yield* createAccount(subject)
      yield* untilInvalid(subject, token)
    })
  },
  {
    title: "a legacy token with another key, uid, Secret name or text is invalid",
    since: 20,
    needs: "credentials",
    run: Effect.fnUntraced(function* (subject) {
      const { namespace } = subject
      const signer = signerOf(subject)
      const uid = yield* createAccount(subject)
      const holder = (secret: string) => ({ namespace, account: "robot", uid, secret })
      const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
      const stranger = TokenSigner.of(privateKey)
      assert.isDefined(stranger)
      // With the id of the right key, so that only the signature is wrong.
      const forged = legacyToken({ ...stranger, keyId: signer.keyId, algorithm: signer.algorithm }, holder("forged"))
      yield* storeToken(subject, "forged", forged)
      const foreign = legacyToken(signer, { ...holder("foreign"), uid: "somebody-else" })
      yield* storeToken(subject, "foreign", foreign)
      const elsewhere = legacyToken(signer, holder("not-there"))
      yield* storeToken(subject, "elsewhere", elsewhere)
      const changed = legacyToken(signer, holder("changed"))
      yield* storeToken(subject, "changed", `${changed}x`)
      for (const bad of [forged, foreign, elsewhere, changed]) {
        assert.strictEqual(yield* status(subject, bad), 401)
      }
    })
  }
]

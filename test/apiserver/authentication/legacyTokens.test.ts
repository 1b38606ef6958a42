/** Legacy service account tokens authenticate as long as their Secret and account exist, with the messages of kube-apiserver. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { legacyToken } from "../../../src/controllers/ServiceAccountToken.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { Secret, ServiceAccount } from "../../../src/kube/resources.ts"
import { ClusterAuthority } from "../../../src/layers/ClusterAuthority.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { Transport } from "../../../src/layers/Transport.ts"

const namespace = "default"
const issuer = "https://kubernetes.default.svc"

/** The status of a TokenReview. */
const review = (token: string, audiences?: ReadonlyArray<string>) =>
  Effect.flatMap(Transport, (transport) =>
    Effect.map(
      transport.send({
        context: { verb: "create", path: "/apis/authentication.k8s.io/v1/tokenreviews" },
        method: "POST",
        path: "/apis/authentication.k8s.io/v1/tokenreviews",
        body: {
          apiVersion: "authentication.k8s.io/v1",
          kind: "TokenReview",
          spec: { token, ...(audiences === undefined ? {} : { audiences }) }
        }
      }),
      ({ body }) =>
        (
          body as {
            readonly status: { readonly authenticated?: boolean; readonly audiences?: unknown; readonly error?: string }
          }
        ).status
    )
  )

/** Creates an account, and a Secret with its token. */
const made = Effect.gen(function* () {
  const client = yield* KubeClient
  const { signer } = yield* ClusterAuthority
  assert.isDefined(signer)
  const { metadata } = yield* client.create(ServiceAccount, { metadata: { namespace, name: "robot" } })
  const token = legacyToken(signer, { namespace, account: "robot", uid: metadata.uid ?? "", secret: "a" })
  yield* client.create(Secret, {
    metadata: { namespace, name: "a", annotations: { "kubernetes.io/service-account.name": "robot" } },
    type: "kubernetes.io/service-account-token",
    data: { token: Buffer.from(token).toString("base64") }
  })
  return token
})

const secret = { namespace, name: "a" }
const account = { namespace, name: "robot" }

const ends: ReadonlyArray<readonly [string, Effect.Effect<unknown, unknown, KubeClient>, string]> = [
  [
    "its Secret is gone",
    Effect.flatMap(KubeClient, (client) => client.delete(Secret, secret)),
    "service account token has been invalidated"
  ],
  [
    "its Secret has another token",
    Effect.flatMap(KubeClient, (client) => client.patch(Secret, secret, Patch.merge({ data: { token: "eA==" } }))),
    "service account token does not match server's copy"
  ],
  [
    "its Secret is marked",
    Effect.flatMap(KubeClient, (client) =>
      client.patch(
        Secret,
        secret,
        Patch.merge({ metadata: { labels: { "kubernetes.io/legacy-token-invalid-since": "2020-01-01" } } })
      )
    ),
    "the token in secret has been marked as invalid"
  ],
  [
    "its account is gone",
    Effect.flatMap(KubeClient, (client) => client.delete(ServiceAccount, account)),
    'serviceaccounts "robot" not found'
  ],
  [
    "its account is another one of that name",
    Effect.flatMap(KubeClient, (client) =>
      Effect.andThen(client.delete(ServiceAccount, account), client.create(ServiceAccount, { metadata: account }))
    ),
    "service account UID ("
  ]
]

describe("legacy service account tokens", () => {
  it.effect("are valid for the audience of this server only", () =>
    Effect.gen(function* () {
      const token = yield* made
      const { audiences, authenticated } = yield* review(token)
      assert.deepStrictEqual([authenticated, audiences], [true, [issuer]])
      assert.strictEqual((yield* review(token, ["elsewhere"])).error, "invalid bearer token")
      assert.strictEqual((yield* review(`${token}x`)).error, "invalid bearer token")
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  for (const [title, end, why] of ends) {
    it.effect(`are invalid when ${title}`, () =>
      Effect.gen(function* () {
        const token = yield* made
        yield* end
        assert.include((yield* review(token)).error ?? "", `[invalid bearer token, ${why}`)
      }).pipe(Effect.provide(ClusterTest.layer()))
    )
  }
})

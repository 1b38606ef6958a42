/** serviceaccount-token and legacy-serviceaccount-token-cleaner: token Secrets come and go with their accounts, and expire. */
import assert from "node:assert/strict"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as LegacyTokenCleaner from "../../../src/controllers/LegacyTokenCleaner.ts"
import * as ServiceAccountToken from "../../../src/controllers/ServiceAccountToken.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import { Secret, ServiceAccount } from "../../../src/kube/resources.ts"
import { explore } from "../../../src/testing/explore/explore.ts"

const robot = { namespace: "default", name: "robot" }

const account = (...secrets: ReadonlyArray<string>) => ({
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: robot,
  secrets: secrets.map((name) => ({ name }))
})

const secret = (name: string) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { namespace: "default", name, annotations: { "kubernetes.io/service-account.name": "robot" } },
  type: "kubernetes.io/service-account-token"
})

/**
 * A token names the uids of its Secret and its account, which differ in any two runs. An account refers to a Secret for ever that was deleted while there was
 * no process. Source: pkg/controller/serviceaccount: TokensController.syncSecret, which gets the keys of Secrets from events.
 */
const comparable = (object: KubeObject): KubeObject => {
  const { data } = object as { readonly data?: { readonly token?: string } }
  if (object.kind === "ServiceAccount") return { ...object, secrets: undefined } as KubeObject
  return object.kind === "Secret" && data?.token !== undefined
    ? ({ ...object, data: { ...data, token: "a token" } } as KubeObject)
    : object
}

export const serviceAccountToken = explore("serviceaccount-token", {
  controllers: [ServiceAccountToken.make()],
  comparable,
  without: {
    // Source: pkg/controller/serviceaccount: TokensController.generateTokenIfNeeded, deleteToken. `touch` causes a real conflict.
    conflict: "a conflict is not retried, because the write that caused it is seen later; here there is none"
  },
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([account("a"), secret("a"), secret("b")])
      yield* cluster.advance("40 seconds")
      yield* cluster.edit(Secret, { namespace: "default", name: "b" }, { data: { token: null } })
      yield* cluster.delete(Secret, { namespace: "default", name: "a" })
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(ServiceAccount, robot)
      yield* cluster.advance("40 seconds")
      yield* cluster.apply([account(), secret("b")])
    })
})

const tracking = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "kube-system", name: "kube-apiserver-legacy-service-account-token-tracking" },
  data: { since: "1969-12-01" }
}

const invalid = { "kubernetes.io/legacy-token-invalid-since": "1969-12-15" }

export const legacyTokenCleaner = explore("legacy-serviceaccount-token-cleaner", {
  controllers: [LegacyTokenCleaner.make({ period: Duration.hours(12) })],
  // It runs once a day: the second run marks one Secret and deletes the other, and those after it do what has failed.
  within: "73 hours",
  converged: ({ snapshot }) =>
    Effect.gen(function* () {
      for (const { metadata } of yield* snapshot(Secret)) {
        const isMarked = metadata.labels?.["kubernetes.io/legacy-token-invalid-since"] !== undefined
        assert.notEqual(metadata.name, "b", "the invalid token is left")
        assert.ok(isMarked, "the unused token is not marked")
      }
    }),
  cluster: {
    objects: [
      tracking,
      account("a", "b"),
      secret("a"),
      { ...secret("b"), metadata: { ...secret("b").metadata, labels: invalid } }
    ]
  },
  scenario: (cluster) => cluster.edit(ServiceAccount, robot, { metadata: { labels: { seen: "true" } } })
})

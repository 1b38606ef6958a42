/**
 * The token and root CA controllers on a real API server, with its signing key: a token authenticates its account until its Secret is deleted. How
 * long the server caches authentications is not tested. Waits are for server state only.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { request } from "node:https"
import * as RootCa from "../../../src/controllers/RootCa.ts"
import * as ServiceAccountToken from "../../../src/controllers/ServiceAccountToken.ts"
import { ConfigMap, Secret, ServiceAccount } from "../../../src/kube/resources.ts"
import { Cache } from "../../../src/layers/Cache.ts"
import { ClusterAuthority } from "../../../src/layers/ClusterAuthority.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as AuthorityFiles from "../../../src/cli/cluster/authorityFiles.ts"
import * as envtest from "../../support/envtest.ts"
import * as RealServer from "../../support/realServer.ts"

const isMissing = envtest.isMissing("tokens on a real API server")

const authority = Layer.unwrap(
  Effect.map(RealServer.RealServer, ({ ca, tokenKey }) =>
    Layer.provide(
      AuthorityFiles.layer({ key: tokenKey, rootCa: undefined }),
      Layer.succeed(ClusterAuthority, ClusterAuthority.of({ signer: undefined, rootCa: ca }))
    )
  )
)

const cluster = Layer.mergeAll(ServiceAccountToken.make().layer, RootCa.make().layer).pipe(
  Layer.provideMerge(authority),
  Layer.provideMerge(RealServer.services())
)

const namespace = "default"

/** The status of a request with the token: 403 if the server authenticates it, else 401. */
const asked = ({ ca, url }: envtest.RealServer, token: string) =>
  Effect.promise(
    () =>
      new Promise<string>((resolve, reject) => {
        const headers = { authorization: `Bearer ${token}` }
        request(`${url}/api/v1/namespaces/${namespace}/secrets`, { ca, headers }, (response) => {
          let said = ""
          response.on("data", (chunk: Buffer) => (said += chunk.toString()))
          response.on("end", () => resolve(`${response.statusCode} ${said}`))
        })
          .on("error", reject)
          .end()
      })
  )

it.live.skipIf(isMissing)(
  "tokens authenticate their accounts until they are deleted, and every namespace has the CA bundle",
  () =>
    Effect.gen(function* () {
      const real = yield* RealServer.RealServer
      const client = yield* KubeClient
      const cache = yield* Cache
      yield* client.create(ServiceAccount, { metadata: { namespace, name: "robot" } })
      yield* client.create(Secret, {
        metadata: { namespace, name: "a", annotations: { "kubernetes.io/service-account.name": "robot" } },
        type: "kubernetes.io/service-account-token"
      })
      const filled = yield* cache.changes(Secret).pipe(
        Stream.filter(({ object }) => object.data?.["token"] !== undefined),
        Stream.runHead
      )
      assert.strictEqual(filled._tag, "Some")
      const token = filled._tag === "Some" ? (filled.value.object.data?.["token"] ?? "") : ""
      const plain = Buffer.from(token, "base64").toString()
      assert.match(yield* asked(real, plain), /^403 .*system:serviceaccount:default:robot/s)
      yield* client.delete(ServiceAccount, { namespace, name: "robot" })
      yield* cache.changes(Secret).pipe(
        Stream.filter(({ _tag, object }) => _tag === "Deleted" && object.metadata.name === "a"),
        Stream.runHead
      )
      const published = new Set(["default", "kube-node-lease", "kube-public", "kube-system"])
      yield* cache.changes(ConfigMap).pipe(
        Stream.takeUntil(({ object: { data, metadata } }) => {
          if (data?.["ca.crt"] === real.ca) published.delete(metadata.namespace ?? "")
          return published.size === 0
        }),
        Stream.runDrain
      )
    }).pipe(Effect.provide(cluster))
)

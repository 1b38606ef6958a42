/** Stories of what accounts and namespaces are given: serviceaccount-token, root-ca-cert-publisher. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as RootCa from "../../src/controllers/RootCa.ts"
import * as ServiceAccountToken from "../../src/controllers/ServiceAccountToken.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { ConfigMap, Secret, ServiceAccount } from "../../src/kube/resources.ts"
import { ClusterTest } from "../../src/layers/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Story from "./story.ts"

const namespace = "default"

/** Lists before it watches, as on a server that does not stream its first list. */
const listing = { cache: { streamingList: "never" } } as const

const tokens = Story.makeIn(
  namespace,
  "an account gets its tokens, loses those that are deleted, and takes the others with it",
  listing,
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    yield* client.create(ServiceAccount, { metadata: { namespace, name: "robot" }, secrets: [{ name: "a" }] })
    for (const name of ["a", "b"]) {
      const annotations = { "kubernetes.io/service-account.name": "robot" }
      yield* client.create(Secret, {
        metadata: { namespace, name, annotations },
        type: "kubernetes.io/service-account-token"
      })
    }
    yield* cluster.run(ServiceAccountToken.make())
    yield* cluster.advance("1 minute")
    assert.isDefined((yield* client.get(Secret, { namespace, name: "a" })).data?.["token"])
    yield* client.delete(Secret, { namespace, name: "a" })
    yield* cluster.advance("1 minute")
    assert.deepStrictEqual((yield* client.get(ServiceAccount, { namespace, name: "robot" })).secrets ?? [], [])
    yield* client.delete(ServiceAccount, { namespace, name: "robot" })
    yield* cluster.advance("1 minute")
    assert.deepStrictEqual(yield* cluster.snapshot(Secret), [])
  })
)

const authorities = Story.make(
  "every namespace has the cluster's authorities, also when somebody changes them",
  listing,
  Effect.gen(function* () {
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    const target = { namespace, name: "kube-root-ca.crt" }
    yield* cluster.run(RootCa.make())
    const { data } = yield* client.get(ConfigMap, target)
    yield* client.patch(ConfigMap, target, Patch.merge({ data: { "ca.crt": "others" } }))
    yield* cluster.advance("1 minute")
    assert.deepStrictEqual((yield* client.get(ConfigMap, target)).data, data)
  })
)

export const stories: ReadonlyArray<Story.Story> = [tokens, authorities].flat()

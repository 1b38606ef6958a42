/** namespace, serviceaccount, root-ca-cert-publisher: namespaces come, go with their content, and come again; what they publish is changed by a user. */
import * as Effect from "effect/Effect"
import * as Namespaces from "../../../src/controllers/Namespace.ts"
import * as RootCa from "../../../src/controllers/RootCa.ts"
import * as ServiceAccounts from "../../../src/controllers/ServiceAccount.ts"
import { ConfigMap, Namespace, ServiceAccount } from "../../../src/kube/resources.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { kubelet } from "./kubelet.ts"
import { podSpec } from "./manifests.ts"

const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }

const inShop = (apiVersion: string, kind: string, rest: object = {}) => ({
  apiVersion,
  kind,
  metadata: { namespace: "shop", name: "thing" },
  ...rest
})

export const namespaces = explore("namespace", {
  controllers: [Namespaces.make()],
  environment: [kubelet],
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([namespace, inShop("v1", "ConfigMap"), inShop("v1", "Pod", { spec: podSpec() })])
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(Namespace, { name: "shop" })
      yield* cluster.advance("2 minutes")
      yield* cluster.apply([namespace])
    })
})

export const serviceAccount = explore("serviceaccount", {
  controllers: [ServiceAccounts.make()],
  environment: [Namespaces.make()],
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([namespace])
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(ServiceAccount, { namespace: "shop", name: "default" })
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(Namespace, { name: "shop" })
      yield* cluster.advance("40 seconds")
      yield* cluster.apply([namespace])
    })
})

const bundle = { namespace: "shop", name: "kube-root-ca.crt" }

export const rootCa = explore("root-ca-cert-publisher", {
  controllers: [RootCa.make()],
  without: {
    // A create that fails with AlreadyExists is retried with backoff. Source: pkg/controller/certificates/rootcacertpublisher: syncNamespace.
    "travel-4": "four namespaces are retried until the cache has caught up, with more writes than are usual"
  },
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([namespace])
      yield* cluster.advance("40 seconds")
      yield* cluster.edit(ConfigMap, bundle, { data: { "ca.crt": "another" } })
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(ConfigMap, bundle)
    })
})

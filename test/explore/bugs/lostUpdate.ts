/** An update that replaces the whole object, whatever its version. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Owner from "../../../src/kube/Owner.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import type { Bug } from "../Bug.ts"

const Proxy = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Proxy",
  plural: "proxies",
  spec: Schema.Struct({ port: Schema.String })
})

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "proxy",
    for: Proxy,
    owns: [ConfigMap],
    access: [Access.create(ConfigMap), Access.update(ConfigMap), Access.patch(ConfigMap)],
    reconcileObject: (proxy, { cache, client }) =>
      Effect.gen(function* () {
        const { name, namespace = "" } = proxy.metadata
        const data = { port: proxy.spec.port }
        const wanted = { metadata: { namespace, name, ownerReferences: [Owner.reference(Proxy, proxy)] }, data }
        const present = yield* cache.get(ConfigMap, `${namespace}/${name}`)
        if (present?.data?.["port"] === data.port) return
        if (present === undefined) yield* client.create(ConfigMap, wanted)
        else if (!isRepaired) yield* client.update(ConfigMap, wanted)
        // A patch has only the fields that it changes.
        else yield* client.patch(ConfigMap, { namespace, name }, Patch.merge({ data }))
      })
  })

export const bug: Bug = {
  title: "an update without a version removes the annotations that a user has written",
  sources: [
    "https://github.com/prometheus-operator/prometheus-operator/issues/2018",
    "https://github.com/pingcap/tidb-operator/issues/2946"
  ],
  write: "update configmaps",
  explore: (isRepaired) =>
    explore("lost-update", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        Effect.gen(function* () {
          yield* cluster.apply(
            "{ apiVersion: bugs.example.com/v1, kind: Proxy, metadata: { name: a }, spec: { port: '80' } }"
          )
          yield* cluster.advance("1 minute")
          yield* cluster.edit(Proxy, { namespace: "default", name: "a" }, { spec: { port: "81" } })
        })
    })
}

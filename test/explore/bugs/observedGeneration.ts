/** The observed generation is that of a later read, and not the one that was acted on. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Key from "../../../src/kube/Key.ts"
import * as Owner from "../../../src/kube/Owner.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import type { Bug } from "../Bug.ts"

const Theme = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Theme",
  plural: "themes",
  subresources: { status: true },
  spec: Schema.Struct({ color: Schema.String }),
  status: Schema.Struct({ observedGeneration: Schema.Int })
})

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "theme",
    for: Theme,
    owns: [ConfigMap],
    access: [Access.get(Theme), Access.patch(ConfigMap), Access.patch(Theme, "status")],
    reconcileObject: (theme, { cache, client }) =>
      Effect.gen(function* () {
        const { name, namespace = "" } = theme.metadata
        const child = { namespace, name: `${name}-colors` }
        const cached = yield* cache.get(ConfigMap, Key.make(namespace, child.name))
        if (cached !== undefined && theme.status?.observedGeneration === theme.metadata.generation) return
        yield* client.patch(
          ConfigMap,
          child,
          Patch.apply({
            apiVersion: "v1",
            kind: "ConfigMap",
            metadata: { ...child, ownerReferences: [Owner.reference(Theme, theme)] },
            data: { color: theme.spec.color }
          })
        )
        const observed = isRepaired ? theme : yield* client.get(Theme, { namespace, name })
        const { generation: observedGeneration } = observed.metadata
        yield* client
          .subresource("status")
          .patch(Theme, { namespace, name }, Patch.merge({ status: { observedGeneration } }))
      })
  })

export const bug: Bug = {
  title: "the observed generation claims a generation that was not acted on",
  sources: [
    "https://github.com/brandonrc/mobula/issues/40",
    "https://github.com/gardener/etcd-druid/pull/996",
    "https://github.com/kubernetes-sigs/agent-sandbox/pull/1317"
  ],
  write: "patch configmaps default/a-colors",
  explore: (isRepaired) =>
    explore("observed-generation", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        Effect.gen(function* () {
          yield* cluster.apply([
            {
              apiVersion: "bugs.example.com/v1",
              kind: "Theme",
              metadata: { namespace: "default", name: "a" },
              spec: { color: "red" }
            }
          ])
          yield* cluster.advance("1 minute")
          yield* cluster.edit(Theme, { namespace: "default", name: "a" }, { spec: { color: "blue" } })
        })
    })
}

/** Writes into each config map with the label `greet` which replica has reconciled it. One line shards it. */
import { Access, ConfigMap, Controller, Patch, Predicate } from "effect-controller-manager"
import * as Effect from "effect/Effect"

/** `replica`: the name of this process. */
export const Greeter = (replica: string) =>
  Controller.make({
    name: "greeter",
    for: ConfigMap,
    predicate: Predicate.labelSelector([{ key: "greet", operator: "Exists", values: [] }]),
    shardBy: "namespace",
    staysInNamespace: true,
    access: [Access.patch(ConfigMap)],
    reconcileObject: ({ data, metadata: { name, namespace } }, { client }) =>
      data?.["greeting"] === undefined
        ? Effect.asVoid(
            client.patch(ConfigMap, { name, namespace }, Patch.merge({ data: { greeting: `hello from ${replica}` } }))
          )
        : Effect.void
  })

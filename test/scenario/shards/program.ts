/** A program of a library user whose controller is sharded by one line. It copies a value inside each config map. For the scenarios beside it. */
import * as Effect from "effect/Effect"
import { Access, ConfigMap, Controller, Patch } from "../../../src/index.ts"
import { run } from "../../../src/node.ts"

const copies = Controller.make({
  name: "copies",
  for: ConfigMap,
  shardBy: "namespace",
  staysInNamespace: true,
  concurrency: 4,
  access: [Access.patch(ConfigMap)],
  reconcileObject: ({ data, metadata: { name, namespace } }, { client }) =>
    data?.["value"] === data?.["copy"]
      ? Effect.void
      : Effect.asVoid(
          client.patch(ConfigMap, { name, namespace }, Patch.merge({ data: { copy: data?.["value"] ?? null } }))
        )
})

run({ name: "copier", controllers: [copies] })

/** ecsbinding: bindings come, lose their annotation, and come again under the same name. */
import { EcsBinding, annotation, make } from "../../../src/controllers/EcsBinding.ts"
import * as Effect from "effect/Effect"
import { explore } from "../../../src/testing/explore/explore.ts"

const spec = { id: "i-1", name: "one", nodename: "n1", innerip: "10.0.0.1" }
const binding = (name: string) => ({ apiVersion: "hopegi.com/v1", kind: "EcsBinding", metadata: { name }, spec })

export const ecsBinding = explore("ecsbinding", {
  controllers: [make()],
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([binding("a"), binding("b")])
      yield* cluster.advance("1 second")
      yield* cluster.edit(EcsBinding, { name: "a" }, { metadata: { annotations: { [annotation]: null } } })
      yield* cluster.advance("1 second")
      yield* cluster.delete(EcsBinding, { name: "b" })
      yield* cluster.apply([binding("b")])
    })
})

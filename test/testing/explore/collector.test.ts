/** Objects without owners are deleted by the exploration, unless that is what is explored. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as EcsBinding from "../../../src/controllers/EcsBinding.ts"
import * as GarbageCollector from "../../../src/controllers/GarbageCollector.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import type { Descriptor } from "../../../src/layers/Controller.ts"
import type { Provided } from "../../../src/testing/explore/Exploration.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { run } from "../../../src/testing/explore/run.ts"

/** Who has deleted the dependent of a deleted ConfigMap, in order. An explored collector ends before its first write, and starts a second later. */
const deletions = (controller: Descriptor<Provided>) => {
  const namespace = "default"
  const exploration = explore("collector", {
    controllers: [controller],
    scenario: ({ client }) =>
      Effect.gen(function* () {
        const owner = yield* client.create(ConfigMap, { metadata: { namespace, name: "owner" } })
        const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner.metadata.uid ?? "" }
        yield* client.create(ConfigMap, { metadata: { namespace, name: "dependent", ownerReferences: [reference] } })
        yield* client.delete(ConfigMap, { namespace, name: "owner" })
      })
  })
  return Effect.map(
    run(exploration, { perturbations: [{ kind: "crash-before", at: 1 }] }, { seed: 1 }),
    ({ entries }) =>
      entries.flatMap((entry) => {
        if (entry.type === "other") return entry.verb === "delete" && entry.path.endsWith("dependent") ? ["other"] : []
        return entry.type === "call" && entry.verb === "delete" && entry.key === "default/dependent" ? ["explored"] : []
      })
  )
}

describe("an object without an owner", () => {
  it.live("is deleted by the exploration", () =>
    Effect.map(deletions(EcsBinding.make()), (all) => assert.deepStrictEqual(all, ["other"]))
  )

  it.live("is left to an explored garbage collector", () =>
    Effect.map(deletions(GarbageCollector.make()), (all) => assert.deepStrictEqual(all, ["explored", "explored"]))
  )
})

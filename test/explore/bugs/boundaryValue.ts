/** A value that the definition allows makes every run of the object die. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import type { Bug } from "../Bug.ts"

const Split = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Split",
  plural: "splits",
  subresources: { status: true },
  spec: Schema.Struct({ total: Schema.Int, parts: Schema.Int }),
  status: Schema.Struct({ part: Schema.Int })
})

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "split",
    for: Split,
    access: [Access.patch(Split, "status")],
    reconcileObject: ({ metadata: { name, namespace }, spec, status }, { client }) =>
      Effect.gen(function* () {
        const total = BigInt(spec.total)
        const part = Number(isRepaired && spec.parts === 0 ? 0n : total / BigInt(spec.parts))
        if (status?.part === part) return
        yield* client.subresource("status").patch(Split, { namespace, name }, Patch.merge({ status: { part } }))
      })
  })

export const bug: Bug = {
  title: "a value of zero that the definition allows divides by zero",
  sources: [
    "https://github.com/argoproj/argo-rollouts/issues/3686",
    "https://github.com/elastic/cloud-on-k8s/issues/2034"
  ],
  write: "patch splits.bugs.example.com/status",
  explore: (isRepaired) =>
    explore("boundary-value", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        Effect.gen(function* () {
          yield* cluster.apply([
            {
              apiVersion: "bugs.example.com/v1",
              kind: "Split",
              metadata: { namespace: "default", name: "a" },
              spec: { total: 12, parts: 3 }
            }
          ])
          yield* cluster.advance("1 minute")
          yield* cluster.edit(Split, { namespace: "default", name: "a" }, { spec: { parts: 0 } })
        })
    })
}

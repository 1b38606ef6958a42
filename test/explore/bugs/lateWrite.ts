/** A write that was on its way when the leader changed overwrites what the next leader has written. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import * as Predicate from "../../../src/streams/store/predicate.ts"
import type { Bug } from "../Bug.ts"

const Dial = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Dial",
  plural: "dials",
  subresources: { status: true },
  spec: Schema.Struct({ value: Schema.Int }),
  status: Schema.Struct({ value: Schema.Int })
})

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "dial",
    for: Dial,
    predicate: Predicate.generationChanged,
    access: [Access.patch(Dial, "status")],
    reconcileObject: ({ metadata: { name, namespace, resourceVersion }, spec: { value }, status }, { client }) =>
      Effect.gen(function* () {
        if (status?.value === value) return
        const precondition = isRepaired ? { metadata: { resourceVersion } } : {}
        yield* client
          .subresource("status")
          .patch(Dial, { namespace, name }, Patch.merge({ ...precondition, status: { value } }))
      })
  })

export const bug: Bug = {
  title: "a late write of the last leader overwrites what the next one has written",
  sources: [
    "https://github.com/cilium/cilium/pull/42920",
    "https://github.com/kubernetes-sigs/controller-runtime/pull/969"
  ],
  write: "patch dials.bugs.example.com/status",
  explore: (isRepaired) =>
    explore("late-write", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        Effect.gen(function* () {
          yield* cluster.apply([
            {
              apiVersion: "bugs.example.com/v1",
              kind: "Dial",
              metadata: { namespace: "default", name: "a" },
              spec: { value: 1 }
            }
          ])
          yield* cluster.advance("1 second")
          yield* cluster.edit(Dial, { namespace: "default", name: "a" }, { spec: { value: 2 } })
        })
    })
}

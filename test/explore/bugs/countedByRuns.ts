/** A status that counts what runs have done, and not what there is. */
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

const Fleet = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Fleet",
  plural: "fleets",
  subresources: { status: true },
  spec: Schema.Struct({ size: Schema.Int }),
  status: Schema.Struct({ created: Schema.optionalKey(Schema.Int) })
})

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "fleet",
    for: Fleet,
    owns: [ConfigMap],
    access: [Access.create(ConfigMap), Access.patch(Fleet, "status")],
    reconcileObject: (fleet, { cache, client }) =>
      Effect.gen(function* () {
        const { name, namespace = "", uid } = fleet.metadata
        const present = (yield* cache.list(ConfigMap, { namespace })).filter((one) => Owner.controlledBy(one, uid))
        const created = fleet.status?.created ?? 0
        const report = (count: number) =>
          client.subresource("status").patch(Fleet, { namespace, name }, Patch.merge({ status: { created: count } }))
        // The number follows from the children that there are, so a run that was cut short or repeated does not change it.
        if (isRepaired && created !== present.length) yield* report(present.length)
        const missing = Array.from({ length: fleet.spec.size }, (_, i) => `${name}-${i}`).find((one) =>
          present.every(({ metadata }) => metadata.name !== one)
        )
        if (missing === undefined) return
        yield* client.create(ConfigMap, {
          metadata: { namespace, name: missing, ownerReferences: [Owner.reference(Fleet, fleet)] }
        })
        if (!isRepaired) yield* report(created + 1)
      })
  })

export const bug: Bug = {
  title: "a number in a status is wrong after a crash, because each run adds to it",
  sources: [
    "https://github.com/openshift/certman-operator/pull/161",
    "https://github.com/k8ssandra/cass-operator/pull/440"
  ],
  write: "patch fleets.bugs.example.com/status",
  explore: (isRepaired) =>
    explore("counted-by-runs", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        cluster.apply("{ apiVersion: bugs.example.com/v1, kind: Fleet, metadata: { name: a }, spec: { size: 2 } }")
    })
}

/** A status that reports a version before it is applied, and that decides whether there is anything to apply. */
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

const Release = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Release",
  plural: "releases",
  subresources: { status: true },
  spec: Schema.Struct({ version: Schema.String }),
  status: Schema.Struct({ applied: Schema.optionalKey(Schema.String) })
})

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "release",
    for: Release,
    owns: [ConfigMap],
    access: [Access.patch(ConfigMap), Access.patch(Release, "status")],
    reconcileObject: (release, { cache, client }) =>
      Effect.gen(function* () {
        const { name, namespace = "" } = release.metadata
        const { version } = release.spec
        const report = client
          .subresource("status")
          .patch(Release, { namespace, name }, Patch.merge({ status: { applied: version } }))
        const ownerReferences = [Owner.reference(Release, release)]
        const apply = client.patch(
          ConfigMap,
          { namespace, name },
          Patch.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, ownerReferences }, data: { version } })
        )
        const isReported = release.status?.applied === version
        if (!isRepaired) return isReported ? undefined : yield* Effect.asVoid(Effect.andThen(report, apply))
        // Whether it is applied follows from the child, and the status reports what is done.
        const child = yield* cache.get(ConfigMap, `${namespace}/${name}`)
        if (child?.data?.["version"] !== version) yield* apply
        if (!isReported) yield* report
      })
  })

export const bug: Bug = {
  title: "a status reports a version that is never applied after a failure of the write that follows it",
  sources: ["https://github.com/opendatahub-io/kserve/pull/1740", "https://github.com/reddit/achilles-sdk/issues/75"],
  write: "patch releases.bugs.example.com/status",
  explore: (isRepaired) =>
    explore("status-before-spec", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        Effect.gen(function* () {
          yield* cluster.apply(
            "{ apiVersion: bugs.example.com/v1, kind: Release, metadata: { name: a }, spec: { version: '1' } }"
          )
          yield* cluster.advance("1 minute")
          yield* cluster.edit(Release, { namespace: "default", name: "a" }, { spec: { version: "2" } })
        })
    })
}

/** The process that replaces a primary ends halfway, and the next one creates the new primary beside the old one. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Owner from "../../../src/kube/Owner.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { neverMoreThan } from "../../../src/testing/explore/invariants.ts"
import type { Bug } from "../Bug.ts"

const Database = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Database",
  plural: "databases",
  subresources: { status: true },
  spec: Schema.Struct({ release: Schema.String }),
  status: Schema.Struct({ primary: Schema.String })
})

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "database",
    for: Database,
    owns: [ConfigMap],
    access: [
      Access.get(Database),
      Access.patch(Database, "status"),
      Access.list(ConfigMap),
      Access.create(ConfigMap),
      Access.remove(ConfigMap)
    ],
    reconcileObject: (cached, { client }) =>
      Effect.gen(function* () {
        const { name, namespace = "" } = cached.metadata
        const database = isRepaired ? yield* client.get(Database, { namespace, name }) : cached
        const primary = `${name}-${database.spec.release}`
        const before = database.status?.primary
        const status = client
          .subresource("status")
          .patch(
            Database,
            { namespace, name },
            Patch.merge({ metadata: { resourceVersion: database.metadata.resourceVersion }, status: { primary } })
          )
        if (!isRepaired && before !== primary) yield* status
        // What has to go is what there is, and not what a process that may have ended halfway has written down.
        const { items } = isRepaired
          ? yield* client.list(ConfigMap, { namespace, labelSelector: `database=${name}` })
          : { items: [] }
        const old = isRepaired ? items.map(({ metadata }) => metadata) : before === undefined ? [] : [{ name: before }]
        for (const one of old.filter((one) => one.name !== primary)) {
          yield* client
            .delete(ConfigMap, { namespace, name: one.name }, { preconditions: { uid: one.uid } })
            .pipe(Effect.catchReason("ApiError", "NotFound", () => Effect.void))
        }
        yield* client
          .create(ConfigMap, {
            metadata: {
              namespace,
              name: primary,
              labels: { database: name },
              ownerReferences: [Owner.reference(Database, database)]
            }
          })
          .pipe(Effect.catchReason("ApiError", "AlreadyExists", () => Effect.void))
        if (isRepaired && before !== primary) yield* status
      })
  })

export const bug: Bug = {
  title: "a process that ends halfway through a replacement leaves two primaries",
  sources: [
    "https://github.com/kubernetes/kubernetes/pull/93370",
    "https://github.com/redpanda-data/redpanda/issues/6884",
    "https://www.usenix.org/conference/osdi22/presentation/sun"
  ],
  write: "create configmaps default/a-v2",
  explore: (isRepaired) =>
    explore("two-primaries", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        Effect.gen(function* () {
          yield* cluster.apply([
            {
              apiVersion: "bugs.example.com/v1",
              kind: "Database",
              metadata: { namespace: "default", name: "a" },
              spec: { release: "v1" }
            }
          ])
          yield* cluster.advance("1 minute")
          yield* cluster.edit(Database, { namespace: "default", name: "a" }, { spec: { release: "v2" } })
        }),
      invariants: [neverMoreThan(1, ConfigMap, ({ metadata }) => metadata.labels?.["database"] !== undefined)]
    })
}

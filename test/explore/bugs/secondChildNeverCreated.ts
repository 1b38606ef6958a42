/** Two children that are created together: the second one only if the first one is missing. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Owner from "../../../src/kube/Owner.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap, Secret } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import type { Bug } from "../Bug.ts"

const Database = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Database",
  plural: "databases",
  spec: Schema.Struct({})
})

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "database",
    for: Database,
    owns: [ConfigMap, Secret],
    access: [Access.create(ConfigMap), Access.create(Secret)],
    reconcileObject: (database, { cache, client }) =>
      Effect.gen(function* () {
        const { name, namespace = "" } = database.metadata
        const metadata = { namespace, name, ownerReferences: [Owner.reference(Database, database)] }
        const settings = yield* cache.get(ConfigMap, `${namespace}/${name}`)
        const password = yield* cache.get(Secret, `${namespace}/${name}`)
        if (settings === undefined) yield* client.create(ConfigMap, { metadata })
        // What is missing is decided for each child by itself: between two writes a process may end.
        if (isRepaired ? password === undefined : settings === undefined) yield* client.create(Secret, { metadata })
      })
  })

export const bug: Bug = {
  title: "the second of two children is not created after a crash between the two",
  sources: [
    "https://github.com/rabbitmq/cluster-operator/issues/782",
    "https://github.com/sieve-project/sieve/blob/main/docs/reprod.md"
  ],
  write: "create configmaps",
  explore: (isRepaired) =>
    explore("second-child-never-created", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        cluster.apply("{ apiVersion: bugs.example.com/v1, kind: Database, metadata: { name: a }, spec: {} }")
    })
}

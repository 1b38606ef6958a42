/** A conflict that is ignored because a change of the object will start another run, and a predicate that filters the change. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import * as Predicate from "../../../src/streams/store/predicate.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import type { Bug } from "../Bug.ts"

const Account = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Account",
  plural: "accounts",
  spec: Schema.Struct({ team: Schema.String })
})

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "account",
    for: Account,
    predicate: Predicate.generationChanged,
    access: [Access.update(Account)],
    reconcileObject: (account, { client }) =>
      Effect.gen(function* () {
        const { team } = account.spec
        const { labels } = account.metadata
        if (labels?.["team"] === team) return
        const metadata = { ...account.metadata, labels: { ...labels, team } }
        const written = Effect.asVoid(client.update(Account, { ...account, metadata }))
        // A conflict is a failure like others: the run is repeated, whether or not a change comes.
        yield* isRepaired ? written : Effect.catchReason(written, "ApiError", "Conflict", () => Effect.void)
      })
  })

export const bug: Bug = {
  title: "an update that met a conflict is not repeated",
  sources: ["https://github.com/Azure/azure-service-operator/pull/2719"],
  write: "update accounts.bugs.example.com",
  explore: (isRepaired) =>
    explore("conflict-swallowed", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        cluster.apply("{ apiVersion: bugs.example.com/v1, kind: Account, metadata: { name: a }, spec: { team: blue } }")
    })
}

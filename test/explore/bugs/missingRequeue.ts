/** A controller that waits for another object looks at it once, and is not run again when it is ready. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Key from "../../../src/kube/Key.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import * as Reconcile from "../../../src/streams/reconcile/Reconcile.ts"
import type { Bug } from "../Bug.ts"

const Stage = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Stage",
  plural: "stages",
  subresources: { status: true },
  spec: Schema.Struct({ after: Schema.optionalKey(Schema.String) }),
  status: Schema.Struct({ isReady: Schema.Boolean })
})

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "stage",
    for: Stage,
    access: [Access.patch(Stage, "status")],
    reconcileObject: ({ metadata: { name, namespace = "" }, spec, status }, { cache, client }) =>
      Effect.gen(function* () {
        if (status?.isReady === true) return Reconcile.done
        if (spec.after !== undefined) {
          const before = yield* cache.get(Stage, Key.make(namespace, spec.after))
          if (before?.status?.isReady !== true) return isRepaired ? Reconcile.after("10 seconds") : Reconcile.done
        }
        yield* client
          .subresource("status")
          .patch(Stage, { namespace, name }, Patch.merge({ status: { isReady: true } }))
        return Reconcile.done
      })
  })

const stage = (name: string, spec: object) => ({
  apiVersion: "bugs.example.com/v1",
  kind: "Stage",
  metadata: { namespace: "default", name },
  spec
})

export const bug: Bug = {
  title: "a controller that waits for another object is not run again when it is ready",
  sources: [
    "https://github.com/open-component-model/open-component-model/pull/3531",
    "https://github.com/instaclustr/cassandra-operator/issues/40"
  ],
  write: "patch stages.bugs.example.com/status default/b",
  explore: (isRepaired) =>
    explore("missing-requeue", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        Effect.gen(function* () {
          yield* cluster.apply([stage("a", {})])
          yield* cluster.advance("2 seconds")
          yield* cluster.apply([stage("b", { after: "a" })])
        })
    })
}

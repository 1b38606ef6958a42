/** An object is deleted by its name, after another one has been created under that name. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import type { Bug } from "../Bug.ts"

const Runner = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Runner",
  plural: "runners",
  spec: Schema.Struct({ isFinished: Schema.Boolean })
})

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "runner",
    for: Runner,
    access: [Access.remove(Runner)],
    reconcileObject: ({ metadata: { name, namespace, resourceVersion, uid }, spec }, { client }) =>
      spec.isFinished
        ? client
            .delete(Runner, { namespace, name }, isRepaired ? { preconditions: { uid, resourceVersion } } : {})
            .pipe(
              Effect.asVoid,
              Effect.catchReason("ApiError", "NotFound", () => Effect.void)
            )
        : Effect.void
  })

const runner = (isFinished: boolean) => ({
  apiVersion: "bugs.example.com/v1",
  kind: "Runner",
  metadata: { namespace: "default", name: "a" },
  spec: { isFinished }
})

export const bug: Bug = {
  title: "a deletion by name deletes the object that was created again under the name",
  sources: ["https://github.com/actions/actions-runner-controller/pull/4673"],
  write: "delete runners",
  explore: (isRepaired) =>
    explore("recreated-namesake", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        Effect.gen(function* () {
          yield* cluster.apply([runner(true)])
          yield* cluster.advance("1500 millis")
          yield* cluster.apply([runner(false)])
        })
    })
}

/** A time in the status is compared with the wall clock, which may have been set back meanwhile. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Clock from "effect/Clock"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import * as Reconcile from "../../../src/streams/reconcile/Reconcile.ts"
import type { Bug } from "../Bug.ts"

const Trial = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Trial",
  plural: "trials",
  subresources: { status: true },
  spec: Schema.Struct({ seconds: Schema.Int }),
  status: Schema.Struct({ startedAt: Schema.String, isOver: Schema.optionalKey(Schema.Boolean) })
})

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "trial",
    for: Trial,
    access: [Access.patch(Trial, "status")],
    reconcileObject: ({ metadata: { name, namespace }, spec, status }, { client }) =>
      Effect.gen(function* () {
        if (status?.isOver === true) return Reconcile.done
        const patch = (changed: object) =>
          client.subresource("status").patch(Trial, { namespace, name }, Patch.merge({ status: changed }))
        const now = yield* Clock.currentTimeMillis
        const began = status === undefined ? undefined : Date.parse(status.startedAt)
        // A start in the future was written before the clock was set back. How long ago is not known, so the trial starts again.
        if (began === undefined || (isRepaired && began > now)) {
          yield* patch({ startedAt: new Date(now).toISOString() })
          return Reconcile.done
        }
        const rest = began + spec.seconds * 1000 - now
        if (rest > 0) return Reconcile.after(rest)
        yield* patch({ isOver: true })
        return Reconcile.done
      })
  })

export const bug: Bug = {
  title: "a clock that is set back makes a controller wait for as long again",
  sources: [
    "https://github.com/kubernetes/kubernetes/issues/134153",
    "https://github.com/knative/serving/issues/561",
    "https://github.com/kubernetes/kubernetes/issues/6159"
  ],
  write: "patch trials.bugs.example.com/status",
  explore: (isRepaired) =>
    explore("clock-jump", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        Effect.gen(function* () {
          yield* cluster.apply([
            {
              apiVersion: "bugs.example.com/v1",
              kind: "Trial",
              metadata: { namespace: "default", name: "a" },
              spec: { seconds: 60 }
            }
          ])
          yield* cluster.advance("10 seconds")
          yield* cluster.edit(Trial, { namespace: "default", name: "a" }, { metadata: { labels: { seen: "true" } } })
        })
    })
}

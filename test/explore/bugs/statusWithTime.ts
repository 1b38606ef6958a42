/** A status with the time of the run, which starts the next run when it is written. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import type { Bug } from "../Bug.ts"

const Probe = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Probe",
  plural: "probes",
  subresources: { status: true },
  spec: Schema.Struct({}),
  status: Schema.Struct({ ready: Schema.Boolean, since: Schema.String })
})

const controller = (isRepaired: boolean) =>
  Controller.make({
    name: "probe",
    for: Probe,
    // A run takes no time here, and two runs at the same time write the same.
    minInterval: "1 second",
    access: [Access.patch(Probe, "status")],
    reconcileObject: (probe, { client }) =>
      Effect.gen(function* () {
        // The time is that of a change, so without one there is nothing to write.
        if (isRepaired && probe.status?.ready === true) return
        const { name, namespace } = probe.metadata
        const since = DateTime.formatIso(yield* DateTime.now)
        yield* client
          .subresource("status")
          .patch(Probe, { namespace, name }, Patch.merge({ status: { ready: true, since } }))
      })
  })

export const bug: Bug = {
  title: "a status with the time of the run is written again and again",
  sources: [
    "https://github.com/knative/serving/issues/1181",
    "https://github.com/rabbitmq/messaging-topology-operator/pull/251"
  ],
  write: "patch probes.bugs.example.com/status",
  isUndisturbed: true,
  explore: (isRepaired) =>
    explore("status-with-time", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        cluster.apply("{ apiVersion: bugs.example.com/v1, kind: Probe, metadata: { name: a }, spec: {} }")
    })
}

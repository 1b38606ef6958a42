/** replicationcontroller: a controller shrinks, leaves its pod behind, and comes again under the same name. */
import * as Effect from "effect/Effect"
import * as ReplicationControllers from "../../../src/controllers/ReplicationController.ts"
import { Pod, ReplicationController } from "../../../src/kube/resources.ts"
import { neverMoreThan } from "../../../src/testing/explore/invariants.ts"
import { kubelet } from "./kubelet.ts"
import { isActive, labels, template, web } from "./manifests.ts"
import { apart } from "./stale.ts"

const controller = (replicas: number) => ({
  apiVersion: "v1",
  kind: "ReplicationController",
  metadata: web,
  spec: { replicas, selector: labels, template: template() }
})

export const [replicationController, replicationControllerStale] = apart("replicationcontroller", {
  controllers: [ReplicationControllers.make()],
  environment: [kubelet],
  invariants: [neverMoreThan(2, Pod, isActive)],
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([controller(2)])
      yield* cluster.advance("40 seconds")
      yield* cluster.edit(ReplicationController, web, { spec: { replicas: 1 } })
      yield* cluster.advance("40 seconds")
      // Its pods have no owner then, and the next one adopts them.
      yield* cluster.delete(ReplicationController, web)
      yield* cluster.advance("2 seconds")
      yield* cluster.apply([controller(1)])
    })
})

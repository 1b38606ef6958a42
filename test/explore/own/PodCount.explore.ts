/** pod-count: pods come and go, and a user changes the label. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { label, make } from "../../../src/controllers/PodCount.ts"
import { Node, Pod } from "../../../src/kube/resources.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { podSpec } from "./manifests.ts"

const pod = (name: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace: "default", name },
  spec: podSpec()
})

const node = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "control-plane", labels: { "node-role.kubernetes.io/control-plane": "" } }
}

export const podCount = explore("pod-count", {
  controllers: [make({ schedule: Schedule.spaced("10 seconds") })],
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([node, pod("a"), pod("b")])
      yield* cluster.advance("15 seconds")
      yield* cluster.step(
        "delete pod a",
        cluster.client.delete(Pod, { namespace: "default", name: "a" }, { gracePeriodSeconds: 0 })
      )
      yield* cluster.advance("15 seconds")
      yield* cluster.edit(Node, { name: "control-plane" }, { metadata: { labels: { [label]: "100" } } })
      yield* cluster.advance("15 seconds")
      yield* cluster.delete(Node, { name: "control-plane" })
      yield* cluster.apply([node])
    })
})

/** daemonset: a new node, an update, and a set that comes again under the same name. */
import * as Effect from "effect/Effect"
import * as DaemonSets from "../../../src/controllers/DaemonSet.ts"
import { DaemonSet, Pod } from "../../../src/kube/resources.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { invariant } from "../../../src/testing/explore/invariants.ts"
import { kubelet } from "./kubelet.ts"
import { isActive, labels, web } from "./manifests.ts"
import { apart, seesDeletionLate } from "./stale.ts"

const node = (name: string) => ({ apiVersion: "v1", kind: "Node", metadata: { name } })

const template = (version: number) => ({
  metadata: { labels },
  spec: { containers: [{ name: "main", image: `example.test/web:${version}` }] }
})

const set = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: web,
  spec: { revisionHistoryLimit: 1, selector: { matchLabels: labels }, template: template(1) }
}

const nodeOf = ({ spec }: Pod) =>
  spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms[0]?.matchFields?.[0]
    ?.values?.[0]

export const [daemonSet, daemonSetStale] = apart("daemonset", {
  controllers: [DaemonSets.make()],
  without: {
    "travel-4": "each sync, once a second, sends two writes that are refused until the cache has caught up"
  },
  environment: [kubelet],
  invariants: [
    invariant("one pod on each node", ({ list }) => {
      const owned = list(Pod)
        .filter(isActive)
        .map((pod) => `${nodeOf(pod)} of ${pod.metadata.ownerReferences?.[0]?.uid}`)
      return new Set(owned).size < owned.length ? owned.join(", ") : undefined
    })
  ],
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([node("n1"), set])
      yield* cluster.advance("40 seconds")
      yield* cluster.apply([node("n2")])
      yield* cluster.advance("40 seconds")
      yield* cluster.edit(DaemonSet, web, { spec: { template: template(2) } })
    })
})

export const daemonSetAgain = explore("daemonset-again", {
  controllers: [DaemonSets.make()],
  environment: [kubelet],
  without: seesDeletionLate("pkg/controller/daemon: syncDaemonSet"),
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([node("n1"), set])
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(DaemonSet, web)
      yield* cluster.apply([set])
    })
})

/** statefulset: an update, fewer replicas and their claims, and a set that comes again under the same name. */
import * as Effect from "effect/Effect"
import * as StatefulSets from "../../../src/controllers/StatefulSet.ts"
import { Pod, StatefulSet } from "../../../src/kube/resources.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { always, neverMoreThan } from "../../../src/testing/explore/invariants.ts"
import { kubelet } from "./kubelet.ts"
import { labels, template, web } from "./manifests.ts"
import { apart, seesDeletionLate, stale } from "./stale.ts"

const set = (replicas: number) => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: web,
  spec: {
    replicas,
    serviceName: "web",
    revisionHistoryLimit: 1,
    selector: { matchLabels: labels },
    template: template(),
    volumeClaimTemplates: [
      {
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
      }
    ],
    persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete", whenDeleted: "Retain" }
  }
})

export const [statefulSet, statefulSetStale] = apart(
  "statefulset",
  {
    controllers: [StatefulSets.make()],
    environment: [kubelet],
    invariants: [
      neverMoreThan(2, Pod),
      always(
        "a pod starts after the one before it is ready",
        Pod,
        ({ metadata, status }, { list }) =>
          metadata.name !== "web-1" ||
          status?.phase !== "Pending" ||
          metadata.deletionTimestamp !== undefined ||
          list(Pod).some((one) => one.metadata.name === "web-0" && one.status?.phase === "Running")
      )
    ],
    scenario: (cluster) =>
      Effect.gen(function* () {
        yield* cluster.apply([set(2)])
        yield* cluster.advance("40 seconds")
        yield* cluster.edit(StatefulSet, web, { spec: { template: template(2) } })
        yield* cluster.advance("40 seconds")
        yield* cluster.edit(StatefulSet, web, { spec: { replicas: 1 } })
      })
  },
  [...stale, "delete"]
)

export const statefulSetAgain = explore("statefulset-again", {
  controllers: [StatefulSets.make()],
  environment: [kubelet],
  without: seesDeletionLate("pkg/controller/statefulset: sync"),
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([set(1)])
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(StatefulSet, web)
      yield* cluster.apply([set(1)])
    })
})

/** ttl-after-finished, persistentvolumeclaim-protection and clusterrole-aggregation. */
import * as Effect from "effect/Effect"
import * as ClusterRoleAggregation from "../../../src/controllers/ClusterRoleAggregation.ts"
import * as PvcProtection from "../../../src/controllers/PvcProtection.ts"
import * as TtlAfterFinished from "../../../src/controllers/TtlAfterFinished.ts"
import * as Jobs from "../../../src/controllers/Job.ts"
import { ClusterRole, PersistentVolumeClaim, Pod } from "../../../src/kube/resources.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { ends, kubelet } from "./kubelet.ts"
import { podSpec, web } from "./manifests.ts"

const job = (ttlSecondsAfterFinished: number) => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: web,
  spec: {
    ttlSecondsAfterFinished,
    template: {
      metadata: { annotations: { [ends]: "Succeeded" } },
      spec: { ...podSpec(), restartPolicy: "Never" }
    }
  }
})

export const ttlAfterFinished = explore("ttl-after-finished", {
  controllers: [TtlAfterFinished.make()],
  without: {
    // Source: pkg/controller/ttlafterfinished: timeLeft.
    "jump-back": "the time since the end of a Job is counted by the wall clock, so it is deleted an hour later"
  },
  environment: [Jobs.make(), kubelet],
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([job(20)])
      yield* cluster.advance("2 minutes")
      yield* cluster.apply([job(100_000)])
      yield* cluster.advance("40 seconds")
      yield* cluster.apply([job(60)])
    })
})

const data = { namespace: "default", name: "data" }

const claim = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: data,
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
}

const user = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace: "default", name: "user" },
  spec: { ...podSpec(), volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] }
}

export const pvcProtection = explore("persistentvolumeclaim-protection", {
  controllers: [PvcProtection.make()],
  environment: [kubelet],
  scenario: (cluster) =>
    Effect.gen(function* () {
      // The admission plugin StorageObjectInUseProtection has added the finalizer.
      const finalizers = ["kubernetes.io/pvc-protection"]
      yield* cluster.apply([{ ...claim, metadata: { ...data, finalizers } }, user])
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(PersistentVolumeClaim, data)
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(Pod, { namespace: "default", name: "user" })
      yield* cluster.advance("40 seconds")
      yield* cluster.apply([claim])
      yield* cluster.delete(PersistentVolumeClaim, data)
      yield* cluster.advance("40 seconds")
      yield* cluster.apply([claim])
    })
})

const role = (name: string, verb: string) => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name, labels: { "example.com/aggregate": "true" } },
  rules: [{ apiGroups: ["example.com"], resources: ["things"], verbs: [verb] }]
})

const all = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: "all" },
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { "example.com/aggregate": "true" } }] }
}

export const clusterRoleAggregation = explore("clusterrole-aggregation", {
  controllers: [ClusterRoleAggregation.make()],
  scenario: (cluster) =>
    Effect.gen(function* () {
      yield* cluster.apply([all, role("a", "get"), role("b", "list")])
      yield* cluster.advance("40 seconds")
      yield* cluster.edit(ClusterRole, { name: "all" }, { rules: [] })
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(ClusterRole, { name: "a" })
      yield* cluster.advance("40 seconds")
      yield* cluster.delete(ClusterRole, { name: "all" })
      yield* cluster.apply([all])
    })
})

/** Resources: which kinds are served, in which scope, with which subresources. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { done, refused } from "../assertions.ts"
import type { Case } from "../Case.ts"

interface Served {
  readonly path: string
  readonly plurals: ReadonlyArray<string>
  readonly rule?: readonly [since: number, rule: string]
}

/** Kinds by group and version: plural, kind, `c` for cluster-scoped, then subresources. */
const table: ReadonlyArray<Served> = [
  {
    path: "/api/v1",
    plurals: [
      "namespaces Namespace c status finalize",
      "nodes Node c status",
      "pods Pod n status binding eviction",
      "services Service n status",
      "endpoints Endpoints n",
      "configmaps ConfigMap n",
      "secrets Secret n",
      "serviceaccounts ServiceAccount n token",
      "events Event n",
      "persistentvolumes PersistentVolume c status",
      "persistentvolumeclaims PersistentVolumeClaim n status",
      "replicationcontrollers ReplicationController n status scale",
      "resourcequotas ResourceQuota n status",
      "limitranges LimitRange n"
    ]
  },
  {
    path: "/apis/apps/v1",
    plurals: [
      "deployments Deployment n status scale",
      "replicasets ReplicaSet n status scale",
      "statefulsets StatefulSet n status scale",
      "daemonsets DaemonSet n status",
      "controllerrevisions ControllerRevision n"
    ]
  },
  { path: "/apis/batch/v1", plurals: ["jobs Job n status"] },
  { path: "/apis/coordination.k8s.io/v1", plurals: ["leases Lease n"] },
  { path: "/apis/events.k8s.io/v1", plurals: ["events Event n"] },
  {
    path: "/apis/rbac.authorization.k8s.io/v1",
    plurals: [
      "roles Role n",
      "rolebindings RoleBinding n",
      "clusterroles ClusterRole c",
      "clusterrolebindings ClusterRoleBinding c"
    ]
  },
  {
    path: "/apis/admissionregistration.k8s.io/v1",
    plurals: [
      "mutatingwebhookconfigurations MutatingWebhookConfiguration c",
      "validatingwebhookconfigurations ValidatingWebhookConfiguration c"
    ]
  },
  { path: "/apis/scheduling.k8s.io/v1", plurals: ["priorityclasses PriorityClass c"] },
  { path: "/apis/storage.k8s.io/v1", plurals: ["storageclasses StorageClass c"] },
  { path: "/apis/batch/v1", plurals: ["cronjobs CronJob n status"], rule: [21, "CronJob is batch/v1 from 1.21"] },
  {
    path: "/apis/discovery.k8s.io/v1",
    plurals: ["endpointslices EndpointSlice n"],
    rule: [21, "EndpointSlice is v1 from 1.21"]
  },
  {
    path: "/apis/policy/v1",
    plurals: ["poddisruptionbudgets PodDisruptionBudget n status"],
    rule: [21, "PodDisruptionBudget is v1 from 1.21"]
  },
  {
    path: "/apis/autoscaling/v2",
    plurals: ["horizontalpodautoscalers HorizontalPodAutoscaler n status"],
    rule: [23, "HorizontalPodAutoscaler is v2 from 1.23"]
  },
  {
    path: "/api/v1",
    plurals: ["pods Pod n status ephemeralcontainers"],
    rule: [25, "KEP-277: ephemeral containers are stable from 1.25"]
  }
]

interface Listed {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: ReadonlyArray<string>
}

const serves = ({ path, plurals, rule }: Served): Case => ({
  title: `${path} serves ${plurals.map((one) => one.split(" ")[0]).join(", ")}`,
  ...(rule === undefined ? { since: 20 as const } : { since: rule[0], rule: rule[1] }),
  run: Effect.fnUntraced(function* ({ ask, namespace }) {
    const resources = done(yield* ask("GET", path)).resources as ReadonlyArray<Listed>
    for (const line of plurals) {
      const [plural, kind, scope, ...subresources] = line.split(" ")
      const found = resources.find(({ name }) => name === plural)
      assert.deepStrictEqual([found?.kind, found?.namespaced], [kind, scope === "n"], line)
      assert.includeMembers([...(found?.verbs ?? [])], ["create", "delete", "get", "list", "patch", "update", "watch"])
      for (const one of subresources) {
        assert.isDefined(
          resources.find(({ name }) => name === `${plural}/${one}`),
          `${plural}/${one}`
        )
      }
      const within = scope === "n" ? `${path}/namespaces/${namespace}/${plural}` : `${path}/${plural}`
      const list = done(yield* ask("GET", `${within}?limit=1`))
      assert.deepStrictEqual([list.kind, list.apiVersion], [`${kind}List`, path.replace(/^\/apis?\//, "")])
      refused(yield* ask("GET", `${within}/none`), { code: 404, reason: "NotFound" })
    }
  })
})

export const served: ReadonlyArray<Case> = table.map(serves)

/**
 * clusterrole-aggregation: a ClusterRole with an aggregation rule gets exactly the rules of the ClusterRoles that it
 * selects, by server-side apply; on a server without it the whole role is updated. Source:
 * pkg/controller/clusterroleaggregation: syncClusterRole.
 */
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import type { ApiError } from "../kube/ApiError.ts"
import * as Patch from "../kube/Patch.ts"
import * as Resource from "../kube/Resource.ts"
import { ClusterRole } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Family from "../streams/reconcile/metricFamily.ts"
import * as Plan from "./clusterroleaggregation/plan.ts"
import * as Selection from "./clusterroleaggregation/selection.ts"

const access = [
  Access.read(ClusterRole),
  Access.patch(ClusterRole),
  Access.update(ClusterRole),
  Access.escalate(ClusterRole)
] as const

// The triggers keep which roles each label concerns.
export const make = () =>
  Controller.stateful({
    name: "clusterrole-aggregation",
    queue: "ClusterRoleAggregator",
    metrics: [writes],
    for: ClusterRole,
    access,
    // Source: cmd/kube-controller-manager/app: newClusterRoleAggregationController.
    concurrency: 5,
    body: ({ client, store }) =>
      Effect.sync(() => {
        const roles = store(ClusterRole)
        const selection = Selection.make()
        return {
          sources: [Controller.watch(ClusterRole, selection.concerned, { indexes: [Selection.byLabel] })],
          reconcile: Effect.fnUntraced(function* ({ key }: Controller.Request) {
            const role = roles.get(key)
            const plan = role === undefined ? Plan.nothing : Plan.plan(role, (one) => Selection.select(roles, one))
            if (role === undefined || plan._tag === "Done") return
            if (plan._tag === "Unusable") return yield* Effect.logWarning(plan.message)
            const method = yield* write(client, role, plan.rules)
            yield* counted(method)
            yield* Effect.annotateLogs(Effect.logDebug("Aggregated the rules of a ClusterRole"), {
              rules: plan.rules.length,
              method
            })
          })
        }
      })
  })

/** Field manager of the applied rules. */
const fieldManager = "clusterrole-aggregation-controller"

type Client = Controller.Client<(typeof access)[number]>

const write = (client: Client, role: ClusterRole, rules: Plan.Rules): Effect.Effect<"apply" | "update", ApiError> => {
  const { name, uid } = role.metadata
  const wanted = {
    apiVersion: Resource.apiVersion(ClusterRole),
    kind: ClusterRole.kind,
    // The uid keeps the write from a role that was recreated under the same name.
    metadata: { name, ...(uid === undefined ? {} : { uid }) },
    rules
  }
  return client.patch(ClusterRole, { name }, Patch.apply(wanted), { fieldManager, force: true }).pipe(
    Effect.as("apply" as const),
    Effect.catchIf(
      ({ status }) => status === 415,
      () => Effect.as(client.update(ClusterRole, { ...role, rules: [...rules] }), "update" as const)
    )
  )
}

const writes = Family.counter(
  "cluster_role_aggregation_writes_total",
  "ClusterRoles whose aggregated rules were written, by method: apply, update",
  ["method"]
)

const counted = (method: "apply" | "update") => writes.add(1, { method })

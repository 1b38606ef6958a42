/**
 * Which rules a kind has. `check` looks at every new state of the object's main endpoint, `change` compares it with the state
 * it replaces. Rules see stored forms, after defaulting, and are total: a body of a wrong shape is somebody else's 400.
 */
import type { JsonObject } from "../../json.ts"
import type { Kind } from "../../schema/Kind.ts"
import type { Errors } from "./field.ts"
import * as pods from "./pods.ts"
import * as workloads from "./workloads.ts"

export interface Rules {
  readonly check?: (errors: Errors, object: JsonObject) => void
  readonly change?: (errors: Errors, object: JsonObject, before: JsonObject) => void
}

const table: ReadonlyMap<string, Rules> = new Map(
  Object.entries({
    Pod: { check: pods.pod, change: pods.podUpdate },
    "apps/Deployment": { check: workloads.deployment, change: workloads.sameSelector },
    "apps/ReplicaSet": { check: workloads.replicaSet, change: workloads.sameSelector },
    "apps/StatefulSet": { check: workloads.statefulSet, change: workloads.statefulSetUpdate },
    "apps/DaemonSet": { check: workloads.daemonSet, change: workloads.sameSelector },
    ReplicationController: { check: workloads.replicationController }
  } satisfies Record<string, Rules>)
)

const none: Rules = {}

export const rulesOf = (kind: Pick<Kind, "group" | "kind">): Rules =>
  table.get(kind.group === "" ? kind.kind : `${kind.group}/${kind.kind}`) ?? none

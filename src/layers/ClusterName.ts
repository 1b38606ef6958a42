/**
 * The name of the cluster, which a controller may put into what it writes, so that objects and log lines of several clusters can be kept
 * apart where they meet. It is whatever the user says; nothing is looked up, and nothing else depends on it.
 * Source: kube-controller-manager's `--cluster-name`.
 */
import * as Context from "effect/Context"

/** What the cluster is called, for controllers that write it somewhere: `kubernetes` unless said otherwise. */
export const ClusterName = Context.Reference<string>("effect-controller-manager/ClusterName", {
  defaultValue: () => "kubernetes"
})

/** Types of policy: written by scripts/schema-table.mjs, read by ../types.ts, which explains the notation. */
export const types = `
Eviction apiVersion:s deleteOptions:meta.DeleteOptions kind:s metadata&:meta.ObjectMeta
PodDisruptionBudget apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:PodDisruptionBudgetSpec status&:PodDisruptionBudgetStatus
PodDisruptionBudgetSpec maxUnavailable*:x minAvailable*:x selector:meta.LabelSelector| unhealthyPodEvictionPolicy*:s
PodDisruptionBudgetStatus conditions:[type]meta.Condition~type currentHealthy&:i desiredHealthy&:i disruptedPods:{}t disruptionsAllowed&:i expectedPods&:i observedGeneration:l
`

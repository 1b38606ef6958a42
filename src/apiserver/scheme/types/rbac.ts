/** Types of rbac: written by scripts/schema-table.mjs, read by ../types.ts, which explains the notation. */
export const types = `
AggregationRule clusterRoleSelectors:[]meta.LabelSelector
ClusterRole aggregationRule:AggregationRule apiVersion:s kind:s metadata&:meta.ObjectMeta rules&:[]PolicyRule
ClusterRoleBinding apiVersion:s kind:s metadata&:meta.ObjectMeta roleRef!:RoleRef subjects:[]Subject
PolicyRule apiGroups:[]s nonResourceURLs:[]s resourceNames:[]s resources:[]s verbs!:[]s
Role apiVersion:s kind:s metadata&:meta.ObjectMeta rules&:[]PolicyRule
RoleBinding apiVersion:s kind:s metadata&:meta.ObjectMeta roleRef!:RoleRef subjects:[]Subject
RoleRef@ apiGroup&:s kind!:s name!:s
Subject@ apiGroup:s kind!:s name!:s namespace:s
`

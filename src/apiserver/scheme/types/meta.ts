/** Types of meta: written by scripts/schema-table.mjs, read by ../types.ts, which explains the notation. */
export const types = `
APIGroup apiVersion:s kind:s name!:s preferredVersion&:GroupVersionForDiscovery serverAddressByClientCIDRs:[]ServerAddressByClientCIDR versions!:[]GroupVersionForDiscovery
APIGroupList apiVersion:s groups!:[]APIGroup kind:s
APIResource categories:[]s group:s kind!:s name!:s namespaced!:b shortNames:[]s singularName!:s storageVersionHash:s verbs!:[]s version:s
APIResourceList apiVersion:s groupVersion!:s kind:s resources!:[]APIResource
APIVersions apiVersion:s kind:s serverAddressByClientCIDRs!:[]ServerAddressByClientCIDR versions!:[]s
Condition lastTransitionTime!:t message!:s observedGeneration:l reason!:s status!:s type!:s
DeleteOptions apiVersion:s dryRun:[]s gracePeriodSeconds*:l ignoreStoreReadErrorWithClusterBreakingPotential*:b kind:s orphanDependents*:b preconditions:Preconditions propagationPolicy*:s
FieldSelectorRequirement key!:s operator!:s values:[]s
GroupVersionForDiscovery groupVersion!:s version!:s
LabelSelector@ matchExpressions:[]LabelSelectorRequirement matchLabels:{}s
LabelSelectorRequirement key!:s operator!:s values:[]s
ListMeta continue:s remainingItemCount*:l resourceVersion:s selfLink:s shardInfo:ShardInfo
ManagedFieldsEntry apiVersion:s fieldsType:s fieldsV1*:j manager:s operation:s subresource:s time*:t
ObjectMeta annotations:{}s creationTimestamp:t deletionGracePeriodSeconds*:l deletionTimestamp*:t finalizers:[=]s~ generateName:s generation:l labels:{}s managedFields*:[]ManagedFieldsEntry name:s namespace:s ownerReferences:[uid]OwnerReference~uid resourceVersion:s selfLink:s uid:s
OwnerReference apiVersion!:s blockOwnerDeletion*:b controller*:b kind!:s name!:s uid!:s
Preconditions resourceVersion*:s uid*:s
ServerAddressByClientCIDR clientCIDR!:s serverAddress!:s
ShardInfo selector!:s
Status apiVersion:s code:i details:StatusDetails kind:s message:s metadata&:ListMeta reason:s status:s
StatusCause field:s message:s reason:s
StatusDetails causes:[]StatusCause group:s kind:s name:s retryAfterSeconds:i uid:s
WatchEvent object!:j type!:s
`

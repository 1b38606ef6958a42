/** Types of storage: written by scripts/schema-table.mjs, read by ../types.ts, which explains the notation. */
export const types = `
CSIDriver apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:CSIDriverSpec
CSIDriverSpec attachRequired*:b fsGroupPolicy*:s nodeAllocatableUpdatePeriodSeconds*:l podInfoOnMount*:b preventPodSchedulingIfMissing*:b requiresRepublish*:b seLinuxMount*:b serviceAccountTokenInSecrets*:b storageCapacity*:b tokenRequests:[]TokenRequest volumeLifecycleModes:[=]s
CSINode apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:CSINodeSpec
CSINodeDriver allocatable:VolumeNodeResources name!:s nodeID!:s topologyKeys&:[]s
CSINodeSpec drivers!:[name]CSINodeDriver~name
CSIStorageCapacity apiVersion:s capacity*:q kind:s maximumVolumeSize*:q metadata&:meta.ObjectMeta nodeTopology:meta.LabelSelector storageClassName!:s
StorageClass allowVolumeExpansion*:b allowedTopologies:[]core.TopologySelectorTerm apiVersion:s kind:s metadata&:meta.ObjectMeta mountOptions:[]s parameters:{}s provisioner!:s reclaimPolicy*:s volumeBindingMode*:s
TokenRequest audience!:s expirationSeconds*:l
VolumeAttachment apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:VolumeAttachmentSpec status&:VolumeAttachmentStatus
VolumeAttachmentSource inlineVolumeSpec:core.PersistentVolumeSpec persistentVolumeName*:s
VolumeAttachmentSpec attacher!:s nodeName!:s source!:VolumeAttachmentSource
VolumeAttachmentStatus attachError:VolumeError attached!:b attachmentMetadata:{}s detachError:VolumeError
VolumeAttributesClass apiVersion:s driverName!:s kind:s metadata&:meta.ObjectMeta parameters:{}s
VolumeError errorCode*:i message:s time&:t
VolumeNodeResources count*:i
`

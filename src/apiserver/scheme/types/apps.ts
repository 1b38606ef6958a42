/** Types of apps: written by scripts/schema-table.mjs, read by ../types.ts, which explains the notation. */
export const types = `
ControllerRevision apiVersion:s data&:j kind:s metadata&:meta.ObjectMeta revision!:l
DaemonSet apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:DaemonSetSpec status&:DaemonSetStatus
DaemonSetCondition lastTransitionTime&:t message:s reason:s status!:s type!:s
DaemonSetSpec minReadySeconds:i revisionHistoryLimit*:i selector!*:meta.LabelSelector template!:core.PodTemplateSpec updateStrategy&:DaemonSetUpdateStrategy
DaemonSetStatus collisionCount*:i conditions:[type]DaemonSetCondition~type currentNumberScheduled!:i desiredNumberScheduled!:i numberAvailable:i numberMisscheduled!:i numberReady!:i numberUnavailable:i observedGeneration:l updatedNumberScheduled:i
DaemonSetUpdateStrategy rollingUpdate:RollingUpdateDaemonSet type:s
Deployment apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:DeploymentSpec status&:DeploymentStatus
DeploymentCondition lastTransitionTime&:t lastUpdateTime&:t message:s reason:s status!:s type!:s
DeploymentSpec minReadySeconds:i paused:b progressDeadlineSeconds*:i replicas*:i revisionHistoryLimit*:i selector!*:meta.LabelSelector strategy&:DeploymentStrategy^ template!:core.PodTemplateSpec
DeploymentStatus availableReplicas:i collisionCount*:i conditions:[type]DeploymentCondition~type observedGeneration:l readyReplicas:i replicas:i terminatingReplicas*:i unavailableReplicas:i updatedReplicas:i
DeploymentStrategy rollingUpdate:RollingUpdateDeployment type:s
ReplicaSet apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:ReplicaSetSpec status&:ReplicaSetStatus
ReplicaSetCondition lastTransitionTime&:t message:s reason:s status!:s type!:s
ReplicaSetSpec minReadySeconds:i replicas*:i selector!*:meta.LabelSelector template&:core.PodTemplateSpec
ReplicaSetStatus availableReplicas:i conditions:[type]ReplicaSetCondition~type fullyLabeledReplicas:i observedGeneration:l readyReplicas:i replicas!:i terminatingReplicas*:i
RollingUpdateDaemonSet maxSurge*:x maxUnavailable*:x
RollingUpdateDeployment maxSurge*:x maxUnavailable*:x
RollingUpdateStatefulSetStrategy maxUnavailable*:x partition*:i
StatefulSet apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:StatefulSetSpec status&:StatefulSetStatus
StatefulSetCondition lastTransitionTime&:t message:s reason:s status!:s type!:s
StatefulSetOrdinals start&:i
StatefulSetPersistentVolumeClaimRetentionPolicy whenDeleted:s whenScaled:s
StatefulSetSpec minReadySeconds:i ordinals:StatefulSetOrdinals persistentVolumeClaimRetentionPolicy:StatefulSetPersistentVolumeClaimRetentionPolicy podManagementPolicy:s replicas*:i revisionHistoryLimit*:i selector!*:meta.LabelSelector serviceName&:s template!:core.PodTemplateSpec updateStrategy&:StatefulSetUpdateStrategy volumeClaimTemplates:[]core.PersistentVolumeClaim
StatefulSetStatus availableReplicas&:i collisionCount*:i conditions:[type]StatefulSetCondition~type currentReplicas:i currentRevision:s observedGeneration:l readyReplicas:i replicas!:i updateRevision:s updatedReplicas:i
StatefulSetUpdateStrategy rollingUpdate:RollingUpdateStatefulSetStrategy type:s
`

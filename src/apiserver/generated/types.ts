/** Types by API group: written by scripts/schema-table.mjs, read by ../scheme/types.ts, which explains the notation. */
const meta = `
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

const apps = `
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

const batch = `
CronJob apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:CronJobSpec status&:CronJobStatus
CronJobSpec concurrencyPolicy:s failedJobsHistoryLimit*:i jobTemplate!:JobTemplateSpec schedule!:s startingDeadlineSeconds*:l successfulJobsHistoryLimit*:i suspend*:b timeZone*:s
CronJobStatus active:[]core.ObjectReference lastScheduleTime*:t lastSuccessfulTime*:t
Job apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:JobSpec status&:JobStatus
JobCondition lastProbeTime&:t lastTransitionTime&:t message:s reason:s status!:s type!:s
JobSpec activeDeadlineSeconds*:l backoffLimit*:i backoffLimitPerIndex*:i completionMode*:s completions*:i managedBy*:s manualSelector*:b maxFailedIndexes*:i parallelism*:i podFailurePolicy:PodFailurePolicy podReplacementPolicy*:s selector:meta.LabelSelector successPolicy:SuccessPolicy suspend*:b template!:core.PodTemplateSpec ttlSecondsAfterFinished*:i
JobStatus active:i completedIndexes:s completionTime*:t conditions:[]JobCondition~type failed:i failedIndexes*:s ready*:i startTime*:t succeeded:i terminating*:i uncountedTerminatedPods:UncountedTerminatedPods
JobTemplateSpec metadata&:meta.ObjectMeta spec&:JobSpec
PodFailurePolicy rules!:[]PodFailurePolicyRule
PodFailurePolicyOnExitCodesRequirement containerName*:s operator!:s values!:[=]i
PodFailurePolicyOnPodConditionsPattern status&:s type!:s
PodFailurePolicyRule action!:s onExitCodes:PodFailurePolicyOnExitCodesRequirement onPodConditions:[]PodFailurePolicyOnPodConditionsPattern
SuccessPolicy rules!:[]SuccessPolicyRule
SuccessPolicyRule succeededCount*:i succeededIndexes*:s
UncountedTerminatedPods failed:[=]s succeeded:[=]s
`

const discovery = `
Endpoint addresses!:[=]s conditions&:EndpointConditions deprecatedTopology:{}s hints:EndpointHints hostname*:s nodeName*:s targetRef:core.ObjectReference zone*:s
EndpointConditions ready*:b serving*:b terminating*:b
EndpointHints forNodes:[]ForNode forZones:[]ForZone
EndpointPort@ appProtocol*:s name*:s port*:i protocol*:s
EndpointSlice addressType!:s apiVersion:s endpoints&:[]Endpoint kind:s metadata&:meta.ObjectMeta ports&:[]EndpointPort
ForNode name!:s
ForZone name!:s
`

const coordination = `
Lease apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:LeaseSpec
LeaseSpec acquireTime*:u holderIdentity*:s leaseDurationSeconds*:i leaseTransitions*:i preferredHolder*:s renewTime*:u strategy*:s
`

const events = `
Event action:s apiVersion:s deprecatedCount:i deprecatedFirstTimestamp&:t deprecatedLastTimestamp&:t deprecatedSource&:core.EventSource eventTime!:u kind:s metadata&:meta.ObjectMeta note:s reason:s regarding&:core.ObjectReference related:core.ObjectReference reportingController:s reportingInstance:s series:EventSeries type:s
EventSeries count!:i lastObservedTime!:u
`

const policy = `
Eviction apiVersion:s deleteOptions:meta.DeleteOptions kind:s metadata&:meta.ObjectMeta
PodDisruptionBudget apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:PodDisruptionBudgetSpec status&:PodDisruptionBudgetStatus
PodDisruptionBudgetSpec maxUnavailable*:x minAvailable*:x selector:meta.LabelSelector| unhealthyPodEvictionPolicy*:s
PodDisruptionBudgetStatus conditions:[type]meta.Condition~type currentHealthy&:i desiredHealthy&:i disruptedPods:{}t disruptionsAllowed&:i expectedPods&:i observedGeneration:l
`

const autoscaling = `
CrossVersionObjectReference@ apiVersion:s kind!:s name!:s
HorizontalPodAutoscaler apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:HorizontalPodAutoscalerSpec status&:HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerSpec maxReplicas!:i minReplicas*:i scaleTargetRef!:CrossVersionObjectReference targetCPUUtilizationPercentage*:i
HorizontalPodAutoscalerStatus currentCPUUtilizationPercentage*:i currentReplicas!:i desiredReplicas!:i lastScaleTime*:t observedGeneration*:l
Scale apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:ScaleSpec status&:ScaleStatus
ScaleSpec replicas:i
ScaleStatus replicas!:i selector:s
`

const autoscaling2 = `
ContainerResourceMetricSource container!:s name!:s target!:MetricTarget
ContainerResourceMetricStatus container!:s current!:MetricValueStatus name!:s
CrossVersionObjectReference apiVersion:s kind!:s name!:s
ExternalMetricSource metric!:MetricIdentifier target!:MetricTarget
ExternalMetricStatus current!:MetricValueStatus metric!:MetricIdentifier
HPAScalingPolicy periodSeconds!:i type!:s value!:i
HPAScalingRules policies:[]HPAScalingPolicy selectPolicy*:s stabilizationWindowSeconds*:i tolerance*:q
HorizontalPodAutoscaler apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:HorizontalPodAutoscalerSpec status&:HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerBehavior scaleDown:HPAScalingRules scaleUp:HPAScalingRules
HorizontalPodAutoscalerCondition lastTransitionTime&:t message:s reason:s status!:s type!:s
HorizontalPodAutoscalerSpec behavior:HorizontalPodAutoscalerBehavior maxReplicas!:i metrics:[]MetricSpec minReplicas*:i scaleTargetRef!:CrossVersionObjectReference
HorizontalPodAutoscalerStatus conditions:[type]HorizontalPodAutoscalerCondition~type currentMetrics&:[]MetricStatus currentReplicas:i desiredReplicas!:i lastScaleTime*:t observedGeneration*:l
MetricIdentifier name!:s selector:meta.LabelSelector
MetricSpec containerResource:ContainerResourceMetricSource external:ExternalMetricSource object:ObjectMetricSource pods:PodsMetricSource resource:ResourceMetricSource type!:s
MetricStatus containerResource:ContainerResourceMetricStatus external:ExternalMetricStatus object:ObjectMetricStatus pods:PodsMetricStatus resource:ResourceMetricStatus type!:s
MetricTarget averageUtilization*:i averageValue*:q type!:s value*:q
MetricValueStatus averageUtilization*:i averageValue*:q value*:q
ObjectMetricSource describedObject!:CrossVersionObjectReference metric!:MetricIdentifier target!:MetricTarget
ObjectMetricStatus current!:MetricValueStatus describedObject!:CrossVersionObjectReference metric!:MetricIdentifier
PodsMetricSource metric!:MetricIdentifier target!:MetricTarget
PodsMetricStatus current!:MetricValueStatus metric!:MetricIdentifier
ResourceMetricSource name!:s target!:MetricTarget
ResourceMetricStatus current!:MetricValueStatus name!:s
`

const rbac = `
AggregationRule clusterRoleSelectors:[]meta.LabelSelector
ClusterRole aggregationRule:AggregationRule apiVersion:s kind:s metadata&:meta.ObjectMeta rules&:[]PolicyRule
ClusterRoleBinding apiVersion:s kind:s metadata&:meta.ObjectMeta roleRef!:RoleRef subjects:[]Subject
PolicyRule apiGroups:[]s nonResourceURLs:[]s resourceNames:[]s resources:[]s verbs!:[]s
Role apiVersion:s kind:s metadata&:meta.ObjectMeta rules&:[]PolicyRule
RoleBinding apiVersion:s kind:s metadata&:meta.ObjectMeta roleRef!:RoleRef subjects:[]Subject
RoleRef@ apiGroup&:s kind!:s name!:s
Subject@ apiGroup:s kind!:s name!:s namespace:s
`

const admissionregistration = `
ApplyConfiguration expression:s
AuditAnnotation key!:s valueExpression!:s
ExpressionWarning fieldRef!:s warning!:s
JSONPatch expression:s
MatchCondition expression!:s name!:s
MatchResources@ excludeResourceRules:[]NamedRuleWithOperations matchPolicy*:s namespaceSelector:meta.LabelSelector objectSelector:meta.LabelSelector resourceRules:[]NamedRuleWithOperations
MutatingAdmissionPolicy apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:MutatingAdmissionPolicySpec
MutatingAdmissionPolicyBinding apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:MutatingAdmissionPolicyBindingSpec
MutatingAdmissionPolicyBindingSpec matchResources:MatchResources paramRef:ParamRef policyName:s
MutatingAdmissionPolicySpec failurePolicy*:s matchConditions:[name]MatchCondition~name matchConstraints:MatchResources mutations:[]Mutation paramKind:ParamKind reinvocationPolicy:s variables:[]Variable
MutatingWebhook admissionReviewVersions!:[]s clientConfig!:WebhookClientConfig failurePolicy*:s matchConditions:[name]MatchCondition~name matchPolicy*:s name!:s namespaceSelector:meta.LabelSelector objectSelector:meta.LabelSelector reinvocationPolicy*:s rules:[]RuleWithOperations sideEffects!*:s timeoutSeconds*:i
MutatingWebhookConfiguration apiVersion:s kind:s metadata&:meta.ObjectMeta webhooks:[name]MutatingWebhook~name
Mutation applyConfiguration:ApplyConfiguration jsonPatch:JSONPatch patchType!:s
NamedRuleWithOperations@ apiGroups:[]s apiVersions:[]s operations:[]s resourceNames:[]s resources:[]s scope*:s
ParamKind@ apiVersion:s kind:s
ParamRef@ name:s namespace:s parameterNotFoundAction*:s selector:meta.LabelSelector
RuleWithOperations apiGroups:[]s apiVersions:[]s operations:[]s resources:[]s scope*:s
ServiceReference name!:s namespace!:s path*:s port*:i
TypeChecking expressionWarnings:[]ExpressionWarning
ValidatingAdmissionPolicy apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:ValidatingAdmissionPolicySpec status&:ValidatingAdmissionPolicyStatus
ValidatingAdmissionPolicyBinding apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:ValidatingAdmissionPolicyBindingSpec
ValidatingAdmissionPolicyBindingSpec matchResources:MatchResources paramRef:ParamRef policyName!:s validationActions!:[]s
ValidatingAdmissionPolicySpec auditAnnotations:[]AuditAnnotation failurePolicy*:s matchConditions:[name]MatchCondition~name matchConstraints:MatchResources paramKind:ParamKind validations:[]Validation variables:[name]Variable~name
ValidatingAdmissionPolicyStatus conditions:[type]meta.Condition observedGeneration:l typeChecking:TypeChecking
ValidatingWebhook admissionReviewVersions!:[]s clientConfig!:WebhookClientConfig failurePolicy*:s matchConditions:[name]MatchCondition~name matchPolicy*:s name!:s namespaceSelector:meta.LabelSelector objectSelector:meta.LabelSelector rules:[]RuleWithOperations sideEffects!*:s timeoutSeconds*:i
ValidatingWebhookConfiguration apiVersion:s kind:s metadata&:meta.ObjectMeta webhooks:[name]ValidatingWebhook~name
Validation expression!:s message:s messageExpression:s reason*:s
Variable@ expression!:s name!:s
WebhookClientConfig caBundle:y service:ServiceReference url*:s
`

const scheduling = `
PriorityClass apiVersion:s description:s globalDefault:b kind:s metadata&:meta.ObjectMeta preemptionPolicy*:s value&:i
`

const storage = `
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

const authentication = `
BoundObjectReference apiVersion:s kind:s name:s uid:s
SelfSubjectReview apiVersion:s kind:s metadata&:meta.ObjectMeta status&:SelfSubjectReviewStatus
SelfSubjectReviewStatus userInfo&:UserInfo
TokenRequest apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:TokenRequestSpec status&:TokenRequestStatus
TokenRequestSpec audiences&:[]s boundObjectRef*&:BoundObjectReference expirationSeconds*&:l
TokenRequestStatus expirationTimestamp&:t token&:s
TokenReview apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:TokenReviewSpec status&:TokenReviewStatus
TokenReviewSpec audiences:[]s token!:s
TokenReviewStatus audiences:[]s authenticated:b error:s user&:UserInfo
UserInfo extra:{}[]s groups:[]s uid:s username:s
`

const authorization = `
FieldSelectorAttributes rawSelector:s requirements:[]meta.FieldSelectorRequirement
LabelSelectorAttributes rawSelector:s requirements:[]meta.LabelSelectorRequirement
LocalSubjectAccessReview apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:SubjectAccessReviewSpec status&:SubjectAccessReviewStatus
NonResourceAttributes path:s verb:s
NonResourceRule nonResourceURLs:[]s verbs!:[]s
ResourceAttributes fieldSelector:FieldSelectorAttributes group:s labelSelector:LabelSelectorAttributes name:s namespace:s resource:s subresource:s verb:s version:s
ResourceRule apiGroups:[]s resourceNames:[]s resources:[]s verbs!:[]s
SelfSubjectAccessReview apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:SelfSubjectAccessReviewSpec status&:SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec nonResourceAttributes:NonResourceAttributes resourceAttributes:ResourceAttributes
SelfSubjectRulesReview apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:SelfSubjectRulesReviewSpec status&:SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec namespace:s
SubjectAccessReview apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:SubjectAccessReviewSpec status&:SubjectAccessReviewStatus
SubjectAccessReviewSpec extra:{}[]s groups:[]s nonResourceAttributes:NonResourceAttributes resourceAttributes:ResourceAttributes uid:s user:s
SubjectAccessReviewStatus allowed!:b denied:b evaluationError:s reason:s
SubjectRulesReviewStatus evaluationError:s incomplete!:b nonResourceRules!:[]NonResourceRule resourceRules!:[]ResourceRule
`

const networking = `
HTTPIngressPath backend!:IngressBackend path:s pathType!*:s
HTTPIngressRuleValue paths!:[]HTTPIngressPath
IPAddress apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:IPAddressSpec
IPAddressSpec parentRef!*:ParentReference
IPBlock cidr!:s except:[]s
Ingress apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:IngressSpec status&:IngressStatus
IngressBackend resource:core.TypedLocalObjectReference service:IngressServiceBackend
IngressClass apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:IngressClassSpec
IngressClassParametersReference apiGroup*:s kind!:s name!:s namespace*:s scope*&:s
IngressClassSpec controller:s parameters:IngressClassParametersReference
IngressLoadBalancerIngress hostname:s ip:s ports:[]IngressPortStatus
IngressLoadBalancerStatus ingress:[]IngressLoadBalancerIngress
IngressPortStatus error*:s port!:i protocol!:s
IngressRule host:s http:HTTPIngressRuleValue
IngressServiceBackend name!:s port&:ServiceBackendPort
IngressSpec defaultBackend:IngressBackend ingressClassName*:s rules:[]IngressRule tls:[]IngressTLS
IngressStatus loadBalancer&:IngressLoadBalancerStatus
IngressTLS hosts:[]s secretName:s
NetworkPolicy apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:NetworkPolicySpec
NetworkPolicyEgressRule ports:[]NetworkPolicyPort to:[]NetworkPolicyPeer
NetworkPolicyIngressRule from:[]NetworkPolicyPeer ports:[]NetworkPolicyPort
NetworkPolicyPeer ipBlock:IPBlock namespaceSelector:meta.LabelSelector podSelector:meta.LabelSelector
NetworkPolicyPort endPort*:i port*:x protocol*:s
NetworkPolicySpec egress:[]NetworkPolicyEgressRule ingress:[]NetworkPolicyIngressRule podSelector&:meta.LabelSelector policyTypes:[]s
ParentReference group:s name!:s namespace:s resource!:s
ServiceBackendPort name:s number:i
ServiceCIDR apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:ServiceCIDRSpec status&:ServiceCIDRStatus
ServiceCIDRSpec cidrs:[]s
ServiceCIDRStatus conditions:[type]meta.Condition~type
`

const certificates = `
CertificateSigningRequest apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:CertificateSigningRequestSpec status&:CertificateSigningRequestStatus
CertificateSigningRequestCondition lastTransitionTime&:t lastUpdateTime&:t message:s reason:s status!:s type!:s
CertificateSigningRequestSpec expirationSeconds*:i extra:{}[]s groups:[]s request!:y signerName!:s uid:s usages:[]s username:s
CertificateSigningRequestStatus certificate:y conditions:[type]CertificateSigningRequestCondition
`

const node = `
Overhead podFixed:{}q
RuntimeClass apiVersion:s handler!:s kind:s metadata&:meta.ObjectMeta overhead:Overhead scheduling:Scheduling
Scheduling nodeSelector:{}s@ tolerations:[]core.Toleration
`

const flowcontrol = `
ExemptPriorityLevelConfiguration lendablePercent*:i nominalConcurrencyShares*:i
FlowDistinguisherMethod type!:s
FlowSchema apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:FlowSchemaSpec status&:FlowSchemaStatus
FlowSchemaCondition lastTransitionTime&:t message:s reason:s status:s type:s
FlowSchemaSpec distinguisherMethod:FlowDistinguisherMethod matchingPrecedence&:i priorityLevelConfiguration!:PriorityLevelConfigurationReference rules:[]PolicyRulesWithSubjects
FlowSchemaStatus conditions:[type]FlowSchemaCondition~type
GroupSubject name!:s
LimitResponse queuing:QueuingConfiguration type!:s
LimitedPriorityLevelConfiguration borrowingLimitPercent*:i lendablePercent*:i limitResponse&:LimitResponse nominalConcurrencyShares*&:i
NonResourcePolicyRule nonResourceURLs!:[=]s verbs!:[=]s
PolicyRulesWithSubjects nonResourceRules:[]NonResourcePolicyRule resourceRules:[]ResourcePolicyRule subjects!:[]Subject
PriorityLevelConfiguration apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:PriorityLevelConfigurationSpec status&:PriorityLevelConfigurationStatus
PriorityLevelConfigurationCondition lastTransitionTime&:t message:s reason:s status:s type:s
PriorityLevelConfigurationReference name!:s
PriorityLevelConfigurationSpec exempt:ExemptPriorityLevelConfiguration limited:LimitedPriorityLevelConfiguration type!:s
PriorityLevelConfigurationStatus conditions:[type]PriorityLevelConfigurationCondition~type
QueuingConfiguration handSize&:i queueLengthLimit&:i queues&:i
ResourcePolicyRule apiGroups!:[=]s clusterScope:b namespaces&:[=]s resources!:[=]s verbs!:[=]s
ServiceAccountSubject name!:s namespace!:s
Subject group:GroupSubject kind!:s serviceAccount:ServiceAccountSubject user:UserSubject
UserSubject name!:s
`

const resource = `
AllocatedDeviceStatus conditions&:[type]meta.Condition data*:j device!:s driver!:s networkData:NetworkDeviceData pool!:s shareID*:s
AllocationResult allocationTimestamp*:t devices&:DeviceAllocationResult nodeSelector:core.NodeSelector
CELDeviceSelector expression!:s
CapacityRequestPolicy default*&:q validRange:CapacityRequestPolicyRange validValues:[]q
CapacityRequestPolicyRange max*:q min!*:q step*:q
CapacityRequirements requests:{}q
Counter value!:q
CounterSet counters!:{}Counter name!:s
Device allNodes*:b allowMultipleAllocations*:b attributes:{}DeviceAttribute bindingConditions:[]s bindingFailureConditions:[]s bindsToNode*:b capacity:{}DeviceCapacity consumesCounters:[]DeviceCounterConsumption name!:s nodeAllocatableResourceMappings:{}NodeAllocatableResourceMapping nodeName*:s nodeSelector:core.NodeSelector taints:[]DeviceTaint
DeviceAllocationConfiguration opaque:OpaqueDeviceConfiguration requests:[]s source!:s
DeviceAllocationResult config:[]DeviceAllocationConfiguration results:[]DeviceRequestAllocationResult
DeviceAttribute bool*:b bools:[]b int*:l ints:[]l string*:s strings:[]s version*:s versions:[]s
DeviceCapacity requestPolicy:CapacityRequestPolicy value!:q
DeviceClaim config:[]DeviceClaimConfiguration constraints:[]DeviceConstraint requests&:[]DeviceRequest
DeviceClaimConfiguration opaque:OpaqueDeviceConfiguration requests:[]s
DeviceClass apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:DeviceClassSpec
DeviceClassConfiguration opaque:OpaqueDeviceConfiguration
DeviceClassSpec config:[]DeviceClassConfiguration extendedResourceName*:s selectors:[]DeviceSelector
DeviceConstraint distinctAttribute*:s matchAttribute*:s requests:[]s
DeviceCounterConsumption counterSet!:s counters!:{}Counter
DeviceRequest exactly:ExactDeviceRequest firstAvailable:[]DeviceSubRequest name!:s
DeviceRequestAllocationResult adminAccess*&:b bindingConditions:[]s bindingFailureConditions:[]s consumedCapacity:{}q device!:s driver!:s pool!:s request!:s shareID*:s tolerations:[]DeviceToleration
DeviceSelector cel:CELDeviceSelector
DeviceSubRequest allocationMode:s capacity:CapacityRequirements count:l deviceClassName!:s name!:s selectors:[]DeviceSelector tolerations:[]DeviceToleration
DeviceTaint effect!:s key!:s timeAdded*:t value:s
DeviceToleration effect:s key:s operator:s tolerationSeconds*:l value:s
ExactDeviceRequest adminAccess*:b allocationMode:s capacity:CapacityRequirements count:l deviceClassName!:s selectors:[]DeviceSelector tolerations:[]DeviceToleration
NetworkDeviceData hardwareAddress:s interfaceName:s ips:[]s
NodeAllocatableResourceMapping allocationMultiplier*:q capacityKey*:s
OpaqueDeviceConfiguration driver!:s parameters!:j
ResourceClaim apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:ResourceClaimSpec status&:ResourceClaimStatus
ResourceClaimConsumerReference apiGroup:s name!:s resource!:s uid!:s
ResourceClaimSpec devices&:DeviceClaim
ResourceClaimStatus allocation:AllocationResult devices:[driver,device,pool,shareID]AllocatedDeviceStatus reservedFor:[uid]ResourceClaimConsumerReference~uid
ResourceClaimTemplate apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:ResourceClaimTemplateSpec
ResourceClaimTemplateSpec metadata&:meta.ObjectMeta spec!:ResourceClaimSpec
ResourcePool generation!:l name!:s resourceSliceCount!:l
ResourceSlice apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:ResourceSliceSpec
ResourceSliceSpec allNodes*:b devices&:[]Device driver!:s nodeName*:s nodeSelector:core.NodeSelector perDeviceNodeSelection*:b pool!:ResourcePool sharedCounters:[]CounterSet
`

export const groups = {
  meta,
  apps,
  batch,
  discovery,
  coordination,
  events,
  policy,
  autoscaling,
  autoscaling2,
  rbac,
  admissionregistration,
  scheduling,
  storage,
  authentication,
  authorization,
  networking,
  certificates,
  node,
  flowcontrol,
  resource
}

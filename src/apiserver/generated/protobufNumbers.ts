/** Protobuf field numbers: written by scripts/protobuf-numbers.mjs, read by ../server/bodies/protobufBody.ts, which explains the notation. */
import { coreNumbers } from "./coreProtobufNumbers.ts"

export const numbers = `${coreNumbers}
admissionregistration.ApplyConfiguration expression:1
admissionregistration.AuditAnnotation key:1 valueExpression:2
admissionregistration.ExpressionWarning fieldRef:2 warning:3
admissionregistration.JSONPatch expression:1
admissionregistration.MatchCondition name:1 expression:2
admissionregistration.MatchResources namespaceSelector:1 objectSelector:2 resourceRules:3 excludeResourceRules:4 matchPolicy:7
admissionregistration.MutatingAdmissionPolicy metadata:1 spec:2
admissionregistration.MutatingAdmissionPolicyBinding metadata:1 spec:2
admissionregistration.MutatingAdmissionPolicyBindingSpec policyName:1 paramRef:2 matchResources:3
admissionregistration.MutatingAdmissionPolicySpec paramKind:1 matchConstraints:2 variables:3 mutations:4 failurePolicy:5 matchConditions:6 reinvocationPolicy:7
admissionregistration.MutatingWebhook name:1 clientConfig:2 rules:3 failurePolicy:4 matchPolicy:9 namespaceSelector:5 objectSelector:11 sideEffects:6 timeoutSeconds:7 admissionReviewVersions:8 reinvocationPolicy:10 matchConditions:12
admissionregistration.MutatingWebhookConfiguration metadata:1 webhooks:2
admissionregistration.Mutation patchType:2 applyConfiguration:3 jsonPatch:4
admissionregistration.NamedRuleWithOperations resourceNames:1 2(operations:1 2(apiGroups:1 apiVersions:2 resources:3 scope:4))
admissionregistration.ParamKind apiVersion:1 kind:2
admissionregistration.ParamRef name:1 namespace:2 selector:3 parameterNotFoundAction:4
admissionregistration.RuleWithOperations operations:1 2(apiGroups:1 apiVersions:2 resources:3 scope:4)
admissionregistration.ServiceReference namespace:1 name:2 path:3 port:4
admissionregistration.TypeChecking expressionWarnings:1
admissionregistration.ValidatingAdmissionPolicy metadata:1 spec:2 status:3
admissionregistration.ValidatingAdmissionPolicyBinding metadata:1 spec:2
admissionregistration.ValidatingAdmissionPolicyBindingSpec policyName:1 paramRef:2 matchResources:3 validationActions:4
admissionregistration.ValidatingAdmissionPolicySpec paramKind:1 matchConstraints:2 validations:3 failurePolicy:4 auditAnnotations:5 matchConditions:6 variables:7
admissionregistration.ValidatingAdmissionPolicyStatus observedGeneration:1 typeChecking:2 conditions:3
admissionregistration.ValidatingWebhook name:1 clientConfig:2 rules:3 failurePolicy:4 matchPolicy:9 namespaceSelector:5 objectSelector:10 sideEffects:6 timeoutSeconds:7 admissionReviewVersions:8 matchConditions:11
admissionregistration.ValidatingWebhookConfiguration metadata:1 webhooks:2
admissionregistration.Validation expression:1 message:2 reason:3 messageExpression:4
admissionregistration.Variable name:1 expression:2
admissionregistration.WebhookClientConfig url:3 service:1 caBundle:2
apps.ControllerRevision metadata:1 data:2 revision:3
apps.DaemonSet metadata:1 spec:2 status:3
apps.DaemonSetCondition type:1 status:2 lastTransitionTime:3 reason:4 message:5
apps.DaemonSetSpec selector:1 template:2 updateStrategy:3 minReadySeconds:4 revisionHistoryLimit:6
apps.DaemonSetStatus currentNumberScheduled:1 numberMisscheduled:2 desiredNumberScheduled:3 numberReady:4 observedGeneration:5 updatedNumberScheduled:6 numberAvailable:7 numberUnavailable:8 collisionCount:9 conditions:10
apps.DaemonSetUpdateStrategy type:1 rollingUpdate:2
apps.Deployment metadata:1 spec:2 status:3
apps.DeploymentCondition type:1 status:2 lastUpdateTime:6 lastTransitionTime:7 reason:4 message:5
apps.DeploymentSpec replicas:1 selector:2 template:3 strategy:4 minReadySeconds:5 revisionHistoryLimit:6 paused:7 progressDeadlineSeconds:9
apps.DeploymentStatus observedGeneration:1 replicas:2 updatedReplicas:3 readyReplicas:7 availableReplicas:4 unavailableReplicas:5 terminatingReplicas:9 conditions:6 collisionCount:8
apps.DeploymentStrategy type:1 rollingUpdate:2
apps.ReplicaSet metadata:1 spec:2 status:3
apps.ReplicaSetCondition type:1 status:2 lastTransitionTime:3 reason:4 message:5
apps.ReplicaSetSpec replicas:1 minReadySeconds:4 selector:2 template:3
apps.ReplicaSetStatus replicas:1 fullyLabeledReplicas:2 readyReplicas:4 availableReplicas:5 terminatingReplicas:7 observedGeneration:3 conditions:6
apps.RollingUpdateDaemonSet maxUnavailable:1 maxSurge:2
apps.RollingUpdateDeployment maxUnavailable:1 maxSurge:2
apps.RollingUpdateStatefulSetStrategy partition:1 maxUnavailable:2
apps.StatefulSet metadata:1 spec:2 status:3
apps.StatefulSetCondition type:1 status:2 lastTransitionTime:3 reason:4 message:5
apps.StatefulSetOrdinals start:1
apps.StatefulSetPersistentVolumeClaimRetentionPolicy whenDeleted:1 whenScaled:2
apps.StatefulSetSpec replicas:1 selector:2 template:3 volumeClaimTemplates:4 serviceName:5 podManagementPolicy:6 updateStrategy:7 revisionHistoryLimit:8 minReadySeconds:9 persistentVolumeClaimRetentionPolicy:10 ordinals:11
apps.StatefulSetStatus observedGeneration:1 replicas:2 readyReplicas:3 currentReplicas:4 updatedReplicas:5 currentRevision:6 updateRevision:7 collisionCount:9 conditions:10 availableReplicas:11
apps.StatefulSetUpdateStrategy type:1 rollingUpdate:2
authentication.BoundObjectReference kind:1 apiVersion:2 name:3 uid:4
authentication.SelfSubjectReview metadata:1 status:2
authentication.SelfSubjectReviewStatus userInfo:1
authentication.TokenRequest metadata:1 spec:2 status:3
authentication.TokenRequestSpec audiences:1 expirationSeconds:4 boundObjectRef:3
authentication.TokenRequestStatus token:1 expirationTimestamp:2
authentication.TokenReview metadata:1 spec:2 status:3
authentication.TokenReviewSpec token:1 audiences:2
authentication.TokenReviewStatus authenticated:1 user:2 audiences:4 error:3
authentication.UserInfo username:1 uid:2 groups:3 extra:4
authorization.FieldSelectorAttributes rawSelector:1 requirements:2
authorization.LabelSelectorAttributes rawSelector:1 requirements:2
authorization.LocalSubjectAccessReview metadata:1 spec:2 status:3
authorization.NonResourceAttributes path:1 verb:2
authorization.NonResourceRule verbs:1 nonResourceURLs:2
authorization.ResourceAttributes namespace:1 verb:2 group:3 version:4 resource:5 subresource:6 name:7 fieldSelector:8 labelSelector:9
authorization.ResourceRule verbs:1 apiGroups:2 resources:3 resourceNames:4
authorization.SelfSubjectAccessReview metadata:1 spec:2 status:3
authorization.SelfSubjectAccessReviewSpec resourceAttributes:1 nonResourceAttributes:2
authorization.SelfSubjectRulesReview metadata:1 spec:2 status:3
authorization.SelfSubjectRulesReviewSpec namespace:1
authorization.SubjectAccessReview metadata:1 spec:2 status:3
authorization.SubjectAccessReviewSpec resourceAttributes:1 nonResourceAttributes:2 user:3 groups:4 extra:5 uid:6
authorization.SubjectAccessReviewStatus allowed:1 denied:4 reason:2 evaluationError:3
authorization.SubjectRulesReviewStatus resourceRules:1 nonResourceRules:2 incomplete:3 evaluationError:4
autoscaling.CrossVersionObjectReference kind:1 name:2 apiVersion:3
autoscaling.HorizontalPodAutoscaler metadata:1 spec:2 status:3
autoscaling.HorizontalPodAutoscalerSpec scaleTargetRef:1 minReplicas:2 maxReplicas:3 targetCPUUtilizationPercentage:4
autoscaling.HorizontalPodAutoscalerStatus observedGeneration:1 lastScaleTime:2 currentReplicas:3 desiredReplicas:4 currentCPUUtilizationPercentage:5
autoscaling.Scale metadata:1 spec:2 status:3
autoscaling.ScaleSpec replicas:1
autoscaling.ScaleStatus replicas:1 selector:2
autoscaling2.ContainerResourceMetricSource name:1 target:2 container:3
autoscaling2.ContainerResourceMetricStatus name:1 current:2 container:3
autoscaling2.CrossVersionObjectReference kind:1 name:2 apiVersion:3
autoscaling2.ExternalMetricSource metric:1 target:2
autoscaling2.ExternalMetricStatus metric:1 current:2
autoscaling2.HPAScalingPolicy type:1 value:2 periodSeconds:3
autoscaling2.HPAScalingRules stabilizationWindowSeconds:3 selectPolicy:1 policies:2 tolerance:4
autoscaling2.HorizontalPodAutoscaler metadata:1 spec:2 status:3
autoscaling2.HorizontalPodAutoscalerBehavior scaleUp:1 scaleDown:2
autoscaling2.HorizontalPodAutoscalerCondition type:1 status:2 lastTransitionTime:3 reason:4 message:5
autoscaling2.HorizontalPodAutoscalerSpec scaleTargetRef:1 minReplicas:2 maxReplicas:3 metrics:4 behavior:5
autoscaling2.HorizontalPodAutoscalerStatus observedGeneration:1 lastScaleTime:2 currentReplicas:3 desiredReplicas:4 currentMetrics:5 conditions:6
autoscaling2.MetricIdentifier name:1 selector:2
autoscaling2.MetricSpec type:1 object:2 pods:3 resource:4 containerResource:7 external:5
autoscaling2.MetricStatus type:1 object:2 pods:3 resource:4 containerResource:7 external:5
autoscaling2.MetricTarget type:1 value:2 averageValue:3 averageUtilization:4
autoscaling2.MetricValueStatus value:1 averageValue:2 averageUtilization:3
autoscaling2.ObjectMetricSource describedObject:1 target:2 metric:3
autoscaling2.ObjectMetricStatus metric:1 current:2 describedObject:3
autoscaling2.PodsMetricSource metric:1 target:2
autoscaling2.PodsMetricStatus metric:1 current:2
autoscaling2.ResourceMetricSource name:1 target:2
autoscaling2.ResourceMetricStatus name:1 current:2
batch.CronJob metadata:1 spec:2 status:3
batch.CronJobSpec schedule:1 timeZone:8 startingDeadlineSeconds:2 concurrencyPolicy:3 suspend:4 jobTemplate:5 successfulJobsHistoryLimit:6 failedJobsHistoryLimit:7
batch.CronJobStatus active:1 lastScheduleTime:4 lastSuccessfulTime:5
batch.Job metadata:1 spec:2 status:3
batch.JobCondition type:1 status:2 lastProbeTime:3 lastTransitionTime:4 reason:5 message:6
batch.JobSpec parallelism:1 completions:2 activeDeadlineSeconds:3 podFailurePolicy:11 successPolicy:16 backoffLimit:7 backoffLimitPerIndex:12 maxFailedIndexes:13 selector:4 manualSelector:5 template:6 ttlSecondsAfterFinished:8 completionMode:9 suspend:10 podReplacementPolicy:14 managedBy:15
batch.JobStatus conditions:1 startTime:2 completionTime:3 active:4 succeeded:5 failed:6 terminating:11 completedIndexes:7 failedIndexes:10 uncountedTerminatedPods:8 ready:9
batch.JobTemplateSpec metadata:1 spec:2
batch.PodFailurePolicy rules:1
batch.PodFailurePolicyOnExitCodesRequirement containerName:1 operator:2 values:3
batch.PodFailurePolicyOnPodConditionsPattern type:1 status:2
batch.PodFailurePolicyRule action:1 onExitCodes:2 onPodConditions:3
batch.SuccessPolicy rules:1
batch.SuccessPolicyRule succeededIndexes:1 succeededCount:2
batch.UncountedTerminatedPods succeeded:1 failed:2
certificates.CertificateSigningRequest metadata:1 spec:2 status:3
certificates.CertificateSigningRequestCondition type:1 status:6 reason:2 message:3 lastUpdateTime:4 lastTransitionTime:5
certificates.CertificateSigningRequestSpec request:1 signerName:7 expirationSeconds:8 usages:5 username:2 uid:3 groups:4 extra:6
certificates.CertificateSigningRequestStatus conditions:1 certificate:2
coordination.Lease metadata:1 spec:2
coordination.LeaseSpec holderIdentity:1 leaseDurationSeconds:2 acquireTime:3 renewTime:4 leaseTransitions:5 strategy:6 preferredHolder:7
discovery.Endpoint addresses:1 conditions:2 hostname:3 targetRef:4 deprecatedTopology:5 nodeName:6 zone:7 hints:8
discovery.EndpointConditions ready:1 serving:2 terminating:3
discovery.EndpointHints forZones:1 forNodes:2
discovery.EndpointPort name:1 protocol:2 port:3 appProtocol:4
discovery.EndpointSlice metadata:1 addressType:4 endpoints:2 ports:3
discovery.ForNode name:1
discovery.ForZone name:1
events.Event metadata:1 eventTime:2 series:3 reportingController:4 reportingInstance:5 action:6 reason:7 regarding:8 related:9 note:10 type:11 deprecatedSource:12 deprecatedFirstTimestamp:13 deprecatedLastTimestamp:14 deprecatedCount:15
events.EventSeries count:1 lastObservedTime:2
flowcontrol.ExemptPriorityLevelConfiguration nominalConcurrencyShares:1 lendablePercent:2
flowcontrol.FlowDistinguisherMethod type:1
flowcontrol.FlowSchema metadata:1 spec:2 status:3
flowcontrol.FlowSchemaCondition type:1 status:2 lastTransitionTime:3 reason:4 message:5
flowcontrol.FlowSchemaSpec priorityLevelConfiguration:1 matchingPrecedence:2 distinguisherMethod:3 rules:4
flowcontrol.FlowSchemaStatus conditions:1
flowcontrol.GroupSubject name:1
flowcontrol.LimitResponse type:1 queuing:2
flowcontrol.LimitedPriorityLevelConfiguration nominalConcurrencyShares:1 limitResponse:2 lendablePercent:3 borrowingLimitPercent:4
flowcontrol.NonResourcePolicyRule verbs:1 nonResourceURLs:6
flowcontrol.PolicyRulesWithSubjects subjects:1 resourceRules:2 nonResourceRules:3
flowcontrol.PriorityLevelConfiguration metadata:1 spec:2 status:3
flowcontrol.PriorityLevelConfigurationCondition type:1 status:2 lastTransitionTime:3 reason:4 message:5
flowcontrol.PriorityLevelConfigurationReference name:1
flowcontrol.PriorityLevelConfigurationSpec type:1 limited:2 exempt:3
flowcontrol.PriorityLevelConfigurationStatus conditions:1
flowcontrol.QueuingConfiguration queues:1 handSize:2 queueLengthLimit:3
flowcontrol.ResourcePolicyRule verbs:1 apiGroups:2 resources:3 clusterScope:4 namespaces:5
flowcontrol.ServiceAccountSubject namespace:1 name:2
flowcontrol.Subject kind:1 user:2 group:3 serviceAccount:4
flowcontrol.UserSubject name:1
meta.Condition type:1 status:2 observedGeneration:3 lastTransitionTime:4 reason:5 message:6
meta.DeleteOptions gracePeriodSeconds:1 preconditions:2 orphanDependents:3 propagationPolicy:4 dryRun:5 ignoreStoreReadErrorWithClusterBreakingPotential:6
meta.FieldSelectorRequirement key:1 operator:2 values:3
meta.LabelSelector matchLabels:1 matchExpressions:2
meta.LabelSelectorRequirement key:1 operator:2 values:3
meta.ManagedFieldsEntry manager:1 operation:2 apiVersion:3 time:4 fieldsType:6 fieldsV1:7 subresource:8
meta.ObjectMeta name:1 generateName:2 namespace:3 selfLink:4 uid:5 resourceVersion:6 generation:7 creationTimestamp:8 deletionTimestamp:9 deletionGracePeriodSeconds:10 labels:11 annotations:12 ownerReferences:13 finalizers:14 managedFields:17
meta.OwnerReference apiVersion:5 kind:1 name:3 uid:4 controller:6 blockOwnerDeletion:7
meta.Preconditions uid:1 resourceVersion:2
networking.HTTPIngressPath path:1 pathType:3 backend:2
networking.HTTPIngressRuleValue paths:1
networking.IPAddress metadata:1 spec:2
networking.IPAddressSpec parentRef:1
networking.IPBlock cidr:1 except:2
networking.Ingress metadata:1 spec:2 status:3
networking.IngressBackend service:4 resource:3
networking.IngressClass metadata:1 spec:2
networking.IngressClassParametersReference apiGroup:1 kind:2 name:3 scope:4 namespace:5
networking.IngressClassSpec controller:1 parameters:2
networking.IngressLoadBalancerIngress ip:1 hostname:2 ports:4
networking.IngressLoadBalancerStatus ingress:1
networking.IngressPortStatus port:1 protocol:2 error:3
networking.IngressRule host:1 2(http:1)
networking.IngressServiceBackend name:1 port:2
networking.IngressSpec ingressClassName:4 defaultBackend:1 tls:2 rules:3
networking.IngressStatus loadBalancer:1
networking.IngressTLS hosts:1 secretName:2
networking.NetworkPolicy metadata:1 spec:2
networking.NetworkPolicyEgressRule ports:1 to:2
networking.NetworkPolicyIngressRule ports:1 from:2
networking.NetworkPolicyPeer podSelector:1 namespaceSelector:2 ipBlock:3
networking.NetworkPolicyPort protocol:1 port:2 endPort:3
networking.NetworkPolicySpec podSelector:1 ingress:2 egress:3 policyTypes:4
networking.ParentReference group:1 resource:2 namespace:3 name:4
networking.ServiceBackendPort name:1 number:2
networking.ServiceCIDR metadata:1 spec:2 status:3
networking.ServiceCIDRSpec cidrs:1
networking.ServiceCIDRStatus conditions:1
node.Overhead podFixed:1
node.RuntimeClass metadata:1 handler:2 overhead:3 scheduling:4
node.Scheduling nodeSelector:1 tolerations:2
policy.Eviction metadata:1 deleteOptions:2
policy.PodDisruptionBudget metadata:1 spec:2 status:3
policy.PodDisruptionBudgetSpec minAvailable:1 selector:2 maxUnavailable:3 unhealthyPodEvictionPolicy:4
policy.PodDisruptionBudgetStatus observedGeneration:1 disruptedPods:2 disruptionsAllowed:3 currentHealthy:4 desiredHealthy:5 expectedPods:6 conditions:7
rbac.AggregationRule clusterRoleSelectors:1
rbac.ClusterRole metadata:1 rules:2 aggregationRule:3
rbac.ClusterRoleBinding metadata:1 subjects:2 roleRef:3
rbac.PolicyRule verbs:1 apiGroups:2 resources:3 resourceNames:4 nonResourceURLs:5
rbac.Role metadata:1 rules:2
rbac.RoleBinding metadata:1 subjects:2 roleRef:3
rbac.RoleRef apiGroup:1 kind:2 name:3
rbac.Subject kind:1 apiGroup:2 name:3 namespace:4
resource.AllocatedDeviceStatus driver:1 pool:2 device:3 conditions:4 data:5 networkData:6 shareID:7
resource.AllocationResult devices:1 nodeSelector:3 allocationTimestamp:5
resource.CELDeviceSelector expression:1
resource.CapacityRequestPolicy default:1 validRange:4 validValues:3
resource.CapacityRequestPolicyRange max:2 min:1 step:3
resource.CapacityRequirements requests:1
resource.Counter value:1
resource.CounterSet name:1 counters:2
resource.Device name:1 attributes:2 capacity:3 consumesCounters:4 nodeName:5 nodeSelector:6 allNodes:7 taints:8 allowMultipleAllocations:12 bindingConditions:10 bindingFailureConditions:11 bindsToNode:9 nodeAllocatableResourceMappings:13
resource.DeviceAllocationConfiguration source:1 requests:2 3(opaque:1)
resource.DeviceAllocationResult results:1 config:2
resource.DeviceAttribute int:2 bool:3 string:4 version:5 bools:7 ints:6 strings:8 versions:9
resource.DeviceCapacity value:1 requestPolicy:2
resource.DeviceClaim requests:1 constraints:2 config:3
resource.DeviceClaimConfiguration requests:1 2(opaque:1)
resource.DeviceClass metadata:1 spec:2
resource.DeviceClassConfiguration 1(opaque:1)
resource.DeviceClassSpec selectors:1 config:2 extendedResourceName:4
resource.DeviceConstraint requests:1 matchAttribute:2 distinctAttribute:3
resource.DeviceCounterConsumption counterSet:1 counters:2
resource.DeviceRequest name:1 exactly:2 firstAvailable:3
resource.DeviceRequestAllocationResult request:1 driver:2 pool:3 device:4 adminAccess:5 tolerations:6 bindingConditions:7 bindingFailureConditions:8 consumedCapacity:10 shareID:9
resource.DeviceSelector cel:1
resource.DeviceSubRequest name:1 deviceClassName:2 selectors:3 allocationMode:4 count:5 tolerations:6 capacity:7
resource.DeviceTaint key:1 value:2 effect:3 timeAdded:4
resource.DeviceToleration key:1 operator:2 value:3 effect:4 tolerationSeconds:5
resource.ExactDeviceRequest deviceClassName:1 selectors:2 allocationMode:3 count:4 adminAccess:5 tolerations:6 capacity:7
resource.NetworkDeviceData interfaceName:1 ips:2 hardwareAddress:3
resource.NodeAllocatableResourceMapping allocationMultiplier:2 capacityKey:1
resource.OpaqueDeviceConfiguration driver:1 parameters:2
resource.ResourceClaim metadata:1 spec:2 status:3
resource.ResourceClaimConsumerReference apiGroup:1 resource:3 name:4 uid:5
resource.ResourceClaimSpec devices:1
resource.ResourceClaimStatus allocation:1 reservedFor:2 devices:4
resource.ResourceClaimTemplate metadata:1 spec:2
resource.ResourceClaimTemplateSpec metadata:1 spec:2
resource.ResourcePool name:1 generation:2 resourceSliceCount:3
resource.ResourceSlice metadata:1 spec:2
resource.ResourceSliceSpec driver:1 pool:2 nodeName:3 nodeSelector:4 allNodes:5 devices:6 perDeviceNodeSelection:7 sharedCounters:8
scheduling.PriorityClass metadata:1 value:2 globalDefault:3 description:4 preemptionPolicy:5
storage.CSIDriver metadata:1 spec:2
storage.CSIDriverSpec attachRequired:1 podInfoOnMount:2 volumeLifecycleModes:3 storageCapacity:4 fsGroupPolicy:5 tokenRequests:6 requiresRepublish:7 seLinuxMount:8 nodeAllocatableUpdatePeriodSeconds:9 preventPodSchedulingIfMissing:11 serviceAccountTokenInSecrets:10
storage.CSINode metadata:1 spec:2
storage.CSINodeDriver name:1 nodeID:2 topologyKeys:3 allocatable:4
storage.CSINodeSpec drivers:1
storage.CSIStorageCapacity metadata:1 nodeTopology:2 storageClassName:3 capacity:4 maximumVolumeSize:5
storage.StorageClass metadata:1 provisioner:2 parameters:3 reclaimPolicy:4 mountOptions:5 allowVolumeExpansion:6 volumeBindingMode:7 allowedTopologies:8
storage.TokenRequest audience:1 expirationSeconds:2
storage.VolumeAttachment metadata:1 spec:2 status:3
storage.VolumeAttachmentSource persistentVolumeName:1 inlineVolumeSpec:2
storage.VolumeAttachmentSpec attacher:1 source:2 nodeName:3
storage.VolumeAttachmentStatus attached:1 attachmentMetadata:2 attachError:3 detachError:4
storage.VolumeAttributesClass metadata:1 driverName:2 parameters:3
storage.VolumeError time:1 message:2 errorCode:3
storage.VolumeNodeResources count:1
`

/** How Go holds the fields of the API types: written by schema-structs.mjs, which explains the marks. */
export const presence = `
admissionregistration.AuditAnnotation key& valueExpression&
admissionregistration.ExpressionWarning fieldRef& warning&
admissionregistration.MatchCondition name& expression&
admissionregistration.MatchResources namespaceSelector* objectSelector* matchPolicy*
admissionregistration.MutatingAdmissionPolicy metadata& spec&
admissionregistration.MutatingAdmissionPolicyBinding metadata& spec&
admissionregistration.MutatingAdmissionPolicyBindingSpec paramRef* matchResources*
admissionregistration.MutatingAdmissionPolicySpec paramKind* matchConstraints* failurePolicy*
admissionregistration.MutatingWebhook name& clientConfig& failurePolicy* matchPolicy* namespaceSelector* objectSelector* sideEffects*& timeoutSeconds* admissionReviewVersions& reinvocationPolicy*
admissionregistration.MutatingWebhookConfiguration metadata&
admissionregistration.Mutation patchType& applyConfiguration* jsonPatch*
admissionregistration.NamedRuleWithOperations scope*
admissionregistration.ParamRef selector* parameterNotFoundAction*
admissionregistration.RuleWithOperations scope*
admissionregistration.ServiceReference namespace& name& path* port*
admissionregistration.ValidatingAdmissionPolicy metadata& spec& status&
admissionregistration.ValidatingAdmissionPolicyBinding metadata& spec&
admissionregistration.ValidatingAdmissionPolicyBindingSpec paramRef* matchResources*
admissionregistration.ValidatingAdmissionPolicySpec paramKind* matchConstraints* failurePolicy*
admissionregistration.ValidatingAdmissionPolicyStatus typeChecking*
admissionregistration.ValidatingWebhook name& clientConfig& failurePolicy* matchPolicy* namespaceSelector* objectSelector* sideEffects*& timeoutSeconds* admissionReviewVersions&
admissionregistration.ValidatingWebhookConfiguration metadata&
admissionregistration.Validation expression& reason*
admissionregistration.Variable name& expression&
admissionregistration.WebhookClientConfig url* service*
apps.ControllerRevision metadata& data& revision&
apps.DaemonSet metadata& spec& status&
apps.DaemonSetCondition type& status& lastTransitionTime&
apps.DaemonSetSpec selector*& template& updateStrategy& revisionHistoryLimit*
apps.DaemonSetStatus currentNumberScheduled& numberMisscheduled& desiredNumberScheduled& numberReady& collisionCount*
apps.DaemonSetUpdateStrategy rollingUpdate*
apps.Deployment metadata& spec& status&
apps.DeploymentCondition type& status& lastUpdateTime& lastTransitionTime&
apps.DeploymentSpec replicas* selector*& template& strategy& revisionHistoryLimit* progressDeadlineSeconds*
apps.DeploymentStatus terminatingReplicas* collisionCount*
apps.DeploymentStrategy rollingUpdate*
apps.ReplicaSet metadata& spec& status&
apps.ReplicaSetCondition type& status& lastTransitionTime&
apps.ReplicaSetSpec replicas* selector*& template&
apps.ReplicaSetStatus replicas& terminatingReplicas*
apps.RollingUpdateDaemonSet maxUnavailable* maxSurge*
apps.RollingUpdateDeployment maxUnavailable* maxSurge*
apps.RollingUpdateStatefulSetStrategy partition* maxUnavailable*
apps.StatefulSet metadata& spec& status&
apps.StatefulSetCondition type& status& lastTransitionTime&
apps.StatefulSetOrdinals start&
apps.StatefulSetSpec replicas* selector*& template& serviceName& updateStrategy& revisionHistoryLimit* persistentVolumeClaimRetentionPolicy* ordinals*
apps.StatefulSetStatus replicas& collisionCount* availableReplicas&
apps.StatefulSetUpdateStrategy rollingUpdate*
authentication.SelfSubjectReview metadata& status&
authentication.SelfSubjectReviewStatus userInfo&
authentication.TokenRequest metadata& spec& status&
authentication.TokenRequestSpec audiences& expirationSeconds*& boundObjectRef*&
authentication.TokenRequestStatus token& expirationTimestamp&
authentication.TokenReview metadata& spec& status&
authentication.TokenReviewStatus user&
authorization.LocalSubjectAccessReview metadata& spec& status&
authorization.NonResourceRule verbs&
authorization.ResourceAttributes fieldSelector* labelSelector*
authorization.ResourceRule verbs&
authorization.SelfSubjectAccessReview metadata& spec& status&
authorization.SelfSubjectAccessReviewSpec resourceAttributes* nonResourceAttributes*
authorization.SelfSubjectRulesReview metadata& spec& status&
authorization.SubjectAccessReview metadata& spec& status&
authorization.SubjectAccessReviewSpec resourceAttributes* nonResourceAttributes*
authorization.SubjectAccessReviewStatus allowed&
authorization.SubjectRulesReviewStatus resourceRules& nonResourceRules& incomplete&
autoscaling.CrossVersionObjectReference kind& name&
autoscaling.HorizontalPodAutoscaler metadata& spec& status&
autoscaling.HorizontalPodAutoscalerSpec scaleTargetRef& minReplicas* maxReplicas& targetCPUUtilizationPercentage*
autoscaling.HorizontalPodAutoscalerStatus observedGeneration* lastScaleTime* currentReplicas& desiredReplicas& currentCPUUtilizationPercentage*
autoscaling.Scale metadata& spec& status&
autoscaling.ScaleStatus replicas&
autoscaling2.ContainerResourceMetricSource name& target& container&
autoscaling2.ContainerResourceMetricStatus name& current& container&
autoscaling2.CrossVersionObjectReference kind& name&
autoscaling2.ExternalMetricSource metric& target&
autoscaling2.ExternalMetricStatus metric& current&
autoscaling2.HPAScalingPolicy type& value& periodSeconds&
autoscaling2.HPAScalingRules stabilizationWindowSeconds* selectPolicy* tolerance*
autoscaling2.HorizontalPodAutoscaler metadata& spec& status&
autoscaling2.HorizontalPodAutoscalerBehavior scaleUp* scaleDown*
autoscaling2.HorizontalPodAutoscalerCondition type& status& lastTransitionTime&
autoscaling2.HorizontalPodAutoscalerSpec scaleTargetRef& minReplicas* maxReplicas& behavior*
autoscaling2.HorizontalPodAutoscalerStatus observedGeneration* lastScaleTime* desiredReplicas& currentMetrics&
autoscaling2.MetricIdentifier name& selector*
autoscaling2.MetricSpec type& object* pods* resource* containerResource* external*
autoscaling2.MetricStatus type& object* pods* resource* containerResource* external*
autoscaling2.MetricTarget type& value* averageValue* averageUtilization*
autoscaling2.MetricValueStatus value* averageValue* averageUtilization*
autoscaling2.ObjectMetricSource describedObject& target& metric&
autoscaling2.ObjectMetricStatus metric& current& describedObject&
autoscaling2.PodsMetricSource metric& target&
autoscaling2.PodsMetricStatus metric& current&
autoscaling2.ResourceMetricSource name& target&
autoscaling2.ResourceMetricStatus name& current&
batch.CronJob metadata& spec& status&
batch.CronJobSpec schedule& timeZone* startingDeadlineSeconds* suspend* jobTemplate& successfulJobsHistoryLimit* failedJobsHistoryLimit*
batch.CronJobStatus lastScheduleTime* lastSuccessfulTime*
batch.Job metadata& spec& status&
batch.JobCondition type& status& lastProbeTime& lastTransitionTime&
batch.JobSpec parallelism* completions* activeDeadlineSeconds* podFailurePolicy* successPolicy* backoffLimit* backoffLimitPerIndex* maxFailedIndexes* selector* manualSelector* template& ttlSecondsAfterFinished* completionMode* suspend* podReplacementPolicy* managedBy*
batch.JobStatus startTime* completionTime* terminating* failedIndexes* uncountedTerminatedPods* ready*
batch.JobTemplateSpec metadata& spec&
batch.PodFailurePolicy rules&
batch.PodFailurePolicyOnExitCodesRequirement containerName* operator& values&
batch.PodFailurePolicyOnPodConditionsPattern type& status&
batch.PodFailurePolicyRule action& onExitCodes*
batch.SuccessPolicy rules&
batch.SuccessPolicyRule succeededIndexes* succeededCount*
certificates.CertificateSigningRequest metadata& spec& status&
certificates.CertificateSigningRequestCondition type& status& lastUpdateTime& lastTransitionTime&
certificates.CertificateSigningRequestSpec request& signerName& expirationSeconds*
coordination.Lease metadata& spec&
coordination.LeaseSpec holderIdentity* leaseDurationSeconds* acquireTime* renewTime* leaseTransitions* strategy* preferredHolder*
core.AWSElasticBlockStoreVolumeSource volumeID&
core.Affinity nodeAffinity* podAffinity* podAntiAffinity*
core.AppArmorProfile type& localhostProfile*
core.AttachedVolume name& devicePath&
core.AzureDiskVolumeSource diskName& diskURI& cachingMode* fsType* readOnly* kind*
core.AzureFilePersistentVolumeSource secretName& shareName& secretNamespace*&
core.AzureFileVolumeSource secretName& shareName&
core.Binding metadata& target&
core.CSIPersistentVolumeSource driver& volumeHandle& controllerPublishSecretRef* nodeStageSecretRef* nodePublishSecretRef* controllerExpandSecretRef* nodeExpandSecretRef*
core.CSIVolumeSource driver& readOnly* fsType* nodePublishSecretRef*
core.CephFSPersistentVolumeSource monitors& secretRef*
core.CephFSVolumeSource monitors& secretRef*
core.CinderPersistentVolumeSource volumeID& secretRef*
core.CinderVolumeSource volumeID& secretRef*
core.ClientIPConfig timeoutSeconds*
core.ClusterTrustBundleProjection name* signerName* labelSelector* optional* path&
core.ComponentCondition type& status&
core.ComponentStatus metadata&
core.ConfigMap metadata& immutable*
core.ConfigMapEnvSource optional*
core.ConfigMapKeySelector key& optional*
core.ConfigMapNodeConfigSource namespace& name& kubeletConfigKey&
core.ConfigMapProjection optional*
core.ConfigMapVolumeSource defaultMode* optional*
core.Container name& resources& restartPolicy* livenessProbe* readinessProbe* startupProbe* lifecycle* securityContext*
core.ContainerImage names&
core.ContainerPort containerPort&
core.ContainerResizePolicy resourceName& restartPolicy&
core.ContainerState waiting* running* terminated*
core.ContainerStateRunning startedAt&
core.ContainerStateTerminated exitCode& startedAt& finishedAt&
core.ContainerStatus name& state& lastState& ready& restartCount& image& imageID& started* resources* user* stopSignal*
core.ContainerUser linux*
core.DaemonEndpoint Port&
core.DownwardAPIVolumeFile path& fieldRef* resourceFieldRef* mode*
core.DownwardAPIVolumeSource defaultMode*
core.EmptyDirVolumeSource sizeLimit*
core.EndpointAddress ip& nodeName* targetRef*
core.EndpointPort port& appProtocol*
core.Endpoints metadata&
core.EnvFromSource configMapRef* secretRef*
core.EnvVar name& valueFrom*
core.EnvVarSource fieldRef* resourceFieldRef* configMapKeyRef* secretKeyRef*
core.EphemeralContainer name& resources& restartPolicy* livenessProbe* readinessProbe* startupProbe* lifecycle* securityContext*
core.EphemeralVolumeSource volumeClaimTemplate*
core.Event metadata& involvedObject& source& firstTimestamp& lastTimestamp& eventTime& series* related* reportingComponent& reportingInstance&
core.EventSeries lastObservedTime&
core.FCVolumeSource lun*
core.FlexPersistentVolumeSource driver& secretRef*
core.FlexVolumeSource driver& secretRef*
core.GCEPersistentDiskVolumeSource pdName&
core.GRPCAction port& service*&
core.GitRepoVolumeSource repository&
core.GlusterfsPersistentVolumeSource endpoints& path& endpointsNamespace*
core.GlusterfsVolumeSource endpoints& path&
core.HTTPGetAction port&
core.HTTPHeader name& value&
core.HostAlias ip&
core.HostIP ip&
core.HostPathVolumeSource path& type*
core.ISCSIPersistentVolumeSource targetPortal& iqn& lun& secretRef* initiatorName*
core.ISCSIVolumeSource targetPortal& iqn& lun& secretRef* initiatorName*
core.KeyToPath key& path& mode*
core.Lifecycle postStart* preStop* stopSignal*
core.LifecycleHandler exec* httpGet* tcpSocket* sleep*
core.LimitRange metadata& spec&
core.LimitRangeItem type&
core.LimitRangeSpec limits&
core.LinuxContainerUser uid& gid&
core.LoadBalancerIngress ipMode*
core.LocalVolumeSource path& fsType*
core.ModifyVolumeStatus status&
core.NFSVolumeSource server& path&
core.Namespace metadata& spec& status&
core.NamespaceCondition type& status& lastTransitionTime&
core.Node metadata& spec& status&
core.NodeAddress type& address&
core.NodeAffinity requiredDuringSchedulingIgnoredDuringExecution*
core.NodeCondition type& status& lastHeartbeatTime& lastTransitionTime&
core.NodeConfigSource configMap*
core.NodeConfigStatus assigned* active* lastKnownGood*
core.NodeDaemonEndpoints kubeletEndpoint&
core.NodeFeatures supplementalGroupsPolicy*
core.NodeRuntimeHandler name& features*
core.NodeRuntimeHandlerFeatures recursiveReadOnlyMounts* userNamespaces*
core.NodeSelector nodeSelectorTerms&
core.NodeSelectorRequirement key& operator&
core.NodeSpec configSource*
core.NodeStatus daemonEndpoints& nodeInfo& config* features*
core.NodeSwapStatus capacity*
core.NodeSystemInfo machineID& systemUUID& bootID& kernelVersion& osImage& containerRuntimeVersion& kubeletVersion& kubeProxyVersion& operatingSystem& architecture& swap*
core.ObjectFieldSelector fieldPath&
core.PersistentVolume metadata& spec& status&
core.PersistentVolumeClaim metadata& spec& status&
core.PersistentVolumeClaimCondition type& status& lastProbeTime& lastTransitionTime&
core.PersistentVolumeClaimSpec selector* resources& storageClassName* volumeMode* dataSource* dataSourceRef* volumeAttributesClassName*
core.PersistentVolumeClaimStatus currentVolumeAttributesClassName* modifyVolumeStatus*
core.PersistentVolumeClaimTemplate metadata& spec&
core.PersistentVolumeClaimVolumeSource claimName&
core.PersistentVolumeSpec gcePersistentDisk* awsElasticBlockStore* hostPath* glusterfs* nfs* rbd* iscsi* cinder* cephfs* fc* flocker* flexVolume* azureFile* vsphereVolume* quobyte* azureDisk* photonPersistentDisk* portworxVolume* scaleIO* local* storageos* csi* claimRef* volumeMode* nodeAffinity* volumeAttributesClassName*
core.PersistentVolumeStatus lastPhaseTransitionTime*
core.PhotonPersistentDiskVolumeSource pdID&
core.Pod metadata& spec& status&
core.PodAffinityTerm labelSelector* topologyKey& namespaceSelector*
core.PodCondition type& status& lastProbeTime& lastTransitionTime&
core.PodDNSConfigOption value*
core.PodIP ip&
core.PodOS name&
core.PodReadinessGate conditionType&
core.PodResourceClaim name& resourceClaimName* resourceClaimTemplateName*
core.PodResourceClaimStatus name& resourceClaimName*
core.PodSchedulingGate name&
core.PodSecurityContext seLinuxOptions* windowsOptions* runAsUser* runAsGroup* runAsNonRoot* supplementalGroupsPolicy* fsGroup* fsGroupChangePolicy* seccompProfile* appArmorProfile* seLinuxChangePolicy*
core.PodSpec containers& terminationGracePeriodSeconds* activeDeadlineSeconds* automountServiceAccountToken* shareProcessNamespace* securityContext* affinity* priority* dnsConfig* runtimeClassName* enableServiceLinks* preemptionPolicy* setHostnameAsFQDN* os* hostUsers* resources*
core.PodStatus startTime*
core.PodTemplate metadata& template&
core.PodTemplateSpec metadata& spec&
core.PortStatus port& protocol& error*
core.PortworxVolumeSource volumeID&
core.PreferredSchedulingTerm weight& preference&
core.Probe exec* httpGet* tcpSocket* grpc* terminationGracePeriodSeconds*
core.ProjectedVolumeSource sources& defaultMode*
core.QuobyteVolumeSource registry& volume&
core.RBDPersistentVolumeSource monitors& image& secretRef*
core.RBDVolumeSource monitors& image& secretRef*
core.ReplicationController metadata& spec& status&
core.ReplicationControllerCondition type& status& lastTransitionTime&
core.ReplicationControllerSpec replicas* template*
core.ReplicationControllerStatus replicas&
core.ResourceClaim name&
core.ResourceFieldSelector resource& divisor&
core.ResourceHealth resourceID&
core.ResourceQuota metadata& spec& status&
core.ResourceQuotaSpec scopeSelector*
core.ResourceStatus name&
core.ScaleIOPersistentVolumeSource gateway& system& secretRef*&
core.ScaleIOVolumeSource gateway& system& secretRef*&
core.ScopedResourceSelectorRequirement scopeName& operator&
core.SeccompProfile type& localhostProfile*
core.Secret metadata& immutable*
core.SecretEnvSource optional*
core.SecretKeySelector key& optional*
core.SecretProjection optional*
core.SecretVolumeSource defaultMode* optional*
core.SecurityContext capabilities* privileged* seLinuxOptions* windowsOptions* runAsUser* runAsGroup* runAsNonRoot* readOnlyRootFilesystem* allowPrivilegeEscalation* procMount* seccompProfile* appArmorProfile*
core.Service metadata& spec& status&
core.ServiceAccount metadata& automountServiceAccountToken*
core.ServiceAccountTokenProjection expirationSeconds* path&
core.ServicePort appProtocol* port& targetPort&
core.ServiceSpec sessionAffinityConfig* ipFamilyPolicy* allocateLoadBalancerNodePorts* loadBalancerClass* internalTrafficPolicy* trafficDistribution*
core.ServiceStatus loadBalancer&
core.SessionAffinityConfig clientIP*
core.SleepAction seconds&
core.StorageOSPersistentVolumeSource secretRef*
core.StorageOSVolumeSource secretRef*
core.Sysctl name& value&
core.TCPSocketAction port&
core.Taint key& effect& timeAdded*
core.Toleration tolerationSeconds*
core.TopologySelectorLabelRequirement key& values&
core.TopologySpreadConstraint maxSkew& topologyKey& whenUnsatisfiable& labelSelector* minDomains* nodeAffinityPolicy* nodeTaintsPolicy*
core.TypedLocalObjectReference apiGroup*& kind& name&
core.TypedObjectReference apiGroup*& kind& name& namespace*
core.Volume name& hostPath* emptyDir* gcePersistentDisk* awsElasticBlockStore* gitRepo* secret* nfs* iscsi* glusterfs* persistentVolumeClaim* rbd* flexVolume* cinder* cephfs* flocker* downwardAPI* fc* azureFile* configMap* vsphereVolume* quobyte* azureDisk* photonPersistentDisk* projected* portworxVolume* scaleIO* storageos* csi* ephemeral* image*
core.VolumeDevice name& devicePath&
core.VolumeMount name& recursiveReadOnly* mountPath& mountPropagation*
core.VolumeMountStatus name& mountPath& recursiveReadOnly*
core.VolumeNodeAffinity required*
core.VolumeProjection secret* downwardAPI* configMap* serviceAccountToken* clusterTrustBundle*
core.VsphereVirtualDiskVolumeSource volumePath&
core.WeightedPodAffinityTerm weight& podAffinityTerm&
core.WindowsSecurityContextOptions gmsaCredentialSpecName* gmsaCredentialSpec* runAsUserName* hostProcess*
discovery.Endpoint addresses& conditions& hostname* targetRef* nodeName* zone* hints*
discovery.EndpointConditions ready* serving* terminating*
discovery.EndpointPort name* protocol* port* appProtocol*
discovery.EndpointSlice metadata& addressType& endpoints& ports&
discovery.ForNode name&
discovery.ForZone name&
events.Event metadata& eventTime& series* regarding& related* deprecatedSource& deprecatedFirstTimestamp& deprecatedLastTimestamp&
events.EventSeries count& lastObservedTime&
flowcontrol.ExemptPriorityLevelConfiguration nominalConcurrencyShares* lendablePercent*
flowcontrol.FlowDistinguisherMethod type&
flowcontrol.FlowSchema metadata& spec& status&
flowcontrol.FlowSchemaCondition lastTransitionTime&
flowcontrol.FlowSchemaSpec priorityLevelConfiguration& matchingPrecedence& distinguisherMethod*
flowcontrol.GroupSubject name&
flowcontrol.LimitResponse type& queuing*
flowcontrol.LimitedPriorityLevelConfiguration nominalConcurrencyShares*& limitResponse& lendablePercent* borrowingLimitPercent*
flowcontrol.NonResourcePolicyRule verbs& nonResourceURLs&
flowcontrol.PolicyRulesWithSubjects subjects&
flowcontrol.PriorityLevelConfiguration metadata& spec& status&
flowcontrol.PriorityLevelConfigurationCondition lastTransitionTime&
flowcontrol.PriorityLevelConfigurationReference name&
flowcontrol.PriorityLevelConfigurationSpec type& limited* exempt*
flowcontrol.QueuingConfiguration queues& handSize& queueLengthLimit&
flowcontrol.ResourcePolicyRule verbs& apiGroups& resources& namespaces&
flowcontrol.ServiceAccountSubject namespace& name&
flowcontrol.Subject kind& user* group* serviceAccount*
flowcontrol.UserSubject name&
meta.APIGroup name& versions& preferredVersion&
meta.APIGroupList groups&
meta.APIResource name& singularName& namespaced& kind& verbs&
meta.APIResourceList groupVersion& resources&
meta.APIVersions versions& serverAddressByClientCIDRs&
meta.Condition type& status& lastTransitionTime& reason& message&
meta.DeleteOptions gracePeriodSeconds* preconditions* orphanDependents* propagationPolicy* ignoreStoreReadErrorWithClusterBreakingPotential*
meta.FieldSelectorRequirement key& operator&
meta.GroupVersionForDiscovery groupVersion& version&
meta.LabelSelectorRequirement key& operator&
meta.ListMeta remainingItemCount*
meta.ManagedFieldsEntry time* fieldsV1*
meta.ObjectMeta deletionTimestamp* deletionGracePeriodSeconds*
meta.OwnerReference apiVersion& kind& name& uid& controller* blockOwnerDeletion*
meta.Preconditions uid* resourceVersion*
meta.ServerAddressByClientCIDR clientCIDR& serverAddress&
meta.Status metadata& details*
meta.WatchEvent type& object&
networking.HTTPIngressPath pathType*& backend&
networking.HTTPIngressRuleValue paths&
networking.IPAddress metadata& spec&
networking.IPAddressSpec parentRef*
networking.IPBlock cidr&
networking.Ingress metadata& spec& status&
networking.IngressBackend service* resource*
networking.IngressClass metadata& spec&
networking.IngressClassParametersReference apiGroup* kind& name& scope*& namespace*
networking.IngressClassSpec parameters*
networking.IngressPortStatus port& protocol& error*
networking.IngressRule http*
networking.IngressServiceBackend name& port&
networking.IngressSpec ingressClassName* defaultBackend*
networking.IngressStatus loadBalancer&
networking.NetworkPolicy metadata& spec&
networking.NetworkPolicyPeer podSelector* namespaceSelector* ipBlock*
networking.NetworkPolicyPort protocol* port* endPort*
networking.NetworkPolicySpec podSelector&
networking.ServiceCIDR metadata& spec& status&
node.RuntimeClass metadata& handler& overhead* scheduling*
policy.Eviction metadata& deleteOptions*
policy.PodDisruptionBudget metadata& spec& status&
policy.PodDisruptionBudgetSpec minAvailable* selector* maxUnavailable* unhealthyPodEvictionPolicy*
policy.PodDisruptionBudgetStatus disruptionsAllowed& currentHealthy& desiredHealthy& expectedPods&
rbac.ClusterRole metadata& rules& aggregationRule*
rbac.ClusterRoleBinding metadata& roleRef&
rbac.PolicyRule verbs&
rbac.Role metadata& rules&
rbac.RoleBinding metadata& roleRef&
rbac.RoleRef apiGroup& kind& name&
rbac.Subject kind& name&
resource.AllocatedDeviceStatus driver& pool& device& conditions& data* networkData*
resource.AllocationResult devices& nodeSelector*
resource.CELDeviceSelector expression&
resource.Counter value&
resource.CounterSet name&
resource.Device name& nodeName* nodeSelector* allNodes*
resource.DeviceAllocationConfiguration source& opaque*
resource.DeviceAttribute int* bool* string* version*
resource.DeviceCapacity value&
resource.DeviceClaim requests&
resource.DeviceClaimConfiguration opaque*
resource.DeviceClass metadata& spec&
resource.DeviceClassConfiguration opaque*
resource.DeviceConstraint matchAttribute*
resource.DeviceCounterConsumption counterSet&
resource.DeviceRequest name& exactly*
resource.DeviceRequestAllocationResult request& driver& pool& device& adminAccess*&
resource.DeviceSelector cel*
resource.DeviceSubRequest name& deviceClassName&
resource.DeviceTaint key& effect& timeAdded*
resource.DeviceToleration tolerationSeconds*
resource.ExactDeviceRequest deviceClassName& adminAccess*
resource.OpaqueDeviceConfiguration driver& parameters&
resource.ResourceClaim metadata& spec& status&
resource.ResourceClaimConsumerReference resource& name& uid&
resource.ResourceClaimSpec devices&
resource.ResourceClaimStatus allocation*
resource.ResourceClaimTemplate metadata& spec&
resource.ResourceClaimTemplateSpec metadata& spec&
resource.ResourcePool name& generation& resourceSliceCount&
resource.ResourceSlice metadata& spec&
resource.ResourceSliceSpec driver& pool& nodeName* nodeSelector* allNodes* devices& perDeviceNodeSelection*
scheduling.PriorityClass metadata& value& preemptionPolicy*
storage.CSIDriver metadata& spec&
storage.CSIDriverSpec attachRequired* podInfoOnMount* storageCapacity* fsGroupPolicy* requiresRepublish* seLinuxMount* nodeAllocatableUpdatePeriodSeconds*
storage.CSINode metadata& spec&
storage.CSINodeDriver name& nodeID& topologyKeys& allocatable*
storage.CSINodeSpec drivers&
storage.CSIStorageCapacity metadata& nodeTopology* storageClassName& capacity* maximumVolumeSize*
storage.StorageClass metadata& provisioner& reclaimPolicy* allowVolumeExpansion* volumeBindingMode*
storage.TokenRequest audience& expirationSeconds*
storage.VolumeAttachment metadata& spec& status&
storage.VolumeAttachmentSource persistentVolumeName* inlineVolumeSpec*
storage.VolumeAttachmentSpec attacher& source& nodeName&
storage.VolumeAttachmentStatus attached& attachError* detachError*
storage.VolumeAttributesClass metadata& driverName&
storage.VolumeError time& errorCode*
storage.VolumeNodeResources count*
`

/** Protobuf field numbers: written by scripts/protobuf-numbers.mjs, read by ../server/bodies/protobufBody.ts, which explains the notation. */
export const coreNumbers = `
core.AWSElasticBlockStoreVolumeSource volumeID:1 fsType:2 partition:3 readOnly:4
core.Affinity nodeAffinity:1 podAffinity:2 podAntiAffinity:3
core.AppArmorProfile type:1 localhostProfile:2
core.AttachedVolume name:1 devicePath:2
core.AzureDiskVolumeSource diskName:1 diskURI:2 cachingMode:3 fsType:4 readOnly:5 kind:6
core.AzureFilePersistentVolumeSource secretName:1 shareName:2 readOnly:3 secretNamespace:4
core.AzureFileVolumeSource secretName:1 shareName:2 readOnly:3
core.Binding metadata:1 target:2
core.CSIPersistentVolumeSource driver:1 volumeHandle:2 readOnly:3 fsType:4 volumeAttributes:5 controllerPublishSecretRef:6 nodeStageSecretRef:7 nodePublishSecretRef:8 controllerExpandSecretRef:9 nodeExpandSecretRef:10
core.CSIVolumeSource driver:1 readOnly:2 fsType:3 volumeAttributes:4 nodePublishSecretRef:5
core.Capabilities add:1 drop:2
core.CephFSPersistentVolumeSource monitors:1 path:2 user:3 secretFile:4 secretRef:5 readOnly:6
core.CephFSVolumeSource monitors:1 path:2 user:3 secretFile:4 secretRef:5 readOnly:6
core.CinderPersistentVolumeSource volumeID:1 fsType:2 readOnly:3 secretRef:4
core.CinderVolumeSource volumeID:1 fsType:2 readOnly:3 secretRef:4
core.ClientIPConfig timeoutSeconds:1
core.ClusterTrustBundleProjection name:1 signerName:2 labelSelector:3 optional:5 path:4
core.ComponentCondition type:1 status:2 message:3 error:4
core.ComponentStatus metadata:1 conditions:2
core.ConfigMap metadata:1 immutable:4 data:2 binaryData:3
core.ConfigMapEnvSource 1(name:1) optional:2
core.ConfigMapKeySelector 1(name:1) key:2 optional:3
core.ConfigMapNodeConfigSource namespace:1 name:2 uid:3 resourceVersion:4 kubeletConfigKey:5
core.ConfigMapProjection 1(name:1) items:2 optional:4
core.ConfigMapVolumeSource 1(name:1) items:2 defaultMode:3 optional:4
core.Container name:1 image:2 command:3 args:4 workingDir:5 ports:6 envFrom:19 env:7 resources:8 resizePolicy:23 restartPolicy:24 volumeMounts:9 volumeDevices:21 livenessProbe:10 readinessProbe:11 startupProbe:22 lifecycle:12 terminationMessagePath:13 terminationMessagePolicy:20 imagePullPolicy:14 securityContext:15 stdin:16 stdinOnce:17 tty:18 restartPolicyRules:25
core.ContainerImage names:1 sizeBytes:2
core.ContainerPort name:1 hostPort:2 containerPort:3 protocol:4 hostIP:5
core.ContainerResizePolicy resourceName:1 restartPolicy:2
core.ContainerRestartRule action:1 exitCodes:2
core.ContainerRestartRuleOnExitCodes operator:1 values:2
core.ContainerState waiting:1 running:2 terminated:3
core.ContainerStateRunning startedAt:1
core.ContainerStateTerminated exitCode:1 signal:2 reason:3 message:4 startedAt:5 finishedAt:6 containerID:7
core.ContainerStateWaiting reason:1 message:2
core.ContainerStatus name:1 state:2 lastState:3 ready:4 restartCount:5 image:6 imageID:7 containerID:8 started:9 allocatedResources:10 resources:11 volumeMounts:12 user:13 allocatedResourcesStatus:14 stopSignal:15
core.ContainerUser linux:1
core.DaemonEndpoint Port:1
core.DownwardAPIProjection items:1
core.DownwardAPIVolumeFile path:1 fieldRef:2 resourceFieldRef:3 mode:4
core.DownwardAPIVolumeSource items:1 defaultMode:2
core.EmptyDirVolumeSource medium:1 sizeLimit:2
core.EndpointAddress ip:1 hostname:3 nodeName:4 targetRef:2
core.EndpointPort name:1 port:2 protocol:3 appProtocol:4
core.EndpointSubset addresses:1 notReadyAddresses:2 ports:3
core.Endpoints metadata:1 subsets:2
core.EnvFromSource prefix:1 configMapRef:2 secretRef:3
core.EnvVar name:1 value:2 valueFrom:3
core.EnvVarSource fieldRef:1 resourceFieldRef:2 configMapKeyRef:3 secretKeyRef:4 fileKeyRef:5
core.EphemeralContainer 1(name:1 image:2 command:3 args:4 workingDir:5 ports:6 envFrom:19 env:7 resources:8 resizePolicy:23 restartPolicy:24 volumeMounts:9 volumeDevices:21 livenessProbe:10 readinessProbe:11 startupProbe:22 lifecycle:12 terminationMessagePath:13 terminationMessagePolicy:20 imagePullPolicy:14 securityContext:15 stdin:16 stdinOnce:17 tty:18) targetContainerName:2
core.EphemeralVolumeSource volumeClaimTemplate:1
core.Event metadata:1 involvedObject:2 reason:3 message:4 source:5 firstTimestamp:6 lastTimestamp:7 count:8 type:9 eventTime:10 series:11 action:12 related:13 reportingComponent:14 reportingInstance:15
core.EventSeries count:1 lastObservedTime:2
core.EventSource component:1 host:2
core.ExecAction command:1
core.FCVolumeSource targetWWNs:1 lun:2 fsType:3 readOnly:4 wwids:5
core.FileKeySelector key:3 optional:4 path:2 volumeName:1
core.FlexPersistentVolumeSource driver:1 fsType:2 secretRef:3 readOnly:4 options:5
core.FlexVolumeSource driver:1 fsType:2 secretRef:3 readOnly:4 options:5
core.FlockerVolumeSource datasetName:1 datasetUUID:2
core.GCEPersistentDiskVolumeSource pdName:1 fsType:2 partition:3 readOnly:4
core.GRPCAction port:1 service:2
core.GitRepoVolumeSource repository:1 revision:2 directory:3
core.GlusterfsPersistentVolumeSource endpoints:1 path:2 readOnly:3 endpointsNamespace:4
core.GlusterfsVolumeSource endpoints:1 path:2 readOnly:3
core.HTTPGetAction path:1 port:2 host:3 scheme:4 httpHeaders:5
core.HTTPHeader name:1 value:2
core.HostAlias ip:1 hostnames:2
core.HostIP ip:1
core.HostPathVolumeSource path:1 type:2
core.ISCSIPersistentVolumeSource targetPortal:1 iqn:2 lun:3 iscsiInterface:4 fsType:5 readOnly:6 portals:7 chapAuthDiscovery:8 chapAuthSession:11 secretRef:10 initiatorName:12
core.ISCSIVolumeSource targetPortal:1 iqn:2 lun:3 iscsiInterface:4 fsType:5 readOnly:6 portals:7 chapAuthDiscovery:8 chapAuthSession:11 secretRef:10 initiatorName:12
core.ImageVolumeSource reference:1 pullPolicy:2
core.KeyToPath key:1 path:2 mode:3
core.Lifecycle postStart:1 preStop:2 stopSignal:3
core.LifecycleHandler exec:1 httpGet:2 tcpSocket:3 sleep:4
core.LimitRange metadata:1 spec:2
core.LimitRangeItem type:1 max:2 min:3 default:4 defaultRequest:5 maxLimitRequestRatio:6
core.LimitRangeSpec limits:1
core.LinuxContainerUser uid:1 gid:2 supplementalGroups:3
core.LoadBalancerIngress ip:1 hostname:2 ipMode:3 ports:4
core.LoadBalancerStatus ingress:1
core.LocalObjectReference name:1
core.LocalVolumeSource path:1 fsType:2
core.ModifyVolumeStatus targetVolumeAttributesClassName:1 status:2
core.NFSVolumeSource server:1 path:2 readOnly:3
core.Namespace metadata:1 spec:2 status:3
core.NamespaceCondition type:1 status:2 lastTransitionTime:4 reason:5 message:6
core.NamespaceSpec finalizers:1
core.NamespaceStatus phase:1 conditions:2
core.Node metadata:1 spec:2 status:3
core.NodeAddress type:1 address:2
core.NodeAffinity requiredDuringSchedulingIgnoredDuringExecution:1 preferredDuringSchedulingIgnoredDuringExecution:2
core.NodeCondition type:1 status:2 lastHeartbeatTime:3 lastTransitionTime:4 reason:5 message:6
core.NodeConfigSource configMap:2
core.NodeConfigStatus assigned:1 active:2 lastKnownGood:3 error:4
core.NodeDaemonEndpoints kubeletEndpoint:1
core.NodeFeatures supplementalGroupsPolicy:1
core.NodeRuntimeHandler name:1 features:2
core.NodeRuntimeHandlerFeatures recursiveReadOnlyMounts:1 userNamespaces:2
core.NodeSelector nodeSelectorTerms:1
core.NodeSelectorRequirement key:1 operator:2 values:3
core.NodeSelectorTerm matchExpressions:1 matchFields:2
core.NodeSpec podCIDR:1 podCIDRs:7 providerID:3 unschedulable:4 taints:5 configSource:6 externalID:2
core.NodeStatus capacity:1 allocatable:2 phase:3 conditions:4 addresses:5 daemonEndpoints:6 nodeInfo:7 images:8 volumesInUse:9 volumesAttached:10 config:11 runtimeHandlers:12 features:13
core.NodeSwapStatus capacity:1
core.NodeSystemInfo machineID:1 systemUUID:2 bootID:3 kernelVersion:4 osImage:5 containerRuntimeVersion:6 kubeletVersion:7 kubeProxyVersion:8 operatingSystem:9 architecture:10 swap:11
core.ObjectFieldSelector apiVersion:1 fieldPath:2
core.ObjectReference kind:1 namespace:2 name:3 uid:4 apiVersion:5 resourceVersion:6 fieldPath:7
core.PersistentVolume metadata:1 spec:2 status:3
core.PersistentVolumeClaim metadata:1 spec:2 status:3
core.PersistentVolumeClaimCondition type:1 status:2 lastProbeTime:3 lastTransitionTime:4 reason:5 message:6
core.PersistentVolumeClaimSpec accessModes:1 selector:4 resources:2 volumeName:3 storageClassName:5 volumeMode:6 dataSource:7 dataSourceRef:8 volumeAttributesClassName:9
core.PersistentVolumeClaimStatus phase:1 accessModes:2 capacity:3 conditions:4 allocatedResources:5 allocatedResourceStatuses:7 currentVolumeAttributesClassName:8 modifyVolumeStatus:9
core.PersistentVolumeClaimTemplate metadata:1 spec:2
core.PersistentVolumeClaimVolumeSource claimName:1 readOnly:2
core.PersistentVolumeSpec capacity:1 2(gcePersistentDisk:1 awsElasticBlockStore:2 hostPath:3 glusterfs:4 nfs:5 rbd:6 iscsi:7 cinder:8 cephfs:9 fc:10 flocker:11 flexVolume:12 azureFile:13 vsphereVolume:14 quobyte:15 azureDisk:16 photonPersistentDisk:17 portworxVolume:18 scaleIO:19 local:20 storageos:21 csi:22) accessModes:3 claimRef:4 persistentVolumeReclaimPolicy:5 storageClassName:6 mountOptions:7 volumeMode:8 nodeAffinity:9 volumeAttributesClassName:10
core.PersistentVolumeStatus phase:1 message:2 reason:3 lastPhaseTransitionTime:4
core.PhotonPersistentDiskVolumeSource pdID:1 fsType:2
core.Pod metadata:1 spec:2 status:3
core.PodAffinity requiredDuringSchedulingIgnoredDuringExecution:1 preferredDuringSchedulingIgnoredDuringExecution:2
core.PodAffinityTerm labelSelector:1 namespaces:2 topologyKey:3 namespaceSelector:4 matchLabelKeys:5 mismatchLabelKeys:6
core.PodAntiAffinity requiredDuringSchedulingIgnoredDuringExecution:1 preferredDuringSchedulingIgnoredDuringExecution:2
core.PodCondition type:1 observedGeneration:7 status:2 lastProbeTime:3 lastTransitionTime:4 reason:5 message:6
core.PodDNSConfig nameservers:1 searches:2 options:3
core.PodDNSConfigOption name:1 value:2
core.PodIP ip:1
core.PodOS name:1
core.PodReadinessGate conditionType:1
core.PodResourceClaim name:1 resourceClaimName:3 resourceClaimTemplateName:4
core.PodResourceClaimStatus name:1 resourceClaimName:2
core.PodSchedulingGate name:1
core.PodSecurityContext seLinuxOptions:1 windowsOptions:8 runAsUser:2 runAsGroup:6 runAsNonRoot:3 supplementalGroups:4 supplementalGroupsPolicy:12 fsGroup:5 sysctls:7 fsGroupChangePolicy:9 seccompProfile:10 appArmorProfile:11 seLinuxChangePolicy:13
core.PodSpec volumes:1 initContainers:20 containers:2 ephemeralContainers:34 restartPolicy:3 terminationGracePeriodSeconds:4 activeDeadlineSeconds:5 dnsPolicy:6 nodeSelector:7 serviceAccountName:8 serviceAccount:9 automountServiceAccountToken:21 nodeName:10 hostNetwork:11 hostPID:12 hostIPC:13 shareProcessNamespace:27 securityContext:14 imagePullSecrets:15 hostname:16 subdomain:17 affinity:18 schedulerName:19 tolerations:22 hostAliases:23 priorityClassName:24 priority:25 dnsConfig:26 readinessGates:28 runtimeClassName:29 enableServiceLinks:30 preemptionPolicy:31 overhead:32 topologySpreadConstraints:33 setHostnameAsFQDN:35 os:36 hostUsers:37 schedulingGates:38 resourceClaims:39 resources:40 hostnameOverride:41
core.PodStatus observedGeneration:17 phase:1 conditions:2 message:3 reason:4 nominatedNodeName:11 hostIP:5 hostIPs:16 podIP:6 podIPs:12 startTime:7 initContainerStatuses:10 containerStatuses:8 qosClass:9 ephemeralContainerStatuses:13 resize:14 resourceClaimStatuses:15
core.PodTemplate metadata:1 template:2
core.PodTemplateSpec metadata:1 spec:2
core.PortStatus port:1 protocol:2 error:3
core.PortworxVolumeSource volumeID:1 fsType:2 readOnly:3
core.PreferredSchedulingTerm weight:1 preference:2
core.Probe 1(exec:1 httpGet:2 tcpSocket:3 grpc:4) initialDelaySeconds:2 timeoutSeconds:3 periodSeconds:4 successThreshold:5 failureThreshold:6 terminationGracePeriodSeconds:7
core.ProjectedVolumeSource sources:1 defaultMode:2
core.QuobyteVolumeSource registry:1 volume:2 readOnly:3 user:4 group:5 tenant:6
core.RBDPersistentVolumeSource monitors:1 image:2 fsType:3 pool:4 user:5 keyring:6 secretRef:7 readOnly:8
core.RBDVolumeSource monitors:1 image:2 fsType:3 pool:4 user:5 keyring:6 secretRef:7 readOnly:8
core.ReplicationController metadata:1 spec:2 status:3
core.ReplicationControllerCondition type:1 status:2 lastTransitionTime:3 reason:4 message:5
core.ReplicationControllerSpec replicas:1 minReadySeconds:4 selector:2 template:3
core.ReplicationControllerStatus replicas:1 fullyLabeledReplicas:2 readyReplicas:4 availableReplicas:5 observedGeneration:3 conditions:6
core.ResourceClaim name:1 request:2
core.ResourceFieldSelector containerName:1 resource:2 divisor:3
core.ResourceHealth resourceID:1 health:2
core.ResourceQuota metadata:1 spec:2 status:3
core.ResourceQuotaSpec hard:1 scopes:2 scopeSelector:3
core.ResourceQuotaStatus hard:1 used:2
core.ResourceRequirements limits:1 requests:2 claims:3
core.ResourceStatus name:1 resources:2
core.SELinuxOptions user:1 role:2 type:3 level:4
core.ScaleIOPersistentVolumeSource gateway:1 system:2 secretRef:3 sslEnabled:4 protectionDomain:5 storagePool:6 storageMode:7 volumeName:8 fsType:9 readOnly:10
core.ScaleIOVolumeSource gateway:1 system:2 secretRef:3 sslEnabled:4 protectionDomain:5 storagePool:6 storageMode:7 volumeName:8 fsType:9 readOnly:10
core.ScopeSelector matchExpressions:1
core.ScopedResourceSelectorRequirement scopeName:1 operator:2 values:3
core.SeccompProfile type:1 localhostProfile:2
core.Secret metadata:1 immutable:5 data:2 stringData:4 type:3
core.SecretEnvSource 1(name:1) optional:2
core.SecretKeySelector 1(name:1) key:2 optional:3
core.SecretProjection 1(name:1) items:2 optional:4
core.SecretReference name:1 namespace:2
core.SecretVolumeSource secretName:1 items:2 defaultMode:3 optional:4
core.SecurityContext capabilities:1 privileged:2 seLinuxOptions:3 windowsOptions:10 runAsUser:4 runAsGroup:8 runAsNonRoot:5 readOnlyRootFilesystem:6 allowPrivilegeEscalation:7 procMount:9 seccompProfile:11 appArmorProfile:12
core.Service metadata:1 spec:2 status:3
core.ServiceAccount metadata:1 secrets:2 imagePullSecrets:3 automountServiceAccountToken:4
core.ServiceAccountTokenProjection audience:1 expirationSeconds:2 path:3
core.ServicePort name:1 protocol:2 appProtocol:6 port:3 targetPort:4 nodePort:5
core.ServiceSpec ports:1 selector:2 clusterIP:3 clusterIPs:18 type:4 externalIPs:5 sessionAffinity:7 loadBalancerIP:8 loadBalancerSourceRanges:9 externalName:10 externalTrafficPolicy:11 healthCheckNodePort:12 publishNotReadyAddresses:13 sessionAffinityConfig:14 ipFamilies:19 ipFamilyPolicy:17 allocateLoadBalancerNodePorts:20 loadBalancerClass:21 internalTrafficPolicy:22 trafficDistribution:23
core.ServiceStatus loadBalancer:1 conditions:2
core.SessionAffinityConfig clientIP:1
core.SleepAction seconds:1
core.StorageOSPersistentVolumeSource volumeName:1 volumeNamespace:2 fsType:3 readOnly:4 secretRef:5
core.StorageOSVolumeSource volumeName:1 volumeNamespace:2 fsType:3 readOnly:4 secretRef:5
core.Sysctl name:1 value:2
core.TCPSocketAction port:1 host:2
core.Taint key:1 value:2 effect:3 timeAdded:4
core.Toleration key:1 operator:2 value:3 effect:4 tolerationSeconds:5
core.TopologySelectorLabelRequirement key:1 values:2
core.TopologySelectorTerm matchLabelExpressions:1
core.TopologySpreadConstraint maxSkew:1 topologyKey:2 whenUnsatisfiable:3 labelSelector:4 minDomains:5 nodeAffinityPolicy:6 nodeTaintsPolicy:7 matchLabelKeys:8
core.TypedLocalObjectReference apiGroup:1 kind:2 name:3
core.TypedObjectReference apiGroup:1 kind:2 name:3 namespace:4
core.Volume name:1 2(hostPath:1 emptyDir:2 gcePersistentDisk:3 awsElasticBlockStore:4 gitRepo:5 secret:6 nfs:7 iscsi:8 glusterfs:9 persistentVolumeClaim:10 rbd:11 flexVolume:12 cinder:13 cephfs:14 flocker:15 downwardAPI:16 fc:17 azureFile:18 configMap:19 vsphereVolume:20 quobyte:21 azureDisk:22 photonPersistentDisk:23 projected:26 portworxVolume:24 scaleIO:25 storageos:27 csi:28 ephemeral:29 image:30)
core.VolumeDevice name:1 devicePath:2
core.VolumeMount name:1 readOnly:2 recursiveReadOnly:7 mountPath:3 subPath:4 mountPropagation:5 subPathExpr:6
core.VolumeMountStatus name:1 mountPath:2 readOnly:3 recursiveReadOnly:4
core.VolumeNodeAffinity required:1
core.VolumeProjection secret:1 downwardAPI:2 configMap:3 serviceAccountToken:4 clusterTrustBundle:5
core.VolumeResourceRequirements limits:1 requests:2
core.VsphereVirtualDiskVolumeSource volumePath:1 fsType:2 storagePolicyName:3 storagePolicyID:4
core.WeightedPodAffinityTerm weight:1 podAffinityTerm:2
core.WindowsSecurityContextOptions gmsaCredentialSpecName:1 gmsaCredentialSpec:2 runAsUserName:3 hostProcess:4
`

/**
 * Facts about the API types that client-node's models do not contain, by type and field: quantities, the merge keys and strategies of strategic merge
 * patch, the list and map types of server-side apply, defaults. Facts of the published API (1.36), maintained by hand; `schema-table.mjs`
 * fails when one names a type or field that the models do not have.
 *
 * `q` quantity · `[a,b]` list that is a map by these members · `[=]` list that is a set · `~key` merges by key, `~` merges as
 * a set, `+` also keeps only the members sent (retainKeys), `^` only that · `@` owned as a whole · `=text` default
 */
export const facts = `
meta.LabelSelector @
meta.ObjectMeta finalizers[=]~ managedFields* ownerReferences[uid]~uid
core.ConfigMapKeySelector @
core.Container env[name]~name ports[containerPort,protocol]~containerPort volumeDevices[devicePath]~devicePath volumeMounts[mountPath]~mountPath
core.ContainerPort protocol=TCP
core.ContainerStatus allocatedResources:q allocatedResourcesStatus[name]~name volumeMounts[mountPath]~mountPath
core.EmptyDirVolumeSource sizeLimit:q
core.EndpointAddress @
core.EndpointPort @
core.EphemeralContainer env[name]~name ports[containerPort,protocol]~containerPort volumeDevices[devicePath]~devicePath volumeMounts[mountPath]~mountPath
core.FileKeySelector @ optional*
core.LimitRangeItem default:q defaultRequest:q max:q maxLimitRequestRatio:q min:q
core.LocalObjectReference @
core.NamespaceStatus conditions[type]~type
core.NodeSelector @
core.NodeSelectorTerm @
core.NodeSpec podCIDRs[=]~
core.NodeStatus addresses[type]~type allocatable:q capacity:q conditions[type]~type
core.ObjectFieldSelector @
core.ObjectReference @
core.PersistentVolumeClaimStatus allocatedResources:q allocatedResourceStatuses@ capacity:q conditions[type]~type
core.PersistentVolumeSpec capacity:q
core.PodSpec containers[name]~name ephemeralContainers[name]~name hostAliases[ip]~ip imagePullSecrets[name]~name initContainers[name]~name nodeSelector@ overhead:q resourceClaims[name]~name+ schedulingGates[name]~name topologySpreadConstraints[topologyKey,whenUnsatisfiable]~topologyKey volumes[name]~name+ hostnameOverride*
core.PodStatus allocatedResources:q conditions[type]~type hostIPs~ip podIPs[ip]~ip resourceClaimStatuses[name]~name+
core.ReplicationControllerSpec selector@
core.ReplicationControllerStatus conditions[type]~type
core.ResourceFieldSelector @ divisor:q
core.ResourceQuotaSpec hard:q
core.ResourceQuotaStatus hard:q used:q
core.ResourceRequirements claims[name] limits:q requests:q
core.ResourceStatus resources[resourceID]
core.ScopeSelector @
core.SecretKeySelector @
core.SecretReference @
core.ServiceAccount secrets[name]~name
core.ServicePort protocol=TCP
core.ServiceSpec ports[port,protocol]~port selector@
core.ServiceStatus conditions[type]~type
core.TopologySelectorTerm @
core.TypedLocalObjectReference @
core.VolumeResourceRequirements limits:q requests:q
apps.DaemonSetStatus conditions[type]~type
apps.DeploymentSpec strategy^
apps.DeploymentStatus conditions[type]~type
apps.ReplicaSetStatus conditions[type]~type
apps.StatefulSetStatus conditions[type]~type
batch.JobStatus conditions~type
batch.PodFailurePolicyOnExitCodesRequirement values[=]
batch.UncountedTerminatedPods failed[=] succeeded[=]
discovery.Endpoint addresses[=]
discovery.EndpointPort @
policy.PodDisruptionBudgetSpec selector|
policy.PodDisruptionBudgetStatus conditions[type]~type
autoscaling.CrossVersionObjectReference @
autoscaling2.HorizontalPodAutoscalerStatus conditions[type]~type
autoscaling2.MetricTarget averageValue:q value:q
autoscaling2.MetricValueStatus averageValue:q value:q
autoscaling2.HPAScalingRules tolerance:q
rbac.RoleRef @
rbac.Subject @
admissionregistration.MatchResources @
admissionregistration.MutatingWebhook matchConditions[name]~name
admissionregistration.MutatingWebhookConfiguration webhooks[name]~name
admissionregistration.NamedRuleWithOperations @
admissionregistration.ParamKind @
admissionregistration.ParamRef @
admissionregistration.ValidatingAdmissionPolicySpec matchConditions[name]~name variables[name]~name
admissionregistration.ValidatingAdmissionPolicyStatus conditions[type]
admissionregistration.ValidatingWebhook matchConditions[name]~name
admissionregistration.ValidatingWebhookConfiguration webhooks[name]~name
admissionregistration.Variable @
storage.CSIDriverSpec volumeLifecycleModes[=] preventPodSchedulingIfMissing* serviceAccountTokenInSecrets*
storage.CSINodeSpec drivers[name]~name
storage.CSIStorageCapacity capacity:q maximumVolumeSize:q
core.PodCertificateProjection maxExpirationSeconds*
core.PodSchedulingGroup podGroupName*
core.ResourceHealth message*
storage.VolumeAttributesClass metadata&
admissionregistration.MutatingAdmissionPolicySpec matchConditions[name]~name
networking.ServiceCIDRStatus conditions[type]~type
certificates.CertificateSigningRequestStatus conditions[type]
node.Overhead podFixed:q
node.Scheduling nodeSelector@
flowcontrol.FlowSchemaStatus conditions[type]~type
flowcontrol.NonResourcePolicyRule nonResourceURLs[=] verbs[=]
flowcontrol.PriorityLevelConfigurationStatus conditions[type]~type
flowcontrol.ResourcePolicyRule apiGroups[=] namespaces[=] resources[=] verbs[=]
resource.AllocatedDeviceStatus conditions[type] shareID*
resource.AllocationResult allocationTimestamp*
resource.CapacityRequestPolicy default*&:q validValues:q
resource.CapacityRequestPolicyRange max*:q min*:q step*:q
resource.CapacityRequirements requests:q
resource.Counter value:q
resource.Device allowMultipleAllocations* bindsToNode*
resource.DeviceCapacity value:q
resource.DeviceClassSpec extendedResourceName*
resource.DeviceConstraint distinctAttribute*
resource.DeviceRequestAllocationResult consumedCapacity:q shareID*
resource.NodeAllocatableResourceMapping allocationMultiplier*:q capacityKey*
resource.ResourceClaimStatus devices[driver,device,pool,shareID] reservedFor[uid]~uid
`

/** Nodes, and what decides on which of them pods run: selectors, affinity, taints, topology spread. */
import { condition } from "./meta.ts"
import type { Descriptions } from "./meta.ts"

const preferred = (what: string): string =>
  `${what} The scheduler adds the weights of the terms that a node satisfies and prefers the highest sum; a pod is scheduled even if none is satisfied.`

export const scheduling: Descriptions = {
  Node: {
    "": "A machine on which pods run. The kubelet registers it, and reports its state in the status and by a Lease in the namespace kube-node-lease."
  },
  NodeSpec: {
    "": "The settings of a node.",
    configSource: "Deprecated: no longer used.",
    externalID: "Deprecated: no longer used.",
    podCIDR: "The range of addresses for pods of this node. Set once by the node IPAM controller.",
    podCIDRs: "The ranges of addresses for pods, at most one for each IP family; podCIDR is the first.",
    providerID: "The id of the machine at the cloud provider, as <provider>://<id>. Cannot be changed once set.",
    taints: "Marks that keep pods without a matching toleration away from the node.",
    unschedulable: "Whether new pods are kept away, as kubectl cordon sets it. Pods that run here stay. Default: false."
  },
  Taint: {
    "": "A mark on a node that keeps away pods without a matching toleration.",
    effect:
      "NoSchedule: no new pods. PreferNoSchedule: new pods only if there is no better node. NoExecute: no new pods, and pods that run here are evicted.",
    key: "The name of the taint, such as node.kubernetes.io/not-ready.",
    timeAdded: "When the taint was added. tolerationSeconds counts from here.",
    value: "The value that tolerations may compare with."
  },
  Toleration: {
    "": "Taints that do not keep the pod away: those that match key, value and effect. Pods get tolerations of not-ready and unreachable for 300 seconds if they have none of their own.",
    effect: "The effect of the taint: NoSchedule, PreferNoSchedule or NoExecute. Unset: all effects.",
    key: "The name of the taint. Unset, with the operator Exists: all taints.",
    operator:
      "Equal (default): the value must be equal. Exists: any value. Lt and Gt compare numbers and need TaintTolerationComparisonOperators.",
    tolerationSeconds:
      "For the effect NoExecute: seconds that the pod stays after the taint was added. Unset: for ever; 0 or less: evicted at once.",
    value: "The value of the taint; empty with the operator Exists."
  },
  NodeStatus: {
    "": "What the kubelet and other components last observed of the node.",
    addresses: "The addresses and names at which the node can be reached.",
    allocatable: "The resources that pods may request in total: capacity without what the system keeps for itself.",
    capacity: "All resources of the node.",
    conditions:
      "Whether the node works: Ready, MemoryPressure, DiskPressure, PIDPressure, NetworkUnavailable. Pods are evicted some time after Ready stops being True.",
    config: "Deprecated: no longer used.",
    daemonEndpoints: "The ports of the daemons of the node.",
    declaredFeatures: "Features of the kubelet, by feature gate, that the scheduler takes into account.",
    features: "Features of the container runtime.",
    images: "The images that the node has, by default the 50 largest.",
    nodeInfo: "Versions and identities of the system.",
    phase: "Deprecated: no longer set.",
    runtimeHandlers: "The handlers that RuntimeClasses can choose on this node.",
    volumesAttached: "Volumes that are attached to the node.",
    volumesInUse: "Attachable volumes that pods of the node have mounted; they must not be detached."
  },
  NodeAddress: {
    "": "An address of a node.",
    address: "The address or name.",
    type: "InternalIP, ExternalIP, Hostname, InternalDNS or ExternalDNS."
  },
  NodeCondition: {
    ...condition(
      "Ready (the node can run pods), MemoryPressure, DiskPressure, PIDPressure (a resource is short) or NetworkUnavailable"
    ),
    lastHeartbeatTime: "When the kubelet last reported the condition."
  },
  NodeDaemonEndpoints: { "": "Ports of daemons.", kubeletEndpoint: "The endpoint of the kubelet." },
  DaemonEndpoint: { "": "An endpoint of a daemon.", Port: "The number of the port." },
  NodeFeatures: {
    "": "Features of the container runtime.",
    supplementalGroupsPolicy: "Whether securityContext.supplementalGroupsPolicy of pods has an effect."
  },
  ContainerImage: {
    "": "An image on a node.",
    names: "The names of the image, with tags and digests.",
    sizeBytes: "Its size in bytes."
  },
  NodeSystemInfo: {
    "": "Versions and identities of a node.",
    architecture: "The architecture of the processor, such as amd64.",
    bootID: "A value that changes with each boot.",
    containerRuntimeVersion: "The container runtime and its version, such as containerd://2.1.0.",
    kernelVersion: "The version of the kernel.",
    kubeProxyVersion: "Deprecated: the version of kube-proxy is not known to the kubelet.",
    kubeletVersion: "The version of the kubelet.",
    machineID: "The id of the machine, from /etc/machine-id.",
    operatingSystem: "The operating system: linux or windows.",
    osImage: "The name of the system's distribution.",
    swap: "The swap memory of the node.",
    systemUUID: "The id that the hardware reports."
  },
  NodeSwapStatus: { "": "The swap memory of a node.", capacity: "Its size in bytes." },
  NodeRuntimeHandler: {
    "": "A handler of the container runtime.",
    features: "What the handler supports.",
    name: "The name, as in RuntimeClass.handler; empty for the default."
  },
  NodeRuntimeHandlerFeatures: {
    "": "What a handler of the container runtime supports.",
    recursiveReadOnlyMounts: "Whether recursiveReadOnly of volume mounts is supported.",
    userNamespaces: "Whether pods with hostUsers false are supported."
  },
  AttachedVolume: {
    "": "A volume that is attached to a node.",
    devicePath: "The path of the device on the node.",
    name: "The name of the volume."
  },
  Affinity: {
    "": "Rules for the choice of a node. All that are set count together.",
    nodeAffinity: "Nodes by their labels.",
    podAffinity: "Nodes (or zones) where certain other pods run.",
    podAntiAffinity: "Nodes (or zones) where certain other pods do not run."
  },
  NodeAffinity: {
    "": "Nodes by their labels.",
    preferredDuringSchedulingIgnoredDuringExecution: preferred("Terms that a node should satisfy."),
    requiredDuringSchedulingIgnoredDuringExecution:
      "What a node must satisfy for the pod to be scheduled there. Later changes of its labels do not evict the pod."
  },
  NodeSelector: {
    "": "A selection of nodes.",
    nodeSelectorTerms: "A node is selected if it satisfies at least one of these terms."
  },
  NodeSelectorTerm: {
    "": "All requirements of a term must hold. An empty term selects no node.",
    matchExpressions: "Requirements on labels of the node.",
    matchFields: "Requirements on fields of the node; only metadata.name is supported."
  },
  NodeSelectorRequirement: {
    "": "A requirement on a label or field of a node.",
    key: "The name of the label or field.",
    operator:
      "In, NotIn, Exists, DoesNotExist, Gt or Lt. Gt and Lt compare whole numbers; NotIn and DoesNotExist also match nodes without the label.",
    values:
      "The values to compare with: at least one for In and NotIn, none for Exists and DoesNotExist, one for Gt and Lt."
  },
  PreferredSchedulingTerm: {
    "": "A term with a weight.",
    preference: "What a node should satisfy. An empty term matches all nodes with no effect.",
    weight: "How much the term counts, 1 to 100."
  },
  PodAffinity: {
    "": "Puts the pod near other pods.",
    preferredDuringSchedulingIgnoredDuringExecution: preferred("Pods that should run in the same domain."),
    requiredDuringSchedulingIgnoredDuringExecution:
      "Pods that must run in the same domain for the pod to be scheduled there; all terms must hold. Later changes do not evict the pod."
  },
  PodAntiAffinity: {
    "": "Keeps the pod away from other pods.",
    preferredDuringSchedulingIgnoredDuringExecution: preferred("Pods that should not run in the same domain."),
    requiredDuringSchedulingIgnoredDuringExecution:
      "Pods that must not run in the same domain for the pod to be scheduled there; all terms must hold. Later changes do not evict the pod."
  },
  WeightedPodAffinityTerm: {
    "": "A term with a weight.",
    podAffinityTerm: "The pods, and the domain.",
    weight: "How much the term counts, 1 to 100."
  },
  PodAffinityTerm: {
    "": "A set of pods and the kind of domain that they are compared by. Nodes with the same value of topologyKey are one domain.",
    labelSelector: "Selects the pods by their labels. Unset: none.",
    matchLabelKeys:
      "Labels of the incoming pod whose values the other pods must have too, such as pod-template-hash. Added to labelSelector, which must be set.",
    mismatchLabelKeys:
      "Labels of the incoming pod whose values the other pods must not have. Added to labelSelector, which must be set.",
    namespaceSelector:
      "Selects the namespaces of the pods by their labels, in addition to namespaces. Empty: all. If neither is set: the namespace of the pod.",
    namespaces: "The namespaces of the pods. If neither this nor namespaceSelector is set: the namespace of the pod.",
    topologyKey:
      "The label of nodes that defines the domains, such as kubernetes.io/hostname or topology.kubernetes.io/zone."
  },
  TopologySpreadConstraint: {
    "": "Limits how unevenly the selected pods are spread over domains. Nodes with the same value of topologyKey are one domain; nodes without the label do not count.",
    labelSelector: "Selects the pods to count, in the namespace of the pod. Unset: none.",
    matchLabelKeys:
      "Labels of the incoming pod whose values the counted pods must have too. With pod-template-hash each revision of a Deployment is spread by itself.",
    maxSkew:
      "The largest difference between the number of pods in a domain and in the domain with the fewest. At least 1.",
    minDomains:
      "The number of domains that there should be, with DoNotSchedule. While there are fewer, the smallest number of pods counts as 0, so that no domain gets more than maxSkew. Default: 1.",
    nodeAffinityPolicy:
      "Honor (default) counts only nodes that nodeSelector and nodeAffinity of the pod allow; Ignore counts all.",
    nodeTaintsPolicy: "Honor leaves out nodes with taints that the pod does not tolerate; Ignore (default) counts all.",
    topologyKey:
      "The label of nodes that defines the domains, such as kubernetes.io/hostname or topology.kubernetes.io/zone.",
    whenUnsatisfiable:
      "DoNotSchedule: the pod waits. ScheduleAnyway: the scheduler only prefers nodes with a smaller difference."
  },
  TopologySelectorTerm: {
    "": "A selection of places by labels of nodes.",
    matchLabelExpressions: "Requirements; all of them must hold."
  },
  TopologySelectorLabelRequirement: {
    "": "The allowed values of a label.",
    key: "The name of the label.",
    values: "The allowed values; one of them must be that of the label."
  }
}

/** Pods as a whole: their specification and status, security, host names and DNS. */
import { condition, lastProbeTime } from "./meta.ts"
import type { Descriptions } from "./meta.ts"

export const pods: Descriptions = {
  Pod: {
    "": "One or more containers that run together on one node and share its network address and volumes. Usually a workload such as a Deployment or a Job creates pods; a pod that was created directly is not replaced when it ends or its node fails."
  },
  PodTemplate: {
    "": "A stored template of pods. It runs nothing by itself.",
    template: "The metadata and the specification of pods that are made from it."
  },
  PodTemplateSpec: {
    "": "What the pods of a workload are made from.",
    metadata: "Labels and annotations that each pod gets. The labels must match the selector of the workload.",
    spec: "The specification that each pod gets."
  },
  PodSpec: {
    "": "What the pod runs, and where. In an existing pod only images, schedulingGates, tolerations (added ones), activeDeadlineSeconds and terminationGracePeriodSeconds (within limits) can be changed; containers' resources change through the subresource resize.",
    activeDeadlineSeconds:
      "Seconds that the pod may run, counted from status.startTime. Then its containers are stopped and the pod becomes Failed with reason DeadlineExceeded. Unset: no limit.",
    affinity:
      "Rules by which the scheduler prefers or requires nodes, by labels of nodes or by the pods that run there.",
    automountServiceAccountToken:
      "Whether the containers get a token of the service account in /var/run/secrets/kubernetes.io/serviceaccount. Unset: the service account decides, and its default is true.",
    containers: "The containers of the pod; at least one. They start together after the init containers.",
    dnsConfig: "Additions to the DNS settings that dnsPolicy chooses; with dnsPolicy None it is all there is.",
    dnsPolicy:
      "Where names are resolved: ClusterFirst (default) asks the DNS of the cluster, Default uses the settings of the node, ClusterFirstWithHostNet is ClusterFirst for pods with hostNetwork, None uses dnsConfig only.",
    enableServiceLinks:
      "Whether containers get environment variables such as WEB_SERVICE_HOST for each Service of the namespace. Default: true. Set it to false in namespaces with many Services.",
    ephemeralContainers:
      "Containers added to the running pod for debugging, as kubectl debug does. They cannot be part of a new pod, and cannot be changed or removed once added.",
    hostAliases: "Lines to add to /etc/hosts in the containers.",
    hostIPC: "Whether the containers share the IPC namespace of the node. Default: false.",
    hostNetwork:
      "Whether the pod uses the network of the node: its address is that of the node, and its ports are taken on the node. Default: false.",
    hostPID: "Whether the containers see and may signal the processes of the node. Default: false.",
    hostUsers:
      "If false, the pod gets a user namespace of its own: root in the container is an ordinary user on the node. Default: true.",
    hostname: "The host name of the pod. Default: the name of the pod.",
    hostnameOverride:
      "A host name of up to 64 characters that takes the place of hostname and subdomain inside the pod; DNS records do not change. Not together with hostNetwork or setHostnameAsFQDN.",
    imagePullSecrets:
      "Secrets of the namespace (type kubernetes.io/dockerconfigjson) with the credentials to pull images. Unset: those of the service account.",
    initContainers:
      "Containers that run before the others, one after another in this order; each must succeed before the next one starts. One with restartPolicy Always is a sidecar: it starts at its place and keeps running beside the others.",
    nodeName:
      "The node the pod is assigned to. Normally set by the scheduler. If you set it yourself, the scheduler is bypassed. It cannot be changed afterwards.",
    nodeSelector:
      "Labels that a node must have for the pod to be scheduled there. Unset: any node. affinity.nodeAffinity has more possibilities.",
    os: "The operating system that the containers are built for. Some fields are allowed only for one of them.",
    overhead:
      "Resources that running the pod needs beyond its containers; added to the requests. Set on admission from the RuntimeClass.",
    preemptionPolicy:
      "Whether pods with a lower priority may be evicted to make room: PreemptLowerPriority (default) or Never. Set from the PriorityClass.",
    priority:
      "The priority as a number; higher is more important. Set on admission from priorityClassName; it cannot be chosen directly.",
    priorityClassName:
      "The PriorityClass of the pod. Important pods are scheduled first and may displace others. Unset: the class marked as globalDefault, otherwise priority 0.",
    readinessGates:
      "Further conditions that must be True for the pod to be ready. Controllers outside the kubelet set them in the status.",
    resourceClaims: "Claims of devices (dynamic resource allocation) that the containers may refer to by name.",
    resources:
      "Requests and limits of cpu, memory and huge pages for the whole pod, which its containers share. Unset: the sum over the containers counts.",
    restartPolicy:
      "Whether containers are started again after they end: Always (default), OnFailure (only if the exit code is not 0) or Never. Deployments, StatefulSets and DaemonSets allow only Always; Jobs only the other two. Restarts are delayed by a time that doubles, up to 5 minutes.",
    runtimeClassName:
      "The RuntimeClass that selects how containers are run, for example in a sandbox. Unset: the default of the node.",
    schedulerName: "The scheduler that assigns the pod to a node. Default: default-scheduler.",
    schedulingGates:
      "The scheduler ignores the pod while this list has entries. Set at creation; controllers can only remove entries.",
    schedulingGroup:
      "The group of pods that this pod is scheduled together with. Cannot be changed in an existing pod. Alpha: GenericWorkload. Unset: the pod is scheduled alone.",
    securityContext:
      "Users, groups and protections for all containers. Where a container sets the same field in its own securityContext, that value counts.",
    serviceAccount: "Deprecated: the same as serviceAccountName.",
    serviceAccountName:
      "The service account of the namespace as which the containers act towards the API server. Default: default.",
    setHostnameAsFQDN:
      "Whether the host name is the fully qualified name (with subdomain) instead of its first part. Default: false.",
    shareProcessNamespace:
      "Whether the containers see each other's processes. Not together with hostPID. Default: false.",
    subdomain:
      "With it, the pod has the DNS name <hostname>.<subdomain>.<namespace>.svc.<cluster domain>. Name it like a headless Service that selects the pod.",
    terminationGracePeriodSeconds:
      "Seconds between the request to delete the pod, when containers get SIGTERM, and SIGKILL. The preStop hook counts too. 0 kills at once. Default: 30.",
    tolerations:
      "Taints of nodes that do not keep this pod away. Tolerations only allow a node; they do not attract the pod to it.",
    topologySpreadConstraints:
      "How pods are spread over zones, nodes or other domains. All constraints count together.",
    volumes: "Storage that the containers of the pod may mount, by name."
  },
  PodStatus: {
    "": "What was last observed of the pod; written by the kubelet of its node, and by the scheduler before that.",
    allocatedResources: "The resources that the node has set aside for the whole pod.",
    conditions:
      "The steps the pod has reached: PodScheduled, Initialized, ContainersReady, Ready, and DisruptionTarget when it is about to be evicted.",
    containerStatuses: "The state of each container of spec.containers.",
    ephemeralContainerStatuses: "The state of each container that was added for debugging.",
    extendedResourceClaimStatus: "The ResourceClaim that was generated for extended resources backed by devices.",
    hostIP: "The address of the node. Empty until the pod is assigned to a node that has been reached.",
    hostIPs: "The addresses of the node, one for each IP family; hostIP is the first.",
    initContainerStatuses: "The state of each init container, in the order in which they run.",
    message: "Why the pod is in this state, for people.",
    nodeAllocatableResourceClaimStatuses:
      "Resources of the node, such as cpu and memory, that the pod got through claims of devices. Alpha: DRANodeAllocatableResources.",
    nominatedNodeName:
      "The node on which the scheduler is evicting pods with a lower priority to make room. The pod may still be assigned to another one.",
    observedGeneration: "The metadata.generation of the pod that this status was computed for.",
    phase:
      "A summary: Pending (not all containers have started), Running, Succeeded (all ended with code 0 and are not restarted), Failed (all ended, at least one with an error) or Unknown (the node cannot be reached).",
    podIP: "The address of the pod in the cluster. Empty until it is assigned.",
    podIPs: "The addresses of the pod, at most one for each IP family; podIP is the first.",
    qosClass:
      "The order of eviction when memory of the node is short, derived from the resources: BestEffort (nothing requested) first, then Burstable, then Guaranteed (limits equal to requests in all containers).",
    reason: "Why the pod is in this state as one word, such as Evicted or DeadlineExceeded.",
    resize: "Deprecated: the conditions PodResizePending and PodResizeInProgress took its place.",
    resourceClaimStatuses: "The ResourceClaims that were created for spec.resourceClaims.",
    resources: "The requests and limits of the whole pod that are now in effect, if spec.resources is set.",
    startTime: "When the kubelet accepted the pod, before it pulled images."
  },
  PodCondition: {
    ...condition(
      "PodScheduled, Initialized, ContainersReady, Ready, PodReadyToStartContainers, DisruptionTarget, PodResizePending, PodResizeInProgress, or one of spec.readinessGates"
    ),
    lastProbeTime,
    observedGeneration: "The metadata.generation of the pod that the condition was computed for."
  },
  PodIP: { "": "An address of the pod.", ip: "The IPv4 or IPv6 address." },
  HostIP: { "": "An address of the node.", ip: "The IPv4 or IPv6 address." },
  PodOS: { "": "The operating system of a pod.", name: "linux or windows." },
  PodReadinessGate: {
    "": "A condition that the readiness of the pod depends on.",
    conditionType:
      "The type of the condition in status.conditions. While it is absent or not True, the pod is not ready."
  },
  PodSchedulingGate: {
    "": "A reason to delay the scheduling of the pod.",
    name: "A name by which the controller that removes the gate finds it."
  },
  PodSchedulingGroup: {
    "": "The group of pods that a pod belongs to for scheduling.",
    podGroupName: "The name of a PodGroup in the namespace. It need not exist yet when the pod is created."
  },
  PodResourceClaim: {
    "": "A claim of devices for the pod. Exactly one of resourceClaimName and resourceClaimTemplateName is set.",
    name: "The name by which containers refer to the claim. Unique in the pod.",
    resourceClaimName: "An existing ResourceClaim of the namespace, which other pods may use too.",
    resourceClaimTemplateName:
      "A ResourceClaimTemplate of the namespace. A claim is created from it for this pod and deleted with the pod."
  },
  PodResourceClaimStatus: {
    "": "The ResourceClaim of an entry of spec.resourceClaims.",
    name: "The name of the entry.",
    resourceClaimName: "The name of the claim that was created; absent if none was needed."
  },
  PodExtendedResourceClaimStatus: {
    "": "The claim of devices that was generated because containers request extended resources.",
    requestMappings: "Which request of the claim belongs to which container and resource.",
    resourceClaimName: "The name of the generated ResourceClaim."
  },
  ContainerExtendedResourceRequest: {
    "": "The request of a claim that stands for an extended resource of a container.",
    containerName: "The name of the container.",
    requestName: "The name of the request in the ResourceClaim.",
    resourceName: "The name of the extended resource."
  },
  NodeAllocatableResourceClaimStatus: {
    "": "Resources of the node that a claim of the pod uses.",
    containers: "The names of the containers that refer to the claim.",
    resourceClaimName: "The name of the ResourceClaim.",
    resources: "The amount of each resource, by its name."
  },
  PodSecurityContext: {
    "": "Users, groups and protections for all containers of a pod. Fields that containers have too count only where the container does not set them.",
    appArmorProfile: "The AppArmor profile of the containers. Linux only.",
    fsGroup:
      "A group that owns the volumes which support it: files get this group and are writable for it, and processes are members of it. Unset: owner and mode of volumes do not change.",
    fsGroupChangePolicy:
      "When fsGroup changes the owner of files in a volume: Always (default; slow on large volumes), or OnRootMismatch, only if the root folder does not have it yet.",
    runAsGroup: "The primary group (GID) of the processes. Unset: that of the image.",
    runAsNonRoot:
      "If true, a container that would run as root (UID 0) is not started. Default: false, that is, no check.",
    runAsUser: "The user (UID) of the processes. Unset: that of the image.",
    seLinuxChangePolicy:
      "How volumes get the SELinux label: MountOption labels the mount as a whole, so all pods of a volume need the same label; Recursive relabels each file, which is slow on large volumes.",
    seLinuxOptions: "The SELinux label of the containers. Unset: the container runtime chooses one for each container.",
    seccompProfile: "Which system calls the containers may make. Linux only.",
    supplementalGroups: "Further groups of the first process of each container, besides runAsGroup and fsGroup.",
    supplementalGroupsPolicy:
      "Merge (default) adds the groups that the image lists for the user in /etc/group; Strict uses only those given here.",
    sysctls: "Kernel parameters to set for the pod. Those that are not known as safe must be allowed on the node.",
    windowsOptions: "Settings for Windows. Only with os.name windows."
  },
  Sysctl: {
    "": "A kernel parameter.",
    name: "The name, such as net.ipv4.ip_local_port_range.",
    value: "The value to set."
  },
  SELinuxOptions: {
    "": "An SELinux label; parts that are unset come from the default of the container runtime.",
    level: "The level, such as s0:c123,c456.",
    role: "The role.",
    type: "The type, such as container_t.",
    user: "The SELinux user."
  },
  SeccompProfile: {
    "": "A filter of system calls.",
    localhostProfile: "With type Localhost: the file on the node, relative to the seccomp folder of the kubelet.",
    type: "RuntimeDefault is the profile of the container runtime, Localhost a file on the node, Unconfined no filter."
  },
  AppArmorProfile: {
    "": "A profile of AppArmor.",
    localhostProfile: "With type Localhost: the name of a profile that is loaded on the node.",
    type: "RuntimeDefault is the profile of the container runtime, Localhost one of the node, Unconfined none."
  },
  WindowsSecurityContextOptions: {
    "": "Security settings of containers on Windows.",
    gmsaCredentialSpec: "The group-managed service account as text. Usually set by an admission webhook.",
    gmsaCredentialSpecName: "The name of the GMSA credential spec.",
    hostProcess:
      "Whether the containers run directly on the host. All containers of a pod must have the same value, and hostNetwork must be true with it.",
    runAsUserName: "The Windows user of the processes. Unset: that of the image."
  },
  HostAlias: {
    "": "A line of /etc/hosts.",
    hostnames: "The host names of the address.",
    ip: "The address."
  },
  PodDNSConfig: {
    "": "DNS settings of a pod, added to those that dnsPolicy produces.",
    nameservers: "Addresses of DNS servers, after those of dnsPolicy. Duplicates are removed.",
    options: "Options of the resolver; an option given here takes the place of one with the same name.",
    searches: "Domains in which short names are searched, after those of dnsPolicy."
  },
  PodDNSConfigOption: {
    "": "An option in resolv.conf.",
    name: "The name, such as ndots.",
    value: "The value; unset for options without one."
  }
}

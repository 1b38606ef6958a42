/** Storage: volumes of pods and their mounts, claims, volumes of the cluster and their classes. */
import { condition, lastProbeTime } from "./meta.ts"
import type { Descriptions } from "./meta.ts"

const migrated = (what: string, driver: string): string =>
  `Deprecated: ${what}. Requests go to the CSI driver ${driver}, which must be installed.`
const removed = (what: string): string =>
  `Deprecated: ${what}. Support has been removed; such volumes cannot be mounted.`

/** Sources that volumes of pods and persistent volumes have in common. */
const sharedSources = {
  awsElasticBlockStore: migrated("a disk of AWS", "ebs.csi.aws.com"),
  azureDisk: migrated("a disk of Azure", "disk.csi.azure.com"),
  azureFile: migrated("a file share of Azure", "file.csi.azure.com"),
  cephfs: removed("a file system of Ceph"),
  cinder: migrated("a disk of OpenStack", "cinder.csi.openstack.org"),
  fc: "A disk reached over Fibre Channel.",
  flexVolume: "Deprecated: a volume of a driver that is installed as a program on the nodes. Use a CSI driver.",
  flocker: removed("a data set of Flocker"),
  gcePersistentDisk: migrated("a disk of Google Compute Engine", "pd.csi.storage.gke.io"),
  glusterfs: removed("a volume of Gluster"),
  iscsi: "A disk reached over iSCSI.",
  nfs: "A folder of an NFS server.",
  photonPersistentDisk: removed("a disk of Photon"),
  portworxVolume: migrated("a volume of Portworx", "pxd.portworx.com"),
  quobyte: removed("a volume of Quobyte"),
  rbd: removed("a block device of Ceph"),
  scaleIO: removed("a volume of ScaleIO"),
  storageos: removed("a volume of StorageOS"),
  vsphereVolume: migrated("a disk of vSphere", "csi.vsphere.vmware.com")
}

const readOnly = "Whether the volume is mounted read-only. Default: false."
const fsType = "The type of the file system, such as ext4 or xfs. Default: the driver chooses."
const defaultMode = "Permission bits of files that set none, such as 0440 in YAML or 288 in JSON. Default: 0644."
const path = "The file, relative to the root of the volume. It may contain folders but not '..'."
const secretRef = (step: string): string => `The Secret that the driver gets to ${step}.`

const items = (kind: string): string =>
  `Which keys become files, and under which names. Unset: each key becomes a file of its name. A key that the ${kind} does not have is an error unless optional.`
const optional = (kind: string): string =>
  `Whether the pod starts without the ${kind} or keys of it that are missing. Default: false, it waits.`

export const core: Descriptions = {
  Volume: {
    "": "Storage that containers of the pod can mount. Exactly one source is set besides the name.",
    ...sharedSources,
    configMap:
      "The keys of a ConfigMap as files. Changes reach the files after a while, except in mounts with subPath.",
    csi: "A volume that a CSI driver makes for this pod only. It ends with the pod.",
    downwardAPI: "Fields of the pod and resources of its containers as files.",
    emptyDir:
      "An empty folder on the node, shared by the containers of the pod. It is deleted with the pod and survives restarts of containers.",
    ephemeral: "A claim that is created from a template with the pod and deleted with it.",
    gitRepo: "Deprecated and disabled: a copy of a git repository. Clone into an emptyDir in an init container.",
    hostPath: "A file or folder of the node. A risk to the node's security; prefer local volumes.",
    image: "The content of an image, mounted read-only.",
    name: "The name by which volumeMounts refer to the volume. A DNS label, unique in the pod.",
    persistentVolumeClaim: "A PersistentVolumeClaim of the namespace. The pod waits until the claim is bound.",
    projected: "Several sources in one folder: ConfigMaps, Secrets, fields of the pod, tokens and certificates.",
    secret:
      "The keys of a Secret as files, kept in memory. Changes reach the files after a while, except in mounts with subPath."
  },
  VolumeMount: {
    "": "A place where a volume of the pod appears in a container.",
    mountPath: "The path in the container. What the image has there is hidden.",
    mountPropagation:
      "Whether later mounts become visible: None (default), HostToContainer, or Bidirectional, which privileged containers only may use.",
    name: "The name of the volume in spec.volumes.",
    readOnly: "Whether the container may only read the volume. Default: false.",
    recursiveReadOnly:
      "With readOnly: whether mounts below this one are read-only too. Disabled (default), IfPossible, or Enabled, which fails where the node does not support it.",
    subPath:
      "The file or folder of the volume to mount instead of its root. Such a mount of a ConfigMap or Secret is not updated.",
    subPathExpr:
      "Like subPath, with $(NAME) replaced by environment variables of the container. Not together with subPath."
  },
  VolumeMountStatus: {
    "": "A volume that is mounted in a container.",
    mountPath: "The path in the container.",
    name: "The name of the volume.",
    readOnly: "Whether it is mounted read-only.",
    recursiveReadOnly: "Disabled or Enabled: whether mounts below it are read-only too.",
    volumeStatus: "Details that depend on the kind of volume."
  },
  VolumeStatus: { "": "Details of a mounted volume.", image: "The image, if it is a volume of an image." },
  ImageVolumeStatus: { "": "The image of a mounted volume.", imageRef: "The digest of the image." },
  VolumeDevice: {
    "": "A block device in a container.",
    devicePath: "The path of the device in the container.",
    name: "The name of the volume of the pod; a claim with volumeMode Block."
  },
  EmptyDirVolumeSource: {
    "": "An empty folder that exists as long as the pod does.",
    medium:
      "Empty (default): the disk of the node. Memory: a tmpfs, which counts as memory of the containers. HugePages: huge pages.",
    sizeLimit: "The most that it may contain; the pod is evicted if it grows beyond. Unset: no limit of its own."
  },
  HostPathVolumeSource: {
    "": "A file or folder of the node.",
    path: "The path on the node.",
    type: "What must be there: DirectoryOrCreate, Directory, FileOrCreate, File, Socket, CharDevice or BlockDevice. Default: empty, no check."
  },
  ConfigMapVolumeSource: {
    "": "The keys of a ConfigMap as files.",
    defaultMode,
    items: items("ConfigMap"),
    name: "The name of the ConfigMap, in the namespace of the pod.",
    optional: optional("ConfigMap")
  },
  SecretVolumeSource: {
    "": "The keys of a Secret as files.",
    defaultMode,
    items: items("Secret"),
    optional: optional("Secret"),
    secretName: "The name of the Secret, in the namespace of the pod."
  },
  KeyToPath: {
    "": "A key that becomes a file.",
    key: "The key.",
    mode: "Permission bits of the file. Unset: defaultMode of the volume.",
    path
  },
  DownwardAPIVolumeSource: {
    "": "Fields of the pod as files.",
    defaultMode,
    items: "The files and what they contain."
  },
  PersistentVolumeClaimVolumeSource: {
    "": "A claim of storage.",
    claimName: "The name of the PersistentVolumeClaim, in the namespace of the pod.",
    readOnly: "Whether all mounts are read-only. Default: false."
  },
  EphemeralVolumeSource: {
    "": "A claim that belongs to the pod.",
    volumeClaimTemplate: "The claim to create, named <pod>-<volume>. The pod owns it. Cannot be changed."
  },
  PersistentVolumeClaimTemplate: {
    "": "What a claim of a pod is made from.",
    metadata: "Labels and annotations of the claim.",
    spec: "The specification of the claim."
  },
  ImageVolumeSource: {
    "": "The content of an image or artifact.",
    pullPolicy: "Always, Never or IfNotPresent. Default: Always with the tag latest, otherwise IfNotPresent.",
    reference: "The image, as in spec.containers.image."
  },
  NFSVolumeSource: {
    "": "A folder of an NFS server.",
    path: "The path that the server exports.",
    readOnly,
    server: "The host name or address of the server."
  },
  CSIVolumeSource: {
    "": "A volume of a CSI driver that exists as long as the pod does.",
    driver: "The name of the CSI driver, which must support inline volumes.",
    fsType,
    nodePublishSecretRef: secretRef("mount the volume"),
    readOnly,
    volumeAttributes: "Parameters for the driver, by name."
  },
  ProjectedVolumeSource: {
    "": "Several sources in one folder.",
    defaultMode,
    sources: "The sources. Each must have paths of its own."
  },
  VolumeProjection: {
    "": "A source of files; exactly one field is set.",
    clusterTrustBundle: "Certificates of authorities from ClusterTrustBundles.",
    configMap: "Keys of a ConfigMap.",
    downwardAPI: "Fields of the pod and resources of its containers.",
    podCertificate: "A private key and a certificate for the pod, renewed in time.",
    secret: "Keys of a Secret.",
    serviceAccountToken: "A token of the service account of the pod, renewed in time."
  },
  ConfigMapProjection: {
    "": "Keys of a ConfigMap as files.",
    items: items("ConfigMap"),
    name: "The name of the ConfigMap, in the namespace of the pod.",
    optional: optional("ConfigMap")
  },
  SecretProjection: {
    "": "Keys of a Secret as files.",
    items: items("Secret"),
    name: "The name of the Secret, in the namespace of the pod.",
    optional: optional("Secret")
  },
  DownwardAPIProjection: { "": "Fields of the pod as files.", items: "The files and what they contain." },
  ServiceAccountTokenProjection: {
    "": "A token of the service account of the pod, bound to the pod.",
    audience: "For whom the token is: its receiver must check for this name. Default: the API server.",
    expirationSeconds:
      "Seconds that the token is valid, at least 600. The kubelet renews it after 80 percent of that. Default: 3600.",
    path
  },
  ClusterTrustBundleProjection: {
    "": "Certificates of authorities as one PEM file. Either name, or signerName with labelSelector.",
    labelSelector: "Selects bundles of the signer by their labels. Unset: none; empty: all.",
    name: "The name of one ClusterTrustBundle.",
    optional: "Whether the pod starts if no bundle is there. Default: false.",
    path,
    signerName: "The signer; all its bundles that labelSelector selects are joined."
  },
  PodCertificateProjection: {
    "": "A private key and a certificate chain, which the kubelet requests for the pod and renews.",
    certificateChainPath: "The file for the certificates. Prefer credentialBundlePath.",
    credentialBundlePath:
      "The file for the key and the certificates together, so that they are always of the same request.",
    keyPath: "The file for the private key. Prefer credentialBundlePath.",
    keyType: "RSA3072, RSA4096, ECDSAP256, ECDSAP384, ECDSAP521 or ED25519.",
    maxExpirationSeconds:
      "The longest time that the certificate may be valid: 3600 to 7862400 seconds. Default: 86400.",
    signerName: "The signer that issues the certificate.",
    userAnnotations: "Data for the signer, by name with the prefix of a domain."
  },
  PersistentVolumeClaim: {
    "": "A request for storage by a user of a namespace. It is bound to a PersistentVolume that fits; with a StorageClass one is made for it."
  },
  PersistentVolumeClaimSpec: {
    "": "The storage that is wanted. After creation only the requested size (upwards, if the class allows it) and volumeAttributesClassName can be changed.",
    accessModes:
      "How the volume may be mounted: ReadWriteOnce (one node), ReadOnlyMany, ReadWriteMany (several nodes), ReadWriteOncePod (one pod). The volume must support all of them.",
    dataSource:
      "A VolumeSnapshot or another claim of the namespace to copy the content from. dataSourceRef is the newer form; the server sets both to the same.",
    dataSourceRef: "The object to fill the volume from: a claim, a snapshot or an object of a volume populator.",
    resources: "The size that is needed, in requests.storage.",
    selector: "Labels that the volume must have. A claim with a selector is not provisioned dynamically.",
    storageClassName:
      "The StorageClass. Unset: the default class, also if there is one only later. Empty text: only volumes without a class.",
    volumeAttributesClassName:
      "A VolumeAttributesClass with settings such as performance, which the driver applies; it can be changed while the volume is in use.",
    volumeMode: "Filesystem (default) or Block, a device without a file system.",
    volumeName: "The PersistentVolume that is bound. Set by the controller, or by you to ask for a certain one."
  },
  VolumeResourceRequirements: {
    "": "The size of a volume.",
    limits: "The largest size, by resource; only storage has a meaning.",
    requests: "The smallest size, by resource, such as storage: 10Gi."
  },
  PersistentVolumeClaimStatus: {
    "": "What was last observed of the claim.",
    accessModes: "The access modes of the bound volume.",
    allocatedResourceStatuses:
      "While the size changes, its progress by resource: ControllerResizeInProgress, ControllerResizeInfeasible, NodeResizePending, NodeResizeInProgress or NodeResizeInfeasible.",
    allocatedResources: "The size that is set aside, by resource. It may exceed capacity while the size changes.",
    capacity: "The size of the bound volume.",
    conditions: "Conditions of the claim, such as a change of size.",
    currentVolumeAttributesClassName: "The VolumeAttributesClass that is in effect.",
    modifyVolumeStatus: "The progress of a change to another VolumeAttributesClass. Unset: none is in progress.",
    phase: "Pending (not bound yet), Bound, or Lost (the bound volume no longer exists)."
  },
  PersistentVolumeClaimCondition: {
    ...condition(
      "Resizing, FileSystemResizePending (the pod must be restarted or the volume mounted), ControllerResizeError, NodeResizeError, ModifyingVolume, ModifyVolumeError or Unused (no pod refers to the claim)"
    ),
    lastProbeTime
  },
  ModifyVolumeStatus: {
    "": "A change of the attributes of a volume.",
    status: "Pending (the class is missing), InProgress, or Infeasible (the driver has refused the class).",
    targetVolumeAttributesClassName: "The class that the volume is changed to."
  },
  PersistentVolume: {
    "": "A piece of storage in the cluster. An administrator creates it, or a provisioner makes it for a claim."
  },
  PersistentVolumeSpec: {
    "": "The storage and how it is used. Exactly one source is set. The source cannot be changed after creation.",
    ...sharedSources,
    accessModes: "How the volume may be mounted: ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod.",
    capacity: "The size, as storage.",
    claimRef: "The claim that is bound to the volume. Set before binding, it reserves the volume for that claim.",
    csi: "A volume of a CSI driver.",
    hostPath: "A folder of a node, for tests on one node.",
    local: "A disk or folder of one node. Needs nodeAffinity.",
    mountOptions: "Options of the mount, such as ro or soft. They are not checked: the mount fails if one is invalid.",
    nodeAffinity: "The nodes from which the volume can be reached. Pods that use it are scheduled only there.",
    persistentVolumeReclaimPolicy:
      "What happens when the claim is deleted: Retain keeps the volume and its data, Delete deletes both, Recycle is deprecated. Default: Retain for volumes created by hand; from the class for provisioned ones.",
    storageClassName: "The StorageClass. Only claims with the same class are bound. Empty: claims without a class.",
    volumeAttributesClassName: "The VolumeAttributesClass of the volume. Set by the system.",
    volumeMode: "Filesystem (default) or Block."
  },
  PersistentVolumeStatus: {
    "": "What was last observed of the volume.",
    lastPhaseTransitionTime: "When phase last changed.",
    message: "Why the volume is in this phase, for people.",
    phase:
      "Pending, Available (not bound), Bound, Released (the claim is deleted, the data not yet reclaimed) or Failed (reclaiming failed).",
    reason: "A failure as one word."
  },
  VolumeNodeAffinity: {
    "": "The nodes that can reach a volume.",
    required: "What a node must satisfy. Cannot be changed once set."
  },
  LocalVolumeSource: {
    "": "A disk or folder of a node.",
    fsType: "The file system to create on a block device. Default: chosen for an empty device.",
    path: "The path on the node: a folder, or a block device."
  },
  CSIPersistentVolumeSource: {
    "": "A volume of a CSI driver.",
    controllerExpandSecretRef: secretRef("enlarge the volume"),
    controllerPublishSecretRef: secretRef("attach and detach the volume"),
    driver: "The name of the CSI driver.",
    fsType,
    nodeExpandSecretRef: secretRef("enlarge the volume on a node"),
    nodePublishSecretRef: secretRef("mount the volume for a pod"),
    nodeStageSecretRef: secretRef("prepare the volume on a node"),
    readOnly,
    volumeAttributes: "Parameters of the volume for the driver, by name.",
    volumeHandle: "The id of the volume in the driver. Cannot be changed."
  }
}

export const storage: Descriptions = {
  StorageClass: {
    "": "A kind of storage that claims can ask for, and how volumes of it are made. provisioner, parameters, reclaimPolicy and volumeBindingMode cannot be changed.",
    allowVolumeExpansion: "Whether claims of the class can be enlarged. Default: false.",
    allowedTopologies:
      "Where volumes may be made, by labels of nodes. Unset: anywhere. Only some provisioners support it.",
    mountOptions: "Options for mounts of the volumes. They are not checked: the mount fails if one is invalid.",
    parameters: "Parameters for the provisioner, by name.",
    provisioner:
      "The name of the driver that makes the volumes; kubernetes.io/no-provisioner for volumes made by hand.",
    reclaimPolicy: "persistentVolumeReclaimPolicy of the volumes: Delete (default) or Retain.",
    volumeBindingMode:
      "Immediate (default) makes the volume with the claim. WaitForFirstConsumer waits for a pod that uses it, and makes the volume where the pod can run."
  }
}

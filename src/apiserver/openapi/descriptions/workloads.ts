/** Workloads that keep pods running: Deployment, ReplicaSet, ReplicationController, StatefulSet and DaemonSet. */
import { condition } from "./meta.ts"
import type { Descriptions } from "./meta.ts"

const minReadySeconds =
  "Seconds that a new pod must be ready without a restart of its containers before it counts as available. Default: 0, as soon as it is ready."
const observedGeneration =
  "The metadata.generation that the controller has acted on. If it is lower than the present one, the rest of the status may be out of date."
const collisionCount =
  "How often a name computed from the template was already taken; the controller computes the next name with it."
const revisionHistoryLimit = (what: string): string =>
  `How many old ${what} are kept for kubectl rollout undo. Default: 10. 0 makes undo impossible.`
const selector = (owner: string): string =>
  `Selects the pods of the ${owner}. It must match the labels of the template and should match no other pods. Cannot be changed.`
const replicaSetStatus = {
  availableReplicas: "Pods that have been ready for minReadySeconds.",
  conditions: "Conditions: ReplicaFailure if pods cannot be created or deleted.",
  fullyLabeledReplicas: "Pods that have all labels of the template.",
  observedGeneration,
  readyReplicas: "Pods that are ready.",
  replicas: "Pods that exist and are not being deleted."
}
const replicaFailure = condition(
  "ReplicaFailure (a pod could not be created or deleted, for example because of a quota)"
)

export const core: Descriptions = {
  ReplicationController: {
    "": "Keeps a number of equal pods running. Older form of ReplicaSet; use a Deployment for new workloads."
  },
  ReplicationControllerSpec: {
    "": "How many pods, and what they are made from.",
    minReadySeconds,
    replicas: "How many pods should exist. Default: 1.",
    selector: "Labels that the pods have. Default: the labels of the template. Pods that match are adopted.",
    template: "What new pods are made from. A change does not affect pods that exist."
  },
  ReplicationControllerStatus: { "": "What was last observed of the pods.", ...replicaSetStatus },
  ReplicationControllerCondition: replicaFailure
}

export const apps: Descriptions = {
  Deployment: {
    "": "Keeps a number of equal pods running, and replaces them step by step when their template changes. It does so through one ReplicaSet for each revision of the template."
  },
  DeploymentSpec: {
    "": "How many pods, what they are made from, and how they are replaced.",
    minReadySeconds,
    paused:
      "Whether changes of the template wait, as kubectl rollout pause sets it. Changes of replicas still take effect. Default: false.",
    progressDeadlineSeconds:
      "Seconds within which a rollout must make progress, such as a new pod becoming available. Then the condition Progressing becomes False with reason ProgressDeadlineExceeded; nothing is rolled back. Default: 600. Must be more than minReadySeconds.",
    replicas:
      "How many pods should exist. Default: 1. Leave it out of the manifest if a HorizontalPodAutoscaler sets it.",
    revisionHistoryLimit: revisionHistoryLimit("ReplicaSets"),
    selector: selector("Deployment"),
    strategy: "How old pods are replaced by new ones when the template changes.",
    template:
      "What pods are made from. Each change starts a rollout, which replaces all pods. restartPolicy must be Always."
  },
  DeploymentStrategy: {
    "": "In a rolling update new pods start while old ones still serve; maxSurge and maxUnavailable limit how many at once.",
    rollingUpdate: "The limits of a rolling update. Only with type RollingUpdate.",
    type: "RollingUpdate (default) replaces pods a few at a time, without an interruption. Recreate deletes all old pods before it creates new ones, for programs of which two versions must not run together."
  },
  RollingUpdateDeployment: {
    "": "Limits of a rolling update. They cannot both be 0.",
    maxSurge:
      "How many pods may exist above replicas during the update: a number, or a percentage of replicas, rounded up. Default: 25%. With replicas 4 and 25%, up to 5 pods.",
    maxUnavailable:
      "How many of replicas may be unavailable during the update: a number, or a percentage of replicas, rounded down. Default: 25%. With replicas 4 and 25%, at least 3 stay available."
  },
  DeploymentStatus: {
    "": "What was last observed of the pods.",
    availableReplicas: "Pods, of all revisions, that have been ready for minReadySeconds.",
    collisionCount,
    conditions: "Conditions: Available, Progressing and ReplicaFailure.",
    observedGeneration,
    readyReplicas: "Pods, of all revisions, that are ready.",
    replicas: "Pods of all revisions that exist and are not being deleted.",
    terminatingReplicas: "Pods that are being deleted and have not ended yet.",
    unavailableReplicas: "Pods that are still missing for all of replicas to be available.",
    updatedReplicas:
      "Pods that are made from the present template. The rollout is complete when it and availableReplicas reach replicas and no old pods are left."
  },
  DeploymentCondition: {
    ...condition(
      "Available (enough pods are available), Progressing (the rollout advances or is complete; False after progressDeadlineSeconds) or ReplicaFailure (pods could not be created)"
    ),
    lastUpdateTime: "When the condition was last written, with or without a change of its status."
  },
  ReplicaSet: {
    "": "Keeps a number of equal pods running. Usually a Deployment creates and manages it; change the Deployment then."
  },
  ReplicaSetSpec: {
    "": "How many pods, and what they are made from.",
    minReadySeconds,
    replicas: "How many pods should exist. Default: 1.",
    selector: selector("ReplicaSet"),
    template: "What new pods are made from. A change does not affect pods that exist."
  },
  ReplicaSetStatus: {
    "": "What was last observed of the pods.",
    ...replicaSetStatus,
    terminatingReplicas: "Pods that are being deleted and have not ended yet."
  },
  ReplicaSetCondition: replicaFailure,
  StatefulSet: {
    "": "Keeps pods running that have a lasting identity: names with numbers (web-0, web-1 …), DNS names and claims of storage that stay the same when a pod is replaced. For databases and the like."
  },
  StatefulSetSpec: {
    "": "How many pods, and what they and their claims are made from. Only replicas, template, updateStrategy, revisionHistoryLimit, persistentVolumeClaimRetentionPolicy, minReadySeconds and ordinals can be changed.",
    minReadySeconds,
    ordinals: "How pods are numbered. Unset: from 0.",
    persistentVolumeClaimRetentionPolicy:
      "What happens to claims from volumeClaimTemplates when the set is deleted or gets fewer replicas. Unset: they are kept.",
    podManagementPolicy:
      "OrderedReady (default) creates pods in the order of their numbers, each when the one before is ready, and deletes them in reverse. Parallel does not wait. Cannot be changed.",
    replicas: "How many pods should exist. Default: 1.",
    revisionHistoryLimit: revisionHistoryLimit("revisions"),
    selector: selector("StatefulSet"),
    serviceName:
      "The headless Service (clusterIP None) that gives the pods DNS names: <pod>.<service>.<namespace>.svc. You create it. Cannot be changed.",
    template: "What pods are made from. A change replaces pods as updateStrategy defines.",
    updateStrategy: "How pods are replaced when the template changes.",
    volumeClaimTemplates:
      "Claims that each pod gets, named <template>-<pod>. A pod that is replaced gets the same claims again. Cannot be changed."
  },
  StatefulSetOrdinals: {
    "": "The numbers of the pods.",
    start: "The number of the first pod. Default: 0. With start 5 and replicas 3: 5, 6 and 7."
  },
  StatefulSetPersistentVolumeClaimRetentionPolicy: {
    "": "What happens to the claims of the pods.",
    whenDeleted: "When the set is deleted: Retain (default) keeps the claims, Delete deletes them with their pods.",
    whenScaled:
      "When replicas becomes smaller: Retain (default) keeps the claims for a later increase, Delete deletes those of the removed pods."
  },
  StatefulSetUpdateStrategy: {
    "": "A rolling update replaces one pod after another, in the order of their numbers.",
    rollingUpdate: "Settings of a rolling update. Only with type RollingUpdate.",
    type: "RollingUpdate (default) replaces pods from the highest number to the lowest, waiting for each to be available. OnDelete replaces a pod only after you have deleted it."
  },
  RollingUpdateStatefulSetStrategy: {
    "": "Settings of a rolling update.",
    maxUnavailable:
      "How many pods may be unavailable during the update: a number, or a percentage of replicas, rounded up, at least 1. Default: 1.",
    partition:
      "Only pods whose number is at least this are updated. For a test of the new version on some pods: with replicas 5 and partition 4, only pod 4. Default: 0, all."
  },
  StatefulSetStatus: {
    "": "What was last observed of the pods.",
    availableReplicas: "Pods that have been ready for minReadySeconds.",
    collisionCount,
    conditions: "Conditions of the set. The controller of Kubernetes sets none.",
    currentReplicas: "Pods of the revision currentRevision.",
    currentRevision:
      "The revision that the pods had before the present update; pods with the lowest numbers still have it.",
    observedGeneration,
    readyReplicas: "Pods that are ready.",
    replicas: "Pods that the controller has created.",
    updateRevision: "The revision of the present template. Equal to currentRevision when the update is complete.",
    updatedReplicas: "Pods of the revision updateRevision."
  },
  StatefulSetCondition: condition("a word in CamelCase"),
  DaemonSet: {
    "": "Keeps one pod running on each node, or on each node that the template selects. For agents of logs, storage or networks."
  },
  DaemonSetSpec: {
    "": "What the pods are made from, and how they are replaced.",
    minReadySeconds,
    revisionHistoryLimit: revisionHistoryLimit("revisions"),
    selector: selector("DaemonSet"),
    template:
      "What pods are made from. Its nodeSelector and affinity choose the nodes. Taints such as not-ready and unschedulable are tolerated automatically.",
    updateStrategy: "How pods are replaced when the template changes."
  },
  DaemonSetUpdateStrategy: {
    "": "A rolling update replaces the pods on a few nodes at a time, within limits.",
    rollingUpdate: "The limits of a rolling update. Only with type RollingUpdate.",
    type: "RollingUpdate (default) replaces pods on a few nodes at a time. OnDelete replaces a pod only after you have deleted it."
  },
  RollingUpdateDaemonSet: {
    "": "Limits of a rolling update. They cannot both be 0.",
    maxSurge:
      "On how many nodes the new pod may start beside the old one: a number, or a percentage of the nodes, rounded up. Default: 0, the old pod is deleted first.",
    maxUnavailable:
      "On how many nodes no pod may be available during the update: a number, or a percentage of the nodes, rounded up. Default: 1."
  },
  DaemonSetStatus: {
    "": "What was last observed of the pods, counted in nodes.",
    collisionCount,
    conditions: "Conditions of the set. The controller of Kubernetes sets none.",
    currentNumberScheduled: "Nodes that should have a pod and have one.",
    desiredNumberScheduled: "Nodes that should have a pod.",
    numberAvailable: "Nodes that should have a pod and have one that has been ready for minReadySeconds.",
    numberMisscheduled: "Nodes that have a pod and should not.",
    numberReady: "Nodes that should have a pod and have one that is ready.",
    numberUnavailable: "Nodes that should have a pod and have none that is available.",
    observedGeneration,
    updatedNumberScheduled: "Nodes whose pod is made from the present template."
  },
  DaemonSetCondition: condition("a word in CamelCase"),
  ControllerRevision: {
    "": "A past template of a StatefulSet or DaemonSet, kept for kubectl rollout undo. Written by their controllers; data cannot be changed.",
    data: "The part of the workload that the revision restores, as a patch.",
    revision: "The number of the revision; higher is newer."
  }
}

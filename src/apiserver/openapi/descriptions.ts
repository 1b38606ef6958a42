/** Short descriptions of common types and fields for `kubectl explain`, in our own words. */
import type { Type } from "../scheme/types.ts"

const kinds: Readonly<Record<string, string>> = {
  "core.Pod": "Containers that run together on one node and share its network address and volumes.",
  "core.Node": "A machine that pods run on.",
  "core.Namespace": "A scope for names, quotas and access rules.",
  "core.ConfigMap": "Configuration that is not confidential, as pairs of a key and a text.",
  "core.Secret": "Confidential configuration, as pairs of a key and bytes.",
  "core.Service": "A stable name and address for a set of pods.",
  "core.ServiceAccount": "The identity of the programs in pods.",
  "core.Endpoints": "Addresses behind a service; EndpointSlice took its place.",
  "core.Event": "An occurrence that concerns an object, reported by a component.",
  "core.PersistentVolume": "A piece of storage in the cluster.",
  "core.PersistentVolumeClaim": "A request for storage.",
  "core.ReplicationController": "Keeps a number of equal pods running; ReplicaSet took its place.",
  "core.ResourceQuota": "Bounds on what a namespace may use in total.",
  "core.LimitRange": "Defaults and bounds for what one pod or container of a namespace may use.",
  "core.PodTemplate": "A stored template of pods.",
  "core.Container": "One container of a pod.",
  "core.PodSpec": "The specification of a pod.",
  "core.PodTemplateSpec": "The template of a pod: its metadata and its specification.",
  "apps.Deployment": "Keeps equal pods running and replaces them step by step when their template changes.",
  "apps.ReplicaSet": "Keeps a number of equal pods running.",
  "apps.StatefulSet": "Keeps pods with lasting names and volumes running.",
  "apps.DaemonSet": "Keeps one pod running on each matching node.",
  "apps.ControllerRevision": "A past state of a controller's configuration.",
  "batch.Job": "Runs pods until enough of them have succeeded.",
  "batch.CronJob": "Creates jobs at the times of a schedule.",
  "discovery.EndpointSlice": "Some of the addresses behind a service.",
  "coordination.Lease": "The holder of a lock, and how long it holds it.",
  "policy.PodDisruptionBudget": "How many pods of a set may be unavailable at once.",
  "autoscaling2.HorizontalPodAutoscaler": "Adjusts a number of replicas to a measured load.",
  "rbac.Role": "What may be done in one namespace.",
  "rbac.ClusterRole": "What may be done in the whole cluster.",
  "rbac.RoleBinding": "Gives a role to users, in one namespace.",
  "rbac.ClusterRoleBinding": "Gives a role to users, in the whole cluster.",
  "scheduling.PriorityClass": "A name for how important pods are.",
  "storage.StorageClass": "A kind of storage that claims can ask for.",
  "networking.Ingress": "Routes requests from outside to services, by host and path.",
  "networking.NetworkPolicy": "Which traffic pods accept and send.",
  "meta.ObjectMeta": "What every stored object has, whatever its kind.",
  "meta.LabelSelector": "Selects objects by their labels; all requirements must hold, and none selects everything."
}

/** Fields of every kind. */
const topLevel: Readonly<Record<string, string>> = {
  apiVersion: "Group and version of the form this object is written in.",
  kind: "The kind of the object.",
  metadata: "Name, labels and the rest of what every object has.",
  spec: "The desired state.",
  status: "The state that was observed last."
}

const fields: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "meta.ObjectMeta": {
    annotations: "Texts for programs and people; not selectable.",
    deletionTimestamp: "When the deletion was asked for, plus the grace period.",
    finalizers: "Names of what has to happen before the object is removed.",
    generation: "Counts the changes of the desired state.",
    labels: "Short texts to select objects by.",
    name: "Unique among the objects of the kind in the namespace.",
    namespace: "The namespace the object is in.",
    ownerReferences: "The owners of the object; it is deleted once they are gone.",
    resourceVersion: "Changes with every write; a client sends it back to detect concurrent writes.",
    uid: "Unique for all time."
  },
  "core.PodSpec": {
    containers: "The containers that run for as long as the pod does.",
    initContainers: "Containers that run before the others, one after the other.",
    nodeName: "The node the pod is bound to.",
    nodeSelector: "Labels that a node must have.",
    restartPolicy: "Whether containers that ended are started again: Always, OnFailure or Never.",
    serviceAccountName: "The identity of the pod's programs.",
    volumes: "Storage that containers may mount."
  },
  "core.Container": {
    args: "Arguments of the command.",
    command: "What to run instead of the image's own command.",
    env: "Environment variables.",
    image: "Name of the image.",
    name: "Unique within the pod.",
    ports: "Ports the container listens on.",
    resources: "Requests and limits of processor time, memory and other resources."
  },
  "apps.DeploymentSpec": {
    paused: "Whether changes of the template wait.",
    replicas: "The desired number of pods.",
    selector: "Selects the pods of the deployment; must match the labels of the template.",
    strategy: "How pods are replaced.",
    template: "The template of the pods."
  }
}

export const ofType = (id: string): string | undefined => (Object.hasOwn(kinds, id) ? kinds[id] : undefined)

export const ofField = (type: Type, name: string): string | undefined => {
  const own = fields[type.id]
  if (own !== undefined && Object.hasOwn(own, name)) return own[name]
  return type.fields.has("apiVersion") && Object.hasOwn(topLevel, name) ? topLevel[name] : undefined
}

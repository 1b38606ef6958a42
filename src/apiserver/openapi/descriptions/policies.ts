/** Limits and targets: quotas, default limits, autoscaling, disruption budgets and priorities. */
import { condition } from "./meta.ts"
import type { Descriptions } from "./meta.ts"

export const core: Descriptions = {
  ResourceQuota: {
    "": "Limits what all objects of a namespace may use in total. A request that would exceed it is refused with 403."
  },
  ResourceQuotaSpec: {
    "": "The limits, and for which pods they count.",
    hard: "The limit for each resource, such as pods, requests.cpu, limits.memory, requests.storage, count/deployments.apps or services.loadbalancers. Where cpu or memory is limited, each new container must set it.",
    scopeSelector: "Scopes with operators and values, such as only pods of certain PriorityClasses. All must match.",
    scopes:
      "Which objects count: Terminating or NotTerminating (with or without activeDeadlineSeconds), BestEffort or NotBestEffort, PriorityClass, CrossNamespacePodAffinity, VolumeAttributesClass. All must match. Unset: all objects."
  },
  ScopeSelector: { "": "A selection by scopes.", matchExpressions: "Requirements; all of them must hold." },
  ScopedResourceSelectorRequirement: {
    "": "A requirement on a scope.",
    operator:
      "In, NotIn, Exists or DoesNotExist. Scopes other than PriorityClass and VolumeAttributesClass allow only Exists.",
    scopeName: "The scope, as in scopes.",
    values: "The values for In and NotIn, such as names of PriorityClasses; empty otherwise."
  },
  ResourceQuotaStatus: {
    "": "The limits in effect and what is used.",
    hard: "The limits that the quota controller has taken over from the specification.",
    used: "What the namespace uses of each resource."
  },
  LimitRange: {
    "": "Defaults and limits for each pod, container or claim of a namespace. It is applied when objects are created; existing ones stay as they are."
  },
  LimitRangeSpec: { "": "The limits.", limits: "Limits by type of object. Several for the same type all apply." },
  LimitRangeItem: {
    "": "Limits for a type of object. A request outside of them is refused.",
    default: "The limits that a container gets for resources where it sets none. Only with type Container.",
    defaultRequest: "The requests that a container gets where it sets none. Unset: default. Only with type Container.",
    max: "The largest limit and request, by resource.",
    maxLimitRequestRatio: "The largest allowed value of limit divided by request, by resource. Both must be set then.",
    min: "The smallest request and limit, by resource.",
    type: "Container, Pod (the sum of its containers) or PersistentVolumeClaim."
  }
}

export const policy: Descriptions = {
  PodDisruptionBudget: {
    "": "Limits how many pods of a set may be unavailable at once because of evictions, such as those of kubectl drain. It does not prevent deletions or failures of nodes."
  },
  PodDisruptionBudgetSpec: {
    "": "The pods, and how many must stay. Exactly one of minAvailable and maxUnavailable is set.",
    maxUnavailable:
      "How many of the pods may be unavailable after an eviction: a number, or a percentage of the desired number of pods, rounded up. 0 forbids all evictions.",
    minAvailable:
      "How many of the pods must be available after an eviction: a number, or a percentage of the desired number of pods, rounded up. 100% forbids all evictions.",
    selector: "Selects the pods of the namespace. Empty: all of them. Unset: none.",
    unhealthyPodEvictionPolicy:
      "When running pods that are not ready may be evicted: IfHealthyBudget (default) only if enough others are healthy; AlwaysAllow always, so that a drain does not wait for broken pods."
  },
  PodDisruptionBudgetStatus: {
    "": "What was last observed of the pods.",
    conditions: "DisruptionAllowed: True if at least one pod may be evicted now.",
    currentHealthy: "Pods that are ready now.",
    desiredHealthy: "How many pods must be ready.",
    disruptedPods:
      "Pods whose eviction was allowed and that have not been observed as deleted yet, with the time. An entry is removed after 2 minutes at the latest.",
    disruptionsAllowed: "How many pods may be evicted now.",
    expectedPods: "How many pods the budget is computed from.",
    observedGeneration:
      "The metadata.generation that this status was computed for. While it is lower than the present one, evictions are refused."
  }
}

const target = "The value to aim at. The type depends on the metric."
const current = "The value that was last measured."
const metric = "The name of the metric, and which series of it."
const container = "The name of the container in the pods."
const scaleTargetRef =
  "The workload whose number of replicas is adjusted, such as a Deployment. It must have the subresource scale."
const reference = {
  "": "An object of the same namespace.",
  apiVersion: "The API version of the object, such as apps/v1.",
  kind: "The kind of the object.",
  name: "The name of the object."
}
const minReplicas =
  "The smallest number of replicas. Default: 1. 0 needs HPAScaleToZero and a metric of type Object or External."
const maxReplicas = "The largest number of replicas. At least minReplicas."
const status = {
  "": "What was last observed and decided.",
  currentReplicas: "The number of replicas that the autoscaler last read from the workload.",
  desiredReplicas: "The number of replicas that the autoscaler last computed.",
  lastScaleTime: "When the autoscaler last changed the number of replicas.",
  observedGeneration: "The metadata.generation that this status was computed for."
}
const sources = {
  containerResource: "With type ContainerResource: cpu or memory of one container of each pod.",
  external: "With type External: a metric of something outside the cluster, such as the length of a queue.",
  object: "With type Object: a metric of one object, such as requests of an Ingress.",
  pods: "With type Pods: a metric of each pod; the average counts.",
  resource: "With type Resource: cpu or memory of the pods, summed over their containers.",
  type: "The type of the metric, which is the field that is set: ContainerResource, External, Object, Pods or Resource."
}
const autoscaler =
  "Adjusts the number of replicas of a workload so that metrics, such as the use of cpu, stay near their targets."

export const autoscaling: Descriptions = {
  CrossVersionObjectReference: reference,
  HorizontalPodAutoscaler: { "": `${autoscaler} Version 1 has only cpu; use autoscaling/v2.` },
  HorizontalPodAutoscalerSpec: {
    "": "The workload, the limits and the target.",
    maxReplicas,
    minReplicas,
    scaleTargetRef,
    targetCPUUtilizationPercentage: "The average cpu use of the pods to aim at, in percent of their requests."
  },
  HorizontalPodAutoscalerStatus: {
    ...status,
    currentCPUUtilizationPercentage: "The average cpu use of the pods, in percent of their requests."
  }
}

export const autoscaling2: Descriptions = {
  HorizontalPodAutoscaler: { "": autoscaler },
  HorizontalPodAutoscalerSpec: {
    "": "The workload, the limits and the targets.",
    behavior: "How fast the number of replicas may rise and fall. Unset: up fast, down after 5 minutes.",
    maxReplicas,
    metrics:
      "The metrics and their targets. Each gives a number of replicas, the largest of which is used. Default: average cpu use of 80 percent of the requests.",
    minReplicas,
    scaleTargetRef
  },
  CrossVersionObjectReference: reference,
  MetricSpec: {
    "": "A metric and its target. The wanted number of replicas is the present number times current value divided by target, rounded up; nothing changes within the tolerance (10 percent).",
    ...sources
  },
  MetricStatus: { "": "The last value of a metric.", ...sources },
  ContainerResourceMetricSource: {
    "": "cpu or memory of one container of each pod.",
    container,
    name: "cpu or memory.",
    target
  },
  ContainerResourceMetricStatus: {
    "": "cpu or memory of one container of each pod.",
    container,
    current,
    name: "cpu or memory."
  },
  ExternalMetricSource: { "": "A metric of something outside the cluster.", metric, target },
  ExternalMetricStatus: { "": "A metric of something outside the cluster.", current, metric },
  ObjectMetricSource: {
    "": "A metric of one object.",
    describedObject: "The object that the metric describes.",
    metric,
    target
  },
  ObjectMetricStatus: {
    "": "A metric of one object.",
    current,
    describedObject: "The object that the metric describes.",
    metric
  },
  PodsMetricSource: {
    "": "A metric of each pod. Pods without a value count as neutral.",
    metric,
    target: "The average over the pods to aim at. The type must be AverageValue."
  },
  PodsMetricStatus: { "": "A metric of each pod.", current, metric },
  ResourceMetricSource: {
    "": "cpu or memory of the pods. Needs the metrics API (metrics.k8s.io), and requests for a target in percent.",
    name: "cpu or memory.",
    target
  },
  ResourceMetricStatus: { "": "cpu or memory of the pods.", current, name: "cpu or memory." },
  MetricIdentifier: {
    "": "A metric by name.",
    name: "The name of the metric.",
    selector: "Selects series of the metric by their labels. Unset: by the name only."
  },
  MetricTarget: {
    "": "The value to aim at. The field that type names is set.",
    averageUtilization:
      "The average over the pods in percent of their requests. Only for the types Resource and ContainerResource.",
    averageValue:
      "The average over the pods, or the value divided by their number, as a quantity such as 500m or 100Mi.",
    type: "Utilization, Value or AverageValue.",
    value: "The value itself, as a quantity."
  },
  MetricValueStatus: {
    "": "A measured value.",
    averageUtilization: "The average over the pods in percent of their requests.",
    averageValue: "The average over the pods.",
    value: "The value itself."
  },
  HorizontalPodAutoscalerBehavior: {
    "": "How fast the number of replicas may change.",
    scaleDown:
      "Rules for fewer replicas. Unset: the largest number computed in the last 300 seconds is used, and all pods above it may be removed at once.",
    scaleUp:
      "Rules for more replicas. Unset: at once; every 15 seconds 4 pods or 100 percent may be added, whichever is more."
  },
  HPAScalingRules: {
    "": "Rules for one direction.",
    policies: "How much may change in a time. Unset: the defaults of the direction.",
    selectPolicy:
      "Which policy counts: Max (default), the largest change; Min, the smallest; Disabled forbids this direction.",
    stabilizationWindowSeconds:
      "Seconds for which past results are kept; the most cautious of them is used. 0 to 3600. Default: 0 for more replicas, 300 for fewer.",
    tolerance:
      "The relative difference between current value and target that causes no change, such as 0.05 for 5 percent. Default: 0.1."
  },
  HPAScalingPolicy: {
    "": "A limit of change: at most value in periodSeconds.",
    periodSeconds: "The time over which changes are added up, in seconds: 1 to 1800.",
    type: "Pods, a number of pods; or Percent of the present number.",
    value: "The largest change in the time. Above 0."
  },
  HorizontalPodAutoscalerStatus: {
    ...status,
    conditions:
      "AbleToScale, ScalingActive (metrics can be read) and ScalingLimited (the result was cut off at a limit), with the reasons.",
    currentMetrics: "The last values of the metrics of the specification."
  },
  HorizontalPodAutoscalerCondition: condition("AbleToScale, ScalingActive or ScalingLimited")
}

export const scheduling: Descriptions = {
  PriorityClass: {
    "": "A name for how important pods are. Pods refer to it in priorityClassName.",
    description: "When to use the class, for people.",
    globalDefault:
      "Whether pods without a priorityClassName get this class. Only one class should have it. Default: false.",
    preemptionPolicy:
      "Whether pods of the class may displace less important ones: PreemptLowerPriority (default) or Never, which only puts them ahead in the queue. Cannot be changed.",
    value:
      "The priority: higher is more important; up to 1000000000 for classes of users. Cannot be changed; pods that exist keep theirs."
  }
}

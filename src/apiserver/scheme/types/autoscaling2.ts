/** Types of autoscaling2: written by scripts/schema-table.mjs, read by ../types.ts, which explains the notation. */
export const types = `
ContainerResourceMetricSource container!:s name!:s target!:MetricTarget
ContainerResourceMetricStatus container!:s current!:MetricValueStatus name!:s
CrossVersionObjectReference apiVersion:s kind!:s name!:s
ExternalMetricSource metric!:MetricIdentifier target!:MetricTarget
ExternalMetricStatus current!:MetricValueStatus metric!:MetricIdentifier
HPAScalingPolicy periodSeconds!:i type!:s value!:i
HPAScalingRules policies:[]HPAScalingPolicy selectPolicy*:s stabilizationWindowSeconds*:i tolerance*:q
HorizontalPodAutoscaler apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:HorizontalPodAutoscalerSpec status&:HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerBehavior scaleDown:HPAScalingRules scaleUp:HPAScalingRules
HorizontalPodAutoscalerCondition lastTransitionTime&:t message:s reason:s status!:s type!:s
HorizontalPodAutoscalerSpec behavior:HorizontalPodAutoscalerBehavior maxReplicas!:i metrics:[]MetricSpec minReplicas*:i scaleTargetRef!:CrossVersionObjectReference
HorizontalPodAutoscalerStatus conditions:[type]HorizontalPodAutoscalerCondition~type currentMetrics&:[]MetricStatus currentReplicas:i desiredReplicas!:i lastScaleTime*:t observedGeneration*:l
MetricIdentifier name!:s selector:meta.LabelSelector
MetricSpec containerResource:ContainerResourceMetricSource external:ExternalMetricSource object:ObjectMetricSource pods:PodsMetricSource resource:ResourceMetricSource type!:s
MetricStatus containerResource:ContainerResourceMetricStatus external:ExternalMetricStatus object:ObjectMetricStatus pods:PodsMetricStatus resource:ResourceMetricStatus type!:s
MetricTarget averageUtilization*:i averageValue*:q type!:s value*:q
MetricValueStatus averageUtilization*:i averageValue*:q value*:q
ObjectMetricSource describedObject!:CrossVersionObjectReference metric!:MetricIdentifier target!:MetricTarget
ObjectMetricStatus current!:MetricValueStatus describedObject!:CrossVersionObjectReference metric!:MetricIdentifier
PodsMetricSource metric!:MetricIdentifier target!:MetricTarget
PodsMetricStatus current!:MetricValueStatus metric!:MetricIdentifier
ResourceMetricSource name!:s target!:MetricTarget
ResourceMetricStatus current!:MetricValueStatus name!:s
`

/** Types of autoscaling: written by scripts/schema-table.mjs, read by ../types.ts, which explains the notation. */
export const types = `
CrossVersionObjectReference@ apiVersion:s kind!:s name!:s
HorizontalPodAutoscaler apiVersion:s kind:s metadata&:meta.ObjectMeta spec!:HorizontalPodAutoscalerSpec status&:HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerSpec maxReplicas!:i minReplicas*:i scaleTargetRef!:CrossVersionObjectReference targetCPUUtilizationPercentage*:i
HorizontalPodAutoscalerStatus currentCPUUtilizationPercentage*:i currentReplicas!:i desiredReplicas!:i lastScaleTime*:t observedGeneration*:l
Scale apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:ScaleSpec status&:ScaleStatus
ScaleSpec replicas:i
ScaleStatus replicas!:i selector:s
`

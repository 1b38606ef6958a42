/** Types of networking: written by scripts/schema-table.mjs, read by ../types.ts, which explains the notation. */
export const types = `
HTTPIngressPath backend!:IngressBackend path:s pathType!*:s
HTTPIngressRuleValue paths!:[]HTTPIngressPath
IPBlock cidr!:s except:[]s
Ingress apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:IngressSpec status&:IngressStatus
IngressBackend resource:core.TypedLocalObjectReference service:IngressServiceBackend
IngressClass apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:IngressClassSpec
IngressClassParametersReference apiGroup*:s kind!:s name!:s namespace*:s scope*&:s
IngressClassSpec controller:s parameters:IngressClassParametersReference
IngressLoadBalancerIngress hostname:s ip:s ports:[]IngressPortStatus
IngressLoadBalancerStatus ingress:[]IngressLoadBalancerIngress
IngressPortStatus error*:s port!:i protocol!:s
IngressRule host:s http:HTTPIngressRuleValue
IngressServiceBackend name!:s port&:ServiceBackendPort
IngressSpec defaultBackend:IngressBackend ingressClassName*:s rules:[]IngressRule tls:[]IngressTLS
IngressStatus loadBalancer&:IngressLoadBalancerStatus
IngressTLS hosts:[]s secretName:s
NetworkPolicy apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:NetworkPolicySpec
NetworkPolicyEgressRule ports:[]NetworkPolicyPort to:[]NetworkPolicyPeer
NetworkPolicyIngressRule from:[]NetworkPolicyPeer ports:[]NetworkPolicyPort
NetworkPolicyPeer ipBlock:IPBlock namespaceSelector:meta.LabelSelector podSelector:meta.LabelSelector
NetworkPolicyPort endPort*:i port*:x protocol*:s
NetworkPolicySpec egress:[]NetworkPolicyEgressRule ingress:[]NetworkPolicyIngressRule podSelector&:meta.LabelSelector policyTypes:[]s
ServiceBackendPort name:s number:i
`

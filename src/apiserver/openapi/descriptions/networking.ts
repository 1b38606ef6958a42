/** Services and the endpoints behind them, Ingresses and NetworkPolicies. */
import type { Descriptions } from "./meta.ts"

const appProtocol =
  "The protocol above TCP, for implementations that can use it: a registered name such as https, kubernetes.io/h2c, kubernetes.io/ws, or a name with the prefix of a domain."
const portStatus = {
  "": "A port of a load balancer.",
  error: "Why the port does not work, as one word. Unset: it works.",
  port: "The number of the port.",
  protocol: "TCP, UDP or SCTP."
}
const protocol = "TCP (default), UDP or SCTP."

export const core: Descriptions = {
  Service: {
    "": "A stable name and address for a set of pods. Requests to it are distributed over the pods that are ready."
  },
  ServiceSpec: {
    "": "How the Service is reached, and which pods are behind it.",
    allocateLoadBalancerNodePorts:
      "With type LoadBalancer: whether ports of the nodes are opened too. Default: true. Set it to false if the load balancer reaches pods directly.",
    clusterIP:
      "The address inside the cluster. Unset: one is chosen. None makes a headless Service: its DNS name resolves to the addresses of the pods. Cannot be changed, except by a change of type to or from ExternalName.",
    clusterIPs: "The addresses inside the cluster, one for each entry of ipFamilies; clusterIP is the first.",
    externalIPs:
      "Addresses outside the control of Kubernetes at which nodes accept traffic for the Service. A risk: any user who may write Services can claim any address.",
    externalName: "With type ExternalName: the DNS name that the name of the Service stands for (CNAME).",
    externalTrafficPolicy:
      "How nodes treat traffic from outside: Cluster (default) sends it to pods on any node and hides the address of the client; Local sends it only to pods of the same node, keeps the address, and drops it if there are none.",
    healthCheckNodePort:
      "With type LoadBalancer and externalTrafficPolicy Local: the port of the nodes at which the load balancer checks for pods. Unset: one is chosen. Cannot be changed.",
    internalTrafficPolicy:
      "How traffic from inside the cluster is treated: Cluster (default) sends it to pods on any node; Local only to pods of the same node, and drops it if there are none.",
    ipFamilies:
      "IPv4, IPv6 or both, in order of preference. Unset: the default of the cluster. A second family can be added or removed, the first cannot be changed.",
    ipFamilyPolicy:
      "SingleStack (default), PreferDualStack (both families where the cluster has both) or RequireDualStack.",
    loadBalancerClass:
      "With type LoadBalancer: the implementation that is responsible, as a name that may have a prefix. Unset: that of the cloud provider. Cannot be changed while the type stays.",
    loadBalancerIP: "Deprecated: an address to ask the load balancer for; many implementations ignore it.",
    loadBalancerSourceRanges:
      "With type LoadBalancer: ranges of client addresses that are let through, such as 10.0.0.0/8. Unset: all.",
    ports: "The ports of the Service. Required unless it is headless or an ExternalName.",
    publishNotReadyAddresses:
      "Whether pods that are not ready are treated as ready; for pods that must find each other while starting. Default: false.",
    selector:
      "Labels of the pods that get the traffic. Unset: you manage the EndpointSlices of the Service yourself. Ignored with type ExternalName.",
    sessionAffinity: "ClientIP sends all connections of a client address to the same pod; None (default) does not.",
    sessionAffinityConfig: "Settings of sessionAffinity ClientIP.",
    trafficDistribution:
      "A preference among pods: PreferSameZone (also written PreferClose), or PreferSameNode and then the zone. Unset: all pods alike.",
    type: "ClusterIP (default): an address inside the cluster. NodePort: also a port on every node. LoadBalancer: also a load balancer outside. ExternalName: only a DNS alias."
  },
  ServicePort: {
    "": "A port of a Service.",
    appProtocol,
    name: "The name of the port, unique in the Service. Required if there is more than one. EndpointSlices have the same name.",
    nodePort:
      "With type NodePort or LoadBalancer: the port of the nodes, normally 30000 to 32767. Unset: one is chosen.",
    port: "The port at which clients reach the Service.",
    protocol,
    targetPort:
      "The port of the pods: a number, or the name of a port of the container, which may have another number in each pod. Default: the same as port."
  },
  SessionAffinityConfig: {
    "": "Settings of session affinity.",
    clientIP: "Settings of affinity by the address of the client."
  },
  ClientIPConfig: {
    "": "Affinity by the address of the client.",
    timeoutSeconds:
      "Seconds after the last connection until a client may get another pod: 1 to 86400. Default: 10800 (3 hours)."
  },
  ServiceStatus: {
    "": "What was last observed of the Service.",
    conditions: "Conditions that implementations of load balancers report.",
    loadBalancer: "The load balancer, with type LoadBalancer."
  },
  LoadBalancerStatus: {
    "": "The state of a load balancer.",
    ingress: "The addresses at which it accepts traffic. Empty until it is ready."
  },
  LoadBalancerIngress: {
    "": "An address of a load balancer.",
    hostname: "The DNS name, for load balancers with names.",
    ip: "The address, for load balancers with addresses.",
    ipMode:
      "VIP (default): packets reach the nodes with the address of the load balancer as destination. Proxy: with that of the node or pod.",
    ports: "The state of the ports."
  },
  PortStatus: portStatus,
  Endpoints: {
    "": "The addresses of the pods behind a Service of the same name. Deprecated: EndpointSlice took its place. At most 1000 addresses are listed.",
    subsets: "Groups of addresses that have the same ports."
  },
  EndpointSubset: {
    "": "Addresses that have the same ports; every address is reached at every port.",
    addresses: "Addresses that are ready for traffic.",
    notReadyAddresses: "Addresses that are not ready, or have not passed their readiness probes.",
    ports: "The ports of the addresses."
  },
  EndpointAddress: {
    "": "An address of a pod.",
    hostname: "The host name of the pod, for its DNS name in a headless Service.",
    ip: "The address. Not a loopback or link-local one.",
    nodeName: "The node of the pod.",
    targetRef: "The pod."
  },
  EndpointPort: {
    "": "A port of addresses.",
    appProtocol,
    name: "The name of the port of the Service. Empty if it has one without a name.",
    port: "The number of the port.",
    protocol
  }
}

export const discovery: Descriptions = {
  EndpointSlice: {
    "": "Some of the endpoints of a Service, by default up to 100; a Service has as many slices as it needs. The label kubernetes.io/service-name names the Service.",
    addressType: "IPv4, IPv6 or FQDN. All addresses of the slice have this type. Cannot be changed.",
    endpoints: "The endpoints; at most 1000.",
    ports: "The ports of all endpoints of the slice; at most 100."
  },
  Endpoint: {
    "": "A backend of a Service, usually a pod.",
    addresses: "The addresses of the endpoint. Consumers use only the first.",
    conditions: "Whether the endpoint can get traffic.",
    deprecatedTopology: "Deprecated: nodeName and zone took its place.",
    hints: "Which clients should use the endpoint.",
    hostname: "The host name of the pod, for its DNS name in a headless Service.",
    nodeName: "The node of the endpoint.",
    targetRef: "The pod.",
    zone: "The zone of the node."
  },
  EndpointConditions: {
    "": "The state of an endpoint.",
    ready:
      "Whether it should get new traffic: serving and not terminating. Always true if the Service has publishNotReadyAddresses. Unset: as true.",
    serving: "Whether it can answer, also while it is terminating. Unset: as true.",
    terminating: "Whether the pod is being deleted. Unset: as false."
  },
  EndpointHints: {
    "": "Which clients should use an endpoint.",
    forNodes: "Clients on these nodes.",
    forZones: "Clients in these zones."
  },
  ForNode: { "": "A node whose clients should use the endpoint.", name: "The name of the node." },
  ForZone: { "": "A zone whose clients should use the endpoint.", name: "The name of the zone." },
  EndpointPort: {
    "": "A port of the endpoints.",
    appProtocol,
    name: "The name of the port of the Service. Empty if it has one without a name.",
    port: "The number of the port. Unset: consumers decide; clients of Services ignore such ports.",
    protocol
  }
}

const policyPorts = (end: string): string =>
  `The ports ${end} that are allowed. Empty or unset: all ports. An entry that matches is enough.`

export const networking: Descriptions = {
  Ingress: {
    "": "Routes HTTP requests from outside to Services by host and path. It needs an Ingress controller in the cluster."
  },
  IngressSpec: {
    "": "The routes.",
    defaultBackend: "Where requests go that match no rule. Required if there are no rules.",
    ingressClassName:
      "The IngressClass, that is, the controller that is responsible. Unset: the class marked as default, if there is one.",
    rules: "Routes by host. Empty: all requests go to defaultBackend.",
    tls: "Certificates for HTTPS, by host. Controllers without TLS support ignore them."
  },
  IngressRule: {
    "": "Routes of a host.",
    host: "The host name of requests, in full or with a wildcard as first label, such as *.example.com. Unset: all hosts.",
    http: "The routes by path."
  },
  HTTPIngressRuleValue: { "": "Routes by path.", paths: "The paths. The longest that matches counts." },
  HTTPIngressPath: {
    "": "A route for a path.",
    backend: "Where the requests go.",
    path: "The path, which begins with '/'. Required with pathType Exact and Prefix.",
    pathType:
      "Exact: the same path. Prefix: the same beginning, by parts between slashes, so /a matches /a/b and not /ab. ImplementationSpecific: the controller decides."
  },
  IngressBackend: {
    "": "Where requests go. Exactly one field is set.",
    resource: "An object of the namespace that the controller knows, such as a bucket.",
    service: "A Service of the namespace."
  },
  IngressServiceBackend: {
    "": "A port of a Service.",
    name: "The name of the Service.",
    port: "The port of the Service."
  },
  ServiceBackendPort: {
    "": "A port of a Service. Exactly one field is set.",
    name: "The name of the port.",
    number: "The number of the port."
  },
  IngressTLS: {
    "": "A certificate for hosts.",
    hosts: "The hosts that the certificate is for. Unset: all hosts of the Ingress.",
    secretName: "The Secret of the namespace (type kubernetes.io/tls) with the certificate and its key."
  },
  IngressStatus: {
    "": "What was last observed of the Ingress.",
    loadBalancer: "The load balancer in front of the controller."
  },
  IngressLoadBalancerStatus: {
    "": "The state of a load balancer.",
    ingress: "The addresses at which it accepts traffic. Empty until it is ready."
  },
  IngressLoadBalancerIngress: {
    "": "An address of a load balancer.",
    hostname: "The DNS name, for load balancers with names.",
    ip: "The address, for load balancers with addresses.",
    ports: "The state of the ports."
  },
  IngressPortStatus: portStatus,
  NetworkPolicy: {
    "": "Which traffic the selected pods accept and send. A pod that no policy selects has no restriction; one that several select may do what any of them allows. It needs a network plugin that supports it."
  },
  NetworkPolicySpec: {
    "": "The pods, and what they may do.",
    egress:
      "Rules for outgoing traffic. With policyTypes Egress, what no rule allows is denied: an empty list denies all.",
    ingress:
      "Rules for incoming traffic. With policyTypes Ingress, what no rule allows is denied: an empty list denies all.",
    podSelector: "Selects the pods of the namespace to which the policy applies. Empty: all.",
    policyTypes:
      "Which directions are restricted: Ingress, Egress or both. Default: Ingress, and Egress if there are egress rules."
  },
  NetworkPolicyIngressRule: {
    "": "Incoming traffic that is allowed: it must match an entry of from and an entry of ports.",
    from: "Where it may come from. Empty or unset: anywhere.",
    ports: policyPorts("of the pods")
  },
  NetworkPolicyEgressRule: {
    "": "Outgoing traffic that is allowed: it must match an entry of to and an entry of ports.",
    ports: policyPorts("of the destination"),
    to: "Where it may go. Empty or unset: anywhere."
  },
  NetworkPolicyPeer: {
    "": "A source or destination of traffic: an ipBlock, or pods.",
    ipBlock: "A range of addresses, usually outside the cluster. Not together with the selectors.",
    namespaceSelector:
      "Selects namespaces by their labels; empty: all. With podSelector: pods in these namespaces; alone: all their pods.",
    podSelector: "Selects pods by their labels; empty: all. Without namespaceSelector: in the namespace of the policy."
  },
  IPBlock: {
    "": "A range of addresses with exceptions.",
    cidr: "The range, such as 192.168.0.0/16.",
    except: "Ranges inside it that are left out."
  },
  NetworkPolicyPort: {
    "": "A port, or a range of ports.",
    endPort: "The last port of a range that begins with port. Only if port is a number.",
    port: "The number, or the name of a port of the pods. Unset: all ports of the protocol.",
    protocol
  }
}

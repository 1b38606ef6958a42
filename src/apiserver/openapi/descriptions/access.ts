/** Namespaces and what is in each: configuration, identities and their permissions, leases and events. */
import { condition } from "./meta.ts"
import type { Descriptions } from "./meta.ts"

const immutable =
  "If true, the data cannot be changed any more, nor this field: the object can only be deleted. Default: false."
const series = {
  "": "An event that keeps occurring.",
  count: "How often it has occurred.",
  lastObservedTime: "When it last occurred."
}
const event = {
  "": "A report of a component about an object, such as a failed start of a container. Events are deleted after some time, by default an hour; do not rely on them in programs.",
  action: "What was done, as one word, such as Binding.",
  eventTime: "When the event first occurred, in microseconds.",
  reason: "Why, as one word, such as FailedScheduling.",
  related: "A second object that is concerned.",
  reportingInstance: "The instance of the component, such as the name of its pod or node.",
  series: "Set if the event occurs repeatedly.",
  type: "Normal or Warning."
}

export const core: Descriptions = {
  Namespace: { "": "A scope for names, access rules and quotas. Its deletion deletes everything in it." },
  NamespaceSpec: {
    "": "The settings of a namespace.",
    finalizers: "What must be done before the namespace is removed: kubernetes, while it still has content."
  },
  NamespaceStatus: {
    "": "What was last observed of the namespace.",
    conditions: "While the namespace is being deleted: what remains, and what prevents its removal.",
    phase: "Active, or Terminating after its deletion was requested. Nothing can be created in it then."
  },
  NamespaceCondition: condition(
    "NamespaceDeletionDiscoveryFailure, NamespaceDeletionContentFailure, NamespaceDeletionGroupVersionParsingFailure, NamespaceContentRemaining or NamespaceFinalizersRemaining"
  ),
  ConfigMap: {
    "": "Configuration that is not confidential. Pods use it as environment variables or as files.",
    binaryData: "Bytes by key, in base64. A key must not be in data too.",
    data: "Texts by key. Keys consist of letters, digits, '-', '_' and '.'. All data together may have at most 1 MiB.",
    immutable
  },
  Secret: {
    "": "Confidential data such as passwords and keys. It is stored in base64, which is not encryption; restrict who may read it.",
    data: "Bytes by key, in base64. All data together may have at most 1 MiB.",
    immutable,
    stringData: "Texts by key, which the server adds to data as base64. Only for writing: it is never returned.",
    type: "What the Secret is for, which also decides which keys it must have: Opaque (default), kubernetes.io/tls, kubernetes.io/dockerconfigjson, kubernetes.io/basic-auth, kubernetes.io/ssh-auth, kubernetes.io/service-account-token. Cannot be changed."
  },
  ServiceAccount: {
    "": "An identity for programs in pods. Role bindings give it permissions, under the name system:serviceaccount:<namespace>:<name>.",
    automountServiceAccountToken: "Whether pods of the account get a token. A pod may set otherwise. Unset: true.",
    imagePullSecrets: "Secrets to pull images with, for pods of the account that list none.",
    secrets:
      "Secrets that pods of the account may mount, checked only with the annotation kubernetes.io/enforce-mountable-secrets. Not used for new tokens."
  },
  Event: {
    ...event,
    count: "How often the event has occurred.",
    firstTimestamp: "When it first occurred.",
    involvedObject: "The object that the event is about.",
    lastTimestamp: "When it last occurred.",
    message: "What happened, for people.",
    reportingComponent: "The component that reports it, such as kubernetes.io/kubelet.",
    source: "The component that reports it, in the older form."
  },
  EventSeries: series,
  EventSource: {
    "": "The component that reports an event.",
    component: "Its name, such as kubelet.",
    host: "The node it runs on."
  },
  ObjectReference: {
    "": "A reference to an object.",
    apiVersion: "The API version of the object.",
    fieldPath: "A part of the object, such as spec.containers{web}.",
    kind: "The kind of the object.",
    name: "The name of the object.",
    namespace: "The namespace of the object.",
    resourceVersion: "The version of the object that is meant.",
    uid: "The uid of the object."
  },
  LocalObjectReference: {
    "": "A reference to an object of the same namespace.",
    name: "The name of the object."
  },
  SecretReference: {
    "": "A reference to a Secret.",
    name: "The name of the Secret.",
    namespace: "The namespace of the Secret."
  },
  TypedLocalObjectReference: {
    "": "A reference to an object of the same namespace.",
    apiGroup: "The API group of the object. Unset or empty: the core group.",
    kind: "The kind of the object.",
    name: "The name of the object."
  },
  TypedObjectReference: {
    "": "A reference to an object.",
    apiGroup: "The API group of the object. Unset or empty: the core group.",
    kind: "The kind of the object.",
    name: "The name of the object.",
    namespace:
      "The namespace of the object. Unset: the same one. Another one must permit it by a ReferenceGrant. Alpha: CrossNamespaceVolumeDataSource."
  }
}

export const events: Descriptions = {
  Event: {
    ...event,
    deprecatedCount: "Deprecated: how often the event has occurred; see series.",
    deprecatedFirstTimestamp: "Deprecated: when it first occurred; see eventTime.",
    deprecatedLastTimestamp: "Deprecated: when it last occurred; see series.",
    deprecatedSource: "Deprecated: the component that reports it; see reportingController.",
    note: "What happened, for people; at most 1 KiB.",
    regarding: "The object that the event is about.",
    reportingController: "The component that reports it, such as kubernetes.io/kubelet."
  },
  EventSeries: series
}

export const coordination: Descriptions = {
  Lease: {
    "": "A lock that its holder renews. Programs elect a leader with it, and kubelets report that their node works."
  },
  LeaseSpec: {
    "": "The holder of the lease, and until when.",
    acquireTime: "When the present holder acquired it.",
    holderIdentity: "The present holder. Empty: it is free.",
    leaseDurationSeconds: "Seconds after the last renewal that others observed until they may take it over.",
    leaseTransitions: "How often the holder has changed.",
    preferredHolder:
      "A better holder, to which the present one should pass it. Only with strategy. Alpha: CoordinatedLeaderElection.",
    renewTime: "When the present holder last renewed it.",
    strategy:
      "How the holder is chosen from candidates. Unset: candidates compete for it. Alpha: CoordinatedLeaderElection."
  }
}

const rules = "The permissions. A role can only allow; there are no rules that deny."
const roleRef = "The role whose permissions are granted. Cannot be changed: delete the binding and create another one."
const subjects = "The users, groups and service accounts that get them."

export const rbac: Descriptions = {
  Role: { "": "A set of permissions in one namespace. A RoleBinding grants it.", rules },
  ClusterRole: {
    "": "A set of permissions: in the whole cluster with a ClusterRoleBinding, in one namespace with a RoleBinding.",
    aggregationRule: "ClusterRoles whose rules are combined here. A controller then overwrites rules.",
    rules
  },
  AggregationRule: {
    "": "Which ClusterRoles are combined.",
    clusterRoleSelectors: "Selectors of ClusterRoles by labels; one that any of them selects is included."
  },
  PolicyRule: {
    "": "Allows the verbs on the resources, or on paths.",
    apiGroups: "The API groups of the resources. Empty text is the core group, '*' all groups.",
    nonResourceURLs:
      "Paths such as /healthz, with '*' at the end for all below. Only in ClusterRoles, and not together with resources.",
    resourceNames: "Names of objects to which the rule is limited. Empty: all. It has no effect on create.",
    resources: "Resources in the plural, such as pods; pods/log is a subresource, '*' all resources.",
    verbs: "get, list, watch, create, update, patch, delete, deletecollection and others; '*' is all verbs."
  },
  RoleBinding: {
    "": "Grants the permissions of a role to subjects, in the namespace of the binding.",
    roleRef,
    subjects
  },
  ClusterRoleBinding: {
    "": "Grants the permissions of a ClusterRole to subjects, in the whole cluster.",
    roleRef,
    subjects
  },
  RoleRef: {
    "": "The role of a binding.",
    apiGroup: "rbac.authorization.k8s.io.",
    kind: "ClusterRole, or in a RoleBinding Role of the same namespace.",
    name: "The name of the role."
  },
  Subject: {
    "": "A user, a group or a service account.",
    apiGroup: "Empty for a ServiceAccount, rbac.authorization.k8s.io for a User or Group.",
    kind: "User, Group or ServiceAccount.",
    name: "The name.",
    namespace: "The namespace of a ServiceAccount; not for the others."
  }
}

/** What extends the API: custom resource definitions and admission webhooks. */
import { condition } from "./meta.ts"
import type { Descriptions } from "./meta.ts"

const clientConfig = {
  "": "How the API server reaches a webhook. Exactly one of service and url is set.",
  caBundle:
    "Certificates in PEM, in base64, by which the webhook's certificate is verified. Unset: those of the system.",
  service: "A Service of the cluster.",
  url: "An https URL, without user or query. It need not be in the cluster."
}
const serviceReference = {
  "": "A Service that serves a webhook over HTTPS.",
  name: "The name of the Service.",
  namespace: "The namespace of the Service.",
  path: "The path of the URL. Default: /.",
  port: "The port of the Service. Default: 443."
}

export const apiextensions: Descriptions = {
  CustomResourceDefinition: { "": "Adds a kind of your own to the API. Its name must be <plural>.<group>." },
  CustomResourceDefinitionSpec: {
    "": "The kind and its versions.",
    conversion: "How objects are converted between versions. Unset: only apiVersion changes.",
    group: "The API group, such as example.com. Cannot be changed.",
    names: "The names of the kind in the API.",
    preserveUnknownFields: "Deprecated: must be false. Use x-kubernetes-preserve-unknown-fields in the schema.",
    scope: "Namespaced or Cluster: whether the objects are in namespaces. Cannot be changed.",
    versions: "The versions. Exactly one of them is stored."
  },
  CustomResourceDefinitionNames: {
    "": "The names of a kind.",
    categories: "Groups such as all, with which kubectl get lists the kind too.",
    kind: "The name of the kind in objects, in CamelCase and the singular.",
    listKind: "The name of lists. Default: kind with List.",
    plural: "The name in URLs: lower case, plural.",
    shortNames: "Abbreviations for kubectl.",
    singular: "The singular for kubectl. Default: kind in lower case."
  },
  CustomResourceDefinitionVersion: {
    "": "A version of a kind.",
    additionalPrinterColumns: "Columns of kubectl get. Default: the age.",
    deprecated: "Whether requests get a warning that the version is deprecated. Default: false.",
    deprecationWarning: "The text of that warning. Unset: a standard one.",
    name: "The name, such as v1 or v1beta1.",
    schema: "The form of the objects, by which they are validated and pruned. Required.",
    selectableFields: "Fields that a field selector may use; at most 8.",
    served: "Whether the API serves the version.",
    storage: "Whether objects are stored in this version. Exactly one version must have true.",
    subresources: "Subresources of the kind: status and scale."
  },
  CustomResourceValidation: {
    "": "The schema of a version.",
    openAPIV3Schema:
      "The schema in the form of OpenAPI 3, with a type for each field. Fields that are not in it are removed; descriptions in it appear in kubectl explain."
  },
  CustomResourceColumnDefinition: {
    "": "A column of kubectl get.",
    description: "What the column shows.",
    format: "The format of the value, such as date-time or int32.",
    jsonPath: "The value, as a simple path such as .spec.replicas.",
    name: "The heading.",
    priority: "0 (default) is always shown; columns with a higher number only with -o wide.",
    type: "integer, number, string, boolean or date, which shows how long ago it was."
  },
  SelectableField: {
    "": "A field for field selectors.",
    jsonPath: "The field, as a simple path such as .spec.color. A string, number or boolean."
  },
  CustomResourceSubresources: {
    "": "Subresources of a kind.",
    scale: "With it, kubectl scale and autoscalers can change the number of replicas.",
    status:
      "With it ({}), status is written only through /status, and other writes ignore it. metadata.generation then counts only changes outside of it."
  },
  CustomResourceSubresourceScale: {
    "": "The fields behind the subresource scale.",
    labelSelectorPath: "The field of the status with a selector of the pods as text. Needed for autoscalers.",
    specReplicasPath: "The field with the desired number, such as .spec.replicas.",
    statusReplicasPath: "The field with the observed number, such as .status.replicas."
  },
  CustomResourceConversion: {
    "": "How objects are converted between versions.",
    strategy: "None: only apiVersion changes. Webhook: a webhook converts them.",
    webhook: "The webhook. Required with strategy Webhook."
  },
  WebhookConversion: {
    "": "A webhook for conversion.",
    clientConfig: "How the webhook is reached.",
    conversionReviewVersions:
      "Versions of ConversionReview that it understands, in order of preference; v1 should be one."
  },
  WebhookClientConfig: clientConfig,
  ServiceReference: serviceReference,
  CustomResourceDefinitionStatus: {
    "": "What was last observed of the definition.",
    acceptedNames: "The names that are in use. They differ from spec.names if these conflict with another kind.",
    conditions: "NamesAccepted, Established and others. Objects can be created when Established is True.",
    storedVersions:
      "All versions in which objects may be stored. A version can be removed from the specification only when it is not listed."
  },
  CustomResourceDefinitionCondition: {
    ...condition(
      "NamesAccepted, Established (the kind is served), NonStructuralSchema, Terminating or KubernetesAPIApprovalPolicyConformant"
    ),
    observedGeneration: "The metadata.generation that the condition was computed for."
  }
}

const webhook = {
  admissionReviewVersions: "Versions of AdmissionReview that it understands, in order of preference; v1 should be one.",
  clientConfig: "How the webhook is reached.",
  failurePolicy:
    "What happens if the webhook cannot be reached or fails: Fail (default) refuses the request, Ignore continues without it.",
  matchConditions:
    "Expressions in CEL that must all be true for the webhook to be called, besides rules and selectors; at most 64.",
  matchPolicy:
    "Equivalent (default): also requests through another version of the same resource, converted to that of the rule. Exact: only the versions in rules.",
  name: "The name, with a domain, such as check.example.com.",
  namespaceSelector:
    "Only objects in namespaces with these labels, and namespaces themselves by their own. Objects outside namespaces always match. Default: all.",
  objectSelector:
    "Only objects with these labels, before or after the change. Users who set labels can avoid the webhook. Default: all.",
  rules:
    "Which requests are sent to the webhook. One that matches is enough. Changes of webhook configurations themselves are never sent.",
  sideEffects:
    "Whether calls have effects besides the answer: None, or NoneOnDryRun. Required, because others prevent dry runs.",
  timeoutSeconds: "Seconds to wait for an answer, 1 to 30. Then failurePolicy decides. Default: 10."
}

export const admissionregistration: Descriptions = {
  ValidatingWebhookConfiguration: {
    "": "Webhooks that may refuse requests that write. They are called after all changes by mutating webhooks.",
    webhooks: "The webhooks. They are called at the same time; one that refuses is enough."
  },
  MutatingWebhookConfiguration: {
    "": "Webhooks that may change or refuse objects before they are stored.",
    webhooks:
      "The webhooks. They are called one after another, ordered by the names of configurations, then by this list."
  },
  ValidatingWebhook: { "": "A webhook that may refuse requests.", ...webhook },
  MutatingWebhook: {
    "": "A webhook that may change or refuse objects.",
    ...webhook,
    reinvocationPolicy:
      "Never (default): called once for a request. IfNeeded: called once more if later webhooks have changed the object; the embedded API server stores the value and does not call again."
  },
  RuleWithOperations: {
    "": "Requests, by operation and resource. All fields must match.",
    apiGroups: "API groups; empty text is the core group, '*' all groups.",
    apiVersions: "Versions of the API; '*' is all.",
    operations: "CREATE, UPDATE, DELETE, CONNECT, or '*' for all.",
    resources:
      "Resources in the plural: pods, pods/status for a subresource, '*' all resources, '*/*' all with their subresources.",
    scope: "Cluster, Namespaced, or '*' (default) for both."
  },
  MatchCondition: {
    "": "A condition for the call of a webhook.",
    expression:
      "The expression in CEL. It may use object, oldObject, request and authorizer, and must yield true or false.",
    name: "The name of the condition, for logs; unique in the webhook."
  },
  WebhookClientConfig: clientConfig,
  ServiceReference: serviceReference
}

/** The fields of a schema, which is not in the type table. */
export const jsonSchemaProps: Readonly<Record<string, string>> = {
  additionalProperties:
    "The schema of the values of a map, or false for no further fields. Not together with properties.",
  allOf: "Schemas that must all hold. They may only restrict values; fields and types are defined outside.",
  anyOf: "Schemas of which at least one must hold. They may only restrict values.",
  default: "The value of the field if it is absent.",
  description: "What the field means; shown by kubectl explain.",
  enum: "The allowed values.",
  exclusiveMaximum: "Whether maximum itself is not allowed.",
  exclusiveMinimum: "Whether minimum itself is not allowed.",
  format: "The format of a string or number, such as date-time, int32 or uri. Unknown formats are ignored.",
  items: "The schema of the elements of a list.",
  maxItems: "The largest number of elements.",
  maxLength: "The largest number of characters.",
  maxProperties: "The largest number of entries.",
  maximum: "The largest number.",
  minItems: "The smallest number of elements.",
  minLength: "The smallest number of characters.",
  minProperties: "The smallest number of entries.",
  minimum: "The smallest number.",
  multipleOf: "A number of which the value must be a multiple.",
  not: "A schema that must not hold. It may only restrict values.",
  nullable: "Whether null is allowed. Default: false; null is then treated as absent.",
  oneOf: "Schemas of which exactly one must hold. They may only restrict values.",
  pattern: "A regular expression that must occur in the string; use ^ and $ for the whole of it.",
  properties: "The fields of an object and their schemas.",
  required: "The fields that must be there.",
  title: "A short name of the field.",
  type: "object, array, string, integer, number or boolean.",
  uniqueItems: "Must not be true; use x-kubernetes-list-type set.",
  "x-kubernetes-embedded-resource": "Whether the value is a complete object with apiVersion, kind and metadata.",
  "x-kubernetes-int-or-string": "Whether the value is an integer or a string.",
  "x-kubernetes-list-map-keys":
    "With list type map: the fields that identify an element. They must be required or have a default.",
  "x-kubernetes-list-type":
    "How server-side apply merges the list: atomic (default) as a whole, set by value, map by the keys.",
  "x-kubernetes-map-type": "How server-side apply merges the object: granular (default) by field, atomic as a whole.",
  "x-kubernetes-preserve-unknown-fields": "Whether fields that are not in the schema are kept.",
  "x-kubernetes-validations": "Rules in CEL that the value must satisfy."
}

export const apiregistration: Descriptions = {
  APIService: {
    "": "An API group and version, and the server that serves it. This server registers one for each that it serves itself; others cannot be added."
  },
  APIServiceCondition: condition("Available, whether the server of the group can be reached"),
  APIServiceSpec: {
    "": "The group, its server, and its place in the order of groups.",
    caBundle: "The certificate authorities that verify the certificate of the server.",
    group: "The API group.",
    groupPriorityMinimum:
      "The place of the group among all groups: clients such as kubectl prefer the higher one where two groups have a kind of the same name.",
    insecureSkipTLSVerify: "Whether the certificate of the server is not verified. Not recommended.",
    service: "The Service of the server that serves the group. Unset: the API server itself (Local).",
    version: "The version of the group.",
    versionPriority: "The place of the version among those of its group. Clients prefer the higher one."
  },
  APIServiceStatus: {
    "": "Whether the group is available.",
    conditions: "What was last observed about the server of the group."
  },
  ServiceReference: {
    "": "A Service.",
    name: "The name of the Service.",
    namespace: "The namespace of the Service.",
    port: "The port of the Service. 443 by default."
  }
}

const measurement = {
  timestamp: "The end of the time over which the usage was measured.",
  window: "The length of the time over which the usage was measured, such as 15s."
}

export const metrics: Descriptions = {
  ContainerMetrics: {
    "": "What a container uses.",
    name: "The name of the container.",
    usage: "The average use of cpu, and the last use of memory (its working set), as quantities."
  },
  NodeMetrics: {
    "": "What a node uses. kubectl top nodes prints it. A measurement cannot be written.",
    ...measurement,
    usage: "The average use of cpu, and the last use of memory, as quantities. With all pods of the node."
  },
  PodMetrics: {
    "": "What the containers of a running pod use. kubectl top pods prints it, and autoscalers read it. A measurement cannot be written.",
    ...measurement,
    containers: "The usage of each container."
  }
}

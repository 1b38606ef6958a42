/** Writes: validation errors of workloads, with path and message. */
import * as Effect from "effect/Effect"
import { type Cause, invalid, refused } from "../assertions.ts"
import type { Case } from "../Case.ts"
import { at, containers, deployment, job, matching, podOf, service, template } from "../objects.ts"

const container = (rest: object) => ({ containers: [{ name: "main", image: "registry.example/app:1", ...rest }] })

interface StatusError {
  readonly title: string
  readonly collection: keyof ReturnType<typeof at>
  /** Group and kind as they are in error messages. */
  readonly kind: string
  readonly object: { readonly metadata: { readonly name: string }; readonly spec: object }
  readonly causes: ReadonlyArray<Cause>
}

const mismatch: Cause = [
  "spec.template.metadata.labels",
  "FieldValueInvalid",
  "`selector` does not match template `labels`"
]
const negative = (field: string): Cause => [
  field,
  "FieldValueInvalid",
  "Invalid value: -1: must be greater than or equal to 0"
]
const fits = { kind: "Deployment.apps", collection: "deployments" } as const
const alike = { apiVersion: "apps/v1", metadata: { name: "a" } }
const other = { selector: { matchLabels: { app: "b" } }, template: template({ app: "a" }) }

const workloads: ReadonlyArray<StatusError> = [
  {
    ...fits,
    title: "a deployment without selector",
    object: deployment("a", { template: template({ app: "a" }) }),
    causes: [["spec.selector", "FieldValueRequired", "Required value"], mismatch]
  },
  {
    ...fits,
    title: "a deployment with an empty selector",
    object: deployment("a", { ...matching, selector: {} }),
    causes: [["spec.selector", "FieldValueInvalid", "empty selector is invalid for deployment"]]
  },
  {
    ...fits,
    title: "a deployment whose selector does not match its template",
    object: deployment("a", other),
    causes: [mismatch]
  },
  {
    ...fits,
    title: "a selector with an operator that lacks its values",
    object: deployment("a", { ...matching, selector: { matchExpressions: [{ key: "app", operator: "In" }] } }),
    causes: [
      [
        "spec.selector.matchExpressions[0].values",
        "FieldValueRequired",
        "must be specified when `operator` is 'In' or 'NotIn'"
      ],
      ["spec.selector", "FieldValueInvalid", "invalid label selector"]
    ]
  },
  {
    ...fits,
    title: "negative replicas of a deployment",
    object: deployment("a", { ...matching, replicas: -1 }),
    causes: [negative("spec.replicas")]
  },
  {
    ...fits,
    title: "a rollout with maxSurge 0 and maxUnavailable 0",
    object: deployment("a", { ...matching, strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }),
    causes: [["spec.strategy.rollingUpdate.maxUnavailable", "FieldValueInvalid", "may not be 0 when `maxSurge` is 0"]]
  },
  {
    ...fits,
    title: "a Recreate strategy with parameters of RollingUpdate",
    object: deployment("a", { ...matching, strategy: { type: "Recreate", rollingUpdate: { maxSurge: 1 } } }),
    causes: [
      [
        "spec.strategy.rollingUpdate",
        "FieldValueForbidden",
        "Forbidden: may not be specified when strategy `type` is 'Recreate'"
      ]
    ]
  },
  {
    ...fits,
    title: "an unknown strategy",
    object: deployment("a", { ...matching, strategy: { type: "Bogus" } }),
    causes: [["spec.strategy", "FieldValueNotSupported", 'supported values: "Recreate", "RollingUpdate"']]
  },
  {
    ...fits,
    title: "a deployment with a restartPolicy other than Always",
    object: deployment("a", { ...matching, template: template({ app: "a" }, { restartPolicy: "Never" }) }),
    causes: [
      [
        "spec.template.spec.restartPolicy",
        "FieldValueNotSupported",
        'Unsupported value: "Never": supported values: "Always"'
      ]
    ]
  },
  {
    ...fits,
    title: "negative minReadySeconds",
    object: deployment("a", { ...matching, minReadySeconds: -1 }),
    causes: [negative("spec.minReadySeconds")]
  },
  {
    ...fits,
    title: "a progress deadline that is not above minReadySeconds",
    object: deployment("a", { ...matching, progressDeadlineSeconds: 5, minReadySeconds: 5 }),
    causes: [
      ["spec.progressDeadlineSeconds", "FieldValueInvalid", "Invalid value: 5: must be greater than minReadySeconds"]
    ]
  },
  {
    title: "a replica set whose selector does not match its template",
    kind: "ReplicaSet.apps",
    collection: "replicaSets",
    object: { ...alike, spec: other },
    causes: [mismatch]
  },
  {
    title: "negative replicas of a replica set",
    kind: "ReplicaSet.apps",
    collection: "replicaSets",
    object: { ...alike, spec: { ...matching, replicas: -1 } },
    causes: [negative("spec.replicas")]
  },
  {
    title: "a daemon set whose selector does not match its template",
    kind: "DaemonSet.apps",
    collection: "daemonSets",
    object: { ...alike, spec: other },
    causes: [mismatch]
  },
  {
    title: "a job with restartPolicy Always",
    kind: "Job.batch",
    collection: "jobs",
    object: job("a", { template: { spec: { containers } } }),
    causes: [
      ["spec.template.spec.restartPolicy", "FieldValueRequired", 'Required value: valid values: "OnFailure", "Never"']
    ]
  },
  {
    title: "several negative numbers of a job, all reported",
    kind: "Job.batch",
    collection: "jobs",
    object: job("a", { parallelism: -1, completions: -1, backoffLimit: -1 }),
    causes: [negative("spec.parallelism"), negative("spec.completions"), negative("spec.backoffLimit")]
  }
]

const pods: ReadonlyArray<StatusError> = (
  [
    ["a pod without containers", { containers: [] }, ["spec.containers", "FieldValueRequired", "Required value"]],
    [
      "a container name that is no label",
      container({ name: "Bad_Name" }),
      ["spec.containers[0].name", "FieldValueInvalid", 'Invalid value: "Bad_Name": a lowercase RFC 1123 label must']
    ],
    [
      "a container without image",
      { containers: [{ name: "main" }] },
      ["spec.containers[0].image", "FieldValueRequired", "Required value"]
    ],
    [
      "two containers of one name",
      { containers: [...containers, ...containers] },
      ["spec.containers[1].name", "FieldValueDuplicate", 'Duplicate value: "main"']
    ],
    [
      "a restart policy nobody knows",
      { restartPolicy: "Sometimes" },
      ["spec.restartPolicy", "FieldValueNotSupported", 'Unsupported value: "Sometimes": supported values: "Always", ']
    ],
    [
      "a pull policy nobody knows",
      container({ imagePullPolicy: "Often" }),
      [
        "spec.containers[0].imagePullPolicy",
        "FieldValueNotSupported",
        'supported values: "Always", "IfNotPresent", "Never"'
      ]
    ],
    [
      "a container port of 0",
      container({ ports: [{ containerPort: 0 }] }),
      ["spec.containers[0].ports[0].containerPort", "FieldValueRequired", "Required value"]
    ],
    [
      "a mount of a volume that is not there",
      container({ volumeMounts: [{ name: "none", mountPath: "/x" }] }),
      ["spec.containers[0].volumeMounts[0].name", "FieldValueNotFound", 'Not found: "none"']
    ],
    [
      "a user whose number is too high",
      container({ securityContext: { runAsUser: 2_147_483_648 } }),
      [
        "spec.containers[0].securityContext.runAsUser",
        "FieldValueInvalid",
        "Invalid value: 2147483648: must be between 0 and 2147483647, inclusive"
      ]
    ],
    [
      "a probe's header with a blank",
      container({ livenessProbe: { httpGet: { port: 80, httpHeaders: [{ name: "a b", value: "c" }] } } }),
      [
        "spec.containers[0].livenessProbe.httpGet.httpHeaders",
        "FieldValueInvalid",
        'Invalid value: "a b": a valid HTTP header must consist of'
      ]
    ],
    [
      "a hook that does nothing",
      container({ lifecycle: { preStop: {} } }),
      ["spec.containers[0].lifecycle.preStop", "FieldValueRequired", "must specify a handler type"]
    ],
    [
      "a variable of a field that pods do not have",
      container({ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "spec.nothing" } } }] }),
      [
        "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath",
        "FieldValueInvalid",
        "error converting fieldPath: field label not supported: spec.nothing"
      ]
    ],
    [
      "a volume of two kinds",
      { volumes: [{ name: "v", emptyDir: {}, hostPath: { path: "/x" } }] },
      ["spec.volumes[0].hostPath", "FieldValueForbidden", "may not specify more than 1 volume type"]
    ],
    [
      "a volume of a server without a name",
      { volumes: [{ name: "v", nfs: { path: "/x" } }] },
      ["spec.volumes[0].nfs.server", "FieldValueRequired", "Required value"]
    ],
    [
      "a device of what is no claim",
      {
        volumes: [{ name: "v", emptyDir: {} }],
        ...container({ volumeDevices: [{ name: "v", devicePath: "/dev/x" }] })
      },
      [
        "spec.containers[0].volumeDevices[0].name",
        "FieldValueInvalid",
        "can only use volume source type of PersistentVolumeClaim"
      ]
    ],
    [
      "a part of a volume above it",
      {
        volumes: [{ name: "v", emptyDir: {} }],
        ...container({ volumeMounts: [{ name: "v", mountPath: "/x", subPath: "../y" }] })
      },
      ["spec.containers[0].volumeMounts.subPath", "FieldValueInvalid", "Invalid value: \"../y\": must not contain '..'"]
    ],
    [
      "a request above its limit",
      container({ resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } }),
      [
        "spec.containers[0].resources.requests",
        "FieldValueInvalid",
        'Invalid value: "2": must be less than or equal to cpu limit'
      ]
    ]
  ] as ReadonlyArray<readonly [string, object, Cause]>
).map(([title, spec, cause]) => ({ title, collection: "pods", kind: "Pod", object: podOf("a", spec), causes: [cause] }))

const services: ReadonlyArray<StatusError> = (
  [
    ["a service without ports", {}, [["spec.ports", "FieldValueRequired", "Required value"]]],
    [
      "a service port of 0",
      { ports: [{ port: 0 }] },
      [
        ["spec.ports[0].port", "FieldValueInvalid", "Invalid value: 0: must be between 1 and 65535, inclusive"],
        ["spec.ports[0].targetPort", "FieldValueInvalid", "Invalid value: 0: must be between 1 and 65535, inclusive"]
      ]
    ],
    [
      "two service ports without names",
      { ports: [{ port: 80 }, { port: 81 }] },
      [
        ["spec.ports[0].name", "FieldValueRequired", "Required value"],
        ["spec.ports[1].name", "FieldValueRequired", "Required value"]
      ]
    ],
    [
      "a service type nobody knows",
      { type: "Bogus", ports: [{ port: 80 }] },
      [
        [
          "spec.type",
          "FieldValueNotSupported",
          'supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"'
        ]
      ]
    ]
  ] as ReadonlyArray<readonly [string, object, ReadonlyArray<Cause>]>
).map(([title, spec, causes]) => ({
  title,
  collection: "services",
  kind: "Service",
  object: service("a", spec),
  causes
}))

const autoscaler = { kind: "HorizontalPodAutoscaler.autoscaling", collection: "autoscalers" } as const
const scaled = (spec: object) => ({
  metadata: { name: "a" },
  spec: { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "d" }, ...spec }
})

const others: ReadonlyArray<StatusError> = [
  {
    ...autoscaler,
    title: "an autoscaler without a scale target",
    object: scaled({ scaleTargetRef: {} }),
    causes: [
      ["spec.scaleTargetRef.kind", "FieldValueRequired", "Required value"],
      ["spec.scaleTargetRef.name", "FieldValueRequired", "Required value"]
    ]
  },
  {
    ...autoscaler,
    title: "an autoscaler whose minReplicas exceed maxReplicas",
    object: scaled({ minReplicas: 5 }),
    causes: [["spec.maxReplicas", "FieldValueInvalid", "must be greater than or equal to `minReplicas`"]]
  },
  {
    title: "a pod template without containers",
    kind: "PodTemplate",
    collection: "podTemplates",
    object: { metadata: { name: "a" }, spec: {} },
    causes: [["template.spec.containers", "FieldValueRequired", "Required value"]]
  },
  {
    title: "a service port with an unknown protocol",
    kind: "Service",
    collection: "services",
    object: service("a", { ports: [{ port: 80, appProtocol: "a b" }] }),
    causes: [["spec.ports[0].appProtocol", "FieldValueInvalid", 'Invalid value: "a b": name part must consist of']]
  }
]

export const validation: ReadonlyArray<Case> = [...workloads, ...pods, ...services, ...others].map(
  ({ causes, collection, kind, object, title }): Case => ({
    title: `${title} is Invalid`,
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const reply = yield* ask("POST", at(namespace)[collection], object)
      invalid(reply, `${kind} "${object.metadata.name}"`, ...causes)
      refused(yield* ask("GET", `${at(namespace)[collection]}/a`), { code: 404, reason: "NotFound" })
    })
  })
)

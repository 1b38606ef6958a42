/**
 * How the lists and maps of a kind merge: what strategic merge patch and server-side apply need to know of its fields. A
 * place that is not described is ordinary: maps merge key by key, lists are replaced whole.
 * Source: patchMergeKey and patchStrategy tags and the x-kubernetes-list-type markers of the API types.
 */

export interface Shape {
  /** A list of objects that merges by this member. */
  readonly key?: string
  /** Members that together identify an element for server-side apply; `[key]` unless given. */
  readonly keys?: ReadonlyArray<string>
  /** Values that stand for an absent key member. */
  readonly keyDefaults?: Readonly<Record<string, string>>
  /** A list of primitives that merges as a set. */
  readonly set?: boolean
  /** Owned as a whole by server-side apply, whatever it contains. */
  readonly atomic?: boolean
  /** Shapes of the members of the object, or of the elements of the list. */
  readonly fields?: Readonly<Record<string, Shape>>
}

const byName: Shape = { key: "name" }
const conditions: Shape = { key: "type" }
const atomic: Shape = { atomic: true }
const withStatus = { status: { fields: { conditions } } } as const

const metadata: Shape = { fields: { ownerReferences: { key: "uid" }, finalizers: { set: true } } }

const protocol = { protocol: "TCP" } as const

const container: Shape = {
  key: "name",
  fields: {
    ports: { key: "containerPort", keys: ["containerPort", "protocol"], keyDefaults: protocol },
    env: {
      key: "name",
      fields: {
        valueFrom: {
          fields: { fieldRef: atomic, resourceFieldRef: atomic, secretKeyRef: atomic, configMapKeyRef: atomic }
        }
      }
    },
    volumeMounts: { key: "mountPath" },
    volumeDevices: { key: "devicePath" },
    resources: { fields: { claims: byName } }
  }
}

const podSpec: Shape = {
  fields: {
    containers: container,
    initContainers: container,
    ephemeralContainers: container,
    volumes: byName,
    imagePullSecrets: byName,
    hostAliases: { key: "ip" },
    nodeSelector: atomic,
    resourceClaims: byName,
    schedulingGates: byName,
    topologySpreadConstraints: { key: "topologyKey", keys: ["topologyKey", "whenUnsatisfiable"] }
  }
}

const template: Shape = { fields: { metadata, spec: podSpec } }

const workload: Shape = { fields: { metadata, spec: { fields: { selector: atomic, template } }, ...withStatus } }

const ordinary: Shape = { fields: { metadata, ...withStatus } }

const shapes: Readonly<Record<string, Shape>> = {
  pods: {
    fields: {
      metadata,
      spec: podSpec,
      status: { fields: { conditions, podIPs: { key: "ip" }, hostIPs: { atomic: true } } }
    }
  },
  nodes: {
    fields: {
      metadata,
      spec: { fields: { podCIDRs: { set: true } } },
      status: { fields: { conditions, addresses: { key: "type" } } }
    }
  },
  services: {
    fields: {
      metadata,
      spec: {
        fields: {
          ports: { key: "port", keys: ["port", "protocol"], keyDefaults: protocol },
          selector: atomic
        }
      },
      ...withStatus
    }
  },
  serviceaccounts: { fields: { metadata, secrets: byName, imagePullSecrets: { atomic: true } } },
  "apps/deployments": workload,
  "apps/replicasets": workload,
  "apps/statefulsets": workload,
  "apps/daemonsets": workload,
  "batch/jobs": workload
}

/** By the storage of the kind. */
export const of = (storage: string): Shape => shapes[storage] ?? ordinary

export const field = (shape: Shape | undefined, name: string): Shape | undefined =>
  shape?.fields !== undefined && Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined

/** Members that identify an element of a list; none when the list does not merge by members. */
export const keysOf = (shape: Shape | undefined): ReadonlyArray<string> =>
  shape?.keys ?? (shape?.key === undefined ? [] : [shape.key])

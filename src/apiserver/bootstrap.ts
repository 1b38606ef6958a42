/**
 * The objects that kube-apiserver creates in an empty store: the system namespaces, the two system PriorityClasses, the `kubernetes`
 * Service with its Endpoints and EndpointSlice, and with RBAC the bootstrap roles. They are not reconciled afterwards: what a client
 * deletes stays deleted.
 */
import * as Effect from "effect/Effect"
import type { ApiRequest } from "./Api.ts"
import * as bootstrapRoles from "./authorization/bootstrapRoles.ts"
import { clone } from "./json.ts"
import type { JsonObject } from "./json.ts"
import { serverAddress } from "./validation/addresses.ts"
import { target } from "./routing.ts"
import type { RequestScope } from "./admission/Admission.ts"
import { create } from "./endpoints/write.ts"
import type { StatusError } from "./StatusError.ts"

/** Where clients inside the cluster would find the server: the address of the first simulated control plane node. */
const advertised = { ip: "10.0.0.1", port: 6443 } as const

const namespaces = ["default", "kube-system", "kube-public", "kube-node-lease"]

/** Higher than any priority that a user may set. */
const priorities = [
  {
    metadata: { name: "system-node-critical" },
    value: 2_000_001_000,
    description: "Used for system critical pods that must not be moved from their current node."
  },
  {
    metadata: { name: "system-cluster-critical" },
    value: 2_000_000_000,
    description:
      "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."
  }
]

const port = { name: "https", port: advertised.port, protocol: "TCP" } as const

const service = (): JsonObject => ({
  metadata: { name: "kubernetes", labels: { component: "apiserver", provider: "kubernetes" } },
  spec: {
    clusterIP: serverAddress,
    ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: advertised.port }],
    sessionAffinity: "None",
    type: "ClusterIP"
  }
})

/** The server writes the EndpointSlice too, so the mirroring controller must not. */
const endpoints = (): JsonObject => ({
  metadata: { name: "kubernetes", labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } },
  subsets: [{ addresses: [{ ip: advertised.ip }], ports: [{ ...port }] }]
})

const endpointSlice = (): JsonObject => ({
  metadata: { name: "kubernetes", labels: { "kubernetes.io/service-name": "kubernetes" } },
  addressType: "IPv4",
  endpoints: [{ addresses: [advertised.ip], conditions: { ready: true } }],
  ports: [{ ...port }]
})

/** Objects with the path of the collection to create them in, in order. */
const objects = (): ReadonlyArray<readonly [collection: string, object: JsonObject]> => [
  ...namespaces.map((name) => ["api/v1/namespaces", { metadata: { name } }] as const),
  ...priorities.map((object) => ["apis/scheduling.k8s.io/v1/priorityclasses", clone(object)] as const),
  ["api/v1/namespaces/default/services", service()],
  ["api/v1/namespaces/default/endpoints", endpoints()],
  ["apis/discovery.k8s.io/v1/namespaces/default/endpointslices", endpointSlice()]
]

export const request: ApiRequest = {
  method: "POST",
  path: "/",
  query: new URLSearchParams(),
  headers: {},
  body: "",
  user: { name: "system:apiserver", groups: ["system:masters"] }
}

/** Creates the objects in an empty store. */
export const bootstrap = (context: RequestScope): Effect.Effect<void, StatusError> => {
  const servesMetrics = context.state.registry.all.some(({ source }) => source === "usage")
  const roles = context.state.authorizer.mode === "RBAC" ? bootstrapRoles.objects(servesMetrics) : []
  const options = { dryRun: false, manager: "kube-apiserver" }
  return Effect.forEach(
    [...objects(), ...roles],
    ([collection, object]) => {
      const found = target(context.state.registry, collection.split("/"))
      return found === undefined ? Effect.void : create(context, found, () => ({ object, options }))
    },
    { discard: true }
  )
}

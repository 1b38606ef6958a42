/**
 * What the reference server writes into an empty store before anybody asks: the namespaces of every cluster, the two classes of
 * priority that it admits pods by, the Service through which pods reach the API server itself, with the address behind it, and with
 * RBAC its roles.
 * Nothing here is kept up later: what a client deletes stays deleted, as the address of a server in memory never changes.
 */
import type { ApiRequest } from "./Api.ts"
import * as bootstrapRoles from "./authorization/bootstrapRoles.ts"
import { clone } from "./json.ts"
import type { JsonObject } from "./json.ts"
import { serverAddress } from "./validation/addresses.ts"
import { target } from "./routing.ts"
import type { RequestScope } from "./admission/Admission.ts"
import { create } from "./endpoints/write.ts"

/** Where clients inside the cluster would find the server: the address of the simulated control plane, which is `nodes`' first. */
const advertised = { ip: "10.0.0.1", port: 6443 } as const

const namespaces = ["default", "kube-system", "kube-public", "kube-node-lease"]

/** Above whatever a user can ask for. */
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

/** Its slice is the server's too, so nobody mirrors the older list into another one. */
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

/** Objects by the collection they are made in, in the order in which they are made. */
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

/** Writes all of it into a store that has nothing yet. */
export const bootstrap = (context: RequestScope): void => {
  const roles = context.state.authorizer.mode === "RBAC" ? bootstrapRoles.objects() : []
  for (const [collection, object] of [...objects(), ...roles]) {
    const found = target(context.state.kinds, collection.split("/"))
    if (found !== undefined) create(context, found, object, { dryRun: false, manager: "kube-apiserver" })
  }
}

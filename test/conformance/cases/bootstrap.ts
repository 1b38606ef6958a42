/** Resources: the objects of a new cluster. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { done } from "../assertions.ts"
import type { Case } from "../Case.ts"

const core = "/api/v1/namespaces/default"

export const beginning: ReadonlyArray<Case> = [
  {
    title: "four namespaces exist, Active and with the finalizer kubernetes",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask }) {
      for (const name of ["default", "kube-system", "kube-public", "kube-node-lease"]) {
        const found = done(yield* ask("GET", `/api/v1/namespaces/${name}`))
        assert.deepStrictEqual([found.status, found.spec], [{ phase: "Active" }, { finalizers: ["kubernetes"] }])
      }
    })
  },
  {
    title: "the Service `kubernetes` has the first address of the service range, and the endpoint of the API server",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask }) {
      const service = done(yield* ask("GET", `${core}/services/kubernetes`))
      assert.deepStrictEqual(service.metadata.labels, { component: "apiserver", provider: "kubernetes" })
      assert.match(service.spec.clusterIP, /\.1$/)
      const [port, ...none] = service.spec.ports
      assert.deepStrictEqual([port.name, port.port, port.protocol, none], ["https", 443, "TCP", []])
      assert.deepStrictEqual(
        [service.spec.type, service.spec.sessionAffinity, service.spec.selector],
        ["ClusterIP", "None", undefined]
      )
      assert.strictEqual(service.metadata.managedFields[0].manager, "kube-apiserver")
      const endpoints = done(yield* ask("GET", `${core}/endpoints/kubernetes`))
      assert.deepStrictEqual(endpoints.metadata.labels, { "endpointslice.kubernetes.io/skip-mirror": "true" })
      assert.deepStrictEqual(endpoints.subsets, [
        { addresses: [{ ip: "10.0.0.1" }], ports: [{ name: "https", port: port.targetPort, protocol: "TCP" }] }
      ])
    })
  },
  {
    title: "the server writes the EndpointSlice of the Service `kubernetes`",
    since: 21,
    rule: "discovery/v1 is served from 1.21 on",
    run: Effect.fnUntraced(function* ({ ask }) {
      const path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes"
      const slice = done(yield* ask("GET", path))
      assert.deepStrictEqual(slice.metadata.labels, { "kubernetes.io/service-name": "kubernetes" })
      assert.deepStrictEqual(
        [slice.addressType, slice.endpoints],
        ["IPv4", [{ addresses: ["10.0.0.1"], conditions: { ready: true } }]]
      )
      assert.deepInclude(slice.ports[0], { name: "https", protocol: "TCP" })
    })
  },
  {
    title: "the two system PriorityClasses exist",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask }) {
      const path = "/apis/scheduling.k8s.io/v1/priorityclasses"
      for (const [name, value] of [
        ["system-cluster-critical", 2_000_000_000],
        ["system-node-critical", 2_000_001_000]
      ] as const) {
        const found = done(yield* ask("GET", `${path}/${name}`))
        assert.deepStrictEqual([found.value, found.preemptionPolicy], [value, "PreemptLowerPriority"])
        assert.isNotEmpty(found.description)
      }
    })
  }
]

/** Writes: fields of new objects apart from the defaults of their specs: initial status, labels, finalizers, taints. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { done, merge } from "../assertions.ts"
import type { Case } from "../Case.ts"
import { at, job, matching, template } from "../objects.ts"

/** A status that a create must ignore. */
const claimed = { phase: "Bound", replicas: 3, conditions: [{ type: "X", status: "True" }], loadBalancer: {} }

/** Collections, a spec for each, and the status that a new object has. */
const statuses: ReadonlyArray<readonly [plural: string, spec: object, status: object]> = [
  ["apis/apps/v1/deployments", matching, {}],
  ["apis/apps/v1/replicasets", matching, { replicas: 0 }],
  ["apis/apps/v1/statefulsets", { ...matching, serviceName: "s" }, { replicas: 0 }],
  [
    "apis/apps/v1/daemonsets",
    matching,
    { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 }
  ],
  ["api/v1/replicationcontrollers", { template: template({ app: "a" }) }, { replicas: 0 }],
  ["apis/batch/v1/jobs", job("a").spec, {}],
  [
    "api/v1/persistentvolumeclaims",
    { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    { phase: "Pending" }
  ],
  ["api/v1/services", { ports: [{ port: 80 }] }, { loadBalancer: {} }],
  [
    "apis/networking.k8s.io/v1/ingresses",
    { defaultBackend: { service: { name: "s", port: { number: 80 } } } },
    { loadBalancer: {} }
  ],
  [
    "apis/autoscaling/v1/horizontalpodautoscalers",
    { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "d" } },
    { currentReplicas: 0, desiredReplicas: 0 }
  ]
]

const collection = (namespace: string, path: string): string => {
  const parts = path.split("/")
  return `/${parts.slice(0, -1).join("/")}/namespaces/${namespace}/${parts.at(-1)}`
}

const firstStatuses: ReadonlyArray<Case> = statuses.map(([path, spec, status]) => ({
  title: `new ${path.split("/").at(-1)} have the initial status of the server, and not the one that was sent`,
  since: 20,
  run: Effect.fnUntraced(function* ({ ask, namespace }) {
    const made = done(
      yield* ask("POST", collection(namespace, path), { metadata: { name: "a" }, spec, status: claimed })
    )
    // From 1.22 the status of a StatefulSet has availableReplicas.
    const { availableReplicas = 0, ...counted } = made.status
    assert.deepStrictEqual([counted, availableReplicas], [status, 0])
  })
}))

const generation = "deprecated.daemonset.template.generation"

export const created: ReadonlyArray<Case> = [
  ...firstStatuses,
  {
    title:
      "the template generation annotation of a DaemonSet counts changes of its template, and clients cannot write it",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { daemonSets } = at(namespace)
      const count = (set: any) => [set.metadata.annotations[generation], set.metadata.generation]
      const change = (body: object, path = "") =>
        Effect.map(ask("PATCH", `${daemonSets}/a${path}`, body, merge), (reply) => count(done(reply)))
      const made = done(yield* ask("POST", daemonSets, { metadata: { name: "a" }, spec: matching }))
      assert.deepStrictEqual(count(made), ["1", 1])
      const owned = made.metadata.managedFields[0].fieldsV1["f:metadata"]["f:annotations"]
      assert.deepStrictEqual(owned, { ".": {}, [`f:${generation}`]: {} })
      assert.deepStrictEqual(yield* change({ metadata: { annotations: null } }), ["1", 1])
      assert.deepStrictEqual(yield* change({ metadata: { annotations: { [generation]: "7" } } }), ["1", 1])
      const labelled = { spec: { template: { metadata: { labels: { x: "y" } } } } }
      assert.deepStrictEqual(yield* change(labelled), ["2", 2])
      assert.deepStrictEqual(yield* change({ spec: { minReadySeconds: 1 } }), ["2", 3])
      assert.deepStrictEqual(yield* change({ metadata: { annotations: null } }, "/status"), ["2", 3])
    })
  },
  {
    title:
      "a Job without labels gets those of its pod template, including generated ones; a Job with labels keeps its own",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { jobs } = at(namespace)
      const { template: pods } = job("a").spec
      const labelled = { spec: { template: { ...pods, metadata: { labels: { x: "y" } } } } }
      const plain = done(yield* ask("POST", jobs, { metadata: { name: "a" }, ...labelled }))
      assert.deepStrictEqual(plain.metadata.labels, plain.spec.template.metadata.labels)
      assert.include(plain.metadata.labels, { x: "y", "job-name": "a", "controller-uid": plain.metadata.uid })
      const own = done(yield* ask("POST", jobs, { metadata: { name: "b", labels: { x: "y" } }, ...labelled }))
      assert.deepStrictEqual(own.metadata.labels, { x: "y" })
      assert.include(own.spec.template.metadata.labels, { x: "y", "job-name": "b" })
    })
  },
  {
    title: "new claims and volumes get the finalizer that protects them while they are in use",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const { claims } = at(namespace)
      const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
      const claim = done(yield* ask("POST", claims, { metadata: { name: "a" }, spec }))
      assert.deepStrictEqual(claim.metadata.finalizers, ["kubernetes.io/pvc-protection"])
      const volume = done(
        yield* ask("POST", "/api/v1/persistentvolumes", {
          metadata: { name: `${namespace}-a`, finalizers: ["example.com/mine"] },
          spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, hostPath: { path: "/x" } }
        })
      )
      assert.deepStrictEqual(volume.metadata.finalizers, ["example.com/mine", "kubernetes.io/pv-protection"])
      const waiting = done(yield* ask("DELETE", `${claims}/a`))
      assert.isString(waiting.metadata.deletionTimestamp)
      done(yield* ask("PATCH", `${claims}/a`, { metadata: { finalizers: null } }, merge))
      assert.strictEqual((yield* ask("GET", `${claims}/a`)).status, 404)
    })
  },
  {
    title: "a new Node has the taint not-ready",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const nodes = "/api/v1/nodes"
      const taint = (effect: string) => ({ key: "node.kubernetes.io/not-ready", effect })
      const made = done(yield* ask("POST", nodes, { metadata: { name: `${namespace}-a` } }))
      assert.deepStrictEqual(made.spec.taints, [taint("NoSchedule")])
      const said = { metadata: { name: `${namespace}-b` }, spec: { taints: [taint("NoExecute")] } }
      const both = done(yield* ask("POST", nodes, said))
      assert.deepStrictEqual(both.spec.taints, [taint("NoExecute"), taint("NoSchedule")])
      const cleared = done(yield* ask("PATCH", `${nodes}/${namespace}-a`, { spec: { taints: null } }, merge))
      assert.strictEqual(cleared.spec.taints, undefined)
    })
  },
  {
    title: "an autoscaler without metrics has a target of 80 % of the requested CPU",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const path = collection(namespace, "apis/autoscaling/v1/horizontalpodautoscalers")
      const spec = { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "d" } }
      const made = done(yield* ask("POST", path, { metadata: { name: "a" }, spec }))
      assert.deepStrictEqual(made.spec, { ...spec, minReplicas: 1, targetCPUUtilizationPercentage: 80 })
    })
  },
  {
    title: "a NetworkPolicy has policy type Ingress, and Egress with egress rules",
    since: 20,
    run: Effect.fnUntraced(function* ({ ask, namespace }) {
      const path = collection(namespace, "apis/networking.k8s.io/v1/networkpolicies")
      const make = (name: string, spec: object) =>
        Effect.map(ask("POST", path, { metadata: { name }, spec: { podSelector: {}, ...spec } }), done)
      const incoming = yield* make("a", { ingress: [{ ports: [{ port: 80 }] }] })
      assert.deepStrictEqual(incoming.spec.policyTypes, ["Ingress"])
      assert.deepStrictEqual(incoming.spec.ingress, [{ ports: [{ protocol: "TCP", port: 80 }] }])
      assert.deepStrictEqual((yield* make("b", { egress: [{}] })).spec.policyTypes, ["Ingress", "Egress"])
      assert.deepStrictEqual((yield* make("c", { policyTypes: ["Egress"] })).spec.policyTypes, ["Egress"])
    })
  }
]

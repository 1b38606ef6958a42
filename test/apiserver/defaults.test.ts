/**
 * Defaults of minimal objects: the embedded server sets every field that kube-apiserver 1.20 sets. Fields of newer versions are listed
 * here, and nothing else may differ. `DEFAULTS_RECORD` records the objects of the real server.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { readFileSync, writeFileSync } from "node:fs"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import { Transport } from "../../src/layers/Transport.ts"
import * as envtest from "../support/envtest.ts"
import { get, layer, names, patch, pod, pods, post, put, refused, request, same } from "./client.ts"
import { objects } from "./defaultsObjects.ts"

type Made = Record<string, unknown>

const file = new URL("defaultsAnswers.json", import.meta.url)
const recorded = JSON.parse(readFileSync(file, "utf8")) as Record<string, Made>

/** Fields that versions after 1.20 set, or set to another value. */
const newer = new Set([
  "allocateLoadBalancerNodePorts",
  // Of StatefulSets without replicas.
  "availableReplicas",
  "batch.kubernetes.io/controller-uid",
  "batch.kubernetes.io/job-name",
  "clusterIPs",
  "completionMode",
  // Of jobs.
  "generation",
  "internalTrafficPolicy",
  "ipFamilies",
  "ipFamilyPolicy",
  "manualSelector",
  "persistentVolumeClaimRetentionPolicy",
  "lastPhaseTransitionTime",
  "podReplacementPolicy",
  "requiresRepublish",
  "seLinuxMount",
  "storageCapacity",
  "suspend"
])

/** Values that only versions after 1.20 set, or only those before autoscaling/v2, in fields that may have others. */
const isOfAVersion = (key: string, value: unknown): boolean =>
  (key === "maxSurge" && value === 0) ||
  (key === "scope" && value === "Cluster") ||
  (key === "currentReplicas" && value === 0)

/** Fields whose values change with time, and those that Go encodes although they are empty. */
const volatile = new Set([
  "apiVersion",
  "clusterIP",
  "controller-uid",
  "creationTimestamp",
  "daemonEndpoints",
  "kind",
  "kubernetes.io/metadata.name",
  "managedFields",
  "nodePort",
  "resourceVersion",
  "selfLink",
  "uid"
])

const isEmpty = (value: unknown): boolean =>
  value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0)

/** Removes empty values, which equal absent ones, except where the field is the source of a volume. */
const reduced = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reduced)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, member]) => !newer.has(key) && !volatile.has(key) && !isOfAVersion(key, member))
      .map(([key, member]) => [key, reduced(member)] as const)
      .filter(([key, member]) => key === "emptyDir" || !isEmpty(member))
      .sort(([a], [b]) => (a < b ? -1 : 1))
  )
}

const makeAll = Effect.fnUntraced(function* (transport: Transport["Service"], old: boolean) {
  yield* transport.send(request("POST", "/api/v1/namespaces", { metadata: { name: "cases" } }))
  const made: Record<string, Made> = {}
  for (const one of objects) {
    const parts = ((old ? one.old : undefined) ?? one.path).split("/")
    const plural = parts.pop() ?? ""
    const path = `/${parts.join("/")}/${one.clusterScoped === true ? "" : "namespaces/cases/"}${plural}`
    const response = yield* transport.send(request("POST", path, one.body))
    made[one.name] = reduced(response.body) as Made
  }
  return made
})

const embedded = Effect.scoped(
  Effect.flatMap(Layer.build(layer({ admission: { nodeTaints: true, storageProtection: true } })), (context) =>
    makeAll(Context.get(context, Transport), false)
  )
)

describe("defaults", () => {
  it.effect("are those of kube-apiserver", () =>
    Effect.gen(function* () {
      const made = yield* embedded
      for (const { name } of objects) assert.deepStrictEqual(made[name], recorded[name], name)
    })
  )

  it.live.skipIf(envtest.missing !== undefined)("are those of the installed kube-apiserver", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const server = yield* envtest.start()
        const made = yield* makeAll(yield* HttpTransport.make(server.endpoint), true)
        if (process.env["DEFAULTS_RECORD"] !== undefined) writeFileSync(file, `${JSON.stringify(made, null, 2)}\n`)
        for (const { name } of objects) assert.deepStrictEqual(made[name], recorded[name], name)
      })
    )
  )

  it.effect("include those of newer versions", () =>
    Effect.gen(function* () {
      const jobs = "/apis/batch/v1/namespaces/default/jobs"
      const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "web:1" }] } }
      const job = yield* post(jobs, { metadata: { name: "j" }, spec: { template } })
      const { uid } = job.metadata
      same(job.spec.selector, { matchLabels: { "batch.kubernetes.io/controller-uid": uid } })
      same(job.spec.template.metadata.labels, {
        "job-name": "j",
        "batch.kubernetes.io/job-name": "j",
        "controller-uid": uid,
        "batch.kubernetes.io/controller-uid": uid
      })
      same(
        [job.spec.completionMode, job.spec.suspend, job.spec.podReplacementPolicy],
        ["NonIndexed", false, "TerminatingOrFailed"]
      )
      same(job.metadata.labels, job.spec.template.metadata.labels)
      const spec = { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "d" } }
      const autoscalers = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"
      const autoscaler = yield* post(autoscalers, { metadata: { name: "a" }, spec })
      same([autoscaler.spec.targetCPUUtilizationPercentage, autoscaler.metadata.annotations], [80, undefined])
      same(autoscaler.status, { currentReplicas: 0, desiredReplicas: 0 })
    }).pipe(Effect.provide(layer()))
  )

  it.effect("updating with the object as read, or as sent, changes nothing", () =>
    Effect.gen(function* () {
      const made = yield* post(pods, pod("a"))
      same(yield* put(`${pods}/a`, made), made)
      same(yield* put(`${pods}/a`, pod("a")), made)
      const services = "/api/v1/namespaces/default/services"
      const service = { metadata: { name: "s" }, spec: { type: "NodePort", ports: [{ port: 80 }] } }
      const first = yield* post(services, service)
      same(yield* put(`${services}/s`, service), first)
    }).pipe(Effect.provide(layer()))
  )
})

describe("generated fields", () => {
  it.effect("the template generation of a DaemonSet follows its template, whatever clients write", () =>
    Effect.gen(function* () {
      const sets = "/apis/apps/v1/namespaces/default/daemonsets"
      const key = "deprecated.daemonset.template.generation"
      const seen = (set: any) => [set.metadata.annotations[key], set.metadata.generation]
      const labels = { app: "a" }
      const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "web:1" }] } }
      same(
        seen(yield* post(sets, { metadata: { name: "d" }, spec: { selector: { matchLabels: labels }, template } })),
        ["1", 1]
      )
      const change = (body: object, path = "d") => Effect.map(patch(`${sets}/${path}`, "merge", body), seen)
      same(yield* change({ metadata: { annotations: null } }), ["1", 1])
      same(yield* change({ metadata: { annotations: { [key]: "7" } } }), ["1", 1])
      same(yield* change({ spec: { template: { metadata: { labels: { x: "y" } } } } }), ["2", 2])
      same(yield* change({ spec: { minReadySeconds: 1 } }), ["2", 3])
      same(yield* change({ metadata: { annotations: null }, status: { numberReady: 1 } }, "d/status"), ["2", 3])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("lastPhaseTransitionTime of a volume changes with its phase", () =>
    Effect.gen(function* () {
      const volumes = "/api/v1/persistentvolumes"
      const made = yield* post(volumes, {
        metadata: { name: "v" },
        spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, hostPath: { path: "/x" } }
      })
      same(made.status, { phase: "Pending", lastPhaseTransitionTime: made.metadata.creationTimestamp })
      yield* TestClock.adjust("5 seconds")
      const bound = yield* patch(`${volumes}/v/status`, "merge", { status: { phase: "Bound" } })
      same(bound.status.lastPhaseTransitionTime, "1970-01-01T00:00:05Z")
      yield* TestClock.adjust("5 seconds")
      const said = yield* patch(`${volumes}/v/status`, "merge", { status: { message: "x" } })
      same(said.status.lastPhaseTransitionTime, "1970-01-01T00:00:05Z")
      const lastPhaseTransitionTime = "1970-01-01T00:00:01Z"
      const own = yield* patch(`${volumes}/v/status`, "merge", { status: { phase: "Failed", lastPhaseTransitionTime } })
      same(own.status.lastPhaseTransitionTime, lastPhaseTransitionTime)
    }).pipe(Effect.provide(layer()))
  )
})

describe("clusterIP and nodePort", () => {
  const services = "/api/v1/namespaces/default/services"
  const service = (name: string, spec: object = {}) => ({
    metadata: { name },
    spec: { ports: [{ port: 80 }], ...spec }
  })

  it.effect("are allocated in order, released on deletion, and unique", () =>
    Effect.gen(function* () {
      const ips: Array<string> = []
      for (const name of ["a", "b", "c"]) ips.push((yield* post(services, service(name))).spec.clusterIP)
      same(ips, ["10.96.0.2", "10.96.0.3", "10.96.0.4"])
      const taken = yield* refused(post(services, service("d", { clusterIP: "10.96.0.3" })))
      assert.match(taken.message, /^Service "d" is invalid: spec.clusterIPs: Invalid value: .*already allocated$/)
      same(names(yield* get(services)), ["a", "b", "c", "kubernetes"])
      same((yield* post(services, service("e", { clusterIP: "None" }))).spec.clusterIPs, ["None"])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("are cleared with the type that needs them, together with their settings", () =>
    Effect.gen(function* () {
      const spec = { type: "LoadBalancer", externalTrafficPolicy: "Local", loadBalancerClass: "a.b/c" }
      const made = yield* post(services, service("a", spec))
      same(made.spec.allocateLoadBalancerNodePorts, true)
      const plain = yield* patch(`${services}/a`, "merge", { spec: { type: "ClusterIP" } })
      const gone = ["externalTrafficPolicy", "loadBalancerClass", "allocateLoadBalancerNodePorts"]
      same(
        [plain.spec.ports[0].nodePort, ...gone.map((field) => plain.spec[field])],
        [undefined, undefined, undefined, undefined]
      )
      const said = yield* refused(
        patch(`${services}/a`, "merge", { spec: { type: "ClusterIP", externalTrafficPolicy: "Local" } })
      )
      same(said.status, 422)
      const reached = yield* post(services, service("b", { externalIPs: ["198.51.100.1"] }))
      same(reached.spec.externalTrafficPolicy, "Cluster")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("nodePorts are allocated for types that need them", () =>
    Effect.gen(function* () {
      const first = yield* post(services, service("a", { type: "NodePort" }))
      same(first.spec.ports[0].nodePort, 30_000)
      const taken = yield* refused(
        post(services, service("b", { type: "NodePort", ports: [{ port: 1, nodePort: 30_000 }] }))
      )
      same(
        taken.message,
        'Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 30000: provided port is already allocated'
      )
      const plain = yield* put(`${services}/a`, service("a"))
      same(
        [plain.spec.type, plain.spec.ports[0].nodePort, plain.spec.clusterIP],
        ["ClusterIP", undefined, first.spec.clusterIP]
      )
      same((yield* post(services, service("c", { type: "LoadBalancer" }))).spec.ports[0].nodePort, 30_000)
      same((yield* refused(put(`${services}/a`, service("a", { clusterIP: "10.96.0.99" })))).status, 422)
    }).pipe(Effect.provide(layer()))
  )
})

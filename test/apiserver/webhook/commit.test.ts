/** Requests that wait for a webhook while others write: what is stored, charged, allocated and asked again. */
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { TestClock } from "effect/testing"
import { Transport } from "../../../src/layers/Transport.ts"
import { configMap, configMaps, get, patch, post, put, refused, remove, request, same } from "../client.ts"
import { answer, configure, everyWrite, hook, layer } from "./harness.ts"

const services = "/api/v1/namespaces/default/services"
const quotas = "/api/v1/namespaces/default/resourcequotas"

const service = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port: 80 }], ...spec }
})

/** The webhook takes a second to allow a request. */
const slow = { slow: (review: any) => Effect.delay(Effect.succeed(answer(review, {})), "1 second") }

/** The webhook is asked about writes of these resources to objects with the label `checked`. */
const slowFor = (resources: ReadonlyArray<string>) =>
  configure("validating", [
    hook("slow", {
      rules: [{ ...everyWrite, resources }],
      objectSelector: { matchLabels: { checked: "yes" } }
    })
  ])

const checked = <A extends { readonly metadata: object }>(object: A) => ({
  ...object,
  metadata: { ...object.metadata, labels: { checked: "yes" } }
})

const started = <A, E, R>(request: Effect.Effect<A, E, R>) => Effect.forkChild(request, { startImmediately: true })

describe("a request that waits for a webhook", () => {
  it.effect("gives a Service another address and another node port than one that was created meanwhile", () =>
    Effect.gen(function* () {
      yield* slowFor(["services"])
      const waiting = yield* started(post(services, checked(service("a", { type: "NodePort" }))))
      const meanwhile = yield* post(services, service("b", { type: "NodePort" }))
      yield* TestClock.adjust("3 seconds")
      const { spec } = yield* Fiber.join(waiting)
      same(meanwhile.spec.clusterIP, "10.96.0.2")
      same(spec.clusterIP, "10.96.0.3")
      same([meanwhile.spec.ports[0].nodePort, spec.ports[0].nodePort], [30_000, 30_001])
    }).pipe(Effect.provide(layer(slow)))
  )

  it.effect("gives a Service that becomes a NodePort another port than one that was created meanwhile", () =>
    Effect.gen(function* () {
      yield* post(services, service("a"))
      yield* configure("validating", [hook("slow", { rules: [{ ...everyWrite, operations: ["UPDATE"] }] })])
      const waiting = yield* started(patch(`${services}/a`, "merge", { spec: { type: "NodePort" } }))
      const meanwhile = yield* post(services, service("b", { type: "NodePort" }))
      yield* TestClock.adjust("3 seconds")
      const { spec } = yield* Fiber.join(waiting)
      same([meanwhile.spec.ports[0].nodePort, spec.ports[0].nodePort], [30_000, 30_001])
    }).pipe(Effect.provide(layer(slow)))
  )

  it.effect("asks the webhook again about a deletion of an object that changed meanwhile", () => {
    const asked: Array<any> = []
    return Effect.gen(function* () {
      yield* post(configMaps, configMap("a"))
      yield* configure("validating", [hook("slow", { rules: [{ ...everyWrite, operations: ["DELETE"] }] })])
      const deletion = yield* started(remove(`${configMaps}/a`))
      yield* patch(`${configMaps}/a`, "merge", { data: { x: "1" } })
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(deletion)
      same(
        asked.map(({ oldObject }) => oldObject.data),
        [undefined, { x: "1" }]
      )
    }).pipe(Effect.provide(layer(slow, asked)))
  })

  it.effect("warns once about what a repeated try finds again", () =>
    Effect.gen(function* () {
      yield* post(services, service("a"))
      yield* configure("validating", [hook("slow", { rules: [{ ...everyWrite, resources: ["services"] }] })])
      const { send } = yield* Transport
      const body = { ...service("a"), unknown: true }
      const waiting = yield* started(send(request("PUT", `${services}/a`, body)))
      yield* patch(`${services}/a/status`, "merge", { status: { loadBalancer: { ingress: [{ ip: "10.1.1.1" }] } } })
      yield* TestClock.adjust("10 seconds")
      same((yield* Fiber.join(waiting)).warnings, ['unknown field "unknown"'])
    }).pipe(Effect.provide(layer(slow)))
  )

  it.effect("refuses a Service whose address was taken meanwhile", () =>
    Effect.gen(function* () {
      yield* slowFor(["services"])
      const waiting = yield* started(refused(post(services, checked(service("a", { clusterIP: "10.96.0.9" })))))
      yield* post(services, service("b", { clusterIP: "10.96.0.9" }))
      yield* TestClock.adjust("3 seconds")
      same((yield* Fiber.join(waiting)).status, 422)
    }).pipe(Effect.provide(layer(slow)))
  )

  it.effect("updates what was stored meanwhile, asks the webhook again, and charges a quota once", () => {
    const asked: Array<any> = []
    return Effect.gen(function* () {
      yield* slowFor(["services"])
      const created = yield* started(post(services, checked(service("a", { type: "NodePort" }))))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(created)
      const hard = { "services.nodeports": "9" }
      yield* post(quotas, { metadata: { name: "q" }, spec: { hard } })
      yield* patch(`${quotas}/q/status`, "merge", { status: { hard, used: { "services.nodeports": "1" } } })
      asked.length = 0
      const { resourceVersion: _, ...metadata } = (yield* get(`${services}/a`)).metadata
      const ports = [80, 81, 82].map((port) => ({ name: `p${port}`, port }))
      const body = { metadata, spec: { ...service("a").spec, type: "NodePort", ports } }
      const waiting = yield* started(put(`${services}/a`, body))
      // No webhook is asked about a status.
      yield* patch(`${services}/a/status`, "merge", { status: { loadBalancer: { ingress: [{ ip: "10.1.1.1" }] } } })
      yield* TestClock.adjust("3 seconds")
      const after = yield* Fiber.join(waiting)
      same(after.spec.ports.length, 3)
      same(after.status.loadBalancer.ingress, [{ ip: "10.1.1.1" }])
      same(
        asked.map(({ oldObject }) => oldObject.status.loadBalancer.ingress?.length ?? 0),
        [0, 1]
      )
      same((yield* get(`${quotas}/q`)).status.used, { "services.nodeports": "3" })
    }).pipe(Effect.provide(layer(slow, asked, { admission: { resourceQuota: true } })))
  })

  it.effect("refuses an update of an old resourceVersion, and a deletion with one", () =>
    Effect.gen(function* () {
      yield* post(configMaps, configMap("a"))
      yield* slowFor(["configmaps"])
      const labelled = yield* started(patch(`${configMaps}/a`, "merge", { metadata: { labels: { checked: "yes" } } }))
      yield* TestClock.adjust("1 second")
      const { metadata } = yield* Fiber.join(labelled)
      const other = yield* started(patch(`${configMaps}/a`, "merge", { data: { other: "1" } }))
      const update = yield* started(refused(put(`${configMaps}/a`, { ...configMap("a", { own: "1" }), metadata })))
      const preconditions = { resourceVersion: metadata.resourceVersion }
      const deletion = yield* started(refused(remove(`${configMaps}/a`, { preconditions })))
      yield* TestClock.adjust("10 seconds")
      same((yield* Fiber.join(other)).data, { other: "1" })
      same((yield* Fiber.join(update)).status, 409)
      same((yield* Fiber.join(deletion)).status, 409)
    }).pipe(Effect.provide(layer(slow)))
  )

  it.effect("creates nothing under a name that was taken meanwhile; a PUT updates that object", () =>
    Effect.gen(function* () {
      const endpoints = "/api/v1/namespaces/default/endpoints"
      const at = (ip: string) => ({ metadata: { name: "a" }, subsets: [{ addresses: [{ ip }] }] })
      yield* slowFor(["endpoints"])
      const created = yield* started(refused(post(endpoints, checked(at("10.1.1.1")))))
      const written = yield* started(put(`${endpoints}/a`, checked(at("10.1.1.2"))))
      yield* post(endpoints, at("10.1.1.3"))
      yield* TestClock.adjust("5 seconds")
      same((yield* Fiber.join(created)).status, 409)
      same((yield* Fiber.join(written)).subsets[0].addresses, [{ ip: "10.1.1.2" }])
      same((yield* get(`${endpoints}/a`)).subsets[0].addresses, [{ ip: "10.1.1.2" }])
    }).pipe(Effect.provide(layer(slow)))
  )

  it.effect("creates nothing in a namespace that was deleted meanwhile", () =>
    Effect.gen(function* () {
      yield* post("/api/v1/namespaces", { metadata: { name: "n" } })
      yield* slowFor(["configmaps"])
      const waiting = yield* started(refused(post("/api/v1/namespaces/n/configmaps", checked(configMap("a")))))
      yield* remove("/api/v1/namespaces/n")
      yield* put("/api/v1/namespaces/n/finalize", { metadata: { name: "n" }, spec: { finalizers: [] } })
      yield* TestClock.adjust("2 seconds")
      same((yield* Fiber.join(waiting)).status, 404)
      same((yield* get("/api/v1/configmaps")).items, [])
    }).pipe(Effect.provide(layer(slow)))
  )

  it.effect("creates no object of a kind whose definition was deleted meanwhile", () =>
    Effect.gen(function* () {
      const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
      const widgets = "/apis/example.test/v1/namespaces/default/widgets"
      const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }
      const definition = {
        metadata: { name: "widgets.example.test" },
        spec: {
          group: "example.test",
          scope: "Namespaced",
          names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
          versions: [{ name: "v1", served: true, storage: true, schema }]
        }
      }
      yield* post(definitions, definition)
      yield* slowFor(["widgets"])
      const waiting = yield* started(refused(post(widgets, checked({ metadata: { name: "a" } }))))
      yield* remove(`${definitions}/widgets.example.test`)
      yield* TestClock.adjust("2 seconds")
      same((yield* Fiber.join(waiting)).status, 404)
      yield* post(definitions, definition)
      same((yield* get(widgets)).items, [])
    }).pipe(Effect.provide(layer(slow)))
  )
})

/** Warnings of valid requests: deprecated kinds and fields, and fields that have no effect. */
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Transport } from "../../src/layers/Transport.ts"
import { layer, post, request, same } from "./client.ts"

const services = "/api/v1/namespaces/default/services"

const warningsOf = (method: "GET" | "POST" | "PUT", path: string, body?: unknown) =>
  Effect.flatMap(Transport, (transport) =>
    Effect.map(transport.send(request(method, path, body)), ({ warnings }) => warnings)
  )

const service = (name: string, spec: object, annotations: object = {}) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, annotations },
  spec: { ports: [{ port: 80 }], ...spec }
})

it.effect("the writer of a Service is warned of deprecated fields, and of those that have no effect", () =>
  Effect.gen(function* () {
    const externalIPs = ["192.0.2.1"]
    const deprecated = "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
    const cases: ReadonlyArray<readonly [spec: object, ...warnings: ReadonlyArray<string>]> = [
      [{}],
      [{ externalIPs }, deprecated],
      [{ type: "LoadBalancer", externalIPs }, deprecated],
      [
        { clusterIP: "None", externalIPs, sessionAffinity: "ClientIP" },
        "spec.externalIPs is ignored for headless services",
        "spec.SessionAffinity is ignored for headless services"
      ],
      [
        { type: "ExternalName", externalName: "a.example", externalIPs },
        'spec.externalIPs is ignored when spec.type is "ExternalName"'
      ],
      [{ externalName: "a.example" }, 'spec.externalName is ignored when spec.type is not "ExternalName"'],
      [
        { trafficDistribution: "PreferClose" },
        'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'
      ]
    ]
    for (const [index, [spec, ...warnings]] of cases.entries()) {
      same(yield* warningsOf("POST", services, service(`s${index}`, spec)), warnings)
    }
    same(yield* warningsOf("PUT", `${services}/s0`, service("s0", { externalIPs })), [deprecated])
    same(yield* warningsOf("GET", `${services}/s0`), [])
    same(
      yield* warningsOf(
        "POST",
        services,
        service("hints", {}, { "service.kubernetes.io/topology-aware-hints": "auto" })
      ),
      [
        "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead"
      ]
    )
  }).pipe(Effect.provide(layer()))
)

it.effect("every request for Endpoints gets the warning that they are deprecated", () =>
  Effect.gen(function* () {
    const endpoints = "/api/v1/namespaces/default/endpoints"
    const warnings = ["v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"]
    yield* post(services, service("web", {}))
    same(yield* warningsOf("GET", endpoints), warnings)
    same(yield* warningsOf("GET", `${endpoints}/kubernetes`), warnings)
    same(yield* warningsOf("POST", endpoints, { metadata: { name: "a" } }), warnings)
  }).pipe(Effect.provide(layer()))
)

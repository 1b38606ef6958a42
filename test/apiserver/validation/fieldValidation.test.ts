/** Unknown fields and values of a wrong type, by `fieldValidation` and kind of write, with kube-apiserver's messages. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Answer } from "../../../src/apiserver/Api.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { get, layer, patch, post, put, refused, same } from "../client.ts"

const deployments = "/apis/apps/v1/namespaces/default/deployments"
const secrets = "/api/v1/namespaces/default/secrets"
const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"

const deployment = (spec: object = {}, container: object = {}, metadata: object = {}) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "d", ...metadata },
  spec: {
    selector: { matchLabels: { a: "b" } },
    template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i", ...container }] } },
    ...spec
  }
})

/** The raw response, with its headers. */
const raw = (
  method: string,
  path: string,
  body: string,
  query: Record<string, string> = {},
  type = "application/json"
) =>
  Effect.flatMap(ApiServer, (server) =>
    server.handle({
      method,
      path,
      query: new URLSearchParams(query),
      headers: { "content-type": type },
      body,
      user: { name: "x", groups: [] }
    })
  ).pipe(Effect.map((answer) => answer as Answer))

const cannot = 'Deployment in version "v1" cannot be handled as a Deployment: '

describe("an unknown field", () => {
  const odd = deployment({ foo: 1 }, { bar: { deep: true }, env: [{ name: "A", valu: "x" }] })
  const places = ["spec.template.spec.containers[0].bar", "spec.template.spec.containers[0].env[0].valu", "spec.foo"]
  const errors = places.map((path) => `unknown field "${path}"`)

  it.effect("is an error with fieldValidation=Strict, and nothing is stored", () =>
    Effect.gen(function* () {
      const no = yield* refused(post(deployments, odd, { fieldValidation: "Strict" }))
      same([no.status, no.error.reason._tag], [400, "BadRequest"])
      same(no.message, `${cannot}strict decoding error: ${errors.join(", ")}`)
      same((yield* get(deployments)).items, [])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("is dropped, with a warning unless fieldValidation=Ignore", () =>
    Effect.gen(function* () {
      const warned = yield* raw("POST", deployments, JSON.stringify(odd))
      same(
        [warned.status, warned.headers],
        [201, { warning: errors.map((error) => `299 - ${JSON.stringify(error)}`).join(", ") }]
      )
      const { spec } = yield* get(`${deployments}/d`)
      const [container] = spec.template.spec.containers
      same([spec.foo, container.bar, container.env], [undefined, undefined, [{ name: "A" }]])
      const ignored = yield* raw("PUT", `${deployments}/d`, JSON.stringify(odd), { fieldValidation: "Ignore" })
      same([ignored.status, ignored.headers], [200, undefined])
      const strict = yield* refused(put(`${deployments}/d`, odd, { fieldValidation: "Strict" }))
      same(strict.message, `${cannot}strict decoding error: ${errors.join(", ")}`)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("in a patch is reported with the patched object", () =>
    Effect.gen(function* () {
      yield* post(deployments, deployment())
      const strict = { fieldValidation: "Strict" }
      const merge = yield* refused(patch(`${deployments}/d`, "merge", { spec: { foo: 1 } }, strict))
      same([merge.status, merge.error.reason._tag], [422, "Invalid"])
      same(
        /^ "" is invalid: patch: Invalid value: "\{.*\}": (.*)$/.exec(merge.message)?.[1],
        'strict decoding error: unknown field "spec.foo"'
      )
      const strategic = yield* refused(
        patch(`${deployments}/d`, "strategic", { spec: { foo: [1, { b: "c", a: null }] } }, strict)
      )
      same(
        strategic.message,
        ` "" is invalid: patch: Invalid value: "map[spec:map[foo:[1 map[a:<nil> b:c]]]]": strict decoding error: unknown field "spec.foo"`
      )
      const before = yield* get(`${deployments}/d`)
      const warned = yield* raw(
        "PATCH",
        `${deployments}/d`,
        JSON.stringify({ spec: { foo: 1 } }),
        {},
        "application/merge-patch+json"
      )
      same([warned.status, warned.headers?.["warning"]], [200, String.raw`299 - "unknown field \"spec.foo\""`])
      same(yield* get(`${deployments}/d`), before)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("in an apply is an error with any fieldValidation", () =>
    Effect.gen(function* () {
      for (const fieldValidation of ["Ignore", "Warn", "Strict"]) {
        const no = yield* refused(
          patch(`${deployments}/d`, "apply", deployment({ foo: 1 }), { fieldManager: "m", fieldValidation })
        )
        same(
          [no.status, no.message],
          [
            400,
            "failed to create typed patch object (/d; apps/v1, Kind=Deployment): .spec.foo: field not declared in schema"
          ]
        )
      }
    }).pipe(Effect.provide(layer()))
  )
})

describe("a value of a wrong type", () => {
  const field = (found: string, place: string, type: string) =>
    `json: cannot unmarshal ${found} into Go struct field ${place} of type ${type}`
  const pattern = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
  const time = (value: string, rest: string, part: string) =>
    `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(part)}`
  const surge = (maxSurge: unknown) => deployment({ strategy: { rollingUpdate: { maxSurge } } })
  const limit = (cpu: unknown) => deployment({}, { resources: { limits: { cpu } } })
  const created = (creationTimestamp: unknown) => deployment({}, {}, { creationTimestamp })

  /** Messages of types with their own UnmarshalJSON are those of 1.20; messages of Go's decoder are those of 1.23 and later. */
  const cases: ReadonlyArray<readonly [string, object, string]> = [
    ["a text for a number", deployment({ replicas: "two" }), field("string", "DeploymentSpec.spec.replicas", "int32")],
    ["a fraction", deployment({ replicas: 1.5 }), field("number 1.5", "DeploymentSpec.spec.replicas", "int32")],
    [
      "a number too large",
      deployment({ replicas: 99999999999 }),
      field("number 99999999999", "DeploymentSpec.spec.replicas", "int32")
    ],
    ["a text for a truth", deployment({ paused: "yes" }), field("string", "DeploymentSpec.spec.paused", "bool")],
    [
      "a number for a text",
      deployment({}, { image: 5 }),
      field("number", "Container.spec.template.spec.containers.image", "string")
    ],
    [
      "an object for a list",
      deployment({}, { ports: {} }),
      field("object", "Container.spec.template.spec.containers.ports", "[]v1.ContainerPort")
    ],
    [
      "a list for a map",
      deployment({}, {}, { labels: [] }),
      field("array", "ObjectMeta.metadata.labels", "map[string]string")
    ],
    [
      "a number in a map",
      deployment({}, {}, { labels: { a: 1 } }),
      field("number", "ObjectMeta.metadata.labels", "string")
    ],
    ["a text for a struct", { ...deployment(), spec: "x" }, field("string", "Deployment.spec", "v1.DeploymentSpec")],
    [
      "a text for the metadata",
      { ...deployment(), metadata: "x" },
      field("string", "Deployment.metadata", "v1.ObjectMeta")
    ],
    ["a word for a quantity", limit("lots"), pattern],
    ["a truth for a quantity", limit(true), pattern],
    ["a quantity with a suffix nobody knows", limit("1kk"), "unable to parse quantity's suffix"],
    ["a word for a time", created("yesterday"), time("yesterday", "yesterday", "2006")],
    ["a day for a time", created("2026-01-01"), time("2026-01-01", "", "T")],
    ["a number for a time", created(5), "json: cannot unmarshal number into Go value of type string"],
    ["a truth for int-or-string", surge(true), "json: cannot unmarshal bool into Go value of type int32"],
    ["a fraction for int-or-string", surge(1.5), "json: cannot unmarshal number 1.5 into Go value of type int32"]
  ]
  for (const [title, body, message] of cases) {
    it.effect(`${title} is rejected with any fieldValidation`, () =>
      Effect.gen(function* () {
        for (const fieldValidation of ["Ignore", "Warn", "Strict"]) {
          const no = yield* refused(post(deployments, body, { fieldValidation }))
          same([no.status, no.message], [400, cannot + message])
        }
      }).pipe(Effect.provide(layer()))
    )
  }

  it.effect("is rejected for bytes and MicroTime too", () =>
    Effect.gen(function* () {
      const secret = (a: unknown) => ({ apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, data: { a } })
      const bytes = yield* refused(post(secrets, secret("%%%")))
      same(bytes.message, 'Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 0')
      same((yield* post(secrets, secret("YWJj"))).data, { a: "YWJj" })
      const lease = (renewTime: string) => ({ metadata: { name: "l" }, spec: { renewTime } })
      same(
        (yield* refused(post(leases, lease("2026-01-01T00:00:00Z")))).message,
        'Lease in version "v1" cannot be handled as a Lease: parsing time "2026-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"'
      )
      yield* post(leases, lease("2026-01-01T00:00:00.000000Z"))
    }).pipe(Effect.provide(layer()))
  )

  it.effect("in a patch has the message of the patch type", () =>
    Effect.gen(function* () {
      yield* post(deployments, deployment())
      const at = `${deployments}/d`
      const merge = yield* refused(patch(at, "merge", { spec: { replicas: "two" } }))
      same(
        [merge.status, merge.message.endsWith(field("string", "DeploymentSpec.spec.replicas", "int32"))],
        [422, true]
      )
      const json = yield* refused(patch(at, "json", [{ op: "add", path: "/spec/replicas", value: "two" }]))
      same([json.status, json.message.endsWith(field("string", "DeploymentSpec.spec.replicas", "int32"))], [422, true])
      const strategic = (body: object) => Effect.map(refused(patch(at, "strategic", body)), ({ message }) => message)
      const start = ' "" is invalid: patch: Invalid value: "map[spec:'
      same(yield* strategic({ spec: { replicas: "two" } }), `${start}map[replicas:two]]": unrecognized type: int32`)
      same(
        yield* strategic({ spec: { replicas: 1.5 } }),
        `${start}map[replicas:1.5]]": cannot convert float64 to int32`
      )
      same(yield* strategic({ spec: { paused: 1 } }), `${start}map[paused:1]]": unrecognized type: bool`)
      same(yield* strategic({ spec: "x" }), `${start}x]": cannot restore struct from: string`)
      same(
        yield* strategic({ spec: { template: { spec: { containers: {} } } } }),
        `${start}map[template:map[spec:map[containers:map[]]]]]": cannot restore slice from map`
      )
      const apply = yield* refused(patch(at, "apply", deployment({ replicas: "two" }), { fieldManager: "m" }))
      same(
        apply.message,
        "failed to create typed patch object (/d; apps/v1, Kind=Deployment): .spec.replicas: expected numeric (int or float), got two"
      )
    }).pipe(Effect.provide(layer()))
  )
})

describe("subresources with types of their own", () => {
  it.effect("are decoded the same way", () =>
    Effect.gen(function* () {
      yield* post(deployments, deployment({ replicas: 1 }))
      const scale = `${deployments}/d/scale`
      const wrong = yield* refused(put(scale, { metadata: { name: "d" }, spec: { replicas: "x" } }))
      same(
        [wrong.status, wrong.message],
        [
          400,
          'Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal string into Go struct field ScaleSpec.spec.replicas of type int32'
        ]
      )
      const typo = yield* refused(put(scale, { spec: { replicsa: 2 } }, { fieldValidation: "Strict" }))
      same(typo.message.endsWith('strict decoding error: unknown field "spec.replicsa"'), true)
      const patched = yield* refused(patch(scale, "merge", { spec: { replicas: "x" } }))
      same([patched.status, patched.error.reason._tag], [422, "Invalid"])
      same((yield* patch(scale, "merge", { spec: { replicas: 3 } })).spec.replicas, 3)
      const binding = yield* refused(post("/api/v1/namespaces/default/pods/x/binding", { target: { name: 5 } }))
      same(
        [binding.status, binding.message],
        [
          400,
          'Binding in version "v1" cannot be handled as a Binding: json: cannot unmarshal number into Go struct field ObjectReference.target.name of type string'
        ]
      )
    }).pipe(Effect.provide(layer()))
  )
})

describe("other values", () => {
  it.effect("a quantity may be a number, and is stored as a string", () =>
    Effect.gen(function* () {
      const body = deployment({}, { resources: { limits: { cpu: 1, memory: "64Mi" } } })
      const made = yield* raw("POST", deployments, JSON.stringify(body), { fieldValidation: "Strict" })
      same(made.status, 201)
      const { spec } = yield* get(`${deployments}/d`)
      same(spec.template.spec.containers[0].resources.limits, { cpu: "1", memory: "64Mi" })
    }).pipe(Effect.provide(layer()))
  )

  it.effect("a duplicate member is reported; the last one is stored", () =>
    Effect.gen(function* () {
      const text = JSON.stringify(deployment({ replicas: 1 })).replace('"replicas":1', '"replicas":1,"replicas":2')
      const strict = yield* raw("POST", deployments, text, { fieldValidation: "Strict" })
      same(
        [strict.status, JSON.parse(strict.body).message],
        [400, `${cannot}strict decoding error: duplicate field "spec.replicas"`]
      )
      const warned = yield* raw("POST", deployments, text)
      same([warned.status, warned.headers?.["warning"]], [201, String.raw`299 - "duplicate field \"spec.replicas\""`])
      same(JSON.parse(warned.body).spec.replicas, 2)
      same((yield* raw("PUT", `${deployments}/d`, text, { fieldValidation: "Ignore" })).headers, undefined)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("an unknown fieldValidation is rejected, and so is an unknown field that is null", () =>
    Effect.gen(function* () {
      const no = yield* refused(post(deployments, deployment(), { fieldValidation: "Loose" }))
      same(
        [no.status, no.message],
        [
          422,
          'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Loose": supported values: "Ignore", "Strict", "Warn"'
        ]
      )
      const unknown = yield* refused(post(deployments, deployment({ foo: null }), { fieldValidation: "Strict" }))
      assert.match(unknown.message, /strict decoding error: unknown field "spec\.foo"$/)
      yield* post(deployments, deployment({ replicas: null }), { fieldValidation: "Strict" })
    }).pipe(Effect.provide(layer()))
  )
})

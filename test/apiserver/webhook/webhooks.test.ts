/** In-process webhooks: which are called, what their responses do, and invalid responses. */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"
import { ConfigMap } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { configMap, configMaps, get, patch, pod, pods, post, put, refused, remove, request, same } from "../client.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { Transport } from "../../../src/layers/Transport.ts"
import { answer, configurations, configure, everyWrite, hook, layer, patching, says } from "./harness.ts"

const mark = (key: string) => patching({ op: "add", path: `/data/${key}`, value: "1" })

describe("a mutating webhook", () => {
  const asked: Array<any> = []
  it.effect("receives a new object without server-set fields, and changes it before validation", () =>
    Effect.gen(function* () {
      yield* configure("mutating", [hook("a")])
      const made = yield* post(configMaps, configMap("x", { own: "1" }), { fieldManager: "me" })
      same(made.data, { own: "1", a: "1" })
      same((yield* get(`${configMaps}/x`)).data, made.data)
      const [{ uid, userInfo, ...request }] = asked
      assert.match(uid, /^[\da-f-]{36}$/)
      same(userInfo.username, "system:admin")
      same(request, {
        kind: { group: "", version: "v1", kind: "ConfigMap" },
        resource: { group: "", version: "v1", resource: "configmaps" },
        requestKind: { group: "", version: "v1", kind: "ConfigMap" },
        requestResource: { group: "", version: "v1", resource: "configmaps" },
        name: "x",
        namespace: "default",
        operation: "CREATE",
        object: {
          kind: "ConfigMap",
          apiVersion: "v1",
          metadata: { name: "x", namespace: "default" },
          data: { own: "1" }
        },
        oldObject: null,
        dryRun: false,
        options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1", fieldManager: "me" }
      })
    }).pipe(Effect.provide(layer({ a: says(mark("a")) }, asked)))
  )

  it.effect("receives the object as the previous one patched it, in the order of names", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const appending = (name: string) => (review: any) => {
        seen.push(`${name} ${Object.keys(review.request.object.data ?? {}).join(",")}`)
        return Effect.succeed(
          answer(review, patching({ op: "add", path: "/data", value: { ...review.request.object.data, [name]: "1" } }))
        )
      }
      const run = Effect.gen(function* () {
        yield* configure("mutating", [hook("c")], "z")
        yield* configure("mutating", [hook("b"), hook("a")], "y")
        same((yield* post(configMaps, configMap("x"))).data, { b: "1", a: "1", c: "1" })
      })
      yield* Effect.provide(run, layer({ a: appending("a"), b: appending("b"), c: appending("c") }))
      same(seen, ["b ", "a b", "c b,a"])
    })
  )

  it.effect("cannot change server-set fields, nor fields that the endpoint does not change", () =>
    Effect.gen(function* () {
      yield* configure("mutating", [hook("a", { rules: [{ ...everyWrite, resources: ["*/*"] }] })])
      const made = yield* post(pods, pod("x"))
      assert.match(made.metadata.uid, /^[\da-f-]{36}$/)
      assert.notStrictEqual(made.metadata.uid, "mine")
      same([made.metadata.namespace, made.metadata.annotations, made.status.phase], ["default", { a: "1" }, "Pending"])
      const running = yield* patch(`${pods}/x/status`, "merge", { status: { phase: "Running" } })
      same([running.status.phase, running.status.message], ["Running", "hooked"])
      same([made.spec.activeDeadlineSeconds, running.spec.activeDeadlineSeconds], [5, 5])
    }).pipe(
      Effect.provide(
        layer({
          a: (review) =>
            Effect.succeed(
              answer(
                review,
                patching(
                  { op: "add", path: "/metadata/uid", value: "mine" },
                  { op: "add", path: "/metadata/annotations", value: { a: "1" } },
                  {
                    op: "add",
                    path: "/spec/activeDeadlineSeconds",
                    value: review.request.operation === "CREATE" ? 5 : 6
                  },
                  { op: "add", path: "/status", value: { phase: "Running", message: "hooked" } }
                )
              )
            )
        })
      )
    )
  )

  it.effect("whose patch is invalid or does not apply fails the request, whatever its failurePolicy", () =>
    Effect.gen(function* () {
      yield* configure("mutating", [hook("a", { failurePolicy: "Ignore" })])
      const bad = ["absent", "broken", "shape", "type"] as const
      for (const name of bad) {
        const { message, status } = yield* refused(post(configMaps, configMap(name)))
        same(status, 500, message)
        assert.match(message, /^Internal error occurred: /)
      }
      same((yield* get(configMaps)).items.length, 0)
    }).pipe(
      Effect.provide(
        layer({
          a: (review) => {
            const bad: Record<string, object> = {
              absent: patching({ op: "remove", path: "/data/none" }),
              broken: { patchType: "JSONPatch", patch: "e30x" },
              shape: patching({ op: "replace", path: "", value: [] }),
              type: patching({ op: "add", path: "/data", value: 1 })
            }
            return Effect.succeed(answer(review, bad[review.request.name] ?? {}))
          }
        })
      )
    )
  )
})

describe("a validating webhook", () => {
  it.effect("denies with its own message and status", () =>
    Effect.gen(function* () {
      yield* configure("validating", [hook("a")])
      const denied = (name: string) => refused(post(configMaps, configMap(name)))
      const prefix = 'admission webhook "a.hooks.example" denied the request'
      const plain = yield* denied("plain")
      same([plain.status, plain.message], [400, `${prefix} without explanation`])
      const told = yield* denied("told")
      same([told.status, told.message, told.error.reason._tag], [403, `${prefix}: not today`, "Forbidden"])
      const soft = yield* denied("soft")
      same([soft.status, soft.message], [400, `${prefix}: Because`])
      same((yield* get(configMaps)).items.length, 0)
    }).pipe(
      Effect.provide(
        layer({
          a: (review) => {
            const statuses: Record<string, object> = {
              plain: {},
              told: { status: { code: 403, reason: "Forbidden", message: "not today" } },
              soft: { status: { code: 200, status: "Success", reason: "Because" } }
            }
            return Effect.succeed(answer(review, { allowed: false, ...statuses[review.request.name] }))
          }
        })
      )
    )
  )

  const asked: Array<any> = []
  it.effect("is called for updates and deletions with the old object, and for a collection object by object", () =>
    Effect.gen(function* () {
      for (const name of ["a", "b", "c"]) yield* post(configMaps, configMap(name))
      yield* configure("validating", [hook("v")])
      yield* put(`${configMaps}/a`, configMap("a", { k: "1" }))
      yield* refused(remove(`${configMaps}/b`))
      const { message, status } = yield* refused(remove(configMaps))
      same([status, message], [400, 'admission webhook "v.hooks.example" denied the request: keep it'])
      same(
        (yield* get(configMaps)).items.map((one: any) => one.metadata.name),
        ["b", "c"]
      )
      same(
        asked.map(({ name, object, oldObject, operation }) => [
          operation,
          name,
          object?.data,
          oldObject?.metadata.name
        ]),
        [
          ["UPDATE", "a", { k: "1" }, "a"],
          ["DELETE", "b", undefined, "b"],
          ["DELETE", undefined, undefined, "a"],
          ["DELETE", undefined, undefined, "b"]
        ]
      )
    }).pipe(
      Effect.provide(
        layer(
          {
            v: (review) =>
              Effect.succeed(
                answer(review, {
                  allowed: review.request.operation !== "DELETE" || review.request.oldObject.metadata.name !== "b",
                  status: { message: "keep it" }
                })
              )
          },
          asked
        )
      )
    )
  )

  it.effect("is called once for each object of a large collection, with the namespace name", () => {
    const asked: Array<any> = []
    return Effect.gen(function* () {
      const names = Array.from({ length: 30 }, (_, index) => `c${index + 10}`)
      for (const name of names) yield* post(configMaps, configMap(name))
      const rules = [{ ...everyWrite, resources: ["configmaps", "namespaces"] }]
      yield* configure("validating", [hook("v", { rules, namespaceSelector: { matchLabels: { own: "yes" } } })])
      yield* patch("/api/v1/namespaces/default", "merge", { metadata: { labels: { own: "yes" } } })
      yield* remove(configMaps)
      same((yield* get(configMaps)).items, [])
      const [namespace, ...rest] = asked
      same([namespace.name, namespace.namespace, namespace.operation], ["default", "default", "UPDATE"])
      same(
        rest.map(({ oldObject }) => oldObject.metadata.name),
        names
      )
    }).pipe(Effect.provide(layer({ v: says({}) }, asked)))
  })

  it.effect("may return warnings", () =>
    Effect.gen(function* () {
      yield* configure("validating", [hook("a")])
      const { handle } = yield* ApiServer
      const said = yield* handle({
        method: "POST",
        path: configMaps,
        query: new URLSearchParams(),
        headers: {},
        body: JSON.stringify(configMap("x")),
        user: { name: "me", groups: [] }
      })
      assert(said._tag === "Answer")
      same(said.headers?.["warning"], '299 - "careful"')
    }).pipe(Effect.provide(layer({ a: says({ warnings: ["careful", "", "careful"] }) })))
  )

  it.effect("returns a limited size of warnings", () =>
    Effect.gen(function* () {
      yield* configure("validating", [hook("a")])
      const { warnings } = yield* (yield* Transport).send(request("POST", configMaps, configMap("x")))
      same(
        warnings.map((one) => one.length),
        [3000, 256, 256, 256, 256]
      )
    }).pipe(
      Effect.provide(
        layer({
          a: says({ warnings: ["a".repeat(3000), ...["b", "c", "d", "e", "f"].map((one) => one.repeat(1_000_000))] })
        })
      )
    )
  )
})

describe("webhooks for subresources with a kind of their own", () => {
  const told = ({ kind, name, object, oldObject, operation, resource, subResource }: any) => [
    operation,
    `${resource.resource}/${subResource} ${name}`,
    `${kind.group}/${kind.version} ${kind.kind}`,
    [object.apiVersion, object.kind],
    oldObject?.kind ?? null
  ]
  const replicaSets = "/apis/apps/v1/namespaces/default/replicasets"
  const replicaSet = {
    metadata: { name: "r" },
    spec: {
      replicas: 1,
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "main", image: "web:1" }] } }
    }
  }
  const rules = [{ ...everyWrite, resources: ["*/*"] }]

  it.effect("receive the kind of the subresource", () => {
    const asked: Array<any> = []
    return Effect.gen(function* () {
      yield* post(pods, pod("x"))
      yield* post(replicaSets, replicaSet)
      yield* post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "s" } })
      yield* configure("validating", [hook("v", { rules })])
      yield* post(`${pods}/x/binding`, { metadata: { name: "x" }, target: { kind: "Node", name: "n" } })
      yield* patch(`${replicaSets}/r/scale`, "merge", { spec: { replicas: 3 } })
      yield* post("/api/v1/namespaces/default/serviceaccounts/s/token", { spec: {} })
      yield* post(`${pods}/x/eviction`, { metadata: { name: "x" } })
      same(asked.map(told), [
        ["CREATE", "pods/binding x", "/v1 Binding", ["v1", "Binding"], null],
        ["UPDATE", "replicasets/scale r", "autoscaling/v1 Scale", ["autoscaling/v1", "Scale"], "Scale"],
        [
          "CREATE",
          "serviceaccounts/token s",
          "authentication.k8s.io/v1 TokenRequest",
          ["authentication.k8s.io/v1", "TokenRequest"],
          null
        ],
        ["CREATE", "pods/eviction x", "policy/v1 Eviction", ["policy/v1", "Eviction"], null]
      ])
      same([asked[1].oldObject.spec, asked[1].object.spec], [{ replicas: 1 }, { replicas: 3 }])
    }).pipe(Effect.provide(layer({ v: says({}) }, asked)))
  })

  it.effect("can deny and patch it", () =>
    Effect.gen(function* () {
      yield* post(pods, pod("x"))
      yield* post(replicaSets, replicaSet)
      yield* configure("mutating", [hook("m", { rules: [{ ...everyWrite, resources: ["replicasets/scale"] }] })])
      yield* configure("validating", [hook("v", { rules: [{ ...everyWrite, resources: ["pods/eviction"] }] })])
      same((yield* patch(`${replicaSets}/r/scale`, "merge", { spec: { replicas: 9 } })).spec, { replicas: 2 })
      same((yield* get(`${replicaSets}/r`)).spec.replicas, 2)
      same((yield* refused(post(`${pods}/x/eviction`, { metadata: { name: "x" } }))).status, 400)
      same((yield* get(`${pods}/x`)).metadata.deletionTimestamp, undefined)
    }).pipe(
      Effect.provide(
        layer({
          m: says(patching({ op: "replace", path: "/spec/replicas", value: 2 })),
          v: says({ allowed: false })
        })
      )
    )
  )
})

describe("a webhook that fails", () => {
  const answers = {
    hangs: () => Effect.never,
    throws: () => Effect.die(new Error("boom")),
    talks: () => Effect.succeed("{".repeat(8 * 1024 * 1024 + 1)),
    garbage: () => Effect.succeed("<html>"),
    stranger: (review: any) => Effect.succeed({ ...answer(review, {}), apiVersion: "admission.k8s.io/v1beta1" }),
    other: (review: any) => Effect.succeed(answer(review, { uid: "other" })),
    silent: (review: any) => Effect.succeed({ ...answer(review, {}), response: undefined }),
    patches: (review: any) => Effect.succeed(answer(review, mark("k")))
  }
  const words: Record<string, RegExp> = {
    hangs: /failed to call webhook: Post "https:\/\/hooks.example\/hangs\?timeout=3s": context deadline exceeded$/,
    throws: /failed to call webhook: Post "[^"]+": boom$/,
    talks: /the answer is longer than 8388608 bytes$/,
    garbage: /failed to call webhook: couldn't get version\/kind; json parse error/,
    stranger: /expected webhook response of admission.k8s.io\/v1, Kind=AdmissionReview, got admission.k8s.io\/v1beta1/,
    other: /received invalid webhook response: expected response.uid="[\da-f-]{36}", got "other"$/,
    silent: /webhook response was absent$/,
    patches: /validating webhook may not return response.patch$/,
    missing: /no handler/
  }
  const attempt = Effect.fnUntraced(function* (failurePolicy: string, name: string) {
    yield* configure("validating", [hook(name, { failurePolicy, timeoutSeconds: 3 })])
    const fiber = yield* Effect.forkChild(Effect.result(post(configMaps, configMap("x"))))
    yield* TestClock.adjust("2999 millis")
    if (name === "hangs") assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    return yield* Fiber.join(fiber)
  })

  for (const [name, expected] of Object.entries(words)) {
    it.effect(`fails the request with failurePolicy Fail: ${name}`, () =>
      Effect.gen(function* () {
        const result = yield* attempt("Fail", name)
        assert(result._tag === "Failure")
        same(result.failure.status, 500)
        assert.include(
          result.failure.detail,
          `Internal error occurred: failed calling webhook "${name}.hooks.example": `
        )
        assert.match(result.failure.detail, expected)
      }).pipe(Effect.provide(layer(answers)))
    )

    it.effect(`is ignored with failurePolicy Ignore: ${name}`, () =>
      Effect.gen(function* () {
        const result = yield* attempt("Ignore", name)
        assert.strictEqual(result._tag, "Success")
      }).pipe(Effect.provide(layer(answers)))
    )
  }
})

describe("a webhook that times out after thirty seconds", () => {
  /** Result of a create through the client of controllers, and its duration in seconds. */
  const created = Effect.fnUntraced(function* (policies: ReadonlyArray<"Fail" | "Ignore">) {
    for (const [i, failurePolicy] of policies.entries()) {
      yield* configure("mutating", [hook("hangs", { failurePolicy, timeoutSeconds: 30 })], `c${i}`)
    }
    const client = yield* KubeClient
    const began = yield* Clock.currentTimeMillis
    const create = client.create(ConfigMap, { metadata: { namespace: "default", name: "x" } })
    const fiber = yield* Effect.forkChild(
      Effect.flatMap(Effect.result(create), (result) =>
        Effect.map(Clock.currentTimeMillis, (now) => ({ result, seconds: (now - began) / 1000 }))
      )
    )
    yield* TestClock.adjust("5 minutes")
    return yield* Fiber.join(fiber)
  })
  const hanging = Layer.provideMerge(KubeClient.layer, layer({ hangs: () => Effect.never }))

  it.effect("is named in the error", () =>
    Effect.gen(function* () {
      const { result, seconds } = yield* created(["Ignore", "Fail"])
      assert(result._tag === "Failure")
      assert.match(result.failure.detail, /^Internal error occurred: failed calling webhook "hangs\.hooks\.example"/)
      same([result.failure.status, seconds], [500, 60])
    }).pipe(Effect.provide(hanging))
  )

  it.effect("is ignored with failurePolicy Ignore, and so are two", () =>
    Effect.gen(function* () {
      const { result, seconds } = yield* created(["Ignore", "Ignore"])
      same([result._tag, seconds], ["Success", 60])
    }).pipe(Effect.provide(hanging))
  )
})

describe("during a webhook call", () => {
  it.effect("other requests proceed, and a changed object is reviewed again", () => {
    const asked: Array<any> = []
    return Effect.gen(function* () {
      yield* post(configMaps, configMap("x", { n: "0" }))
      yield* configure("validating", [hook("slow", { objectSelector: { matchLabels: { slow: "yes" } } })])
      const slow = yield* Effect.forkChild(patch(`${configMaps}/x`, "merge", { metadata: { labels: { slow: "yes" } } }))
      yield* TestClock.adjust("1 second")
      same(asked.length, 1)
      yield* patch(`${configMaps}/x`, "merge", { data: { n: "1" } })
      yield* TestClock.adjust("1 second")
      same(asked.length, 2)
      assert.isUndefined(slow.pollUnsafe())
      yield* TestClock.adjust("2 seconds")
      const made = yield* Fiber.join(slow)
      same([made.data, made.metadata.labels], [{ n: "1" }, { slow: "yes" }])
      same(asked[1].oldObject.data, { n: "1" })
    }).pipe(Effect.provide(layer({ slow: (review) => Effect.delay(says({})(review), "2 seconds") }, asked)))
  })

  it.effect("an update of a replaced object is a conflict, and nothing is done or audited twice", () =>
    Effect.gen(function* () {
      const before = yield* post(configMaps, configMap("x"))
      yield* configure("validating", [hook("slow", { objectSelector: { matchLabels: { slow: "yes" } } })])
      const body = configMap("x", {}, { labels: { slow: "yes" }, resourceVersion: before.metadata.resourceVersion })
      const slow = yield* Effect.forkChild(Effect.flip(put(`${configMaps}/x`, body)))
      yield* TestClock.adjust("1 second")
      yield* patch(`${configMaps}/x`, "merge", { data: { n: "1" } })
      yield* TestClock.adjust("1 second")
      same((yield* Fiber.join(slow)).reason._tag, "Conflict")
      const entries = yield* (yield* ApiServer).audit
      same(entries.filter(({ verb }) => verb === "update").length, 1)
    }).pipe(Effect.provide(layer({ slow: (review) => Effect.delay(says({})(review), "2 seconds") })))
  )

  it.effect("a configuration that denies everything can be deleted", () =>
    Effect.gen(function* () {
      yield* configure("validating", [hook("a", { rules: [{ ...everyWrite, resources: ["*/*"] }] })])
      same((yield* refused(post(configMaps, configMap("x")))).status, 400)
      yield* remove(`${configurations}/validatingwebhookconfigurations/validating`)
      yield* post(configMaps, configMap("x"))
    }).pipe(Effect.provide(layer({ a: says({ allowed: false }) })))
  )
})

describe("in a ClusterTest", () => {
  const configuration = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: { name: v }
webhooks:
  - name: v.hooks.example
    admissionReviewVersions: [v1]
    sideEffects: None
    clientConfig: { service: { namespace: default, name: hooks, path: /validate } }
    rules: [{ apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE] }]
`

  it.effect("webhooks are functions, by their address", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip((yield* ClusterTest).apply([configMap("x")]))
      assert.include(String(error), 'admission webhook "v.hooks.example" denied the request: no')
    }).pipe(
      Effect.provide(
        ClusterTest.layer({
          objects: configuration,
          webhooks: { "https://hooks.default.svc:443/validate": says({ allowed: false, status: { message: "no" } }) }
        })
      )
    )
  )
})

describe("custom resources", () => {
  const schema = {
    openAPIV3Schema: {
      type: "object",
      properties: {
        spec: {
          type: "object",
          properties: { size: { type: "integer", maximum: 5 }, mode: { type: "string", default: "plain" } }
        }
      }
    }
  }
  const definition = {
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [
        { name: "v1", served: true, storage: true, schema },
        { name: "v2", served: true, storage: false, schema }
      ]
    }
  }
  const things = (version: string) => `/apis/example.com/${version}/namespaces/default/things`
  const thing = (name: string, size: number) => ({ metadata: { name }, spec: { size } })

  it.effect("are patched by webhooks before pruning, defaulting and validation by their schema", () => {
    const asked: Array<any> = []
    return Effect.gen(function* () {
      yield* post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
      const rules = [{ apiGroups: ["example.com"], apiVersions: ["v1"], resources: ["things"], operations: ["CREATE"] }]
      yield* configure("mutating", [hook("m", { rules })])
      const made = yield* post(things("v2"), thing("a", 1))
      same([made.apiVersion, made.spec], ["example.com/v2", { mode: "plain", size: 2 }])
      same((yield* refused(post(things("v1"), thing("b", 5)))).status, 422)
      const [{ kind, object, requestKind }] = asked
      same([kind.version, requestKind.version, object.apiVersion], ["v1", "v2", "example.com/v1"])
    }).pipe(
      Effect.provide(
        layer(
          {
            m: (review) =>
              Effect.succeed(
                answer(
                  review,
                  patching(
                    { op: "replace", path: "/spec/size", value: review.request.object.spec.size + 1 },
                    { op: "add", path: "/spec/unknown", value: 1 }
                  )
                )
              )
          },
          asked
        )
      )
    )
  })
})

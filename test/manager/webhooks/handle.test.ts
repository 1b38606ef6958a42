/** Reviews through the routes of webhooks: parsing, the called handlers, responses, and metrics. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as Schema from "effect/Schema"
import { TestClock } from "effect/testing"
import * as Text from "../../../src/manager/metrics/handle.ts"
import { handler } from "../../../src/manager/webhooks/handle.ts"
import * as Webhook from "../../../src/layers/Webhook.ts"
import { colouring, conversion, Gadget, sizes } from "../../layers/webhook/gadget.ts"
import { runs } from "../../support/runs.ts"
import { gadget, patchOf, post, review } from "./asking.ts"
import { json } from "./json.ts"

const mutate = "/mutate-demo-example-com-v2-gadget"
const validate = "/validate-demo-example-com-v2-gadget"
const served = handler([colouring, sizes])

/** The shape of a review with arbitrary values. */
const anyReview = Schema.Struct({
  kind: Schema.Literals(["AdmissionReview", "ConversionReview"]),
  apiVersion: Schema.Literals(["admission.k8s.io/v1", "apiextensions.k8s.io/v1"]),
  request: Schema.Struct({
    uid: Schema.Literals(["u", ""]),
    operation: Schema.Literals(["CREATE", "UPDATE", "DELETE", "CONNECT"]),
    kind: Schema.Struct({
      group: Schema.Literal("demo.example.com"),
      version: Schema.Literal("v2"),
      kind: Schema.Literals(["Gadget"])
    }),
    object: Schema.Struct({ metadata: json(2), spec: json(2) }),
    oldObject: Schema.Struct({ metadata: Schema.Struct({ name: json(1) }), spec: json(2) }),
    desiredAPIVersion: Schema.Literals(["demo.example.com/v1", "demo.example.com/v2"]),
    objects: Schema.Array(
      Schema.Struct({
        kind: Schema.Literals(["Gadget", "Pod"]),
        apiVersion: Schema.Literals(["demo.example.com/v1", "demo.example.com/v2"]),
        metadata: Schema.Struct({ name: Schema.String }),
        spec: Schema.Struct({ size: json(1), count: json(1) })
      })
    ).check(Schema.isMaxLength(3))
  })
})

const answering = (check: Parameters<typeof Webhook.validating<typeof Gadget>>[1]) =>
  handler([Webhook.validating(Gadget, check)])

describe("a review", () => {
  for (const version of ["v1", "v1beta1"]) {
    it.effect(`in ${version} is answered in ${version}, with its uid`, () =>
      Effect.gen(function* () {
        const {
          contentType,
          review: answer,
          status
        } = yield* post(yield* served, validate, review({ object: gadget({ size: 1 }) }, version))
        assert.deepStrictEqual([status, contentType], [200, "application/json"])
        assert.deepStrictEqual(answer, {
          kind: "AdmissionReview",
          apiVersion: `admission.k8s.io/${version}`,
          response: { uid: "u-1", allowed: true, status: { metadata: {}, code: 200 } }
        })
      })
    )
  }

  const object = gadget({ size: 1 })
  const bad: ReadonlyArray<readonly [string, number, unknown, object?]> = [
    ["of another content type", 400, review({ object }), { contentType: "text/plain" }],
    ["of no content type", 400, review({ object }), { contentType: undefined }],
    ["without a body", 400, ""],
    ["of more than is read", 413, undefined],
    ["that is not JSON", 400, '{"kind":'],
    ["that is a list", 400, "[]"],
    ["of another kind", 400, { ...review({ object }), kind: "Pod" }],
    ["in a version that nobody knows", 400, review({ object }, "v9")],
    ["without a request", 400, { ...review({}), request: null }],
    ["without a uid", 400, review({ object, uid: "" })],
    ["of an operation that nobody knows", 400, review({ object, operation: "PATCH" })],
    ["of a creation without an object", 400, review({})],
    ["of an update without what is stored", 400, review({ object, operation: "UPDATE" })],
    ["of a deletion without what is stored", 400, review({ operation: "DELETE" })],
    ["of an object without metadata", 400, review({ object: { spec: {} } })]
  ]
  for (const [what, code, body, more] of bad) {
    it.effect(`${what} is refused with ${code}, as a review`, () =>
      Effect.gen(function* () {
        const { review: answer, status } = yield* post(yield* served, validate, body, more)
        assert.strictEqual(status, code)
        assert.strictEqual(answer.kind, "AdmissionReview")
        assert.deepInclude(answer.response, { allowed: false })
        assert.strictEqual(answer.response.status.code, code)
        assert.notStrictEqual(answer.response.status.message, "")
      })
    )
  }

  it.effect("accepts a content type with parameters and in any case", () =>
    Effect.gen(function* () {
      const { status } = yield* post(yield* served, validate, review({ object }), {
        contentType: "Application/JSON; charset=utf-8"
      })
      assert.strictEqual(status, 200)
    })
  )

  it.effect("must be a POST to a known path", () =>
    Effect.gen(function* () {
      const routes = yield* served
      assert.strictEqual((yield* post(routes, "/validate", review({ object }))).status, 404)
      assert.strictEqual((yield* post(routes, validate, "", { method: "GET" })).status, 405)
    })
  )

  it.effect("of another kind or version is rejected, because the configuration is wrong", () =>
    Effect.gen(function* () {
      const kind = { group: "demo.example.com", version: "v1", kind: "Gadget" }
      const { review: answer } = yield* post(yield* served, validate, review({ object, kind }))
      assert.deepInclude(answer.response.status, {
        code: 400,
        message: "the webhook was asked about Gadget in demo.example.com/v1; it is about Gadget in demo.example.com/v2"
      })
    })
  )

  it.effect("of a CONNECT is allowed for any resource", () =>
    Effect.gen(function* () {
      const options = { kind: "PodExecOptions", apiVersion: "v1", command: ["sh"] }
      for (const path of [mutate, validate]) {
        const told = yield* post(yield* served, path, review({ operation: "CONNECT", object: options, kind: {} }))
        assert.deepInclude(told.review.response, { allowed: true })
      }
    })
  )
})

describe("whatever is posted", () => {
  const text = Schema.Union([Schema.String, Schema.fromJsonString(json(3)), Schema.fromJsonString(anyReview)])
  const paths = Schema.Literals([mutate, validate, "/convert"])

  it.effect.prop(
    "gets a review as the response, without a defect",
    { text, path: paths },
    ({ path, text }) =>
      Effect.gen(function* () {
        const body = typeof text === "string" ? text : JSON.stringify(text)
        const told = yield* post(yield* handler([colouring, sizes, conversion]), path, body)
        assert.include([200, 400], told.status)
        assert.strictEqual(told.review.kind, path === "/convert" ? "ConversionReview" : "AdmissionReview")
        assert.strictEqual(typeof told.review.response.uid, "string")
        assert.match(yield* Text.text, /^controller_runtime_webhook_panics_total 0$/m)
      }).pipe(
        Effect.provideServiceEffect(
          Metric.MetricRegistry,
          Effect.sync(() => new Map())
        )
      ),
    { arbitrary: { runs: runs(150) } }
  )
})

describe("many at once", () => {
  const text = JSON.stringify(review({ object: gadget({ size: 1 }) }))
  const asked = { method: "POST", query: new URLSearchParams(), bearer: undefined, contentType: "application/json" }

  it.effect("run up to the concurrency limit of their path; the others wait", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      let begun = 0
      const waiting = Webhook.validating(Gadget, () =>
        Effect.andThen(
          Effect.sync(() => begun++),
          Deferred.await(gate)
        )
      )
      const routes = yield* handler([waiting, colouring])
      const ask = (path: string) => routes({ ...asked, path, body: Effect.succeed(text) })
      const fibers = yield* Effect.forEach(Array.from({ length: 40 }), () => Effect.forkChild(ask(validate)))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(begun, 32)
      assert.strictEqual((yield* ask(mutate)).status, 200)
      yield* Deferred.succeed(gate, undefined)
      const answers = yield* Effect.forEach(fibers, Fiber.join)
      assert.deepStrictEqual([answers.every(({ status }) => status === 200), begun], [true, 40])
    })
  )

  it.effect("take no permit before their bodies have arrived", () =>
    Effect.gen(function* () {
      const routes = yield* served
      const ask = (body: Effect.Effect<string>) => Effect.forkChild(routes({ ...asked, path: validate, body }))
      yield* Effect.forEach(Array.from({ length: 64 }), () => ask(Effect.never))
      const fiber = yield* ask(Effect.succeed(text))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(fiber.pollUnsafe()?._tag, "Success")
    })
  )
})

describe("a defaulting webhook", () => {
  it.effect("responds with a patch of the changed fields only", () =>
    Effect.gen(function* () {
      const told = yield* post(yield* served, mutate, review({ object: gadget({ size: 1, wheels: [{ x: 1 }] }) }))
      assert.strictEqual(told.review.response.patchType, "JSONPatch")
      assert.deepStrictEqual(patchOf(told), [{ op: "add", path: "/spec/colour", value: "grey" }])
    })
  )

  it.effect("responds without a patch if nothing has changed", () =>
    Effect.gen(function* () {
      const object = gadget({ size: 1, colour: "red", wheels: {} })
      const { response } = (yield* post(yield* served, mutate, review({ object }))).review
      assert.notProperty(response, "patch")
      assert.notProperty(response, "patchType")
    })
  )

  it.effect("is not called for a deletion", () =>
    Effect.gen(function* () {
      const body = Webhook.defaulting(Gadget, () => Effect.die("it was asked"))
      const told = yield* post(
        yield* handler([body]),
        mutate,
        review({ operation: "DELETE", oldObject: gadget({ size: 1 }) })
      )
      assert.deepInclude(told.review.response, { allowed: true })
    })
  )

  it.effect("that returns an object that its Schema rejects causes an error response", () =>
    Effect.gen(function* () {
      const body = Webhook.defaulting(Gadget, (one) => Effect.succeed({ ...one, spec: { size: 77 } }))
      const { response } = (yield* post(yield* handler([body]), mutate, review({ object: gadget({ size: 1 }) }))).review
      assert.deepInclude(response, { allowed: false })
      assert.strictEqual(response.status.code, 500)
      assert.include(response.status.message, "spec.size: Expected a value between 1 and 5")
    })
  )
})

describe("webhooks in order", () => {
  const naming = (label: string, warning: string) =>
    Webhook.defaulting(Gadget, (one, { warn }) =>
      Effect.as(warn(warning), {
        ...one,
        metadata: { ...one.metadata, labels: { ...one.metadata.labels, [label]: String(one.spec.colour) } },
        spec: { ...one.spec, colour: label }
      })
    )

  it.effect("each get the result of the one before, and give one response", () =>
    Effect.gen(function* () {
      const both = Webhook.inOrder(naming("a", "first"), naming("b", "second"))
      const told = yield* post(yield* handler([both]), mutate, review({ object: gadget({ size: 1, colour: "red" }) }))
      assert.deepStrictEqual(told.review.response.warnings, ["first", "second"])
      assert.deepStrictEqual(patchOf(told), [
        { op: "add", path: "/metadata/labels", value: { a: "red", b: "a" } },
        { op: "replace", path: "/spec/colour", value: "b" }
      ])
    })
  )

  it.effect("end with the first denial, and return the warnings so far", () =>
    Effect.gen(function* () {
      const warning = (text: string) => Webhook.validating(Gadget, ({ warn }) => warn(text))
      const refusing = Webhook.validating(Gadget, ({ warn }) =>
        Effect.andThen(warn("two"), Webhook.deny("no", { code: 409, reason: "Conflict" }))
      )
      const all = Webhook.inOrder(warning("one"), refusing, warning("three"), refusing)
      const { response } = (yield* post(yield* handler([all]), validate, review({ object: gadget({ size: 1 }) })))
        .review
      assert.deepStrictEqual(response.warnings, ["one", "two"])
      assert.deepInclude(response.status, { code: 409, reason: "Conflict", message: "no" })
    })
  )

  it.effect("must have the same type and kind", () =>
    Effect.sync(() =>
      assert.throws(
        () => Webhook.inOrder(colouring, sizes),
        'the webhooks "default.gadgets.demo.example.com" and "validate.gadgets.demo.example.com" cannot be put in order'
      )
    )
  )
})

describe("what was stored before there was validation", () => {
  const stored = gadget({ size: 9 }, { finalizers: ["demo/f"] })
  const change = (object: object) => review({ operation: "UPDATE", oldObject: stored, object })
  const say = (path: string, object: object) =>
    Effect.flatMap(served, (routes) => Effect.map(post(routes, path, change(object)), ({ review }) => review.response))

  for (const path of [mutate, validate]) {
    it.effect(`can be labelled, and is warned of: ${path}`, () =>
      Effect.gen(function* () {
        const response = yield* say(path, gadget({ size: 9 }, { labels: { a: "b" } }))
        assert.deepInclude(response, { allowed: true })
        assert.deepStrictEqual(response.warnings, [
          "Gadget ns/one does not fit its schema: spec.size: Expected a value between 1 and 5; it was stored before"
        ])
      })
    )
    it.effect(`can lose its finalizers: ${path}`, () =>
      Effect.gen(function* () {
        const response = yield* say(path, gadget({ size: 8 }, { deletionTimestamp: "2020-01-01T00:00:00Z" }))
        assert.deepInclude(response, { allowed: true })
      })
    )
    it.effect(`cannot be made wrong in another way, but right: ${path}`, () =>
      Effect.gen(function* () {
        assert.deepInclude(yield* say(path, gadget({ size: 8 })), { allowed: false })
        assert.deepInclude(yield* say(path, gadget({ size: 2, colour: "red" })), { allowed: true })
      })
    )
  }

  it.effect("can be deleted without validation", () =>
    Effect.gen(function* () {
      const routes = yield* answering(() => Effect.die("it was asked"))
      const told = yield* post(routes, validate, review({ operation: "DELETE", oldObject: stored }))
      assert.deepInclude(told.review.response, { allowed: true })
    })
  )
})

describe("a broken handler", () => {
  const broken: ReadonlyArray<readonly [string, Effect.Effect<never>]> = [
    ["dies", Effect.die(new Error("secret detail"))],
    ["interrupts itself", Effect.interrupt],
    [
      "throws",
      Effect.suspend(() => {
        throw new Error("secret detail")
      })
    ]
  ]
  for (const [what, effect] of broken) {
    it.effect(`that ${what} is a 500 in the review, and the next one is answered`, () =>
      Effect.gen(function* () {
        let isFirst = true
        const routes = yield* answering(() => Effect.suspend(() => (isFirst ? effect : Effect.void)))
        const asked = review({ object: gadget({ size: 1 }), uid: "u-7" })
        const first = yield* post(routes, validate, asked)
        isFirst = false
        assert.deepStrictEqual([first.status, first.review.response.uid], [200, "u-7"])
        assert.deepInclude(first.review.response.status, { code: 500, reason: "InternalError" })
        assert.notInclude(JSON.stringify(first.review), "secret")
        assert.deepInclude((yield* post(routes, validate, asked)).review.response, { allowed: true })
        const text = yield* Text.text
        assert.match(text, /^controller_runtime_webhook_panics_total 1$/m)
        assert.match(text, /^controller_runtime_conversion_webhook_panics_total 0$/m)
      }).pipe(
        Effect.provideServiceEffect(
          Metric.MetricRegistry,
          Effect.sync(() => new Map())
        )
      )
    )
  }

  it.effect("that does not end is interrupted after the API server's timeout", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<void>()
      const routes = yield* answering(() =>
        Effect.andThen(Deferred.succeed(begun, undefined), Effect.never).pipe(
          Effect.onInterrupt(() => Deferred.succeed(ended, undefined))
        )
      )
      const asked = review({ object: gadget({ size: 1 }) })
      const fiber = yield* Effect.forkChild(post(routes, validate, asked, { query: "timeout=3s" }))
      yield* Deferred.await(begun)
      yield* TestClock.adjust("2999 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      const { review: answer, status } = yield* Fiber.join(fiber)
      assert.strictEqual(status, 504)
      assert.deepInclude(answer.response.status, { code: 504, message: "the webhook has not answered within 3s" })
      yield* Deferred.await(ended)
    })
  )
})

describe("what is counted", () => {
  it.effect("has series by path before the first review", () =>
    Effect.gen(function* () {
      yield* served
      const text = yield* Text.text
      for (const path of [mutate, validate]) {
        assert.include(text, `controller_runtime_webhook_requests_total{webhook="${path}",code="200"} 0`)
        assert.include(text, `controller_runtime_webhook_requests_total{webhook="${path}",code="500"} 0`)
        assert.include(text, `controller_runtime_webhook_requests_in_flight{webhook="${path}"} 0`)
        assert.include(text, `controller_runtime_webhook_latency_seconds_count{webhook="${path}"} 0`)
        assert.include(text, `controller_runtime_webhook_latency_seconds_bucket{webhook="${path}",le="1e-08"} 0`)
      }
    }).pipe(
      Effect.provideServiceEffect(
        Metric.MetricRegistry,
        Effect.sync(() => new Map())
      )
    )
  )

  it.effect("counts responses by code, their durations, and the reviews in flight", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const routes = yield* answering(() =>
        Effect.andThen(Deferred.succeed(begun, undefined), Effect.sleep("2 seconds"))
      )
      const asked = review({ object: gadget({ size: 1 }) })
      const fiber = yield* Effect.forkChild(post(routes, validate, asked))
      yield* Deferred.await(begun)
      const during = yield* Text.text
      assert.include(during, `controller_runtime_webhook_requests_in_flight{webhook="${validate}"} 1`)
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(fiber)
      yield* post(routes, validate, "nonsense")
      const left = yield* Effect.forkChild(post(routes, validate, asked))
      yield* TestClock.adjust("1 seconds")
      yield* Fiber.interrupt(left)
      const text = yield* Text.text
      assert.include(text, `controller_runtime_webhook_requests_in_flight{webhook="${validate}"} 0`)
      assert.include(text, `controller_runtime_webhook_requests_total{webhook="${validate}",code="200"} 1`)
      assert.include(text, `controller_runtime_webhook_requests_total{webhook="${validate}",code="400"} 1`)
      assert.include(text, `controller_runtime_webhook_latency_seconds_sum{webhook="${validate}"} 3`)
    }).pipe(
      Effect.provideServiceEffect(
        Metric.MetricRegistry,
        Effect.sync(() => new Map())
      )
    )
  )
})

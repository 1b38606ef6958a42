/** `check` against the embedded server, with a transport whose responses a test can replace. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as Access from "../../../src/kube/Access.ts"
import * as ApiError from "../../../src/kube/ApiError.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { Node, Pod } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { Discovery } from "../../../src/layers/Discovery.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Check from "../../../src/manager/check/Check.ts"
import { type Request, Transport } from "../../../src/layers/Transport.ts"

const Widget = Resource.make()({ group: "example.com", version: "v1", kind: "Widget", plural: "widgets" })

const options: Check.Options = {
  server: "https://api:6443",
  controllers: [
    { who: "counter", access: [Access.read(Pod), Access.patch(Node, "status")] },
    { who: "lister", access: [Access.list(Pod)] }
  ],
  leases: [{ namespace: "kube-system", name: "manager" }]
}

type Attributes = Record<"verb" | "group" | "resource" | "subresource" | "namespace" | "name", string>

const attributesOf = (request: Request): Attributes | undefined =>
  request.path.endsWith("/selfsubjectaccessreviews")
    ? (request.body as { spec: { resourceAttributes: Attributes } }).spec.resourceAttributes
    : undefined

/** The server's response to a review; undefined: that of the embedded server. */
type Rule = (asked: Attributes) => object | ApiError.ApiError | undefined

const rows = (rule: Rule, overrides: Partial<Check.Options> = {}) =>
  Effect.gen(function* () {
    const seen: Array<Request> = []
    const door = Layer.effect(
      Transport,
      Effect.map(Transport, (inner) =>
        Transport.of({
          ...inner,
          send: (request) => {
            seen.push(request)
            const asked = attributesOf(request)
            const said = asked === undefined ? undefined : rule(asked)
            if (said === undefined) return inner.send(request)
            return ApiError.isApiError(said)
              ? Effect.fail(said)
              : Effect.succeed({ status: 201, body: said, warnings: [] })
          }
        })
      )
    )
    const findings = yield* Check.run({ ...options, ...overrides }).pipe(
      Effect.provide(
        Discovery.layer.pipe(
          Layer.provideMerge(KubeClient.layer),
          Layer.provideMerge(door),
          Layer.provideMerge(ApiServer.layerTransport),
          Layer.provideMerge(ApiServer.layer())
        )
      )
    )
    return { findings, seen }
  })

const lines = (findings: Effect.Success<ReturnType<typeof Check.run>>) =>
  findings.map(({ check, detail, isOk, subject }) => `${check} ${isOk ? "ok" : "FAILED"} ${subject}: ${detail}`)

describe("check", () => {
  it.effect("sends a review for each needed permission, and no other write", () =>
    Effect.gen(function* () {
      const { findings, seen } = yield* rows(() => undefined)
      assert.deepStrictEqual(lines(findings).slice(2), [
        "discovery ok pods: v1",
        "discovery ok nodes: v1",
        "permissions ok pods: list watch",
        "permissions ok nodes/status: patch",
        "permissions ok leases.coordination.k8s.io in kube-system: get watch update create",
        "permissions ok events in kube-system: create patch"
      ])
      assert.strictEqual(lines(findings)[0], "configuration ok 2 controllers: counter, lister")
      assert.match(lines(findings)[1] ?? "", /^reachability ok https:\/\/api:6443: Kubernetes v\d/)
      const writes = seen.filter(({ method }) => method !== "GET")
      assert.isTrue(writes.every((request) => attributesOf(request) !== undefined))
      assert.strictEqual(writes.length, 9)
      assert.deepInclude(attributesOf(writes[2]!), { verb: "patch", resource: "nodes", subresource: "status" })
      assert.deepStrictEqual(
        writes.flatMap((request) => attributesOf(request)?.name ?? []),
        ["", "", "", "manager", "manager", "manager", "", "", ""]
      )
    })
  )

  it.effect("reviews the permissions in each selected namespace, and those of the program itself", () =>
    Effect.gen(function* () {
      const { findings, seen } = yield* rows(
        ({ namespace, resource }) =>
          namespace === "blue" || resource === "tokenreviews" ? { status: { allowed: false } } : undefined,
        { namespaces: ["red", "blue"], secureMetrics: true, leases: [] }
      )
      const permissions = lines(findings).filter((line) => line.startsWith("permissions"))
      assert.includeMembers(permissions, [
        "permissions ok pods in red: list watch",
        "permissions FAILED pods in blue: list is not allowed (for counter, lister); watch is not allowed (for counter)",
        "permissions ok nodes/status: patch",
        "permissions FAILED tokenreviews.authentication.k8s.io: create is not allowed (for metrics)",
        "permissions ok subjectaccessreviews.authorization.k8s.io: create"
      ])
      assert.isFalse(
        permissions.some((line) => / pods:/.test(line)),
        "nothing is asked of all namespaces at once"
      )
      assert.isTrue(seen.every(({ method, path }) => method === "GET" || path.endsWith("/selfsubjectaccessreviews")))
    })
  )

  it.effect("reports each denied verb, with the reason and the controllers that need it", () =>
    Effect.gen(function* () {
      const { findings } = yield* rows(({ resource, verb }) =>
        resource !== "pods" || verb === "get"
          ? undefined
          : { status: { allowed: false, ...(verb === "list" ? { reason: "no role" } : {}) } }
      )
      assert.deepStrictEqual(
        lines(findings).filter((line) => line.includes("FAILED")),
        [
          "permissions FAILED pods: list is not allowed, no role (for counter, lister); watch is not allowed (for counter)"
        ]
      )
    })
  )

  it.effect("reports a kind that is not served, and a review that fails", () =>
    Effect.gen(function* () {
      const context = { verb: "create", path: "/x" }
      const broken = ApiError.fromStatus({ context, status: 403, body: "forbidden" })
      const { findings } = yield* rows(({ resource }) => (resource === "widgets" ? broken : undefined), {
        controllers: [{ who: "smith", access: [Access.create(Widget)] }],
        leases: []
      })
      const failed = lines(findings).filter((line) => line.includes("FAILED"))
      assert.strictEqual(failed.length, 2)
      assert.strictEqual(
        failed[0],
        "discovery FAILED widgets.example.com: the server does not serve example.com/v1: is its CustomResourceDefinition installed? (for smith)"
      )
      assert.match(
        failed[1] ?? "",
        /^permissions FAILED widgets.example.com: create: cannot be asked \(.*forbidden.*\)$/
      )
    })
  )

  it.effect("counts a review without a verdict as denied", () =>
    Effect.gen(function* () {
      for (const body of [{}, { status: {} }, { status: { allowed: "yes" } }]) {
        const { findings } = yield* rows(() => body, { leases: [] })
        assert.isTrue(findings.every(({ check, isOk }) => check !== "permissions" || !isOk))
      }
    })
  )

  it.effect("sends no further request to a server that does not respond", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(
        Check.run(options).pipe(
          Effect.provide(
            Discovery.layer.pipe(Layer.provideMerge(KubeClient.layer), Layer.provideMerge(Transport.layerNoop))
          )
        )
      )
      yield* TestClock.adjust("10 seconds")
      const found = lines(yield* Fiber.join(fiber))
      assert.strictEqual(found.length, 2)
      assert.match(found[1] ?? "", /^reachability FAILED https:\/\/api:6443: the API server did not answer within 10s/)
    })
  )
})

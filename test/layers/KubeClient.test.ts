import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as ApiError from "../../src/kube/ApiError.ts"
import type { KubeList, KubeObject, ListMeta } from "../../src/kube/Meta.ts"
import * as Patch from "../../src/kube/Patch.ts"
import * as Resource from "../../src/kube/Resource.ts"
import type * as Status from "../../src/kube/Status.ts"
import { ConfigMap, Node, Pod } from "../../src/kube/resources.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { type Request, Transport, type WatchEvent } from "../../src/layers/Transport.ts"

const failure = (request: Request, status: number, retryAfterSeconds?: number) =>
  ApiError.fromStatus({ context: request.context, status, body: undefined, retryAfterSeconds })

/** A transport whose responses are computed from each request; a number is a failure with that status. */
const scripted = (answer: (request: Request, index: number) => unknown, events: ReadonlyArray<WatchEvent> = []) => {
  const sent: Array<Request> = []
  const transport = Transport.of({
    send: (request) =>
      Effect.suspend(() => {
        const body = answer(request, sent.push(request) - 1)
        if (ApiError.isApiError(body)) return Effect.fail(body)
        return typeof body === "number"
          ? Effect.fail(failure(request, body))
          : Effect.succeed({ status: 200, body, warnings: [] })
      }),
    watch: (request) => {
      sent.push(request)
      return Stream.fromArray([...events])
    }
  })
  return { sent, layer: KubeClient.layer.pipe(Layer.provide(Layer.succeed(Transport, transport))) }
}

const object = () => ({ metadata: { name: "a", namespace: "ns", resourceVersion: "1" } })
const target = { namespace: "ns", name: "a" }
const gone = 410

describe("requests", () => {
  it.effect("each verb has its method, path, query, headers and body", () => {
    const { layer, sent } = scripted(object)
    return Effect.gen(function* () {
      const client = yield* KubeClient
      const write = { dryRun: true, fieldValidation: "Strict", fieldManager: "me" } as const
      yield* client.get(ConfigMap, target, { resourceVersion: "0" })
      yield* client.create(ConfigMap, { metadata: { name: "a" }, data: { k: "v" } }, { namespace: "ns", ...write })
      yield* client.update(ConfigMap, { ...object(), data: {} })
      yield* client.update(Pod, { ...object(), kind: "Pod" }, { subresource: "status" })
      yield* client.patch(ConfigMap, target, Patch.apply({ data: {} }), { force: true })
      yield* client.patch(Node, { name: "n", subresource: "status" }, Patch.strategic({ status: {} }))
      const preconditions = { uid: "u", resourceVersion: "7" }
      yield* client.delete(ConfigMap, target, { preconditions, propagationPolicy: "Foreground", gracePeriodSeconds: 0 })
      yield* client.deleteCollection(ConfigMap, { namespace: "ns", labelSelector: "a=b" }, { dryRun: true })
      const shown = sent.map(({ accept, body, contentType, method, path, query }) =>
        JSON.parse(JSON.stringify([method, path, { query, accept, contentType, body }]))
      )
      const fieldManager = "effect-controller-manager"
      const base = "/api/v1/namespaces/ns/configmaps"
      const full = { apiVersion: "v1", kind: "ConfigMap" }
      assert.deepStrictEqual(shown, [
        ["GET", `${base}/a`, { query: { resourceVersion: "0" } }],
        [
          "POST",
          base,
          {
            query: { dryRun: "All", fieldManager: "me", fieldValidation: "Strict" },
            body: { ...full, metadata: { name: "a" }, data: { k: "v" } }
          }
        ],
        ["PUT", `${base}/a`, { query: { fieldManager }, body: { ...full, ...object(), data: {} } }],
        ["PUT", "/api/v1/namespaces/ns/pods/a/status", { query: { fieldManager }, body: { ...object(), kind: "Pod" } }],
        [
          "PATCH",
          `${base}/a`,
          { query: { fieldManager, force: true }, contentType: "application/apply-patch+yaml", body: { data: {} } }
        ],
        [
          "PATCH",
          "/api/v1/nodes/n/status",
          { query: { fieldManager }, contentType: "application/strategic-merge-patch+json", body: { status: {} } }
        ],
        [
          "DELETE",
          `${base}/a`,
          {
            body: {
              apiVersion: "v1",
              kind: "DeleteOptions",
              gracePeriodSeconds: 0,
              propagationPolicy: "Foreground",
              preconditions
            }
          }
        ],
        [
          "DELETE",
          base,
          {
            query: { labelSelector: "a=b", limit: 500 },
            body: { apiVersion: "v1", kind: "DeleteOptions", dryRun: ["All"] }
          }
        ]
      ])
      assert.deepStrictEqual(
        sent.map(({ context }) => context.verb),
        ["get", "create", "update", "update", "patch", "patch", "delete", "deletecollection"]
      )
    }).pipe(Effect.provide(layer))
  })

  it.effect("a request whose path would be that of another endpoint fails and is not sent", () => {
    const { layer, sent } = scripted(object)
    return Effect.gen(function* () {
      const client = yield* KubeClient
      const Partial = Resource.metadataOnly(Pod)
      const calls: ReadonlyArray<Effect.Effect<unknown, ApiError.ApiError>> = [
        client.get(Pod, { namespace: "ns", name: "" }),
        client.delete(Pod, { namespace: "ns", name: "" }),
        client.get(Pod, { name: "a" }),
        client.create(Pod, { metadata: { name: "a" } }),
        client.patch(Pod, { namespace: "", name: "a" }, Patch.merge({})),
        client.create(Partial, { metadata: { name: "a" } }, { namespace: "ns" }),
        client.update(Partial, object())
      ]
      for (const call of calls) assert.strictEqual((yield* Effect.flip(call)).reason._tag, "BadRequest")
      assert.deepStrictEqual(sent, [])
    }).pipe(Effect.provide(layer))
  })

  it.effect("a write that needs only metadata asks for metadata, and its result has no other fields", () => {
    const { layer, sent } = scripted((request) => ({
      ...object(),
      ...(request.method === "PATCH" ? {} : { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" })
    }))
    return Effect.gen(function* () {
      const client = yield* KubeClient
      const returns = { returns: "metadata" } as const
      const written = [
        yield* client.create(Pod, object(), returns),
        yield* client.update(Pod, object(), returns),
        yield* client.update(Pod, object(), { ...returns, subresource: "status" }),
        // A server that leaves out kinds.
        yield* client.patch(Pod, target, Patch.merge({}), returns)
      ]
      for (const one of written) {
        expectTypeOf(one).toEqualTypeOf<KubeObject>()
        assert.deepStrictEqual([one.apiVersion, one.kind], ["v1", "Pod"])
      }
      expectTypeOf(yield* client.create(Pod, object())).toEqualTypeOf<Pod>()
      const partial = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
      assert.deepStrictEqual(
        sent.map(({ accept }) => accept),
        [partial, partial, partial, partial, undefined]
      )
    }).pipe(Effect.provide(layer))
  })

  it.effect("a write that needs no result does not read the answer, and still fails when the server refuses", () => {
    const { layer, sent } = scripted((_, index) => (index === 3 ? 409 : "no object"))
    return Effect.gen(function* () {
      const client = yield* KubeClient
      const returns = { returns: "nothing" } as const
      const created = yield* client.create(Pod, object(), returns)
      expectTypeOf(created).toEqualTypeOf<void>()
      assert.deepStrictEqual(
        [
          created,
          yield* client.update(Pod, object(), returns),
          yield* client.patch(Pod, target, Patch.merge({}), returns)
        ],
        [undefined, undefined, undefined]
      )
      const refused = yield* Effect.flip(client.create(Pod, object(), returns))
      assert.strictEqual(refused.reason._tag, "Conflict")
      assert.strictEqual((yield* Effect.flip(client.create(Pod, object()))).reason._tag, "Decode")
      assert.deepStrictEqual(
        sent.map(({ ignoresBody }) => ignoresBody),
        [true, true, true, true, undefined]
      )
    }).pipe(Effect.provide(layer))
  })

  it.effect("a deletion that needs no result does not read the answer, and still fails when the server refuses", () => {
    const { layer, sent } = scripted((_, index) => (index === 2 ? 409 : "no object"))
    return Effect.gen(function* () {
      const client = yield* KubeClient
      const nothing = yield* client.delete(Pod, target, { returns: "nothing" })
      expectTypeOf(nothing).toEqualTypeOf<void>()
      expectTypeOf(client.delete(Pod, target)).toEqualTypeOf<
        Effect.Effect<KubeObject | Status.Status, ApiError.ApiError>
      >()
      assert.isUndefined(nothing)
      assert.strictEqual((yield* Effect.flip(client.delete(Pod, target))).reason._tag, "Decode")
      const refused = yield* Effect.flip(client.delete(Pod, target, { returns: "nothing" }))
      assert.strictEqual(refused.reason._tag, "Conflict")
      assert.deepStrictEqual(
        sent.map(({ ignoresBody }) => ignoresBody),
        [true, false, true]
      )
    }).pipe(Effect.provide(layer))
  })

  it.effect("metadata projections request metadata and return objects of the real kind", () => {
    const partial = { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata", metadata: { name: "a" } }
    const answers: Record<string, unknown> = {
      get: partial,
      delete: partial,
      list: { kind: "PartialObjectMetadataList", metadata: {}, items: [{ metadata: { name: "b" } }, { ...partial }] }
    }
    const { layer, sent } = scripted(
      (request) => structuredClone(answers[request.context.verb]),
      [{ type: "ADDED", object: { ...partial } }]
    )
    return Effect.gen(function* () {
      const client = yield* KubeClient
      const Partial = Resource.metadataOnly(Pod)
      const one = yield* client.get(Partial, target)
      const { items } = yield* client.list(Partial)
      const [event] = yield* Stream.runCollect(client.watch(Partial, {}))
      const gone = (yield* client.delete(Partial, target)) as typeof one
      for (const found of [one, ...items, event?.object as typeof one, gone]) {
        assert.deepStrictEqual([found.apiVersion, found.kind], ["v1", "Pod"])
      }
      const form = (name: string) => `application/json;as=${name};g=meta.k8s.io;v=v1,application/json`
      assert.deepStrictEqual(
        sent.map(({ accept }) => accept),
        ["", "List", "", ""].map((list) => form(`PartialObjectMetadata${list}`))
      )
    }).pipe(Effect.provide(layer))
  })

  it.effect("a watch sends its options and returns the events unchanged", () => {
    const events: ReadonlyArray<WatchEvent> = [{ type: "ADDED", object: { kind: "Pod", metadata: { name: "a" } } }]
    const { layer, sent } = scripted(object, events)
    return Effect.gen(function* () {
      const client = yield* KubeClient
      const options = { namespace: "ns", resourceVersion: "5", allowWatchBookmarks: true, timeoutSeconds: 9 }
      assert.deepStrictEqual(yield* Stream.runCollect(client.watch(Pod, options)), [...events])
      assert.strictEqual(sent[0]?.path, "/api/v1/namespaces/ns/pods")
      assert.deepStrictEqual(JSON.parse(JSON.stringify(sent[0]?.query)), {
        watch: true,
        resourceVersion: "5",
        allowWatchBookmarks: true,
        timeoutSeconds: 9
      })
    }).pipe(Effect.provide(layer))
  })

  it("the types of results are those of the resource", () => {
    type Client = KubeClient["Service"]
    const typed = (client: Client) => ({
      get: client.get(Pod, target),
      list: client.list(Pod),
      partial: client.get(Resource.metadataOnly(Pod), target)
    })
    type Typed = ReturnType<typeof typed>
    expectTypeOf<Typed["get"]>().toEqualTypeOf<Effect.Effect<Pod, ApiError.ApiError>>()
    expectTypeOf<Typed["list"]>().toEqualTypeOf<Effect.Effect<KubeList<Pod>, ApiError.ApiError>>()
    expectTypeOf<Effect.Success<Typed["partial"]>>().not.toHaveProperty("spec")
  })
})

describe("answers", () => {
  it.effect("unknown fields and timestamps are kept, and list items have their kind (regression case 15)", () => {
    const item = () => ({
      metadata: { name: "a", creationTimestamp: "2026-01-02T03:04:05Z", fieldOfTomorrow: { x: [1, null] } },
      spec: { containers: [], novelty: 1.5 }
    })
    const { layer, sent } = scripted((request) =>
      request.context.verb === "list"
        ? { metadata: { resourceVersion: "1" }, items: [item()] }
        : structuredClone(request.body)
    )
    return Effect.gen(function* () {
      const client = yield* KubeClient
      const { items } = yield* client.list(Pod)
      const [found] = items
      assert.deepStrictEqual<unknown>(found, { ...item(), apiVersion: "v1", kind: "Pod" })
      if (found === undefined) return
      const back = yield* client.update(Pod, { ...found, metadata: { ...found.metadata, namespace: "ns" } })
      assert.deepStrictEqual<unknown>(
        { ...back, metadata: { ...back.metadata, namespace: undefined } },
        {
          ...found,
          metadata: { ...found.metadata, namespace: undefined }
        }
      )
      assert.deepStrictEqual<unknown>(sent[1]?.body, back)
    }).pipe(Effect.provide(layer))
  })

  it.effect("a body that is not an object, not a list, or a list of other values is a Decode failure", () => {
    const bodies = ["text", undefined, null, [], { items: 5 }, { items: [1] }, { items: [{}] }, { metadata: 1 }]
    const { layer } = scripted((_, i) => bodies[i % bodies.length])
    return Effect.gen(function* () {
      const client = yield* KubeClient
      for (const _ of bodies) assert.strictEqual((yield* Effect.flip(client.get(Pod, target))).reason._tag, "Decode")
      for (const _ of bodies) assert.strictEqual((yield* Effect.flip(client.list(Pod))).reason._tag, "Decode")
    }).pipe(Effect.provide(layer))
  })

  it.effect("`items: null` is an empty list", () => {
    const { layer } = scripted(() => ({ metadata: { resourceVersion: "7" }, items: null }))
    return Effect.gen(function* () {
      const list = yield* (yield* KubeClient).list(Pod)
      assert.deepStrictEqual([list.items, list.metadata.resourceVersion], [[], "7"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("delete returns a Status, or the object if it still exists", () => {
    const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 200 }
    const { layer } = scripted((_, i) => (i === 0 ? status : object()))
    return Effect.gen(function* () {
      const client = yield* KubeClient
      assert.strictEqual((yield* client.delete(Pod, target)).kind, "Status")
      assert.strictEqual((yield* client.delete(Pod, target)).kind, "Pod")
    }).pipe(Effect.provide(layer))
  })
})

describe("pages", () => {
  /** Three pages with one object each; a request with a token in `expired` gets one 410. */
  const paged = (expired: ReadonlyArray<string>) => {
    const left = [...expired]
    return scripted((request) => {
      const token = request.query?.["continue"] as string | undefined
      const at = left.indexOf(token ?? "first")
      if (at !== -1) {
        left.splice(at, 1)
        return gone
      }
      const number = token === undefined ? 1 : Number(token)
      return {
        metadata: { resourceVersion: "9", ...(number < 3 && { continue: String(number + 1) }) },
        items: [{ metadata: { name: `p${number}` } }]
      }
    })
  }
  const run = <A, E>(
    server: ReturnType<typeof paged>,
    call: (client: KubeClient["Service"]) => Effect.Effect<A, E>
  ): Effect.Effect<A, E> => Effect.flatMap(KubeClient, call).pipe(Effect.provide(server.layer))
  const names = (list: KubeList<Pod>) => list.items.map((item) => item.metadata.name)
  const tokens = ({ sent }: ReturnType<typeof paged>) => sent.map(({ query }) => query?.["continue"])

  it.effect("list reads all pages of 500 objects and sends the version only with the first request", () => {
    const server = paged([])
    return Effect.gen(function* () {
      const list = yield* run(server, (client) => client.list(Pod, { resourceVersion: "0", labelSelector: "a" }))
      assert.deepStrictEqual(names(list), ["p1", "p2", "p3"])
      assert.deepStrictEqual(list.metadata, { resourceVersion: "9" })
      assert.deepStrictEqual(
        server.sent.map(({ query }) => [query?.["limit"], query?.["resourceVersion"], query?.["labelSelector"]]),
        [
          [500, "0", "a"],
          [500, undefined, "a"],
          [500, undefined, "a"]
        ]
      )
    })
  })

  it.effect("listPage sends one request, and an expired token fails with Gone", () => {
    const server = paged(["2"])
    return Effect.gen(function* () {
      assert.strictEqual((yield* run(server, (client) => client.listPage(Pod))).metadata.continue, "2")
      const error = yield* Effect.flip(run(server, (client) => client.listPage(Pod, { continue: "2" })))
      assert.strictEqual(error.reason._tag, "Gone")
      assert.deepStrictEqual(tokens(server), [undefined, "2"])
    })
  })

  it.effect("the first expired token restarts the list, and the second one fails it (regression case 4)", () =>
    Effect.gen(function* () {
      const once = paged(["3"])
      assert.deepStrictEqual(names(yield* run(once, (client) => client.list(Pod))), ["p1", "p2", "p3"])
      assert.deepStrictEqual(tokens(once), [undefined, "2", "3", undefined, "2", "3"])
      const twice = paged(["3", "2"])
      assert.strictEqual((yield* Effect.flip(run(twice, (client) => client.list(Pod)))).reason._tag, "Gone")
      assert.deepStrictEqual(tokens(twice), [undefined, "2", undefined, "2", "3"].slice(0, tokens(twice).length))
    })
  )

  it.effect("a list whose first page fails with Gone, or that began with the caller's token, is not restarted", () =>
    Effect.gen(function* () {
      const first = paged(["first"])
      assert.strictEqual((yield* Effect.flip(run(first, (client) => client.list(Pod)))).reason._tag, "Gone")
      assert.strictEqual(first.sent.length, 1)
      const given = paged(["3"])
      const call = run(given, (client) => client.list(Pod, { continue: "2" }))
      assert.strictEqual((yield* Effect.flip(call)).reason._tag, "Gone")
      assert.deepStrictEqual(tokens(given), ["2", "3"])
    })
  )
})

describe("collections that are deleted", () => {
  interface Page {
    readonly limit: unknown
    readonly continue: unknown
  }
  /** Deletes a collection on a server with these responses, and returns the requests. */
  const deleting = (
    answer: (page: Page, index: number, request: Request) => unknown,
    onPage?: (meta: ListMeta) => Effect.Effect<void>
  ) => {
    const pageOf = ({ query }: Request) => ({ limit: query?.["limit"], continue: query?.["continue"] })
    const { layer, sent } = scripted((request, index) => answer(pageOf(request), index, request))
    return Effect.gen(function* () {
      const client = yield* KubeClient
      const done = yield* Effect.result(client.deleteCollection(ConfigMap, { namespace: "ns" }, { onPage, retries: 0 }))
      return { done, requests: sent.map((request) => [pageOf(request).limit, pageOf(request).continue]) }
    }).pipe(Effect.provide(layer))
  }
  const list = (next?: string, remainingItemCount?: number) => ({ metadata: { continue: next, remainingItemCount } })
  const asFailure = (request: Request, code: number, metadata: object = {}) =>
    ApiError.fromStatus({ context: request.context, status: code, body: { kind: "Status", code, metadata } })

  it.effect("are deleted page by page, and the caller receives the remaining count after each page", () =>
    Effect.gen(function* () {
      const left: Array<unknown> = []
      const { done, requests } = yield* deleting(
        (_, index) => [list("one", 600), list("two", 100), list("")][index],
        ({ remainingItemCount }) => Effect.sync(() => left.push(remainingItemCount))
      )
      assert.strictEqual(done._tag, "Success")
      assert.deepStrictEqual(requests, [
        [500, undefined],
        [500, "one"],
        [500, "two"]
      ])
      assert.deepStrictEqual(left, [600, 100])
    })
  )

  it.effect("are deleted with one request on a server that returns a Status", () =>
    Effect.gen(function* () {
      const { done, requests } = yield* deleting(() => ({ kind: "Status", metadata: {}, status: "Success" }))
      assert.deepStrictEqual([done._tag, requests], ["Success", [[500, undefined]]])
    })
  )

  it.effect("are deleted in smaller pages after the server timed out", () =>
    Effect.gen(function* () {
      const { done, requests } = yield* deleting(({ limit }, index, request) => {
        if (index === 0) return list("one")
        return Number(limit) > 50 ? asFailure(request, 504) : index < 8 ? list("two") : list()
      })
      assert.strictEqual(done._tag, "Success")
      const timedOut = requests.filter(([limit]) => limit === 500)
      assert.deepStrictEqual(
        [timedOut[0], timedOut.at(-1), requests.at(-1)],
        [
          [500, undefined],
          [500, "one"],
          [50, "two"]
        ]
      )
      const never = yield* deleting((_, __, request) => asFailure(request, 504))
      assert(never.done._tag === "Failure")
      assert.strictEqual(never.done.failure.status, 504)
      assert.deepStrictEqual([...new Set(never.requests.map(([limit]) => limit))], [500, 50, 5, 1])
    })
  )

  it.effect("continue once after an expired token, with the server's new token or from the first page", () =>
    Effect.gen(function* () {
      const given = yield* deleting((page, _, request) =>
        page.continue === undefined
          ? list("old")
          : page.continue === "old"
            ? asFailure(request, 410, { continue: "inconsistent" })
            : list()
      )
      assert.strictEqual(given.done._tag, "Success")
      assert.deepStrictEqual(
        given.requests.map(([, token]) => token),
        [undefined, "old", "inconsistent"]
      )
      const bare = yield* deleting((page, index, request) =>
        page.continue === undefined ? list(`${index}`) : asFailure(request, 410)
      )
      assert(bare.done._tag === "Failure")
      assert.strictEqual(bare.done.failure.reason._tag, "Gone")
      assert.deepStrictEqual(
        bare.requests.map(([, token]) => token),
        [undefined, "0", undefined, "2"]
      )
    })
  )
})

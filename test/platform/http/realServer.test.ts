/**
 * Reads over HTTP/2 of kube-apiserver: many at once, and with `--goaway-chance`, where the server asks clients at random to take another connection, so that load
 * balancers can spread them.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import type { Request, Transport } from "../../../src/layers/Transport.ts"
import * as HttpTransport from "../../../src/platform/HttpTransport.ts"
import * as envtest from "../../support/envtest.ts"

const get = (path: string, query: Request["query"] = {}): Request => ({
  method: "GET",
  path,
  query,
  context: { verb: "get", path }
})

const reads = 1000

describe.skipIf(envtest.isMissing("HTTP/2 of kube-apiserver"))("a server that sends many responses at once", () => {
  it.live(
    "sends each whole",
    () =>
      Effect.gen(function* () {
        const { endpoint } = yield* envtest.start()
        // Responses that arrive while requests are sent: Node then emits data before the head.
        const listed = (transport: Transport["Service"], index: number) =>
          Effect.gen(function* () {
            const path = `/api/v1/namespaces/shop-${index}/configmaps`
            const { body } = yield* transport.send({ ...get(path), omitManagedFields: true })
            yield* Effect.forkScoped(Stream.runDrain(transport.watch(get(path, { watch: true }))))
            return (body as { readonly kind: string }).kind
          })
        for (let round = 0; round < 3; round++) {
          const kinds = yield* Effect.scoped(
            Effect.flatMap(HttpTransport.make(endpoint), (transport) =>
              Effect.forEach(Array.from({ length: 600 }).keys(), (index) => listed(transport, index), {
                concurrency: "unbounded"
              })
            )
          )
          assert.deepStrictEqual(new Set(kinds), new Set(["ConfigMapList"]))
        }
      }),
    60_000
  )
})

describe.skipIf(envtest.isMissing("GOAWAY of kube-apiserver"))("a server that sends GOAWAY", () => {
  it.live(
    "ends no read, and no watch before its time",
    () =>
      Effect.gen(function* () {
        const { endpoint } = yield* envtest.start(["--goaway-chance=0.02"])
        const transport = yield* HttpTransport.make(endpoint)
        const path = "/api/v1/namespaces"
        const isOpen = yield* Deferred.make<void>()
        const seen = new Set<string>()
        const watch = transport.watch(get(path, { watch: true })).pipe(
          Stream.tap((event) => {
            seen.add((event.object as { readonly metadata: { readonly name: string } }).metadata.name)
            return Deferred.succeed(isOpen, undefined)
          }),
          Stream.takeUntil(() => seen.has("last")),
          Stream.runDrain
        )
        const watches = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(watch))
        yield* Deferred.await(isOpen)
        const read = Effect.flatMap(transport.send(get(path)), ({ status }) =>
          Effect.sync(() => assert.strictEqual(status, 200))
        )
        yield* Effect.forEach(Array.from({ length: reads }), () => read, { concurrency: 10, discard: true })
        const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: "last" } }
        yield* transport.send({ ...get(path), method: "POST", body })
        for (const one of watches) yield* Fiber.join(one)
      }),
    60_000
  )
})

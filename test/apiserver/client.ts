/**
 * A raw client for the tests of the server: method, path and body in, parsed JSON out; failures are ApiErrors. It does not use the typed
 * verbs, so that only the server is tested.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type * as ApiError from "../../src/kube/ApiError.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import type { Options } from "../../src/apiserver/ApiServer.ts"
import { Transport } from "../../src/layers/Transport.ts"
import type { Query, Request, WatchEvent } from "../../src/layers/Transport.ts"

export const layer = (options?: Options) => Layer.provideMerge(ApiServer.layerTransport, ApiServer.layer(options))

export interface Extra {
  readonly query?: Query
  readonly accept?: string
  readonly contentType?: string
}

export const request = (method: Request["method"], path: string, body?: unknown, extra: Extra = {}): Request => ({
  method,
  path,
  body,
  ...extra,
  context: { verb: method.toLowerCase(), path }
})

/** The parsed body of a successful call. */
export const call = (method: Request["method"], path: string, body?: unknown, extra?: Extra) =>
  Effect.flatMap(Transport, (transport) =>
    Effect.map(transport.send(request(method, path, body, extra)), (response) => response.body as any)
  )

export const get = (path: string, query: Query = {}, accept?: string) =>
  call("GET", path, undefined, accept === undefined ? { query } : { query, accept })
export const post = (path: string, body: unknown, query: Query = {}) => call("POST", path, body, { query })
export const put = (path: string, body: unknown, query: Query = {}) => call("PUT", path, body, { query })
export const remove = (path: string, body?: unknown, query: Query = {}) => call("DELETE", path, body, { query })

const mediaTypes = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml"
} as const

export const patch = (path: string, type: keyof typeof mediaTypes, body: unknown, query: Query = {}) =>
  call("PATCH", path, body, { query, contentType: mediaTypes[type] })

/** The error of a request that must fail: status, message and the whole error. */
export const refused = <A, R>(effect: Effect.Effect<A, ApiError.ApiError, R>) =>
  Effect.map(Effect.flip(effect), (error) => ({ status: error.status, message: error.detail, error }))

/** A background watch; `events` fills as they arrive, `done` is its exit. */
export const watch = Effect.fnUntraced(function* (path: string, query: Query = {}, accept?: string) {
  const transport = yield* Transport
  const events: Array<WatchEvent> = []
  const extra = accept === undefined ? {} : { accept }
  const stream = transport.watch(request("GET", path, undefined, { query: { watch: true, ...query }, ...extra }))
  const fiber = yield* Effect.forkScoped(
    Stream.runForEachArray(stream, (chunk) =>
      Effect.sync(() => {
        events.push(...chunk)
      })
    ),
    { startImmediately: true }
  )
  return {
    events,
    /** Type, name and resource version of each event. */
    seen: () => events.map((event) => [event.type, (event.object as any).metadata?.name].join(" ")),
    fiber,
    done: Effect.exit(Fiber.join(fiber)),
    /** Waits for the delivery of due events. */
    settled: settle
  }
})

/** Yields often enough for a woken watcher to deliver; virtual time does not advance. */
export const settle = Effect.repeat(Effect.yieldNow, { times: 20 })

export const pods = "/api/v1/namespaces/default/pods"
export const configMaps = "/api/v1/namespaces/default/configmaps"

export const pod = (name: string, metadata: object = {}, spec: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...metadata },
  spec: { containers: [{ name: "main", image: "web:1" }], ...spec }
})

export const configMap = (name: string, data: Record<string, string> = {}, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data
})

/** Revision of a new server: the number of its bootstrap objects. */
export const born = 9

/** The resourceVersion of the nth write to a new server; 0 for its initial one. */
export const nth = (n: number): string => String(born + n)

export const names = (list: any): ReadonlyArray<string> => list.items.map((item: any) => item.metadata.name)

export const same = assert.deepStrictEqual

/**
 * The harness of the tests of election and recording: a small server of leases and events behind a `Transport`, and a transport with faults. A
 * request reaches the server even if its client has disconnected, as on a network.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as ApiError from "../../src/kube/ApiError.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { type Request, type Response, Transport } from "../../src/layers/Transport.ts"

type Service = Transport["Service"]

export interface Stored {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly resourceVersion: string }
  readonly [field: string]: any
}

export interface Server {
  readonly transport: Service
  /** Objects by their path. */
  readonly objects: Map<string, Stored>
  readonly requests: Array<{ readonly method: string; readonly path: string; readonly at: number; readonly body: any }>
  /** Errors with which the server responds, once each, without executing the request. */
  readonly refuse: Array<(request: Request) => ApiError.ApiError | undefined>
  /** Changes an object without a request. */
  readonly edit: (path: string, change: (object: any) => void) => void
}

const status = (request: Request, code: number, reason: string, causes: ReadonlyArray<{ reason: string }> = []) =>
  ApiError.fromStatus({
    context: request.context,
    status: code,
    body: {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      code,
      reason,
      message: reason,
      details: { causes }
    }
  })

export const refusal = status

export const server = (): Server => {
  const objects = new Map<string, Stored>()
  const requests: Server["requests"] = []
  const refuse: Server["refuse"] = []
  let revision = 0
  const put = (path: string, body: any): Stored => {
    const stored = structuredClone({ ...body, metadata: { ...body.metadata, resourceVersion: String(++revision) } })
    objects.set(path, stored)
    return structuredClone(stored)
  }
  const answer = (request: Request): Stored | ApiError.ApiError => {
    for (const refusal of refuse) {
      const error = refusal(request)
      if (error !== undefined) return error
    }
    const body = JSON.parse(JSON.stringify(request.body ?? null))
    const path = request.method === "POST" ? `${request.path}/${body.metadata.name}` : request.path
    const current = objects.get(path)
    switch (request.method) {
      case "POST":
        return current === undefined ? put(path, body) : status(request, 409, "AlreadyExists")
      case "GET":
        return current === undefined ? status(request, 404, "NotFound") : structuredClone(current)
      case "PUT":
        if (current === undefined) return status(request, 404, "NotFound")
        return body.metadata.resourceVersion === current.metadata.resourceVersion
          ? put(path, body)
          : status(request, 409, "Conflict")
      case "PATCH":
        return current === undefined ? status(request, 404, "NotFound") : put(path, { ...current, ...body })
      case "DELETE":
        objects.delete(path)
        return current ?? status(request, 404, "NotFound")
    }
  }
  return {
    objects,
    requests,
    refuse,
    edit: (path, change) => {
      const object = structuredClone(objects.get(path))
      change(object)
      put(path, object)
    },
    transport: {
      send: (request) =>
        Effect.flatMap(Clock.currentTimeMillis, (at) => {
          requests.push({ method: request.method, path: request.path, at, body: request.body })
          const result = answer(request)
          return ApiError.isApiError(result)
            ? Effect.fail(result)
            : Effect.succeed<Response>({ status: 200, body: result, warnings: [] })
        }),
      watch: () => Stream.never
    }
  }
}

/** The fault of one request. Times in milliseconds. */
export type Fault =
  | { readonly _tag: "Ok"; readonly there: number; readonly back: number }
  /** Executed after `there`, without a response. */
  | { readonly _tag: "LostAnswer"; readonly there: number }
  /** Never executed, without a response. */
  | { readonly _tag: "Hang" }
  /** Never executed; the response has this status, or the connection is cut if it is 0. */
  | { readonly _tag: "Error"; readonly status: number; readonly back: number }
  /** Executed, then the connection is cut. */
  | { readonly _tag: "Cut"; readonly there: number; readonly back: number }

export const fine: Fault = { _tag: "Ok", there: 0, back: 0 }

export const faulty = (base: Service, next: (request: Request) => Fault): Service => ({
  watch: base.watch,
  send: (request) =>
    Effect.suspend(() => {
      const fault = next(request)
      switch (fault._tag) {
        case "Hang":
          return Effect.never
        case "Error":
          return Effect.delay(
            Effect.fail(
              fault.status === 0
                ? ApiError.network(request.context, new Error("connection reset"))
                : status(request, fault.status, "Injected")
            ),
            fault.back
          )
        case "LostAnswer":
          return Effect.andThen(onWire(base, request, fault.there), Effect.never)
        case "Cut":
          return Effect.flatMap(onWire(base, request, fault.there), (answer) =>
            Effect.andThen(
              Effect.exit(Deferred.await(answer)),
              Effect.delay(Effect.fail(ApiError.network(request.context, new Error("connection reset"))), fault.back)
            )
          )
        case "Ok":
          if (fault.there === 0 && fault.back === 0) return base.send(request)
          return Effect.flatMap(onWire(base, request, fault.there), (answer) =>
            Effect.flatMap(Effect.exit(Deferred.await(answer)), (exit) => Effect.delay(exit, fault.back))
          )
      }
    })
})

const onWire = Effect.fnUntraced(function* (base: Service, request: Request, there: number) {
  const answer = yield* Deferred.make<Response, ApiError.ApiError>()
  yield* Effect.forkDetach(Effect.delay(Deferred.into(base.send(request), answer), there))
  return answer
})

export const client = (transport: Service): Layer.Layer<KubeClient> =>
  Layer.provide(KubeClient.layer, Layer.succeed(Transport, transport))

/** The current clock with a wrong date. Sleeps and the monotonic clock are unchanged. */
export const skewed = (clock: Clock.Clock, offset: () => number): Clock.Clock => ({
  sleep: (duration) => clock.sleep(duration),
  monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
  monotonicTimeNanos: clock.monotonicTimeNanos,
  currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + offset(),
  currentTimeMillis: Effect.sync(() => clock.currentTimeMillisUnsafe() + offset()),
  currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + BigInt(offset()) * 1_000_000n,
  currentTimeNanos: Effect.sync(() => clock.currentTimeNanosUnsafe() + BigInt(offset()) * 1_000_000n)
})

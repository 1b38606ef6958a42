/**
 * The services of controllers over a real API server (`envtest.ts`), and waiting in real time: each wait reads watch events, and none polls. A suite
 * without a server is skipped with `envtest.isMissing`.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { KubeObject } from "../../src/kube/Meta.ts"
import type * as Resource from "../../src/kube/Resource.ts"
import { Event } from "../../src/kube/resources.ts"
import { Cache } from "../../src/layers/Cache.ts"
import { Discovery } from "../../src/layers/Discovery.ts"
import { Endpoint } from "../../src/layers/Endpoint.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import { Supervisor } from "../../src/layers/Supervisor.ts"
import { type Request, Transport } from "../../src/layers/Transport.ts"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import * as envtest from "./envtest.ts"

export class RealServer extends Context.Service<RealServer, envtest.RealServer>()("test/RealServer") {}

/** A separate server for each layer that is built. */
export const server: Layer.Layer<RealServer | Endpoint> = Layer.effectContext(
  Effect.map(envtest.start(), (real) => Context.make(RealServer, real).pipe(Context.add(Endpoint, real.endpoint)))
)

/** What controllers need, optionally over another transport. */
export const services = (transport: Layer.Layer<Transport, never, Endpoint> = HttpTransport.layer) =>
  Recorder.layer.pipe(
    Layer.provideMerge(Layer.merge(Cache.layer(), Discovery.layer)),
    Layer.provideMerge(KubeClient.layer),
    Layer.provideMerge(transport),
    Layer.provideMerge(Supervisor.layer),
    Layer.provideMerge(server)
  )

export interface Exchange {
  readonly request: Request
  readonly response: unknown
  /** A PUT that left the resourceVersion unchanged: a controller that sends it would send it forever. */
  readonly isIdle: boolean
}

/** HTTP; `observe` gets every completed request. */
export const observed = (observe: (exchange: Exchange) => void): Layer.Layer<Transport, never, Endpoint> =>
  Layer.effect(
    Transport,
    Effect.map(Transport, (transport) =>
      Transport.of({
        ...transport,
        send: (request) =>
          Effect.tap(transport.send(request), ({ body }) =>
            Effect.sync(() => {
              const isIdle = request.method === "PUT" && versionOf(body) === versionOf(request.body)
              observe({ request, response: body, isIdle })
            })
          )
      })
    )
  ).pipe(Layer.provide(HttpTransport.layer))

const versionOf = (body: unknown): string | undefined =>
  (body as { readonly metadata?: { readonly resourceVersion?: string } } | undefined)?.metadata?.resourceVersion

/** HTTP, and the paths below `prefix` of updates that changed nothing. */
export const recordIdle = (prefix: string) => {
  const idle: Array<string> = []
  const layer = observed(({ isIdle, request: { path } }) => {
    if (isIdle && path.startsWith(prefix)) idle.push(path)
  })
  return { idle, layer }
}

/** The first state of an object of that kind for which the predicate holds, present ones included; undefined stands for a deleted one. */
export const until = <A extends KubeObject>(
  resource: Resource.Resource<A>,
  name: string | undefined,
  wanted: (object: A | undefined) => boolean
) =>
  Effect.flatMap(Cache, (cache) =>
    cache.changes(resource).pipe(
      Stream.filter(
        ({ _tag, object }) =>
          (name === undefined || object.metadata.name === name) && wanted(_tag === "Deleted" ? undefined : object)
      ),
      Stream.map(({ object }) => object),
      Stream.runHead,
      Effect.map(Option.getOrThrow)
    )
  )

/** Waits until events with all these reasons were recorded. */
export const recorded = (...reasons: ReadonlyArray<string>) =>
  Effect.suspend(() => {
    const expected = new Set(reasons)
    return until(Event, undefined, (event) => {
      expected.delete(event?.reason ?? "")
      return expected.size === 0
    })
  })

/**
 * The least that a program with this library does for requests about pods: its cache follows the pods, and its client sends the requests as the loops do. A pod
 * is deleted in the state that the cache has. There is no controller: no queue, no graph, no plan.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as Key from "../src/kube/Key.ts"
import type { Draft } from "../src/kube/Meta.ts"
import * as Resource from "../src/kube/Resource.ts"
import { Event, Pod } from "../src/kube/resources.ts"
import { Cache } from "../src/layers/Cache.ts"
import { Endpoint } from "../src/layers/Endpoint.ts"
import { KubeClient } from "../src/layers/KubeClient.ts"
import * as HttpTransport from "../src/platform/HttpTransport.ts"
import { type Access, type Cost, costOf } from "./plain.ts"

const MetadataOfPod = Resource.metadataOnly(Pod)

/** The requests, one for each index, once the cache has followed the pods so far. */
export interface Requests {
  /** Creates the pods that are returned for 0 to `pods - 1`, and then `events` events. */
  readonly create: (
    namespace: string,
    of: { readonly pods: number; readonly events: number },
    body: (index: number) => object
  ) => Promise<Cost>
  /** Deletes the pods `pod-0` to `pod-<count - 1>` of a namespace. */
  readonly remove: (namespace: string, count: number) => Promise<Cost>
}

const removeOne = (namespace: string, name: string) =>
  Effect.gen(function* () {
    const [cache, client] = [yield* Cache, yield* KubeClient]
    const pod = yield* cache.get(Pod, Key.make(namespace, name))
    if (pod === undefined) return yield* Effect.die(new Error(`the cache does not have ${namespace}/${name}`))
    const { resourceVersion, uid } = pod.metadata
    const preconditions = { uid, resourceVersion }
    const options = { propagationPolicy: "Background", preconditions, returns: "nothing" } as const
    yield* client.delete(MetadataOfPod, { namespace, name }, options)
  })

const allCached = (namespace: string, count: number) =>
  Effect.gen(function* () {
    const cache = yield* Cache
    while ((yield* cache.list(Pod, { namespace })).length < count) yield* Effect.sleep("100 millis")
  })

export const make = ({ ca, token, url }: Access): Requests => {
  const transport = HttpTransport.layer.pipe(
    Layer.provide(Layer.succeed(Endpoint, Endpoint.fixed({ server: url, tls: { ca }, token: Redacted.make(token) })))
  )
  const cached = Layer.effectDiscard(Effect.flatMap(Cache, (cache) => cache.subscribe(Pod)))
  const runtime = ManagedRuntime.make(
    cached.pipe(Layer.provideMerge(Cache.layer()), Layer.provideMerge(KubeClient.layer), Layer.provide(transport))
  )
  const create = (namespace: string, { pods }: { readonly pods: number }, index: number, body: object) =>
    Effect.flatMap(KubeClient, (client) =>
      index < pods
        ? client.create(Pod, body as Draft<Pod>, { namespace, returns: "metadata" })
        : client.create(Event, body as Draft<Event>, { namespace, returns: "nothing" })
    )
  return {
    create: async (namespace, of, body) => {
      await runtime.runPromise(allCached(namespace, 0))
      return costOf(of.pods + of.events, (index) => runtime.runPromise(create(namespace, of, index, body(index))))
    },
    remove: async (namespace, count) => {
      await runtime.runPromise(allCached(namespace, count))
      return costOf(count, (index) => runtime.runPromise(removeOne(namespace, `pod-${index}`)))
    }
  }
}

/**
 * The least that a program with this library does for a cascade: its cache follows the pods, and its client deletes each in the state that the cache has, as
 * the garbage collector does. There is no controller: no queue, no graph, no plan.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as Key from "../src/kube/Key.ts"
import * as Resource from "../src/kube/Resource.ts"
import { Pod } from "../src/kube/resources.ts"
import { Cache } from "../src/layers/Cache.ts"
import { Endpoint } from "../src/layers/Endpoint.ts"
import { KubeClient } from "../src/layers/KubeClient.ts"
import * as HttpTransport from "../src/platform/HttpTransport.ts"
import { type Access, type Cost, costOf } from "./plain.ts"

/** Deletes the pods `pod-0` to `pod-<count - 1>` of a namespace. */
export type Deletes = (namespace: string, count: number) => Promise<Cost>

const MetadataOfPod = Resource.metadataOnly(Pod)

const remove = (namespace: string, name: string) =>
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

export const make = ({ ca, token, url }: Access): Deletes => {
  const transport = HttpTransport.layer.pipe(
    Layer.provide(Layer.succeed(Endpoint, Endpoint.fixed({ server: url, tls: { ca }, token: Redacted.make(token) })))
  )
  const cached = Layer.effectDiscard(Effect.flatMap(Cache, (cache) => cache.subscribe(Pod)))
  const runtime = ManagedRuntime.make(
    cached.pipe(Layer.provideMerge(Cache.layer()), Layer.provideMerge(KubeClient.layer), Layer.provide(transport))
  )
  return async (namespace, count) => {
    await runtime.runPromise(allCached(namespace, count))
    return costOf(count, (index) => runtime.runPromise(remove(namespace, `pod-${index}`)))
  }
}

/** An in-process cluster with simulated nodes, in virtual time, and the operations that its tests need. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"
import type * as Duration from "effect/Duration"
import { Event, Pod } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { Cache } from "../../src/layers/Cache.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Nodes from "../../src/simulation/Nodes.ts"
import { Quiescence } from "../../src/layers/Quiescence.ts"

export const clients = Cache.layer().pipe(
  Layer.provideMerge(KubeClient.layer),
  Layer.provideMerge(ApiServer.layerTransport),
  Layer.provideMerge(ApiServer.layer()),
  Layer.provideMerge(Quiescence.layer)
)

export const nodes = (options?: Nodes.Options) => Nodes.layer(options).pipe(Layer.provideMerge(clients))

export const settle = Effect.flatMap(Quiescence, (one) => one.settle)

/** Settles, advances the clock, and settles again. */
export const pass = (duration: Duration.Input) =>
  settle.pipe(Effect.andThen(TestClock.adjust(duration)), Effect.andThen(settle))

export const podOf = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default", ...metadata },
  spec: { containers: [{ name: "main", image: "example.test/main:1" }], ...spec }
})

export const create = (name: string, spec?: object, metadata?: object) =>
  Effect.flatMap(KubeClient, (client) => client.create(Pod, podOf(name, spec, metadata) as Pod))

export const get = (name: string) =>
  Effect.flatMap(KubeClient, (client) => client.get(Pod, { namespace: "default", name }))

export const remove = (name: string, options?: { readonly gracePeriodSeconds?: number }) =>
  Effect.flatMap(KubeClient, (client) => client.delete(Pod, { namespace: "default", name }, options))

export const patch = (name: string, body: object, subresource?: string) =>
  Effect.flatMap(KubeClient, (client) =>
    client.patch(Pod, { namespace: "default", name, subresource }, { type: "strategic", body })
  )

/** The reasons of a pod's events, in the order in which they first happened. */
export const reasons = (name: string) =>
  Effect.map(
    Effect.flatMap(KubeClient, (client) => client.list(Event, { namespace: "default" })),
    ({ items }) =>
      items.filter(({ involvedObject }) => involvedObject.name === name).map(({ reason, type }) => `${type} ${reason}`)
  )

export const condition = (pod: Pod, type: string) => pod.status?.conditions?.find((one) => one.type === type)

/** Nearly the status column of `kubectl get pods`: the state of the first container, or the phase. */
export const word = (pod: Pod): string => {
  const one = pod.status?.containerStatuses?.[0]
  const state = one?.state
  const what = state?.waiting?.reason ?? state?.terminated?.reason ?? pod.status?.phase ?? "none"
  return one?.restartCount === undefined || one.restartCount === 0 ? what : `${what} #${one.restartCount}`
}

export const wordOf = (name: string) => Effect.map(get(name), word)

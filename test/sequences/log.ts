/**
 * Everything that happened to pods, replica sets and Deployments, in the order of the server's one counter: each write as an
 * entry with the object as it was then. It is read through a door of its own, which no fault script knows.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { KubeObject } from "../../src/kube/Meta.ts"
import type * as Resource from "../../src/kube/Resource.ts"
import { Deployment, Pod, ReplicaSet } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import * as Faults from "../../src/apiserver/faults.ts"
import * as ApiTransport from "../../src/apiserver/transport.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Transport } from "../../src/layers/Transport.ts"

interface Write<Kind extends string, A> {
  readonly kind: Kind
  readonly type: "ADDED" | "MODIFIED" | "DELETED"
  readonly revision: number
  /** Milliseconds of virtual time. */
  readonly at: number
  readonly object: A
}

export type Entry = Write<"Pod", Pod> | Write<"ReplicaSet", ReplicaSet> | Write<"Deployment", Deployment>

/** A client that no fault meets. */
export const undisturbed = Effect.gen(function* () {
  const server = yield* ApiServer
  const transport = ApiTransport.make(server, Faults.make(), server.revision)
  const services = yield* Layer.build(
    Layer.fresh(KubeClient.layer).pipe(Layer.provide(Layer.succeed(Transport, transport)))
  )
  return Context.get(services, KubeClient)
})

/** Begins to record; the answer is what there is so far, in order. */
export const record = Effect.fnUntraced(function* (client: KubeClient["Service"]) {
  const clock = yield* Clock.Clock
  const server = yield* ApiServer
  const resourceVersion = String(yield* server.revision)
  const entries: Array<Entry> = []
  const follow = <A extends KubeObject>(kind: Entry["kind"], resource: Resource.Resource<A>) =>
    client.watch(resource, { resourceVersion, timeoutSeconds: 10_000_000 }).pipe(
      Stream.runForEachArray((events) =>
        Effect.sync(() => {
          for (const { object, type } of events) {
            const revision = Number((object as KubeObject).metadata.resourceVersion)
            entries.push({ kind, type, revision, at: clock.currentTimeMillisUnsafe(), object } as unknown as Entry)
          }
        })
      ),
      Effect.forkScoped({ startImmediately: true })
    )
  yield* follow("Pod", Pod)
  yield* follow("ReplicaSet", ReplicaSet)
  yield* follow("Deployment", Deployment)
  return () => entries.toSorted((left, right) => left.revision - right.revision)
})

/**
 * A log of the writes to some resources, in the order of their resource versions: an entry for each write, with the object as it was then.
 * The log is read with a client of its own, so that injected faults do not affect it.
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

export interface Write<Kind extends string, A> {
  readonly kind: Kind
  readonly type: "ADDED" | "MODIFIED" | "DELETED"
  readonly revision: number
  /** Milliseconds of virtual time. */
  readonly at: number
  readonly object: A
}

export type Entry = Write<"Pod", Pod> | Write<"ReplicaSet", ReplicaSet> | Write<"Deployment", Deployment>

/** A client whose requests meet no injected faults. */
export const withoutFaults = Effect.gen(function* () {
  const server = yield* ApiServer
  const transport = ApiTransport.make(server, Faults.make(), server.revision)
  const services = yield* Layer.build(
    Layer.fresh(KubeClient.layer).pipe(Layer.provide(Layer.succeed(Transport, transport)))
  )
  return Context.get(services, KubeClient)
})

/** Records writes of these resources from now on. The result returns those so far, in the order of their revisions. */
export const recordWrites = Effect.fnUntraced(function* (
  client: KubeClient["Service"],
  resources: ReadonlyArray<Resource.Any>
) {
  const clock = yield* Clock.Clock
  const server = yield* ApiServer
  const resourceVersion = String(yield* server.revision)
  const entries: Array<Write<string, KubeObject>> = []
  for (const resource of resources) {
    yield* client.watch(resource, { resourceVersion, timeoutSeconds: 10_000_000 }).pipe(
      Stream.runForEachArray((events) =>
        Effect.sync(() => {
          for (const { object, type } of events) {
            const revision = Number((object as KubeObject).metadata.resourceVersion)
            const at = clock.currentTimeMillisUnsafe()
            entries.push({ kind: resource.kind, type, revision, at, object } as Write<string, KubeObject>)
          }
        })
      ),
      Effect.forkScoped({ startImmediately: true })
    )
  }
  return () => entries.toSorted((left, right) => left.revision - right.revision)
})

/** Records the writes of pods, ReplicaSets and Deployments. */
export const record = (client: KubeClient["Service"]) =>
  Effect.map(
    recordWrites(client, [Pod, ReplicaSet, Deployment]),
    (entries) => () => entries() as ReadonlyArray<unknown> as ReadonlyArray<Entry>
  )

/** The harness of the quota tests: objects of all kinds, the usage in a status, and rejected requests. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as ResourceQuotaController from "../../../src/controllers/ResourceQuota.ts"
import type { ApiError } from "../../../src/kube/ApiError.ts"
import type { Draft, KubeObject } from "../../../src/kube/Meta.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import type * as Resource from "../../../src/kube/Resource.ts"
import { PersistentVolumeClaim, Pod, ResourceQuota } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import * as ClusterTest from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import type { Request } from "../../../src/layers/Transport.ts"

export const namespace = "default"

type Amounts = Readonly<Record<string, string>>

const withClient = <A, E, R>(use: (client: KubeClient["Service"]) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(KubeClient, use)

export const settle = Effect.flatMap(ClusterTest.ClusterTest, (cluster) => cluster.settle)

export const advance = (time: Duration.Input) =>
  Effect.flatMap(ClusterTest.ClusterTest, (cluster) => cluster.advance(time))

const settled = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.tap(effect, () => settle)

export const create = <A extends KubeObject>(resource: Resource.Resource<A>, name: string, body: object = {}) => {
  const { metadata, ...rest } = body as { readonly metadata?: object }
  return settled(
    withClient((client) => {
      const place = resource.scope === "Cluster" ? {} : { namespace }
      return client.create(resource, { ...rest, metadata: { ...place, name, ...metadata } } as Draft<A>)
    })
  )
}

export const patch = (resource: Resource.Any, name: string, body: object, subresource?: string) =>
  settled(withClient((client) => client.patch(resource, { namespace, name, subresource }, Patch.merge(body))))

/** Deletes without a grace period. */
export const remove = (resource: Resource.Any, name: string, options: object = { gracePeriodSeconds: 0 }) =>
  settled(withClient((client) => client.delete(resource, { namespace, name }, options)))

/** The message of the rejection. */
export const refused = <A, R>(effect: Effect.Effect<A, ApiError, R>) =>
  Effect.map(Effect.flip(effect), ({ detail }) => detail)

/** A quota with these limits. */
export const quota = (name: string, hard: Amounts, spec: object = {}) =>
  create(ResourceQuota, name, { spec: { hard, ...spec } })

export const scoped = (scopeName: string, operator = "Exists", values?: ReadonlyArray<string>) => ({
  scopeSelector: { matchExpressions: [{ scopeName, operator, ...(values === undefined ? {} : { values }) }] }
})

const find = (name: string) => withClient((client) => client.get(ResourceQuota, { namespace, name }))

export const status = (name = "q") => Effect.map(find(name), (found) => found.status)

export const used = (name = "q") => Effect.map(status(name), (status) => status?.used)

export const pod = (name: string, requests: object = {}, spec: object = {}, limits: object = {}) =>
  create(Pod, name, {
    spec: { containers: [{ name: "main", image: "web:1", resources: { requests, limits } }], ...spec }
  })

export const claim = (name: string, spec: object = {}) =>
  create(PersistentVolumeClaim, name, {
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec }
  })

/** Records the status updates of quotas from now on. */
export const recording = Effect.gen(function* () {
  const calls: Array<Request> = []
  yield* (yield* ApiServer).setFaults([
    {
      match: (request) => {
        if (request.context.resource === "resourcequotas/status" && request.method === "PUT") calls.push(request)
        return false
      },
      fault: { _tag: "Drop" }
    }
  ])
  return calls
})

export const start = (options?: ResourceQuotaController.Options) =>
  Effect.flatMap(ClusterTest.ClusterTest, (cluster) => cluster.run(ResourceQuotaController.make(options)))

/** A cluster whose admission enforces quotas. */
export const layer = ClusterTest.ClusterTest.layer({ admission: { resourceQuota: true } })

/** Runs the controller on a cluster whose admission enforces quotas; the test sets the status of pods. */
export const withLoop = <A, E>(test: Effect.Effect<A, E, ClusterTest.Provides | Scope.Scope>) =>
  Effect.andThen(Effect.andThen(start(), settle), test).pipe(Effect.scoped, Effect.provide(layer))

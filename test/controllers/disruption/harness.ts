/**
 * The harness of the disruption tests: pods whose readiness the test sets, their controllers, budgets, and evictions.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Disruption from "../../../src/controllers/Disruption.ts"
import type * as ApiError from "../../../src/kube/ApiError.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { Event, Pod, PodDisruptionBudget } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import * as ClusterTest from "../../../src/testing/ClusterTest.ts"
import type { Descriptor } from "../../../src/layers/Controller.ts"
import { Recorder } from "../../../src/layers/Recorder.ts"
import { Transport } from "../../../src/layers/Transport.ts"
import * as Cluster from "../../support/cluster.ts"
import { advance, patch, settle, withClient } from "../../support/cluster.ts"

export const namespace = "default"

export const labels = { app: "web" }

export { advance, patch, settle }

const settled = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.tap(effect, () => settle)

export const create = <A extends KubeObject>(
  resource: Resource.Resource<A>,
  name: string,
  spec: object,
  metadata: object = {}
) => Cluster.create(resource, { metadata: { name, namespace, ...metadata }, spec })

export const get = <A extends KubeObject>(resource: Resource.Resource<A>, name: string) =>
  settled(withClient((client) => client.get(resource, { namespace, name })))

export const remove = (resource: Resource.Any, name: string, options: object = { gracePeriodSeconds: 0 }) =>
  Cluster.remove(resource, name, options)

export const containers = [{ name: "main", image: "web:1" }]

export const template = { metadata: { labels }, spec: { containers } }

/** The spec of a workload. */
export const workload = (replicas: number, extra: object = {}) => ({
  replicas,
  selector: { matchLabels: labels },
  template,
  ...extra
})

/** A pod that is not running yet. */
export const pending = (name: string, metadata: object = {}) =>
  create(Pod, name, { nodeName: "a", containers, terminationGracePeriodSeconds: 30 }, { labels, ...metadata })

export const becomes = (name: string, ready: boolean) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    patch(
      Pod,
      name,
      {
        status: {
          phase: "Running",
          conditions: [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime: Time.format(now) }]
        }
      },
      "status"
    )
  )

/** Pods that are running and ready. */
export const running = (names: ReadonlyArray<string>, metadata: object = {}) =>
  Effect.forEach(names, (name) => Effect.andThen(pending(name, metadata), becomes(name, true)), { discard: true })

export const controlledBy = (owner: KubeObject, kind: Resource.Any) => ({
  ownerReferences: [
    {
      apiVersion: Resource.apiVersion(kind),
      kind: kind.kind,
      name: owner.metadata.name,
      uid: owner.metadata.uid ?? "",
      controller: true
    }
  ]
})

export const budget = (spec: object, name = "web") =>
  create(PodDisruptionBudget, name, { selector: { matchLabels: labels }, ...spec })

export const statusOf = (name = "web") => Effect.map(get(PodDisruptionBudget, name), ({ status }) => status)

/** `healthy 3 of 2, expected 3, allowed 1`. */
export const summary = (name = "web") =>
  Effect.map(
    statusOf(name),
    (status) =>
      `healthy ${status?.currentHealthy} of ${status?.desiredHealthy}, expected ${status?.expectedPods}, allowed ${status?.disruptionsAllowed}`
  )

/** `True SufficientPods`, and the message if there is one. */
export const condition = (name = "web") =>
  Effect.map(statusOf(name), (status) => {
    const one = status?.conditions?.find(({ type }) => type === "DisruptionAllowed")
    return [one?.status, one?.reason, one?.message].filter((part) => part !== undefined && part !== "").join(" ")
  })

/** Events of the controller, `type reason message`, each once. */
export const events = Effect.gen(function* () {
  yield* (yield* Recorder).drained
  const all = yield* (yield* ClusterTest.ClusterTest).snapshot(Event)
  return all
    .filter(({ source }) => source?.component === "controllermanager")
    .map(({ involvedObject, message, reason, type }) => `${involvedObject.name}: ${type} ${reason} ${message}`)
    .toSorted()
})

/** One attempt, without retries. */
export const evict = (name: string, options: object = {}) =>
  settled(
    Effect.flatMap(Transport, (transport) => {
      const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`
      const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace }, ...options }
      return transport.send({ method: "POST", path, body, context: { verb: "create", path } })
    })
  )

/** The reason of a refusal; undefined if the eviction succeeded. */
export const refusal = (name: string, options: object = {}) =>
  Effect.match(evict(name, options), {
    onSuccess: () => undefined,
    onFailure: ({ details, status }: ApiError.ApiError) => `${status}: ${details?.causes?.[0]?.message ?? ""}`
  })

export const start = (...controllers: ReadonlyArray<Descriptor>) =>
  Effect.flatMap(ClusterTest.ClusterTest, (cluster) =>
    Effect.andThen(
      cluster.run(Disruption.make()),
      Effect.forEach(controllers, (one) => cluster.run(one))
    )
  )

/** Runs the controller without nodes: the test writes the pods' status. */
export const scenario = <A, E>(
  test: Effect.Effect<A, E, ClusterTest.Provides | Scope.Scope>,
  options: ClusterTest.Options = {}
) => Effect.andThen(start(), test).pipe(Effect.scoped, Effect.provide(ClusterTest.ClusterTest.layer(options)))

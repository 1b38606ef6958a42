/**
 * One sync of a Service's Endpoints: collects from the cache, plans, and writes at most once. The Endpoints of a
 * deleted Service are deleted. Source: pkg/controller/endpoint: syncService.
 */
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import type * as Key from "../../kube/Key.ts"
import type { Draft, KubeObject } from "../../kube/Meta.ts"
import type { Endpoints, Pod, Service } from "../../kube/resources.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import type * as Store from "../../streams/store/Store.ts"
import * as Selection from "../shared/services/selection.ts"
import * as TriggerTime from "../shared/services/triggerTime.ts"
import * as Family from "../../streams/reconcile/metricFamily.ts"
import * as Plan from "./plan.ts"
import * as Subsets from "./subsets.ts"

type Call<A> = Effect.Effect<A, ApiError.ApiError>

/** The stores and API calls that the Endpoints controller depends on. */
export interface Deps {
  readonly services: Store.Readable<Service>
  readonly pods: Store.Readable<Pod>
  readonly endpoints: Store.Readable<Endpoints>
  readonly create: (draft: Draft<Endpoints>) => Call<Endpoints>
  readonly update: (endpoints: Endpoints) => Call<Endpoints>
  readonly remove: (endpoints: Endpoints) => Call<unknown>
  readonly events: EventSink
}

/** State of one leadership term. */
export interface State {
  readonly table: Selection.Table
  /** The trigger times of the last sync, by Service. */
  readonly times: Map<Key.Key, TriggerTime.State>
}

const changes = Family.counter("endpoint_controller_changes_total", "Writes of Endpoints, by operation", ["operation"])

export const families = [changes]

const changed = (operation: "create" | "update" | "delete", addresses: number): Effect.Effect<void> =>
  Effect.andThen(
    changes.add(1, { operation }),
    Effect.annotateLogs(Effect.logDebug("Wrote the Endpoints of a Service"), { operation, addresses })
  )

export const sync =
  (deps: Deps, { table, times }: State) =>
  (key: Key.Key): Call<void> =>
    Effect.suspend(() => {
      const service = deps.services.get(key)
      const current = deps.endpoints.get(key)
      if (service === undefined) {
        times.delete(key)
        return current === undefined ? Effect.void : remove(deps, current)
      }
      if (Selection.selectorOf(service) === undefined) return Effect.void
      const pods = Selection.podsOf(deps.pods, table, service)
      const { state, time } = TriggerTime.step(times.get(key), service, pods)
      const plan = Plan.plan({ service, pods, current, time })
      return Effect.tap(apply(deps, service, plan), () => Effect.sync(() => times.set(key, state)))
    })

const remove = (deps: Deps, current: Endpoints): Call<void> =>
  deps.remove(current).pipe(
    Effect.andThen(changed("delete", 0)),
    Effect.catchIf(
      (error) => ApiError.hasReason(error, "NotFound"),
      () => Effect.void
    )
  )

const apply = (deps: Deps, service: Service, plan: Plan.Plan): Call<void> => {
  const { name, namespace } = service.metadata
  switch (plan._tag) {
    case "None":
      return Effect.void
    case "Create":
      return deps.create(plan.draft).pipe(
        Effect.tapError((error) => {
          const why = `Failed to create endpoint for service ${namespace}/${name}: ${error.detail}`
          // Nothing can be created in a terminating namespace, and the Service will be deleted too.
          if (ApiError.isNamespaceTerminating(error)) return Effect.void
          return deps.events.warning(named(service), "FailedToCreateEndpoint", why)
        }),
        Effect.andThen((created) => changed("create", Subsets.size(created.subsets ?? []))),
        Effect.catchIf(ApiError.isNamespaceTerminating, () => Effect.void)
      )
    case "Update":
      return deps.update(plan.endpoints).pipe(
        Effect.tapError((error) => {
          const why = `Failed to update endpoint ${namespace}/${name}: ${error.detail}`
          return deps.events.warning(plan.endpoints, "FailedToUpdateEndpoint", why)
        }),
        Effect.andThen((updated) => changed("update", Subsets.size(updated.subsets ?? [])))
      )
  }
}

/** A reference to Endpoints that do not exist, for their events. */
const named = ({ metadata: { name, namespace } }: Service): KubeObject => ({
  apiVersion: "v1",
  kind: "Endpoints",
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) }
})

/** The stores and API calls that the autoscaler controller depends on, and the access that they need. */
import type * as Effect from "effect/Effect"
import * as Access from "../../kube/Access.ts"
import type { ApiError } from "../../kube/ApiError.ts"
import * as Resource from "../../kube/Resource.ts"
import { HorizontalPodAutoscaler, Pod } from "../../kube/resources.ts"
import type * as Controller from "../../layers/Controller.ts"
import { customMetrics, externalMetrics, type MetricsApi, PodMetrics } from "../../layers/MetricsApi.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import type * as Store from "../../streams/store/Store.ts"
import type { Scales } from "../shared/scale/scales.ts"

type Call<A> = Effect.Effect<A, ApiError>

export interface Deps {
  readonly autoscalers: Store.Readable<HorizontalPodAutoscaler>
  readonly pods: Store.Readable<Pod>
  readonly scales: Scales
  readonly metrics: MetricsApi["Service"]
  /** Reads the autoscaler from the server. */
  readonly live: (autoscaler: HorizontalPodAutoscaler) => Call<HorizontalPodAutoscaler>
  readonly updateStatus: (autoscaler: HorizontalPodAutoscaler) => Call<HorizontalPodAutoscaler>
  readonly events: EventSink
}

export const access = [
  Access.read(HorizontalPodAutoscaler),
  Access.get(HorizontalPodAutoscaler),
  Access.update(HorizontalPodAutoscaler, "status"),
  Access.read(Pod),
  Access.get(Resource.anything, "scale"),
  Access.update(Resource.anything, "scale"),
  Access.whereServed(Access.list(PodMetrics)),
  Access.whereServed(Access.get(customMetrics)),
  Access.whereServed(Access.list(externalMetrics)),
  Access.record
] as const

export const depsOf = (
  { client, events, store }: Controller.BodyContext<(typeof access)[number]>,
  services: Pick<Deps, "scales" | "metrics">
): Deps => ({
  ...services,
  autoscalers: store(HorizontalPodAutoscaler),
  pods: store(Pod),
  live: ({ metadata }) => client.get(HorizontalPodAutoscaler, metadata),
  updateStatus: (autoscaler) => client.subresource("status").update(HorizontalPodAutoscaler, autoscaler),
  events
})

/** What the loop of autoscalers reads and does; nothing here knows where it goes. */
import type * as Effect from "effect/Effect"
import type { ApiError } from "../../kube/ApiError.ts"
import type { HorizontalPodAutoscaler, Pod } from "../../kube/resources.ts"
import type { MetricsApi } from "../../layers/MetricsApi.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import type * as Store from "../../streams/store/Store.ts"
import type { Scales } from "../shared/scale/scales.ts"
import type { Books } from "./books.ts"
import type { Settings } from "./plan/spec.ts"

type Call<A> = Effect.Effect<A, ApiError>

export interface Ports {
  readonly autoscalers: Store.Readable<HorizontalPodAutoscaler>
  readonly pods: Store.Readable<Pod>
  readonly scales: Scales
  readonly metrics: MetricsApi["Service"]
  /** As the server has it now. */
  readonly live: (autoscaler: HorizontalPodAutoscaler) => Call<HorizontalPodAutoscaler>
  readonly updateStatus: (autoscaler: HorizontalPodAutoscaler) => Call<HorizontalPodAutoscaler>
  readonly events: EventSink
}

/** What one run of the loop is told and remembers. */
export interface Memory {
  readonly settings: Settings
  readonly books: Books
}

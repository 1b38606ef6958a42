/** What the loop of budgets reads and does; nothing here knows where it goes. */
import type * as Effect from "effect/Effect"
import type { ApiError } from "../../kube/ApiError.ts"
import type * as Patch from "../../kube/Patch.ts"
import type { Pod, PodDisruptionBudget } from "../../kube/resources.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import type { Readable } from "../../streams/store/Store.ts"
import type * as Controllers from "./controllers.ts"

type Call<A> = Effect.Effect<A, ApiError>

export interface Ports extends Controllers.Ports {
  readonly budgets: Readable<PodDisruptionBudget>
  readonly pods: Readable<Pod>
  readonly updateStatus: (budget: PodDisruptionBudget) => Call<PodDisruptionBudget>
  readonly patchPodStatus: (pod: Pod, patch: Patch.Patch) => Call<Pod>
  readonly events: EventSink
}

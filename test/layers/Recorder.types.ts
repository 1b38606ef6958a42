/** What an event may say of a failed call. Checked by `npm run typecheck`; this file never runs. */
import type { ApiError } from "../../src/kube/ApiError.ts"
import type { Pod } from "../../src/kube/resources.ts"
import type { EventSink } from "../../src/layers/Recorder.ts"

export const events = (events: EventSink, pod: Pod, error: ApiError) => [
  // The server's words.
  events.warning(pod, "FailedCreate", error.message),
  // @ts-expect-error which call it was is data, and no text
  events.warning(pod, "FailedCreate", error.context),
  // @ts-expect-error a failure is not its words
  events.warning(pod, "FailedCreate", error)
]

/** What an event may say of a failed call. Checked by `npm run typecheck`; this file never runs. */
import type { ApiError } from "../../src/kube/ApiError.ts"
import type { Pod } from "../../src/kube/resources.ts"
import type { EventSink } from "../../src/layers/Recorder.ts"

export const events = (events: EventSink, pod: Pod, error: ApiError) => [
  // The message of the server.
  events.warning(pod, "FailedCreate", error.message),
  // @ts-expect-error the context of a call is not a text
  events.warning(pod, "FailedCreate", error.context),
  // @ts-expect-error an error is not a text
  events.warning(pod, "FailedCreate", error)
]

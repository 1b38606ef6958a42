/** What the quota loop reads and does; nothing here knows where it goes. */
import type * as Effect from "effect/Effect"
import type { ApiError } from "../../kube/ApiError.ts"
import type { ResourceQuota } from "../../kube/resources.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import type * as Store from "../../streams/store/Store.ts"

export interface Ports {
  readonly quotas: Store.Readable<ResourceQuota>
  readonly updateStatus: (quota: ResourceQuota) => Effect.Effect<ResourceQuota, ApiError>
  readonly queue: Pick<KeyedQueue, "addUnsafe" | "addWithUnsafe">
  /** Milliseconds since 1970. */
  readonly now: () => number
}

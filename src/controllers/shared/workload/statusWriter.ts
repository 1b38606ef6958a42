/**
 * The write of an owner's status. A failed write is retried once on the object as the server has it, unless that is another object of its name.
 * Source: pkg/controller/replicaset: updateReplicaSetStatus; pkg/controller/daemon: storeDaemonSetStatus; pkg/controller/statefulset:
 * UpdateStatefulSetStatus. Also whether the server keeps a field of the status.
 */
import * as Effect from "effect/Effect"
import type { ApiError } from "../../../kube/ApiError.ts"
import type { KubeObject } from "../../../kube/Meta.ts"

interface Calls<O> {
  /** The owner of that name, read from the server. */
  readonly live: (owner: O) => Effect.Effect<O, ApiError>
  readonly updateStatus: (owner: O) => Effect.Effect<O, ApiError>
}

/**
 * `next`: the status from the stored one, which the retry reads again; the same object if nothing is to be written. Returns the owner as written,
 * or as it was.
 */
export const write = <O extends KubeObject & { readonly status?: unknown }>(
  { live, updateStatus }: Calls<O>,
  owner: O,
  next: (stored: O["status"]) => O["status"]
): Effect.Effect<O, ApiError> => {
  const onto = (one: O): Effect.Effect<O, ApiError> => {
    const status = next(one.status)
    return status === one.status ? Effect.succeed(one) : updateStatus({ ...one, status })
  }
  return Effect.catch(onto(owner), (error) =>
    Effect.flatMap(live(owner), (fresh) =>
      fresh.metadata.uid === owner.metadata.uid ? onto(fresh) : Effect.fail(error)
    )
  )
}

/**
 * Whether the API server keeps a field of the status. An older server drops it from the stored object: a loop that compared the field anyway would
 * write in every sync. The last answer counts, because a server may be upgraded while the loop runs.
 */
export interface KeptField {
  readonly isKept: () => boolean
  /** The field as it was written, and as it is in the answer; undefined if absent. */
  readonly answered: (written: unknown, answer: unknown) => void
}

export const keptField = (): KeptField => {
  let isKept = true
  return {
    isKept: () => isKept,
    answered: (written, answer) => {
      if (written !== undefined) isKept = answer !== undefined
    }
  }
}

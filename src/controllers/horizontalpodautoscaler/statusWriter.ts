/**
 * Writes the status if it changed, and formats failures. After a conflict the status is written once more to the live
 * object if it has the same uid. Source: pkg/controller/podautoscaler: updateStatus.
 */
import * as Effect from "effect/Effect"
import * as ApiError from "../../kube/ApiError.ts"
import type { HorizontalPodAutoscaler } from "../../kube/resources.ts"
import type { Failure } from "../shared/scale/scales.ts"
import { ReconcileError } from "./snapshot.ts"
import * as Status from "./status.ts"
import type { Deps } from "./deps.ts"

/** The failure of reading or writing a scale. */
export const failure = (error: Failure): string => {
  switch (error._tag) {
    case "NotServed":
      return `no matches for kind "${error.kind}" in group "${error.group}"`
    case "NotScalable":
      return "the server could not find the requested resource"
    case "ApiError":
      return error.detail
  }
}

/** Why nothing was decided. */
export const undecided = (reference: string, why: string): string =>
  `failed to compute desired number of replicas based on listed metrics for ${reference}: ${why}`

/** Returns the autoscaler with its new status. */
export const status = (
  deps: Deps,
  autoscaler: HorizontalPodAutoscaler,
  change: Status.StatusChange
): Effect.Effect<HorizontalPodAutoscaler, ReconcileError> => {
  const next = Status.after(autoscaler, change)
  if (!Status.isChanged(autoscaler, next)) return Effect.succeed(autoscaler)
  return write(deps, { ...autoscaler, status: next }).pipe(
    Effect.tapError((error) =>
      isGone(error) ? Effect.void : deps.events.warning(autoscaler, "FailedUpdateStatus", error.detail)
    ),
    Effect.catch((error) =>
      isGone(error)
        ? Effect.succeed(autoscaler)
        : Effect.fail(
            new ReconcileError({
              message: `failed to update status for ${autoscaler.metadata.name}: ${error.detail}`,
              fault: "internal"
            })
          )
    )
  )
}

const isGone = (error: ApiError.ApiError): boolean => ApiError.hasReason(error, "NotFound")

const write = (
  { live, updateStatus }: Deps,
  wanted: HorizontalPodAutoscaler
): Effect.Effect<HorizontalPodAutoscaler, ApiError.ApiError> =>
  Effect.catchIf(
    updateStatus(wanted),
    (error) => ApiError.hasReason(error, "Conflict"),
    (error) =>
      Effect.flatMap(live(wanted), (latest) =>
        latest.metadata.uid === wanted.metadata.uid
          ? updateStatus({ ...latest, ...(wanted.status === undefined ? {} : { status: wanted.status }) })
          : Effect.fail(error)
      )
  )

/**
 * The span of one call to the API server, all its attempts included: what was asked for and what the server answered, never a body.
 * Below the span of whoever calls. Only for clients that are traced: a span costs more than the rest of a call's bookkeeping.
 */
import * as Effect from "effect/Effect"
import type * as ApiError from "../kube/ApiError.ts"
import type { Request, Response } from "./Transport.ts"

export const around = (
  { context }: Request,
  call: Effect.Effect<Response, ApiError.ApiError>
): Effect.Effect<Response, ApiError.ApiError> =>
  Effect.useSpan(
    `${context.verb} ${context.resource ?? "raw"}`,
    { kind: "client", attributes: attributesOf(context) },
    (span) =>
      call.pipe(
        Effect.tap(({ status }) => Effect.sync(() => span.attribute("code", status))),
        Effect.tapError(({ reason, status }) =>
          Effect.sync(() => {
            if (status !== undefined) span.attribute("code", status)
            span.attribute("reason", reason._tag)
          })
        )
      )
  )

const attributesOf = ({ name, namespace, path, resource, verb }: ApiError.Context): Record<string, unknown> => ({
  verb,
  path,
  ...(resource === undefined ? {} : { resource }),
  ...(namespace === undefined ? {} : { namespace }),
  ...(name === undefined ? {} : { name })
})

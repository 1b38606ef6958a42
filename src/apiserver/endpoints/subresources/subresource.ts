/** Subresources with a kind of their own. */
import * as Effect from "effect/Effect"
import * as Admission from "../../admission/Admission.ts"
import type { GroupVersionKind, RequestScope } from "../../admission/Admission.ts"
import type { Json, JsonObject } from "../../json.ts"
import type { Target } from "../../routing.ts"
import * as StatusError from "../../StatusError.ts"
import { optionsOf } from "../change.ts"

/** Answers by itself, with a status code and a body. */
export type SubresourceHandler = (
  context: RequestScope,
  target: Target
) => Effect.Effect<readonly [code: number, body: string], StatusError.StatusError>

/** The response of a subresource whose create has no object to show. */
const done: Json = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 }

interface Action {
  /** The kind of the object that is sent. */
  readonly as: GroupVersionKind
  readonly decode: (context: RequestScope, target: Target) => JsonObject | StatusError.StatusError
  /** Runs in one synchronous section, after admission; returns why it refuses, or undefined. */
  readonly act: (
    context: RequestScope,
    target: Target,
    sent: JsonObject,
    dryRun: boolean
  ) => StatusError.StatusError | undefined
}

/** A subresource to which clients post an object that is acted on and not stored. */
export const action = ({ act, as, decode }: Action): SubresourceHandler =>
  Effect.fnUntraced(function* (context, target) {
    if (context.request.method !== "POST") return yield* StatusError.methodNotAllowed()
    const object = yield* StatusError.toEffect(decode(context, target))
    const { dryRun } = optionsOf(context)
    yield* Admission.admitSubresource({ context, target, object, before: undefined, dryRun, as })
    yield* act(context, target, object, dryRun) ?? Effect.void
    return [201, JSON.stringify(done)]
  })

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
  readonly decode: (context: RequestScope, target: Target) => JsonObject
  /** Runs in one synchronous section, after admission. */
  readonly act: (context: RequestScope, target: Target, sent: JsonObject, dryRun: boolean) => void
}

/** A subresource to which clients post an object that is acted on and not stored. */
export const action = ({ act, as, decode }: Action): SubresourceHandler =>
  Effect.fnUntraced(function* (context, target) {
    const { dryRun, object } = yield* StatusError.attempt(() => {
      if (context.request.method !== "POST") throw StatusError.methodNotAllowed()
      return { object: decode(context, target), dryRun: optionsOf(context).dryRun }
    })
    yield* Admission.admitSubresource({ context, target, object, before: undefined, dryRun, as })
    yield* StatusError.attempt(() => act(context, target, object, dryRun))
    return [201, JSON.stringify(done)]
  })

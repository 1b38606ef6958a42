/**
 * The one error of declarations that cannot work: thrown by the call that makes such a value, or failed with when the server is put
 * together and sees all of them.
 */
import * as Data from "effect/Data"

/** Webhooks that cannot be served. The message is one sentence that names the webhook. */
export class InvalidWebhook extends Data.TaggedError("InvalidWebhook")<{ readonly message: string }> {}

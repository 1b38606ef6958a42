/** Webhooks as holders of permissions: what their handlers ask of the API server, they ask as the program. Pure. */
import type { Holder } from "../permissions.ts"
import type * as Webhook from "../../layers/Webhook.ts"

/** Those that ask for anything. */
export const holders = (webhooks: ReadonlyArray<Webhook.Any>): ReadonlyArray<Holder> =>
  webhooks.flatMap((webhook) =>
    webhook.access.length === 0 ? [] : [{ who: `webhook ${whoOf(webhook)}`, access: webhook.access }]
  )

const whoOf = (webhook: Webhook.Any): string =>
  webhook._tag === "Converting" ? `of ${webhook.resource.plural}` : webhook.name

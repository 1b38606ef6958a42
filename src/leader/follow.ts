/**
 * The watch of a standby on the Lease. With it, the time for which a record has stood unchanged counts from the moment it appeared, not from the
 * next read, and a released lease is tried for at once. The watch decides nothing: every takeover is based on a read of its own. Without a watch, a
 * takeover is later, but as safe.
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import { Lease } from "../kube/resources.ts"
import type { KubeClient } from "../layers/KubeClient.ts"
import type { WatchEvent } from "../layers/Transport.ts"
import type * as LeasePolicy from "./lease.ts"

export interface Options {
  readonly client: KubeClient["Service"]
  readonly settings: LeasePolicy.Settings
  readonly namespace: string
  readonly name: string
  /** Called with every new record, in the server's order. */
  readonly noticed: (lease: Lease) => Effect.Effect<void>
}

/** Watches until it is interrupted; it never ends by itself and never fails. */
export const follow = ({ client, name, namespace, noticed, settings }: Options): Effect.Effect<never> =>
  // Without a resource version the watch begins with the present state, so no list is needed.
  client.watch(Lease, { namespace, fieldSelector: `metadata.name=${name}` }).pipe(
    Stream.runForEach((event) => (isRecord(event, name) ? noticed(event.object) : Effect.void)),
    // Watches end regularly and can be reopened at once. A rejected watch is likely to be rejected again.
    Effect.as(settings.retryPeriod),
    Effect.catchCause((cause) =>
      Effect.as(
        Effect.logDebug(`cannot watch lease ${namespace}/${name}; polling it instead`, cause),
        settings.leaseDuration
      )
    ),
    Effect.flatMap((pause) => Effect.flatMap(Random.next, (random) => Effect.sleep(pause * (1 + random)))),
    Effect.forever
  )

/** A deletion is ignored: the holder may not know of it and may still lead. The name is compared again for servers that ignore field selectors. */
const isRecord = (event: WatchEvent, name: string): event is WatchEvent & { readonly object: Lease } =>
  (event.type === "ADDED" || event.type === "MODIFIED") && nameOf(event.object) === name

const nameOf = (object: unknown): unknown => {
  const metadata = (object as { readonly metadata?: { readonly name?: unknown } } | null | undefined)?.metadata
  return metadata?.name
}

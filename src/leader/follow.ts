/**
 * A standby's eyes on the Lease: it watches it, so that the time a record has stood unchanged is counted from when it appeared
 * and not from the next look, and a lease that was given back is tried for at once. It decides nothing and takes nothing: every
 * takeover is still made after a read of its own. A watch that cannot be had costs time, never safety.
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

/** Follows for as long as it runs; it never ends by itself and never fails. */
export const follow = ({ client, name, namespace, noticed, settings }: Options): Effect.Effect<never> =>
  // Without a version: the present state comes first, so no list is needed.
  client.watch(Lease, { namespace, fieldSelector: `metadata.name=${name}` }).pipe(
    Stream.runForEach((event) => (isRecord(event, name) ? noticed(event.object) : Effect.void)),
    // An end is usual, and cheap to mend. A refusal will rather stay.
    Effect.as(settings.retryPeriod),
    Effect.catchCause((cause) =>
      Effect.as(
        Effect.logDebug(`cannot watch lease ${namespace}/${name}; looking at it instead`, cause),
        settings.leaseDuration
      )
    ),
    Effect.flatMap((pause) => Effect.flatMap(Random.next, (random) => Effect.sleep(pause * (1 + random)))),
    Effect.forever
  )

/** A lease that was deleted says nothing new: its holder may not know. A server may know no field selectors. */
const isRecord = (event: WatchEvent, name: string): event is WatchEvent & { readonly object: Lease } =>
  (event.type === "ADDED" || event.type === "MODIFIED") && nameOf(event.object) === name

const nameOf = (object: unknown): unknown => {
  const metadata = (object as { readonly metadata?: { readonly name?: unknown } } | null | undefined)?.metadata
  return metadata?.name
}

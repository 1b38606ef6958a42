/**
 * Simulates all machines of a cluster at once: as soon as a pod exists, it writes the wanted status. This costs the server two requests for each pod, and the
 * program under test nothing but the events.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Patch from "../../src/kube/Patch.ts"
import { Pod } from "../../src/kube/resources.ts"
import type { KubeClient } from "../../src/layers/KubeClient.ts"

/** The status of a pod that has succeeded. */
export const succeeded = { phase: "Succeeded" }

/** The status of a ready pod with an address of its own. */
export const running = (index: number) => {
  const address = `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`
  return {
    phase: "Running",
    podIP: address,
    podIPs: [{ ip: address }],
    conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2020-01-01T00:00:00Z" }]
  }
}

/** Runs until it is interrupted. */
export const write = (client: KubeClient["Service"], namespace: string, statusOf: (index: number) => object) => {
  let index = 0
  return client.watch(Pod, { namespace, timeoutSeconds: 900 }).pipe(
    Stream.filter(({ object, type }) => type === "ADDED" && (object as Pod).status?.phase === "Pending"),
    Stream.mapEffect(
      ({ object }) =>
        client
          .patch(
            Pod,
            { namespace, name: (object as Pod).metadata.name, subresource: "status" },
            Patch.merge({ status: statusOf(index++) })
          )
          .pipe(Effect.ignore),
      { concurrency: 8, unordered: true }
    ),
    Stream.runDrain
  )
}

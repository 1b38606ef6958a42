/**
 * Stands for all machines of a cluster at once: as soon as there is a pod, its status becomes the one that it is to have. It costs the
 * server two requests a pod and the program under test nothing but the news.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Patch from "../../src/kube/Patch.ts"
import { Pod } from "../../src/kube/resources.ts"
import type { KubeClient } from "../../src/layers/KubeClient.ts"

/** What a pod looks like that has ended well. */
export const succeeded = { phase: "Succeeded" }

/** One that answers, at an address of its own. */
export const running = (index: number) => {
  const address = `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`
  return {
    phase: "Running",
    podIP: address,
    podIPs: [{ ip: address }],
    conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2020-01-01T00:00:00Z" }]
  }
}

/** Works until it is interrupted. */
export const play = (client: KubeClient["Service"], namespace: string, statusOf: (index: number) => object) => {
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

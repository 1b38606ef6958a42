/**
 * Pods run without nodes: a second after its creation a pod is ready and has an address, a second after its deletion it is gone. It is an ordinary
 * controller, so a run takes a fraction of one with simulated nodes.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Hash from "effect/Hash"
import * as Access from "../../../src/kube/Access.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { Pod } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import * as Controller from "../../../src/layers/Controller.ts"

/** The annotation of pods that end a second after they are ready: `Succeeded` or `Failed`. */
export const ends = "example.com/ends"

export const kubelet = Controller.make({
  name: "kubelet",
  for: Pod,
  concurrency: 100,
  access: [Access.create(Pod, "binding"), Access.patch(Pod, "status"), Access.remove(Pod)],
  reconcileObject: ({ metadata, spec, status }, { client }) =>
    Effect.gen(function* () {
      const { annotations, deletionTimestamp, name, uid } = metadata
      const phase = status?.phase ?? "Pending"
      const end = annotations?.[ends]
      const isDeleted = deletionTimestamp !== undefined
      if (!isDeleted && phase !== "Pending" && (phase !== "Running" || end === undefined)) return
      yield* Effect.sleep("1 second")
      // The pod may be gone by now, and another one may have its name.
      const preconditions = { uid }
      if (isDeleted) {
        return yield* Effect.ignore(client.delete(Pod, metadata, { gracePeriodSeconds: 0, preconditions }))
      }
      const now = Time.format(yield* Clock.currentTimeMillis)
      if (spec?.nodeName === undefined) {
        const target = { apiVersion: "v1", kind: "Node", name: nodeOf(spec) }
        // The subresource takes a Binding instead of a Pod.
        const binding = { apiVersion: "v1", kind: "Binding", metadata: { name, uid }, target } as never
        yield* Effect.ignore(client.subresource("binding").create(Pod, binding, { namespace: metadata.namespace }))
      }
      const isReady = phase === "Pending"
      const conditions = [{ type: "Ready", status: isReady ? "True" : "False", lastTransitionTime: now }]
      const next = isReady
        ? { phase: "Running", conditions, startTime: now, podIP: addressOf(name) }
        : { phase: end, conditions }
      yield* Effect.ignore(
        client.subresource("status").patch(Pod, metadata, Patch.merge({ metadata: preconditions, status: next }))
      )
    })
})

/** The node of a DaemonSet's pod is in its affinity. */
const nodeOf = (spec: Pod["spec"]): string => {
  const { nodeSelectorTerms = [] } = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? {}
  return nodeSelectorTerms[0]?.matchFields?.[0]?.values?.[0] ?? "n1"
}

const addressOf = (name: string): string => {
  const hash = Hash.string(name)
  return `10.${(hash >>> 16) & 255}.${(hash >>> 8) & 255}.${hash & 255}`
}

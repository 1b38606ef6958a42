/** The finalizer of any claim with any pods: it is removed only if the claim is being deleted and unused, and a second sync writes nothing. */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import type { PersistentVolumeClaim, Pod } from "../../../src/kube/resources.ts"
import * as Plan from "../../../src/controllers/pvcprotection/plan.ts"
import { checkProperty, oneOf } from "../../support/property.ts"

const stamp = "2024-01-01T00:00:00Z"

const podCases = Arbitrary.map(
  Arbitrary.all({
    node: oneOf("", "worker-1"),
    volume: oneOf("claim", "other", "own", "foreign", "none"),
    grace: oneOf(-1, 0, 30)
  }),
  ({ grace, node, volume }): Pod => {
    const name = volume === "own" || volume === "foreign" ? "pod" : "user"
    const source =
      volume === "none"
        ? []
        : volume === "claim" || volume === "other"
          ? [{ name: "v", persistentVolumeClaim: { claimName: volume === "claim" ? "pod-v" : "other" } }]
          : [{ name: "v", ephemeral: {} }]
    return {
      metadata: {
        namespace: "ns",
        name,
        uid: volume === "own" ? "owner" : "somebody",
        ...(grace < 0 ? {} : { deletionTimestamp: stamp, deletionGracePeriodSeconds: grace })
      },
      spec: { containers: [], volumes: source, nodeName: node },
      status: { phase: "Succeeded" }
    }
  }
)

const scenes = Arbitrary.all({
  isDeleting: oneOf(true, true, false),
  isHeld: oneOf(true, true, false),
  others: oneOf(true, false),
  cached: Arbitrary.array(podCases, { maxLength: 2 }),
  live: Arbitrary.array(podCases, { maxLength: 2 }),
  wasRead: oneOf(true, false)
})

type Scene = typeof scenes extends Arbitrary.Arbitrary<infer A> ? A : never

const claimOf = ({ isDeleting, isHeld, others }: Scene): PersistentVolumeClaim => ({
  metadata: {
    namespace: "ns",
    name: "pod-v",
    finalizers: [...(others ? ["example.com/a"] : []), ...(isHeld ? [Plan.finalizer] : [])],
    ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "pod", uid: "owner", controller: true }],
    ...(isDeleting ? { deletionTimestamp: stamp } : {})
  }
})

/** The rule: the pod is scheduled, and it names the claim, or owns it as an ephemeral volume and is not stopped. */
const uses = ({ metadata, spec }: Pod): boolean => {
  const [volume] = spec?.volumes ?? []
  if ((spec?.nodeName ?? "") === "" || volume === undefined) return false
  if (volume.persistentVolumeClaim !== undefined) return volume.persistentVolumeClaim.claimName === "pod-v"
  return metadata.uid === "owner" && metadata.name === "pod" && metadata.deletionGracePeriodSeconds !== 0
}

const run = (scene: Scene) =>
  Plan.plan({ claim: claimOf(scene), cached: scene.cached, live: scene.wasRead ? scene.live : undefined })

describe("Plan", () => {
  checkProperty(
    "the finalizer is removed when the claim is deleted and neither cache nor server has a pod that uses it",
    scenes,
    (scene) => {
      const free = ![...scene.cached, ...scene.live].some(uses)
      const waits = scene.isDeleting && scene.isHeld
      return (run(scene)._tag === "RemoveFinalizer") === (waits && free && scene.wasRead)
    }
  )

  checkProperty("the server is read only when the cache has no pod that uses the claim", scenes, (scene) => {
    const readsServer = scene.isDeleting && scene.isHeld && !scene.cached.some(uses) && !scene.wasRead
    return (run(scene)._tag === "ListPods") === readsServer
  })

  checkProperty("the finalizer is added to a claim that lacks it", scenes, (scene) => {
    const plan = run(scene)
    return (plan._tag === "AddFinalizer") === (!scene.isDeleting && !scene.isHeld)
  })

  checkProperty("after a write there is nothing to do, and finalizers of others stay", scenes, (scene) => {
    const plan = run(scene)
    if (plan._tag !== "AddFinalizer" && plan._tag !== "RemoveFinalizer") return true
    const claim = claimOf(scene)
    const after = { ...claim, metadata: { ...claim.metadata, finalizers: plan.finalizers } }
    const rest = plan.finalizers.filter((one) => one !== Plan.finalizer)
    return (
      Plan.plan({ ...scene, claim: after })._tag === "Nothing" &&
      String(rest) === String(scene.others ? ["example.com/a"] : [])
    )
  })
})

describe("Use", () => {
  checkProperty("only scheduled pods that use the claim keep it", scenes, (scene) =>
    [...scene.cached, ...scene.live].every((pod) => Plan.uses(pod, claimOf(scene)) === uses(pod))
  )

  checkProperty("pods are found by the key of the claim", scenes, (scene) =>
    [...scene.cached, ...scene.live].every(
      (pod) => !Plan.uses(pod, claimOf(scene)) || Plan.byClaim.of(pod).includes("ns/pod-v")
    )
  )

  checkProperty("the trimmed pod is enough for the decision", scenes, (scene) =>
    scene.live.every((pod) => Plan.uses(Plan.trimmed(pod), claimOf(scene)) === uses(pod))
  )
})

/** What becomes of a claim, for all claims and pods: it is let go only when it waits and nothing uses it, and a second look does nothing. */
import * as Arbitrary from "effect/Arbitrary"
import type { PersistentVolumeClaim, Pod } from "../../../src/kube/resources.ts"
import * as Plan from "../../../src/controllers/pvcprotection/plan.ts"
import * as Use from "../../../src/controllers/pvcprotection/use.ts"
import { law, oneOf, prove } from "../../support/laws.ts"

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
  wasAsked: oneOf(true, false)
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

/** The rules in a sentence: placed, and named; or placed, its own, and not done with. */
const uses = ({ metadata, spec }: Pod): boolean => {
  const [volume] = spec?.volumes ?? []
  if ((spec?.nodeName ?? "") === "" || volume === undefined) return false
  if (volume.persistentVolumeClaim !== undefined) return volume.persistentVolumeClaim.claimName === "pod-v"
  return metadata.uid === "owner" && metadata.name === "pod" && metadata.deletionGracePeriodSeconds !== 0
}

const run = (module: typeof Plan, scene: Scene) =>
  module.plan(claimOf(scene), scene.cached, scene.wasAsked ? scene.live : undefined)

prove({
  path: "controllers/pvcprotection/plan.ts",
  module: Plan,
  laws: [
    law("is let go when it waits, and neither cache nor server has a user", scenes, (module: typeof Plan, scene) => {
      const free = ![...scene.cached, ...scene.live].some(uses)
      const waits = scene.isDeleting && scene.isHeld
      return (run(module, scene)._tag === "LetGo") === (waits && free && scene.wasAsked)
    }),
    law("the server is asked only when the cache has no user", scenes, (module: typeof Plan, scene) => {
      const asks = scene.isDeleting && scene.isHeld && !scene.cached.some(uses) && !scene.wasAsked
      return (run(module, scene)._tag === "Ask") === asks
    }),
    law("is held when it is there and was not", scenes, (module: typeof Plan, scene) => {
      const plan = run(module, scene)
      return (plan._tag === "Hold") === (!scene.isDeleting && !scene.isHeld)
    }),
    law(
      "after a write there is nothing to do, and others' finalizers are as before",
      scenes,
      (module: typeof Plan, scene) => {
        const plan = run(module, scene)
        if (plan._tag !== "Hold" && plan._tag !== "LetGo") return true
        const claim = claimOf(scene)
        const after = { ...claim, metadata: { ...claim.metadata, finalizers: plan.finalizers } }
        const rest = plan.finalizers.filter((one) => one !== Plan.finalizer)
        return (
          module.plan(after, scene.cached, scene.live)._tag === "Nothing" &&
          String(rest) === String(scene.others ? ["example.com/a"] : [])
        )
      }
    )
  ],
  mutants: [
    {
      title: "the cache alone is believed",
      find: 'if (live === undefined) return { _tag: "Ask" }',
      replace: "if (live === undefined) live = []"
    },
    {
      title: "the cache is not looked at",
      find: "if (cached.some((pod) => Use.keeps(pod, claim)))",
      replace: "if (cached.length > 9)"
    },
    {
      title: "the server is not believed",
      find: "return live.some((pod) => Use.keeps(pod, claim))",
      replace: "return live.length > 9"
    },
    { title: "all finalizers are taken off", find: "Finalizers.remove(names, finalizer)", replace: "[]" },
    {
      title: "claims that are there are left as they are",
      find: "if (!concerns(claim))",
      replace: "if (!isWaiting(claim))"
    }
  ]
})

prove({
  path: "controllers/pvcprotection/use.ts",
  module: Use,
  laws: [
    law("who keeps it is on a node and uses it", scenes, (module: typeof Use, scene) =>
      [...scene.cached, ...scene.live].every((pod) => module.keeps(pod, claimOf(scene)) === uses(pod))
    ),
    law("who keeps it is found by its key", scenes, (module: typeof Use, scene) =>
      [...scene.cached, ...scene.live].every(
        (pod) => !module.keeps(pod, claimOf(scene)) || module.byClaim.of(pod).includes("ns/pod-v")
      )
    ),
    law("what is kept of a pod is enough", scenes, (module: typeof Use, scene) =>
      scene.live.every((pod) => module.keeps(module.trimmed(pod), claimOf(scene)) === uses(pod))
    )
  ],
  mutants: [
    {
      title: "who is on no node counts",
      find: 'isPlaced = ({ spec }: Pod): boolean => (spec?.nodeName ?? "") !== ""',
      replace: "isPlaced = ({ spec }: Pod): boolean => spec !== undefined"
    },
    { title: "a namesake's volume counts", find: "Owner.controlledBy(claim, pod.metadata.uid))", replace: "true)" },
    { title: "a pod that is shut down keeps what is its own", find: "!isShutDown(pod) &&", replace: "" },
    { title: "a claim by name is not found", find: "persistentVolumeClaim?.claimName ??", replace: "" }
  ]
})

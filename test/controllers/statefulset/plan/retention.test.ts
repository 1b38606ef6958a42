/** Whose claims are, by every policy: what is ours follows from the policy, what is not stays, and a second look finds nothing to do. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Retention from "../../../../src/controllers/statefulset/plan/retention.ts"
import type { OwnerReference } from "../../../../src/kube/Meta.ts"
import * as Laws from "../../../support/laws.ts"

const Case = Schema.Struct({
  whenDeleted: Schema.Boolean,
  whenScaled: Schema.Boolean,
  isInRange: Schema.Boolean,
  isThere: Schema.Boolean,
  owners: Schema.Array(
    Schema.Struct({ who: Schema.Literals(["set", "pod", "formerSet", "formerPod", "other"]), controls: Schema.Boolean })
  ).check(Schema.isMaxLength(3))
})

const identities = {
  set: ["apps/v1", "StatefulSet", "web", "uid-web"],
  pod: ["v1", "Pod", "web-1", "uid-web-1"],
  formerSet: ["apps/v1", "StatefulSet", "web", "uid-former"],
  formerPod: ["v1", "Pod", "web-1", "uid-former-1"],
  other: ["v1", "ConfigMap", "web", "uid-other"]
} as const

const reference = (who: keyof typeof identities, controls: boolean): OwnerReference => {
  const [apiVersion, kind, name, uid] = identities[who]
  return { apiVersion, kind, name, uid, ...(controls ? { controller: true } : {}) }
}

/** A claim, each owner once and at most one that controls, and the replica that it is for. */
const situation = (one: typeof Case.Type) => {
  const seen = new Set<string>()
  let isControlled = false
  const ownerReferences = one.owners.flatMap(({ controls, who }) => {
    if (seen.has(who)) return []
    seen.add(who)
    const mine = reference(who, controls && !isControlled)
    isControlled ||= controls
    return [mine]
  })
  const keep = (isDeleted: boolean) => (isDeleted ? "Delete" : "Retain")
  const policy = { whenDeleted: keep(one.whenDeleted), whenScaled: keep(one.whenScaled) }
  const set = {
    metadata: { name: "web", namespace: "ns", uid: "uid-web" },
    spec: { replicas: one.isInRange ? 2 : 1, persistentVolumeClaimRetentionPolicy: policy }
  } as never
  const pod = one.isThere ? ({ metadata: { name: "web-1", namespace: "ns", uid: "uid-web-1" } } as never) : undefined
  return {
    holder: { set, ordinal: 1, pod } as Retention.Holder,
    claim: { metadata: { name: "data-web-1", namespace: "ns", ownerReferences } }
  }
}

type Situation = ReturnType<typeof situation>

const values = Arbitrary.map(Arbitrary.schema(Case), (one) => ({ one, ...situation(one) }))

const after = (module: typeof Retention, { claim, holder }: Situation): ReadonlyArray<OwnerReference> =>
  module.owners(holder, claim) ?? claim.metadata.ownerReferences

const has = (references: ReadonlyArray<OwnerReference>, ...who: ReadonlyArray<keyof typeof identities>): boolean =>
  references.some(({ uid }) => who.some((one) => identities[one][3] === uid))

/** Whether a set or pod of the same name, and not this one, is among the owners. */
const isForeign = ({ claim, holder }: Situation): boolean =>
  has(claim.metadata.ownerReferences, "formerSet", "formerPod") ||
  (holder.pod === undefined && has(claim.metadata.ownerReferences, "pod"))

Laws.prove<typeof Retention>({
  path: "controllers/statefulset/plan/retention.ts",
  module: Retention,
  laws: [
    Laws.law("a second look finds nothing to do", values, (module: typeof Retention, { claim, holder }) => {
      const ownerReferences = after(module, { claim, holder })
      return module.owners(holder, { metadata: { ...claim.metadata, ownerReferences } }) === undefined
    }),
    Laws.law("other owners stay, and never two of them control", values, (module: typeof Retention, value) => {
      const references = after(module, value)
      const controls = references.filter(({ controller }) => controller === true).length
      return has(references, "other") === has(value.claim.metadata.ownerReferences, "other") && controls <= 1
    }),
    Laws.law("what is of a namesake is left as it is", values, (module: typeof Retention, value) =>
      isForeign(value) ? module.owners(value.holder, value.claim) === undefined : true
    ),
    Laws.law(
      "the owner is the one that the policy asks for, and controls",
      values,
      (module: typeof Retention, value) => {
        if (isForeign(value)) return true
        const { one } = value
        const isTaken = value.claim.metadata.ownerReferences.some(
          ({ controller, kind }) => controller === true && kind === "ConfigMap"
        )
        const isManaged = one.whenDeleted || one.whenScaled
        const references = after(module, value)
        const goes = one.whenScaled && !one.isInRange
        const ofPod = isManaged && !isTaken && goes && one.isThere
        const ofSet = isManaged && !isTaken && one.whenDeleted && !goes
        const ours = references.filter(({ kind }) => kind !== "ConfigMap")
        const areRight = has(references, "pod") === ofPod && has(references, "set") === ofSet
        return areRight && ours.every(({ controller }) => controller === true)
      }
    ),
    Laws.law(
      "a conflict is told where somebody else controls, and claims are not just kept",
      values,
      (module: typeof Retention, value) => {
        const { one } = value
        const isTaken = value.claim.metadata.ownerReferences.some(
          ({ controller, kind }) => controller === true && kind === "ConfigMap"
        )
        const isTold = module.isConflicting(value.holder, value.claim)
        return isTold === ((one.whenDeleted || one.whenScaled) && (isTaken || isForeign(value)))
      }
    )
  ],
  mutants: [
    {
      title: "claims of namesakes are taken over",
      find: "if (isOfNamesake(holder, claim)) return undefined",
      replace: ""
    },
    {
      title: "a claim that somebody else controls gets a second controller",
      find: "isConflicting(holder, claim) ? none : wanted(holder)",
      replace: "wanted(holder)"
    },
    {
      title: "other owners are dropped",
      find: "[...others, ...after]",
      replace: "[...after]"
    },
    {
      title: "an owner that does not control is enough",
      find: "uid === by && controller === true",
      replace: "uid === by"
    },
    {
      title: "replicas that are too many keep the set as owner",
      find: "if (goesWithPod) return",
      replace: "if (goesWithPod && !whenDeleted) return"
    },
    {
      title: "claims that are kept conflict",
      find: "if (!whenDeleted && !whenScaled) return false",
      replace: ""
    }
  ]
})

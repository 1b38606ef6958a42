/** Whose claims are, by every policy: what is ours follows from the policy, what is not stays, and a second look finds nothing to do. */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Retention from "../../../../src/controllers/statefulset/plan/retention.ts"
import type { OwnerReference } from "../../../../src/kube/Meta.ts"
import { checkProperty } from "../../../support/property.ts"

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

const after = ({ claim, holder }: Situation): ReadonlyArray<OwnerReference> =>
  Retention.owners(holder, claim) ?? claim.metadata.ownerReferences

const has = (references: ReadonlyArray<OwnerReference>, ...who: ReadonlyArray<keyof typeof identities>): boolean =>
  references.some(({ uid }) => who.some((one) => identities[one][3] === uid))

/** Whether a set or pod of the same name, and not this one, is among the owners. */
const isForeign = ({ claim, holder }: Situation): boolean =>
  has(claim.metadata.ownerReferences, "formerSet", "formerPod") ||
  (holder.pod === undefined && has(claim.metadata.ownerReferences, "pod"))

describe("Retention.owners", () => {
  checkProperty("a second look finds nothing to do", values, ({ claim, holder }) => {
    const ownerReferences = after({ claim, holder })
    return Retention.owners(holder, { metadata: { ...claim.metadata, ownerReferences } }) === undefined
  })

  checkProperty("other owners stay, and never two of them control", values, (value) => {
    const references = after(value)
    const controls = references.filter(({ controller }) => controller === true).length
    return has(references, "other") === has(value.claim.metadata.ownerReferences, "other") && controls <= 1
  })

  checkProperty("what is of a namesake is left as it is", values, (value) =>
    isForeign(value) ? Retention.owners(value.holder, value.claim) === undefined : true
  )

  checkProperty("the owner is the one that the policy asks for, and controls", values, (value) => {
    if (isForeign(value)) return true
    const { one } = value
    const isTaken = value.claim.metadata.ownerReferences.some(
      ({ controller, kind }) => controller === true && kind === "ConfigMap"
    )
    const isManaged = one.whenDeleted || one.whenScaled
    const references = after(value)
    const goes = one.whenScaled && !one.isInRange
    const ofPod = isManaged && !isTaken && goes && one.isThere
    const ofSet = isManaged && !isTaken && one.whenDeleted && !goes
    const ours = references.filter(({ kind }) => kind !== "ConfigMap")
    const areRight = has(references, "pod") === ofPod && has(references, "set") === ofSet
    return areRight && ours.every(({ controller }) => controller === true)
  })

  checkProperty(
    "a conflict is reported if another controller owns the claim, unless the policy retains claims",
    values,
    (value) => {
      const { one } = value
      const isTaken = value.claim.metadata.ownerReferences.some(
        ({ controller, kind }) => controller === true && kind === "ConfigMap"
      )
      const isTold = Retention.isConflicting(value.holder, value.claim)
      return isTold === ((one.whenDeleted || one.whenScaled) && (isTaken || isForeign(value)))
    }
  )
})

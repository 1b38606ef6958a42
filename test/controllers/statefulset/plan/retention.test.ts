/** The owners of claims under every retention policy. */
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

/** A claim and its replica; each owner occurs once, and at most one is the controller. */
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

/** Whether a former set or pod of the same name is among the owners. */
const isForeign = ({ claim, holder }: Situation): boolean =>
  has(claim.metadata.ownerReferences, "formerSet", "formerPod") ||
  (holder.pod === undefined && has(claim.metadata.ownerReferences, "pod"))

describe("Retention.owners", () => {
  checkProperty("a second call changes nothing", values, ({ claim, holder }) => {
    const ownerReferences = after({ claim, holder })
    return Retention.owners(holder, { metadata: { ...claim.metadata, ownerReferences } }) === undefined
  })

  checkProperty("other owners stay, and at most one owner is the controller", values, (value) => {
    const references = after(value)
    const controls = references.filter(({ controller }) => controller === true).length
    return has(references, "other") === has(value.claim.metadata.ownerReferences, "other") && controls <= 1
  })

  checkProperty("a claim of a former set or pod of the same name is not changed", values, (value) =>
    isForeign(value) ? Retention.owners(value.holder, value.claim) === undefined : true
  )

  checkProperty("the owner follows from the policy, and is the controller", values, (value) => {
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
      const isReported = Retention.isConflicting(value.holder, value.claim)
      return isReported === ((one.whenDeleted || one.whenScaled) && (isTaken || isForeign(value)))
    }
  )
})

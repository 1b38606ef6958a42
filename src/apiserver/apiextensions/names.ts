/**
 * The NamesAccepted and Established conditions: within a group, resource names and kinds are unique, and the earlier definition
 * keeps its names. Source: apiextensions-apiserver, pkg/controller/status.
 */
import { arrayAt, at, clone, equal, objectAt, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import { isTrue, storageOf } from "./Definition.ts"

interface Condition {
  readonly type: string
  readonly status: "False" | "True"
  readonly reason: string
  readonly message: string
}

/** The status of a definition, given the other definitions of its group. Returns the present status object if nothing changes. */
export const statusOf = (definition: JsonObject, others: ReadonlyArray<JsonObject>, now: string): JsonObject => {
  const before = objectAt(definition, "status") ?? {}
  const conflict = conflictOf(definition, others)
  const conditions = withConditions(arrayAt(before, "conditions"), conditionsOf(definition, conflict), now)
  const versions = arrayAt(before, "storedVersions")
  const stored = arrayAt(definition, "spec", "versions").find((one) => at(one, "storage") === true)
  const current = textAt(stored, "name")
  const status: JsonObject = {
    ...before,
    acceptedNames:
      conflict === undefined
        ? clone(objectAt(definition, "spec", "names") ?? {})
        : (at(before, "acceptedNames") ?? { kind: "", plural: "" }),
    conditions,
    storedVersions: current === "" || versions.includes(current) ? versions : [...versions, current]
  }
  return equal(status, before) ? before : status
}

const conditionsOf = (definition: JsonObject, conflict: Condition | undefined): ReadonlyArray<Condition> => {
  if (conflict === undefined) {
    return [
      { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" },
      {
        type: "Established",
        status: "True",
        reason: "InitialNamesAccepted",
        message: "the initial names have been accepted"
      }
    ]
  }
  // An established definition keeps the names that were accepted before.
  if (isTrue(definition, "Established")) return [conflict]
  return [
    conflict,
    { type: "Established", status: "False", reason: "NotAccepted", message: "not all names are accepted" }
  ]
}

/** The conditions in their present order, new ones last, each with the time of its last transition. */
export const withConditions = (
  before: ReadonlyArray<Json>,
  wanted: ReadonlyArray<Condition>,
  now: string
): Array<Json> => {
  const out = [...before]
  for (const condition of wanted) {
    const index = out.findIndex((one) => textAt(one, "type") === condition.type)
    const old = out[index]
    const isSame = old !== undefined && textAt(old, "status") === condition.status
    const time = isSame ? textAt(old, "lastTransitionTime") : now
    const next = { lastTransitionTime: time, ...condition }
    if (index === -1) out.push(next)
    else out[index] = next
  }
  return out
}

const resourceNames = (names: JsonObject): ReadonlyArray<string> => [
  textAt(names, "plural"),
  textAt(names, "singular"),
  ...arrayAt(names, "shortNames").map((one) => (typeof one === "string" ? one : ""))
]

const conflictOf = (definition: JsonObject, others: ReadonlyArray<JsonObject>): Condition | undefined => {
  const group = textAt(definition, "spec", "group")
  const neighbours = others.filter(
    (one) =>
      textAt(one, "spec", "group") === group && storageOf(one) !== storageOf(definition) && isTrue(one, "NamesAccepted")
  )
  const taken = new Set(neighbours.flatMap((one) => resourceNames(objectAt(one, "spec", "names") ?? {})))
  const kinds = new Set(
    neighbours.flatMap((one) => ["kind", "listKind"].map((key) => textAt(one, "spec", "names", key)))
  )
  const names = objectAt(definition, "spec", "names") ?? {}
  const isTaken = (name: string) => name !== "" && taken.has(name)
  const short = resourceNames(names).slice(2).find(isTaken)
  const checks: ReadonlyArray<readonly [reason: string, name: string | undefined]> = [
    ["PluralConflict", [textAt(names, "plural")].find(isTaken)],
    ["SingularConflict", [textAt(names, "singular")].find(isTaken)],
    ["ShortNamesConflict", short],
    ["KindConflict", kinds.has(textAt(names, "kind")) ? textAt(names, "kind") : undefined],
    ["ListKindConflict", kinds.has(textAt(names, "listKind")) ? textAt(names, "listKind") : undefined]
  ]
  const found = checks.find(([, name]) => name !== undefined)
  if (found === undefined) return undefined
  const [reason, name] = found
  return { type: "NamesAccepted", status: "False", reason, message: `${JSON.stringify(name)} is already in use` }
}

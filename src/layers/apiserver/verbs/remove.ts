/** delete and deletecollection. What a deletion means is decided in `rules/lifecycle`; here it is carried out and answered. */
import { at, textAt } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import * as body from "../body.ts"
import * as Refusal from "../Refusal.ts"
import type { Target } from "../routing.ts"
import { invalidValue } from "../rules/validate.ts"
import * as lifecycle from "../rules/lifecycle.ts"
import type { Kind } from "../schema/Kind.ts"
import type { Turn } from "../Turn.ts"
import * as Version from "../mvcc/Version.ts"
import type { View } from "../views/View.ts"
import * as read from "./read.ts"
import * as selection from "./selection.ts"
import * as write from "./write.ts"

interface Removed {
  readonly gone: boolean
  readonly version: Version.Version
}

export const remove = (turn: Turn, target: Target, view: View): string => {
  const options = optionsOf(turn, body.optional(turn.request, "DeleteOptions") ?? {})
  const removed = removeOne(turn, target.kind, read.find(turn, target), options)
  if (removed.gone && !target.kind.returnsDeleted) return JSON.stringify(success(target.kind, removed.version))
  return view.one(removed.version)
}

/** Deletes what a list with the same query would show, each by the rules of a single deletion; answers with that list. */
export const removeCollection = (turn: Turn, target: Target, view: View): string => {
  const options = optionsOf(turn, body.optional(turn.request, "DeleteOptions") ?? {})
  const { metadata, versions } = read.choose(turn, target)
  const collection = turn.state.collection(target.kind.storage)
  const removed = versions.flatMap(({ key }) => {
    // A page of the past may name what is gone by now.
    const version = collection.get(key)
    return version === undefined ? [] : [removeOne(turn, target.kind, version, options).version]
  })
  return view.list(removed, metadata)
}

export const removeOne = (
  turn: Turn,
  kind: Kind,
  version: Version.Version,
  options: lifecycle.DeleteOptions
): Removed => {
  const object = Version.parse(version)
  turn.state.admission.remove({ kind }, version.name)
  lifecycle.checkPreconditions(kind, object, options)
  switch (lifecycle.markDeleted(turn, kind, object, options)) {
    case "gone":
      return { gone: true, version: write.erase(turn, kind, object, options.dryRun) }
    case "changed":
      return { gone: false, version: write.overwrite(turn, kind, object, options.dryRun) }
    case "unchanged":
      return { gone: false, version }
  }
}

const success = (kind: Kind, version: Version.Version): Json => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Success",
  details: {
    name: version.name,
    ...(kind.group === "" ? {} : { group: kind.group }),
    kind: kind.plural,
    uid: textAt(Version.parse(version), "metadata", "uid")
  }
})

/** From what was sent, or from the query where that says nothing. */
export const optionsOf = (turn: Turn, sent: JsonObject): lifecycle.DeleteOptions => {
  const query = turn.request.query
  const grace = at(sent, "gracePeriodSeconds") ?? selection.integer(query, "gracePeriodSeconds")
  const orphan = at(sent, "orphanDependents") ?? orphanOf(query.get("orphanDependents"))
  const policy = textAt(sent, "propagationPolicy") || (query.get("propagationPolicy") ?? "")
  const dryRuns = at(sent, "dryRun")
  if (grace !== undefined && typeof grace !== "number") throw Refusal.badRequest("gracePeriodSeconds must be a number")
  if (policy !== "" && orphan !== undefined) throw bothPolicies(policy)
  if (policy !== "" && !lifecycle.isPolicy(policy)) throw unsupportedPolicy(policy)
  return {
    gracePeriodSeconds: grace,
    propagationPolicy: policy === "" ? legacyPolicy(orphan) : policy,
    uid: textAt(sent, "preconditions", "uid") || undefined,
    resourceVersion: textAt(sent, "preconditions", "resourceVersion") || undefined,
    dryRun: body.dryRun(Array.isArray(dryRuns) ? dryRuns : query.getAll("dryRun"), "DeleteOptions")
  }
}

const orphanOf = (text: string | null): boolean | undefined => (text === null ? undefined : selection.isTrue(text))

const legacyPolicy = (orphan: Json | undefined): string | undefined =>
  orphan === true ? "Orphan" : orphan === false ? "Background" : undefined

const bothPolicies = (policy: string): Refusal.Refusal =>
  Refusal.invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", [
    invalidValue("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set")
  ])

const unsupportedPolicy = (policy: string): Refusal.Refusal =>
  Refusal.invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", [
    {
      field: "propagationPolicy",
      reason: "FieldValueNotSupported",
      message: `Unsupported value: ${JSON.stringify(policy)}: supported values: "Foreground", "Background", "Orphan", "nil"`
    }
  ])

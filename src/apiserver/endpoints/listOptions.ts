/** Parses the query of reads: selectors, resource versions, numbers. The error messages are those of kube-apiserver. */
import * as Result from "effect/Result"
import * as Selector from "../../kube/Selector.ts"
import * as ShardSelector from "../../kube/ShardSelector.ts"
import * as StatusError from "../StatusError.ts"
import type { FieldError } from "../StatusError.ts"
import type { Target } from "../routing.ts"
import type { ListMeta } from "../printers/Encoder.ts"
import type { SelectionPredicate } from "../storage/Version.ts"

/** The objects that the target and the selectors of the query select. */
export const parse = (target: Target, query: URLSearchParams): SelectionPredicate | StatusError.StatusError => {
  const selectedLabels = labels(query.get("labelSelector"))
  if (StatusError.isRefusal(selectedLabels)) return selectedLabels
  const selectedFields = fields(target, query.get("fieldSelector"))
  if (StatusError.isRefusal(selectedFields)) return selectedFields
  const selectedShards = shards(query.get("shardSelector"))
  if (StatusError.isRefusal(selectedShards)) return selectedShards
  return { namespace: target.namespace, labels: selectedLabels, fields: selectedFields, shards: selectedShards }
}

const labels = (text: string | null): Selector.LabelSelector | StatusError.StatusError => {
  if (text === null || text === "") return []
  const parsed = Selector.parseLabels(text)
  return Result.isFailure(parsed) ? StatusError.badRequest(parsed.failure) : parsed.success
}

const fields = ({ resource }: Target, text: string | null): Selector.FieldSelector | StatusError.StatusError => {
  if (text === null || text === "") return []
  const parsed = Selector.parseFields(text)
  if (Result.isFailure(parsed)) return StatusError.badRequest(parsed.failure)
  for (const { field } of parsed.success) {
    const known =
      field === "metadata.name" ||
      (field === "metadata.namespace" && resource.namespaced) ||
      Object.hasOwn(resource.fields, field)
    if (!known) return StatusError.badRequest(`field label not supported: ${field}`)
  }
  return parsed.success
}

/** kube-apiserver returns 500 with the same message. */
const shards = (text: string | null): ShardSelector.ShardSelector | StatusError.StatusError | undefined => {
  if (text === null || text === "") return undefined
  const parsed = ShardSelector.parse(text)
  return Result.isFailure(parsed) ? StatusError.badRequest(`invalid shard selector: ${parsed.failure}`) : parsed.success
}

/** The metadata of a list of all that is selected. */
export const listMeta = ({ shards }: SelectionPredicate, revision: number): ListMeta => ({
  resourceVersion: String(revision),
  ...(shards === undefined ? {} : { shardInfo: { selector: ShardSelector.format(shards) } })
})

export const isTrue = (text: string | null): boolean =>
  text === "true" || text === "1" || text === "True" || text === "TRUE"

/** A whole number, or undefined when absent; anything else is a bad request. */
export const integer = (query: URLSearchParams, name: string): number | StatusError.StatusError | undefined => {
  const text = query.get(name)
  if (text === null || text === "") return undefined
  return /^-?\d{1,18}$/.test(text)
    ? Number(text)
    : StatusError.badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
}

/** ListOptions with an error. */
export const invalid = (error: FieldError): StatusError.StatusError =>
  StatusError.invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", [error])

/** The requested resourceVersion; undefined without one. */
export const resourceVersion = (query: URLSearchParams): number | StatusError.StatusError | undefined => {
  const text = query.get("resourceVersion")
  if (text === null || text === "") return undefined
  if (/^\d+$/.test(text)) return Number(text)
  return invalid({
    field: "resourceVersion",
    reason: "FieldValueInvalid",
    message: `Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`
  })
}

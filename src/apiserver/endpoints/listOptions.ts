/** Parses the query of reads: selectors, resource versions, numbers. The error messages are those of kube-apiserver. */
import * as Result from "effect/Result"
import * as Selector from "../../kube/Selector.ts"
import * as StatusError from "../StatusError.ts"
import type { FieldError } from "../StatusError.ts"
import type { Target } from "../routing.ts"
import type { SelectionPredicate } from "../storage/Version.ts"

/** The objects that the target and the selectors of the query select. */
export const parse = (target: Target, query: URLSearchParams): SelectionPredicate => ({
  namespace: target.namespace,
  labels: labels(query.get("labelSelector")),
  fields: fields(target, query.get("fieldSelector"))
})

const labels = (text: string | null): Selector.LabelSelector => {
  if (text === null || text === "") return []
  const parsed = Selector.parseLabels(text)
  if (Result.isFailure(parsed)) throw StatusError.badRequest(parsed.failure)
  return parsed.success
}

const fields = ({ resource }: Target, text: string | null): Selector.FieldSelector => {
  if (text === null || text === "") return []
  const parsed = Selector.parseFields(text)
  if (Result.isFailure(parsed)) throw StatusError.badRequest(parsed.failure)
  for (const { field } of parsed.success) {
    const known =
      field === "metadata.name" ||
      (field === "metadata.namespace" && resource.namespaced) ||
      Object.hasOwn(resource.fields, field)
    if (!known) throw StatusError.badRequest(`field label not supported: ${field}`)
  }
  return parsed.success
}

export const isTrue = (text: string | null): boolean =>
  text === "true" || text === "1" || text === "True" || text === "TRUE"

/** A whole number, or undefined when absent; anything else is a bad request. */
export const integer = (query: URLSearchParams, name: string): number | undefined => {
  const text = query.get(name)
  if (text === null || text === "") return undefined
  if (!/^-?\d{1,18}$/.test(text)) {
    throw StatusError.badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  }
  return Number(text)
}

const listOptions = { group: "meta.k8s.io", kind: "ListOptions" }

export const refuseListOptions = (...errors: ReadonlyArray<FieldError>): never => {
  throw StatusError.invalid(listOptions, "", errors)
}

/** The requested resourceVersion; undefined without one. */
export const resourceVersion = (query: URLSearchParams): number | undefined => {
  const text = query.get("resourceVersion")
  if (text === null || text === "") return undefined
  if (!/^\d+$/.test(text)) {
    throw StatusError.invalid(listOptions, "", [
      {
        field: "resourceVersion",
        reason: "FieldValueInvalid",
        message: `Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`
      }
    ])
  }
  return Number(text)
}

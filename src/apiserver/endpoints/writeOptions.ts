/**
 * Validates the query options of writes, before anything else is read: field manager, dryRun, force. Source:
 * apimachinery/pkg/apis/meta/v1/validation. The options in the body of a deletion are validated where they are decoded.
 */
import { contentType } from "../body.ts"
import * as StatusError from "../StatusError.ts"
import type { FieldError } from "../StatusError.ts"
import type { ApiRequest } from "../Api.ts"
import { forbiddenValue, invalidValue, required } from "../validation/validate.ts"
import { isTrue } from "./listOptions.ts"

const kinds: Readonly<Record<string, string>> = {
  POST: "CreateOptions",
  PUT: "UpdateOptions",
  PATCH: "PatchOptions",
  DELETE: "DeleteOptions"
}

/** Maximum length of a field manager name, in bytes. */
const managerBytes = 128

/** Refuses unknown and contradictory options. */
export const refuse = (request: ApiRequest): StatusError.StatusError | undefined => {
  const kind = Object.hasOwn(kinds, request.method) ? kinds[request.method] : undefined
  if (kind === undefined || request.query.size === 0) return undefined
  const errors: Array<FieldError> = []
  if (kind === "PatchOptions") force(errors, request)
  manager(errors, request.query.get("fieldManager") ?? "")
  const values = request.query.getAll("dryRun")
  if (values.some((value) => value !== "All")) errors.push(dryRun(values))
  return errors.length === 0 ? undefined : StatusError.invalid({ group: "meta.k8s.io", kind }, "", errors)
}

const dryRun = (values: ReadonlyArray<string>): FieldError => ({
  field: "dryRun",
  reason: "FieldValueNotSupported",
  message: `Unsupported value: ${JSON.stringify(values)}: supported values: "All"`
})

const force = (errors: Array<FieldError>, request: ApiRequest): void => {
  const apply = contentType(request) === "application/apply-patch+yaml"
  if (apply && (request.query.get("fieldManager") ?? "") === "") {
    errors.push(required("fieldManager", "is required for apply patch"))
  }
  if (!apply && isTrue(request.query.get("force"))) {
    errors.push(forbiddenValue("force", "may not be specified for non-apply patch"))
  }
}

/** A fast path for nearly all names; each character is one byte. */
const isPlain = /^[\w ./:-]{0,128}$/

const manager = (errors: Array<FieldError>, name: string): void => {
  if (isPlain.test(name)) return
  if (new TextEncoder().encode(name).length > managerBytes) {
    errors.push({
      field: "fieldManager",
      reason: "FieldValueTooLong",
      message: `Too long: may not be more than ${managerBytes} bytes`
    })
  }
  const at = name.search(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u)
  if (at === -1) return
  const code = (name.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, "0")
  errors.push(invalidValue("fieldManager", name, `invalid character U+${code} (at position ${at})`))
}

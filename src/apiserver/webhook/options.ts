/**
 * The options of a request as its review carries them: objects of meta/v1. They are named for what is done, not for how it was asked
 * for: a patch is an update, or creates.
 */
import type { JsonObject } from "../json.ts"
import type { DeleteOptions } from "../validation/lifecycle.ts"
import type { RequestScope } from "../admission/Admission.ts"

const apiVersion = "meta.k8s.io/v1"

export const ofWrite = (context: RequestScope, creates: boolean): JsonObject => {
  const { query } = context.request
  const out: JsonObject = { kind: creates ? "CreateOptions" : "UpdateOptions", apiVersion }
  const dryRun = query.getAll("dryRun")
  if (dryRun.length > 0) out["dryRun"] = dryRun
  for (const key of ["fieldManager", "fieldValidation"]) {
    const value = query.get(key)
    if (value !== null && value !== "") out[key] = value
  }
  return out
}

export const ofDeletion = (options: DeleteOptions): JsonObject => {
  const { dryRun, gracePeriodSeconds, propagationPolicy, resourceVersion, uid } = options
  const preconditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion })
  }
  return {
    kind: "DeleteOptions",
    apiVersion,
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
    ...(dryRun ? { dryRun: ["All"] } : {})
  }
}

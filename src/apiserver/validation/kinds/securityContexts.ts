/**
 * Security contexts of pods and containers. Structs in messages are printed without their fields. Source:
 * pkg/apis/core/validation: ValidateSecurityContext.
 */
import { arrayAt, at, get, isObject, textAt } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import { duplicate, invalid, notSupported, Printed, pushAll, required } from "./field.ts"
import type { Errors } from "./field.ts"
import * as formats from "./formats.ts"
import { localPath } from "./files.ts"

const highestId = 2_147_483_647

const id = (errors: Errors, field: string, value: Json | undefined): void => {
  if (typeof value !== "number" || (value >= 0 && value <= highestId)) return
  errors.push(invalid(field, value, `must be between 0 and ${highestId}, inclusive`))
}

const procMounts = ["Default", "Unmasked"]

/** The security context of a container. */
export const securityContext = (errors: Errors, field: string, value: Json | undefined): void => {
  if (!isObject(value)) return
  id(errors, `${field}.runAsUser`, get(value, "runAsUser"))
  id(errors, `${field}.runAsGroup`, get(value, "runAsGroup"))
  const proc = get(value, "procMount")
  if (typeof proc === "string" && !procMounts.includes(proc)) {
    errors.push(notSupported(`${field}.procMount`, proc, procMounts))
  }
  if (get(value, "allowPrivilegeEscalation") === false) {
    const printed = new Printed("core.SecurityContext{}")
    if (get(value, "privileged") === true) {
      errors.push(invalid(field, printed, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"))
    }
    if (arrayAt(value, "capabilities", "add").includes("CAP_SYS_ADMIN")) {
      const detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
      errors.push(invalid(field, printed, detail))
    }
  }
  profiles(errors, field, value)
}

const groupPolicies = ["Always", "OnRootMismatch"]

/** The security context of a pod, which its containers can override. */
export const podSecurityContext = (errors: Errors, field: string, spec: JsonObject): void => {
  const value = get(spec, "securityContext")
  if (!isObject(value)) return
  for (const key of ["fsGroup", "runAsUser", "runAsGroup"]) id(errors, `${field}.${key}`, get(value, key))
  for (const [index, group] of arrayAt(value, "supplementalGroups").entries()) {
    id(errors, `${field}.supplementalGroups[${index}]`, group)
  }
  if (get(spec, "hostPID") === true && get(spec, "shareProcessNamespace") === true) {
    const detail = "ShareProcessNamespace and HostPID cannot both be enabled"
    errors.push(invalid(`${field}.shareProcessNamespace`, true, detail))
  }
  sysctls(errors, `${field}.sysctls`, arrayAt(value, "sysctls"))
  const policy = get(value, "fsGroupChangePolicy")
  if (typeof policy === "string" && !groupPolicies.includes(policy)) {
    errors.push(notSupported(`${field}.fsGroupChangePolicy`, policy, groupPolicies))
  }
  profiles(errors, field, value)
}

const sysctlPattern = String.raw`([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?`
const sysctlName = new RegExp(`^${sysctlPattern}$`)

const sysctls = (errors: Errors, field: string, list: ReadonlyArray<Json>): void => {
  const taken = new Set<string>()
  for (const [index, one] of list.entries()) {
    const path = `${field}[${index}].name`
    const name = textAt(one, "name")
    if (name === "") errors.push(required(path))
    else if (name.length > 253 || !sysctlName.test(name)) {
      errors.push(invalid(path, name, `must have at most 253 characters and match regex ${sysctlPattern}`))
    } else if (taken.has(name)) errors.push(duplicate(path, name))
    taken.add(name)
  }
}

/** Profiles and Windows options, which the contexts of pods and containers both have. */
const profiles = (errors: Errors, field: string, value: JsonObject): void => {
  profile(errors, `${field}.seccompProfile`, get(value, "seccompProfile"), "seccomp")
  windows(errors, `${field}.windowsOptions`, get(value, "windowsOptions"))
  profile(errors, `${field}.appArmorProfile`, get(value, "appArmorProfile"), "AppArmor")
}

const profileTypes = ["Localhost", "RuntimeDefault", "Unconfined"]

const profile = (errors: Errors, field: string, value: Json | undefined, what: "seccomp" | "AppArmor"): void => {
  if (!isObject(value)) return
  const type = textAt(value, "type")
  const file = get(value, "localhostProfile")
  const own = `${field}.localhostProfile`
  if (type === "") errors.push(required(`${field}.type`, `type is required when ${what}Profile is set`))
  else if (!profileTypes.includes(type)) errors.push(notSupported(`${field}.type`, type, profileTypes))
  else if (type === "Localhost") {
    if (file === undefined) errors.push(required(own, `must be set when ${what} type is Localhost`))
    else if (what === "seccomp" && typeof file === "string") localPath(errors, own, file)
  } else if (file !== undefined) {
    const printed = what === "seccomp" ? new Printed("core.SeccompProfile{}") : file
    errors.push(invalid(own, printed, `can only be set when ${what} type is Localhost`))
  }
}

const windows = (errors: Errors, field: string, value: Json | undefined): void => {
  const credentials = at(value, "gmsaCredentialSpecName")
  if (typeof credentials === "string") {
    pushAll(errors, `${field}.gmsaCredentialSpecName`, credentials, formats.dnsSubdomain(credentials))
  }
  const user = at(value, "runAsUserName")
  if (typeof user !== "string") return
  const own = `${field}.runAsUserName`
  if (user === "") errors.push(invalid(own, user, "runAsUserName cannot be an empty string"))
  else if (user.split("\\").length > 2) {
    errors.push(invalid(own, user, "runAsUserName cannot contain more than one backslash"))
  }
}

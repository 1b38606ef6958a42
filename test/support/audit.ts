/** What tests read from the audit log of the embedded API server. */
import type { Entry } from "../../src/apiserver/audit/AuditLog.ts"

const isAccount = (user: string): boolean => user.startsWith("system:serviceaccount:")

/**
 * Whether an account was refused because it lacks a right. A patch or an update that creates an object is checked for the right to create only when
 * the object turns out not to exist, after the authorizer has allowed the request.
 */
export const isDenied = ({ allowed, code, reason, user, verb }: Entry): boolean =>
  isAccount(user) && (!allowed || (code === 403 && reason === "Forbidden" && (verb === "patch" || verb === "update")))

/** `create pods in default as system:serviceaccount:kube-system:replicaset`. */
export const line = ({ group, namespace, path, resource, subresource, user, verb }: Entry): string => {
  const kind = [group === "" ? resource : `${resource}.${group}`, subresource].filter((part) => part !== "").join("/")
  return `${verb} ${resource === "" ? path : kind}${namespace === "" ? "" : ` in ${namespace}`} as ${user}`
}

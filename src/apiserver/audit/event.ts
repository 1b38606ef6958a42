/**
 * An entry of the audit log as other programs know it: an `Event` of audit.k8s.io/v1 at the level `Metadata`, which is what the reference
 * server writes to its `--audit-log-path`. What it has no field for, the revision, is an annotation. Pure.
 */
import type { Entry } from "./AuditLog.ts"

const time = (millis: number): string => `${new Date(millis).toISOString().slice(0, -1)}000Z`

/** `id` tells apart entries of one log. */
export const event = (entry: Entry, id: string): object => ({
  kind: "Event",
  apiVersion: "audit.k8s.io/v1",
  level: "Metadata",
  auditID: id,
  stage: "ResponseComplete",
  requestURI: entry.path,
  verb: entry.verb,
  user: { username: entry.caller, ...(entry.caller === entry.user ? { groups: entry.groups } : {}) },
  ...(entry.caller === entry.user ? {} : { impersonatedUser: { username: entry.user, groups: entry.groups } }),
  ...(entry.userAgent === "" ? {} : { userAgent: entry.userAgent }),
  ...(entry.resource === "" ? {} : { objectRef: reference(entry) }),
  responseStatus: { metadata: {}, ...(entry.reason === "" ? {} : { reason: entry.reason }), code: entry.code },
  requestReceivedTimestamp: time(entry.at),
  stageTimestamp: time(entry.at),
  annotations: {
    "authorization.k8s.io/decision": entry.allowed ? "allow" : "forbid",
    "effect-controller-manager/revision": String(entry.revision),
    "effect-controller-manager/changed": String(entry.changed)
  }
})

/** Empty fields are left out, as elsewhere. */
const reference = ({ group, name, namespace, resource, subresource }: Entry): object =>
  Object.fromEntries(
    Object.entries({ resource, namespace, name, apiGroup: group, subresource }).filter(([, text]) => text !== "")
  )

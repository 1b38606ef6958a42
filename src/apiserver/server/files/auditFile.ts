/**
 * The audit log as a file, one event per line. Writing never blocks a request: entries that exceed the buffer are dropped, and the next
 * line has their number. Platform edge.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { once } from "node:events"
import { createWriteStream, type WriteStream } from "node:fs"
import { printable } from "../../../kube/printable.ts"
import type { Entry } from "../../audit/AuditLog.ts"

/** The file cannot be written; the message says why. */
export class AuditFileError extends Data.TaggedError("AuditFileError")<{ readonly message: string }> {}

/** Maximum bytes in the write buffer. */
const most = 16 * 1024 * 1024

/** Opens or creates the file and returns a function that appends entries until the scope closes. */
export const open = (path: string): Effect.Effect<(entry: Entry) => void, AuditFileError, Scope.Scope> =>
  Effect.map(Effect.acquireRelease(opened(path), closed), (stream) => {
    let [made, dropped] = [0, 0]
    return (entry) => {
      made += 1
      if (stream.writableLength > most) {
        dropped += 1
        return
      }
      const lost = dropped === 0 ? {} : { dropped }
      dropped = 0
      stream.write(`${printable(JSON.stringify({ ...event(entry, String(made)), ...lost }))}\n`)
    }
  })

const opened = (path: string): Effect.Effect<WriteStream, AuditFileError> =>
  Effect.tryPromise({
    try: async () => {
      // Readable by its owner only: it records the actions of users.
      const stream = createWriteStream(path, { flags: "a", mode: 0o600 })
      await once(stream, "open")
      // A disk that becomes full loses log lines and does not stop the server.
      return stream.on("error", () => {})
    },
    catch: (cause) =>
      new AuditFileError({
        message: `cannot write the audit log: ${cause instanceof Error ? cause.message : String(cause)}`
      })
  })

const closed = (stream: WriteStream): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    if (stream.closed) return resume(Effect.void)
    stream.once("close", () => resume(Effect.void))
    stream.end()
  })

const time = (millis: number): string => `${new Date(millis).toISOString().slice(0, -1)}000Z`

/**
 * An `Event` of audit.k8s.io/v1 at the level `Metadata`, as kube-apiserver writes it to its `--audit-log-path`. It has no field for the
 * revision, which is an annotation. `id` is unique in one log.
 */
const event = (entry: Entry, id: string): object => ({
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
    ...entry.annotations,
    "authorization.k8s.io/decision": entry.allowed ? "allow" : "forbid",
    "effect-controller-manager/revision": String(entry.revision),
    "effect-controller-manager/changed": String(entry.changed)
  }
})

/** Without empty fields, as in Go. */
const reference = ({ group, name, namespace, resource, subresource }: Entry): object =>
  Object.fromEntries(
    Object.entries({ resource, namespace, name, apiGroup: group, subresource }).filter(([, text]) => text !== "")
  )

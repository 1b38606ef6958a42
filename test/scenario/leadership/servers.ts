/**
 * API servers as processes of their own, with an audit log that the test reads as it grows: the embedded one and a real one. Each replica has a
 * service account of its own, so that the log distinguishes them.
 */
import * as Effect from "effect/Effect"
import { appendFileSync, closeSync, openSync, readSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Method } from "../../../src/layers/Transport.ts"
import * as Bundle from "../../support/bundle.ts"
import * as envtest from "../../support/envtest.ts"
import type { Upstream } from "../../support/gateway.ts"
import * as Process from "../../support/process.ts"
import type * as Cluster from "../cluster.ts"
import type { Write } from "./audit.ts"

export interface Server extends Upstream {
  /** All writes of replicas until now. */
  readonly writes: () => ReadonlyArray<Write>
}

const namespace = "replicas"
const prefix = `system:serviceaccount:${namespace}:`

export const embedded = Effect.gen(function* () {
  const path = yield* log
  const program = yield* Bundle.make("test/scenario/leadership/auditedServer.ts")
  const running = yield* Process.start([path], {}, { program })
  const [line] = yield* running.says(/^\{.*\}$/m)
  const upstream = JSON.parse(line) as Upstream
  return { ...upstream, writes: yield* follow(path, (text) => JSON.parse(text) as Write) } satisfies Server
})

/** The policy records the writes of replicas with the response, which has the revision. */
const policy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived", "ResponseStarted"],
  rules: [
    {
      level: "RequestResponse",
      userGroups: [`system:serviceaccounts:${namespace}`],
      verbs: ["create", "update", "patch", "delete", "deletecollection"]
    },
    { level: "None" }
  ]
}

export const real = Effect.fnUntraced(function* () {
  const path = yield* log
  const policyFile = join(yield* Process.folder, "policy.json")
  yield* Effect.sync(() => writeFileSync(policyFile, JSON.stringify(policy)))
  const { ca, token, url } = yield* envtest.start([`--audit-policy-file=${policyFile}`, `--audit-log-path=${path}`])
  return { server: url, ca, token, writes: yield* follow(path, ofReal) } satisfies Server
})

/** The used fields of an entry. Source: audit.k8s.io/v1 Event. */
interface AuditEvent {
  readonly verb: string
  readonly user: { readonly username: string }
  readonly objectRef?: { readonly resource?: string; readonly namespace?: string; readonly name?: string }
  readonly responseStatus?: { readonly code?: number }
  readonly responseObject?: { readonly metadata?: { readonly name?: string; readonly resourceVersion?: string } }
  readonly requestReceivedTimestamp: string
  readonly stageTimestamp: string
}

const ofReal = (text: string): Write | undefined => {
  const entry = JSON.parse(text) as AuditEvent
  const { objectRef, responseObject, responseStatus, user, verb } = entry
  if ((responseStatus?.code ?? 0) >= 300) return undefined
  const version = verb.startsWith("delete") ? undefined : responseObject?.metadata?.resourceVersion
  return {
    user: user.username,
    verb,
    resource: objectRef?.resource ?? "",
    namespace: objectRef?.namespace ?? "",
    name: objectRef?.name ?? responseObject?.metadata?.name ?? "",
    revision: version === undefined ? undefined : Number(version),
    received: Date.parse(entry.requestReceivedTimestamp),
    completed: Date.parse(entry.stageTimestamp)
  }
}

const log = Effect.map(Process.folder, (folder) => {
  const path = join(folder, "audit.log")
  appendFileSync(path, "")
  return path
})

/** Continues to read where the last call stopped. */
const follow = (path: string, parse: (line: string) => Write | undefined) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => openSync(path, "r")),
      (file) => Effect.sync(() => closeSync(file))
    ),
    (file) => {
      const chunk = Buffer.alloc(1 << 20)
      const writes: Array<Write> = []
      let rest = Buffer.alloc(0)
      return () => {
        for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) {
          rest = Buffer.concat([rest, chunk.subarray(0, read)])
          const end = rest.lastIndexOf(10) + 1
          const lines = rest.subarray(0, end).toString("utf8").split("\n")
          rest = rest.subarray(end)
          for (const line of lines) {
            const write = line === "" ? undefined : parse(line)
            if (write?.user.startsWith(prefix) === true) writes.push(write)
          }
        }
        return writes
      }
    }
  )

/** Prepares access for replicas: their namespace, and the right to do everything. */
export const prepare = Effect.fnUntraced(function* (client: Cluster.Client) {
  yield* post(client, "/api/v1/namespaces", { metadata: { name: namespace } })
  yield* post(client, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    metadata: { name: namespace },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: `system:serviceaccounts:${namespace}` }]
  })
})

/** A new service account: its name in the log, and a token that is valid for longer than the test. */
export const account = Effect.fnUntraced(function* (client: Cluster.Client, name: string) {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts`
  yield* post(client, path, { metadata: { name } })
  const { body } = yield* post(client, `${path}/${name}/token`, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: { audiences: [], expirationSeconds: 86_400 }
  })
  return { user: `${prefix}${name}`, token: (body as { status: { token: string } }).status.token }
})

const post = (client: Cluster.Client, path: string, body: object) => {
  const method: Method = "POST"
  return client.raw({ method, path, body, context: { verb: "create", path } })
}

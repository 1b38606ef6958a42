/**
 * Translates the entries of a kubeconfig for client-node and `credentials.ts`: makes paths absolute, leaves empty fields out, and adds what
 * client-node does not support (token files, impersonation, `KUBERNETES_EXEC_INFO`). Pure; the entries have been validated.
 */
import { dirname, isAbsolute, join } from "node:path"
import type { Headers } from "../../layers/Endpoint.ts"
import type * as Credentials from "./credentials.ts"
import type * as Exec from "./exec.ts"
import * as Document from "./document.ts"
import type { Cluster, User } from "./plain.ts"

/** Everything that `credentials.ts` needs of the selected cluster and user. */
export const toSource = (
  { cluster, provider, user }: Document.Selected & { readonly provider: Document.Dictionary | undefined },
  { proxy, server }: Pick<Credentials.CredentialSource, "proxy" | "server">
): Credentials.CredentialSource => {
  const content = user?.content ?? {}
  const exec = Document.isDictionary(content["exec"]) ? content["exec"] : undefined
  const clusterEntry = clusterOf(cluster, server)
  const userEntry = userOf(user, provider)
  const tokenFile = pathIn(user, "tokenFile")
  const files = [clusterEntry.caFile, userEntry.certFile, userEntry.keyFile, tokenFile]
  return {
    server,
    proxy,
    cluster: clusterEntry,
    user: userEntry,
    tokenFile,
    headers: impersonation(content),
    kind: exec !== undefined || provider !== undefined ? "plugin" : files.some((file) => file) ? "files" : "fixed",
    exec: exec === undefined || user === undefined ? undefined : execOf(user, exec, clusterEntry),
    plugin:
      exec !== undefined
        ? { name: `exec plugin "${Document.text(exec, "command") ?? ""}"`, hint: Document.text(exec, "installHint") }
        : provider !== undefined
          ? { name: `auth provider "${Document.text(provider, "name") ?? ""}"`, hint: undefined }
          : undefined
  }
}

/** Paths are relative to the file that names them. */
const pathIn = (entry: Document.Entry | undefined, key: string): string | undefined => {
  const path = entry === undefined ? undefined : Document.text(entry.content, key)
  return path === undefined || entry === undefined || isAbsolute(path) ? path : join(dirname(entry.path), path)
}

/** One of the two fields, or none; client-node distinguishes absent from undefined. Inline data takes precedence over a file, as in client-go. */
const either = <Key extends string>(
  entry: Document.Entry | undefined,
  [fileKey, dataKey]: readonly [string, string],
  [file, data]: readonly [Key, Key]
): { readonly [K in Key]?: string } => {
  const inline = entry === undefined ? undefined : Document.text(entry.content, dataKey)
  const path = inline === undefined ? pathIn(entry, fileKey) : undefined
  return { ...(inline === undefined ? {} : { [data]: inline }), ...(path === undefined ? {} : { [file]: path }) } as {
    readonly [K in Key]?: string
  }
}

const clusterOf = (cluster: Document.Entry, server: string): Cluster => {
  const tlsServerName = Document.text(cluster.content, "tls-server-name")
  return {
    name: "cluster",
    server,
    // client-node rejects plain HTTP without this flag. Over plain HTTP there is no certificate to verify.
    skipTLSVerify: cluster.content["insecure-skip-tls-verify"] === true || server.startsWith("http:"),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    ...either(cluster, ["certificate-authority", "certificate-authority-data"], ["caFile", "caData"])
  }
}

/** Always an entry: without a user client-node ignores the certificate authority as well. */
const userOf = (user: Document.Entry | undefined, authProvider: Document.Dictionary | undefined): User => {
  const plain = (key: string) => (user === undefined ? undefined : Document.text(user.content, key))
  const token = plain("token")
  const username = plain("username")
  return {
    name: "user",
    ...either(user, ["client-certificate", "client-certificate-data"], ["certFile", "certData"]),
    ...either(user, ["client-key", "client-key-data"], ["keyFile", "keyData"]),
    ...(token === undefined ? {} : { token: token.trim() }),
    ...(username === undefined ? {} : { username, password: plain("password") ?? "" }),
    ...(authProvider === undefined ? {} : { authProvider })
  }
}

/** Sets `KUBERNETES_EXEC_INFO`. A relative command is relative to the kubeconfig. */
const execOf = (user: Document.Entry, exec: Readonly<Record<string, unknown>>, cluster: Cluster): Exec.Plugin => {
  const command = Document.text(exec, "command") ?? ""
  const info = {
    apiVersion: Document.text(exec, "apiVersion") ?? "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    spec: {
      interactive: false,
      ...(exec["provideClusterInfo"] === true
        ? {
            cluster: {
              server: cluster.server,
              "tls-server-name": cluster.tlsServerName,
              "insecure-skip-tls-verify": cluster.skipTLSVerify,
              "certificate-authority-data": cluster.caData
            }
          }
        : {})
    }
  }
  return {
    command: command.includes("/") && !isAbsolute(command) ? join(dirname(user.path), command) : command,
    args: Array.isArray(exec["args"]) ? exec["args"].map(String) : [],
    env: { ...variablesOf(exec["env"]), KUBERNETES_EXEC_INFO: JSON.stringify(info) }
  }
}

const variablesOf = (env: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (Array.isArray(env) ? env : [])
      .filter(Document.isDictionary)
      .map(({ name, value }) => [String(name), String(value)])
  )

/** Source: kubernetes.io/docs/reference/access-authn-authz/user-impersonation. client-node supports `as` only. */
const impersonation = (content: Readonly<Record<string, unknown>>): Headers => {
  const user = Document.text(content, "as")
  const uid = Document.text(content, "as-uid")
  const groups = content["as-groups"]
  const extra = content["as-user-extra"]
  const headers: Record<string, string | ReadonlyArray<string>> = {}
  if (user !== undefined) headers["impersonate-user"] = user
  if (uid !== undefined) headers["impersonate-uid"] = uid
  if (Array.isArray(groups) && groups.length > 0) headers["impersonate-group"] = groups.map(String)
  if (Document.isDictionary(extra)) {
    for (const [key, values] of Object.entries(extra)) {
      const name = `impersonate-extra-${encodeURIComponent(key.toLowerCase())}`
      headers[name] = Array.isArray(values) ? values.map(String) : String(values)
    }
  }
  return headers
}

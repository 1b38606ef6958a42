/**
 * From the entries of a kubeconfig to what client-node and our credentials take: paths made absolute, empty fields left out, and
 * what client-node does not know added (token files, impersonation, `KUBERNETES_EXEC_INFO`). Pure; validation has been done.
 */
import { dirname, isAbsolute, join } from "node:path"
import type { Headers } from "../Endpoint.ts"
import type { Cluster, User } from "./clientNode.ts"
import type * as Credentials from "./credentials.ts"
import * as Document from "./document.ts"

/** Everything that `credentials` needs to know of the chosen cluster and user. */
export const toSource = (
  { cluster, user }: Document.Selected,
  server: string,
  proxy: string | undefined
): Credentials.Source => {
  const content = user?.content ?? {}
  const exec = Document.isDictionary(content["exec"]) ? content["exec"] : undefined
  const provider = Document.isDictionary(content["auth-provider"]) ? content["auth-provider"] : undefined
  const clusterEntry = clusterOf(cluster, server)
  const userEntry = userOf(user, exec, provider, clusterEntry)
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

/** A field that is present, or nothing: client-node distinguishes. Data wins over a file, as in client-go. */
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
    // client-node refuses plain HTTP without this; there is nothing to verify then.
    skipTLSVerify: cluster.content["insecure-skip-tls-verify"] === true || server.startsWith("http:"),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    ...either(cluster, ["certificate-authority", "certificate-authority-data"], ["caFile", "caData"])
  }
}

/** Always there: without a user client-node ignores the certificate authority too. */
const userOf = (
  user: Document.Entry | undefined,
  exec: Readonly<Record<string, unknown>> | undefined,
  authProvider: Readonly<Record<string, unknown>> | undefined,
  cluster: Cluster
): User => {
  const plain = (key: string) => (user === undefined ? undefined : Document.text(user.content, key))
  const token = plain("token")
  const username = plain("username")
  return {
    name: "user",
    ...either(user, ["client-certificate", "client-certificate-data"], ["certFile", "certData"]),
    ...either(user, ["client-key", "client-key-data"], ["keyFile", "keyData"]),
    ...(token === undefined ? {} : { token: token.trim() }),
    ...(username === undefined ? {} : { username, password: plain("password") ?? "" }),
    ...(exec === undefined || user === undefined ? {} : { exec: execOf(user, exec, cluster) }),
    ...(authProvider === undefined ? {} : { authProvider })
  }
}

/** Adds what client-node leaves out: `KUBERNETES_EXEC_INFO`, and commands relative to the kubeconfig. */
const execOf = (user: Document.Entry, exec: Readonly<Record<string, unknown>>, cluster: Cluster): unknown => {
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
  const env = Array.isArray(exec["env"]) ? exec["env"] : []
  return {
    ...exec,
    command: command.includes("/") && !isAbsolute(command) ? join(dirname(user.path), command) : command,
    env: [...env, { name: "KUBERNETES_EXEC_INFO", value: JSON.stringify(info) }]
  }
}

/** Source: kubernetes.io/docs/reference/access-authn-authz/user-impersonation. client-node knows the first only. */
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

/**
 * Finds the cluster to talk to: an explicit kubeconfig, then `KUBECONFIG`, then the service account of a pod, then
 * `~/.kube/config`. What it finds it checks, reads once, and answers with as an `Endpoint`; environment and paths are
 * parameters. Credentials are client-node's `KubeConfig`'s business, mended where it needs it (`kubeconfig/credentials.ts`).
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { readFile } from "node:fs/promises"
import { isIPv6 } from "node:net"
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path"
import type { Endpoint, Headers } from "./Endpoint.ts"
import type { Cluster, User } from "./kubeconfig/clientNode.ts"
import * as Credentials from "./kubeconfig/credentials.ts"
import * as Document from "./kubeconfig/document.ts"

export { KubeConfigError } from "./kubeconfig/document.ts"

/** Nothing was asked for and nothing was found: no kubeconfig, and this is not a pod. */
export class NotConfigured extends Data.TaggedError("NotConfigured")<{ readonly message: string }> {}

export interface Options {
  readonly mode: "auto" | "kubeconfig" | "in-cluster"
  /** `--kubeconfig`. */
  readonly path?: string | undefined
  /** `--context`. */
  readonly context?: string | undefined
  /** `--master`: replaces the server of the kubeconfig. */
  readonly master?: string | undefined
  /** `process.env`: `KUBECONFIG`, `HOME`, `USERPROFILE`, `KUBERNETES_SERVICE_HOST`, `KUBERNETES_SERVICE_PORT`. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where a pod finds its service account. */
  readonly serviceAccount?: string | undefined
}

/** Where the endpoint came from, for the line that says so at start. */
export interface Loaded {
  readonly endpoint: Endpoint["Service"]
  readonly source: "kubeconfig" | "in-cluster"
  /** `/home/u/.kube/config`, or the server in a pod. */
  readonly origin: string
  /** Of the context, or the pod's own. */
  readonly namespace: string | undefined
}

/** Like `find`, without where it came from. */
export const load = (options: Options): Effect.Effect<Endpoint["Service"], Document.KubeConfigError | NotConfigured> =>
  Effect.map(find(options), ({ endpoint }) => endpoint)

/** Fails with `NotConfigured` only in mode auto. The credentials have been obtained once when it succeeds. */
export const find = Effect.fnUntraced(function* (options: Options) {
  const { env, mode } = options
  const listed = env["KUBECONFIG"]?.split(delimiter).filter((path) => path !== "") ?? []
  if (mode !== "in-cluster") {
    if (options.path !== undefined && options.path !== "") return yield* fromFiles([options.path], true, options)
    if (listed.length > 0) return yield* fromFiles(listed, listed.length === 1, options)
  }
  const pod = mode === "kubeconfig" ? undefined : yield* podOf(options)
  if (pod !== undefined) return yield* fromPod(pod, options)
  if (mode === "in-cluster") return yield* fail(notInCluster)
  const home = env["HOME"] ?? env["USERPROFILE"]
  const usual = home === undefined ? undefined : join(home, ".kube", "config")
  if (usual !== undefined && (yield* readable(usual))) return yield* fromFiles([usual], true, options)
  const looked = `no --kubeconfig, no KUBECONFIG, no ${usual ?? "home directory"}`
  return mode === "kubeconfig"
    ? yield* fail(`there is no kubeconfig (${looked}): give one with --kubeconfig`)
    : yield* Effect.fail(new NotConfigured({ message: `${looked}, and not in a pod` }))
})

const fail = (message: string): Effect.Effect<never, Document.KubeConfigError> =>
  Effect.fail(new Document.KubeConfigError({ message }))

const notInCluster =
  "this is not a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be set and the service account token mounted"

const readable = (path: string): Effect.Effect<boolean> =>
  Effect.match(
    Effect.tryPromise(() => readFile(path)),
    { onFailure: isPresent, onSuccess: () => true }
  )

/** What exists but cannot be read is found all the same, so that the failure to read it is told. */
const isPresent = (error: { readonly cause?: unknown }): boolean => codeOf(error.cause) !== "ENOENT"

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "unreadable"

const fromFiles = Effect.fnUntraced(function* (paths: ReadonlyArray<string>, required: boolean, options: Options) {
  const sources: Array<Document.Source> = []
  for (const path of paths) {
    const source = yield* readSource(resolve(path), required)
    if (source !== undefined) sources.push(source)
  }
  if (sources.length === 0) {
    return yield* fail(`none of the files of KUBECONFIG exists: ${paths.join(", ")}; correct it or unset it`)
  }
  const selected = yield* Effect.fromResult(Document.select(sources, options.context))
  const server = yield* Effect.fromResult(serverOf(selected.cluster, options.master))
  const proxy = yield* Effect.fromResult(Document.proxyOf(selected.cluster))
  const endpoint = yield* usable(fromSelected(selected, server, proxy))
  const origin = sources.map(({ path }) => path).join(", ")
  return { endpoint, source: "kubeconfig", origin, namespace: selected.namespace } satisfies Loaded
})

const serverOf = (cluster: Document.Entry, master: string | undefined) => {
  if (master === undefined || master === "") return Document.serverOf(cluster)
  return Document.isHttpUrl(master)
    ? Result.succeed(master)
    : Result.fail(new Document.KubeConfigError({ message: `--master is not an http:// or https:// URL: "${master}"` }))
}

const readSource = Effect.fnUntraced(function* (path: string, required: boolean) {
  const text = yield* Effect.result(
    Effect.tryPromise({ try: () => readFile(path, "utf8"), catch: (cause) => codeOf(cause) })
  )
  if (Result.isFailure(text)) {
    if (text.failure === "ENOENT" && !required) return undefined
    const why = text.failure === "ENOENT" ? "does not exist" : `cannot be read (${text.failure})`
    return yield* fail(`kubeconfig ${path} ${why}: check the path and its permissions`)
  }
  const { parseDocument } = yield* Effect.promise(() => import("yaml"))
  const document = parseDocument(text.success, { prettyErrors: true, logLevel: "silent" })
  const [error] = document.errors
  if (error !== undefined) {
    // The parser's own message quotes the line, which may be the one with the token.
    const line = error.linePos?.[0].line
    return yield* fail(`kubeconfig ${path} is not valid YAML${line === undefined ? "" : ` (line ${line})`}`)
  }
  const content: unknown = document.toJS()
  return Document.isDictionary(content) && ("clusters" in content || "contexts" in content)
    ? { path, content }
    : yield* fail(`${path} is not a kubeconfig: it has neither clusters nor contexts`)
})

/** The first identity is obtained here, so that what is wrong with it is told before anything starts. */
const usable = Effect.fnUntraced(function* (source: Credentials.Source) {
  const endpoint = yield* Credentials.make(source)
  yield* Effect.mapError(endpoint.identity, ({ message }) => new Document.KubeConfigError({ message }))
  return endpoint
})

const fromSelected = (
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

interface Pod {
  readonly server: string
  readonly folder: string
}

/** A pod has both variables and a mounted token. Source: client-go rest.InClusterConfig. */
const podOf = Effect.fnUntraced(function* (options: Options) {
  const host = options.env["KUBERNETES_SERVICE_HOST"]
  const port = options.env["KUBERNETES_SERVICE_PORT"]
  const folder = options.serviceAccount ?? "/var/run/secrets/kubernetes.io/serviceaccount"
  if (host === undefined || host === "" || port === undefined || port === "") return undefined
  if (!(yield* readable(join(folder, "token")))) return undefined
  return { server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`, folder } satisfies Pod
})

const fromPod = Effect.fnUntraced(function* ({ folder, server }: Pod, options: Options) {
  const endpoint = yield* usable({
    server: options.master ?? server,
    proxy: undefined,
    cluster: { name: "cluster", server, caFile: join(folder, "ca.crt"), skipTLSVerify: false },
    user: { name: "user" },
    tokenFile: join(folder, "token"),
    headers: {},
    kind: "files",
    plugin: undefined
  })
  const namespace = yield* Effect.match(
    Effect.tryPromise(() => readFile(join(folder, "namespace"), "utf8")),
    { onFailure: () => undefined, onSuccess: (text) => text.trim() }
  )
  return { endpoint, source: "in-cluster", origin: server, namespace } satisfies Loaded
})

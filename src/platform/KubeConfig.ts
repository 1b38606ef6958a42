/**
 * Finds the cluster to connect to: an explicit kubeconfig, then `KUBECONFIG`, then the service account of a pod, then `~/.kube/config`. It
 * validates what it finds, reads the credentials once, and returns an `Endpoint`. Environment and paths are parameters. `KubeConfig` of client-node
 * handles credentials, with the corrections of `kubeconfig/credentials.ts`.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { readFile } from "node:fs/promises"
import { isIPv6 } from "node:net"
import { delimiter, join, resolve } from "node:path"
import type { Endpoint } from "../layers/Endpoint.ts"
import * as Credentials from "./kubeconfig/credentials.ts"
import * as Document from "./kubeconfig/document.ts"
import * as Entries from "./kubeconfig/entries.ts"

export { KubeConfigError } from "./kubeconfig/document.ts"

/** No setting names a cluster, there is no kubeconfig, and the process does not run in a pod. */
export class NotConfigured extends Data.TaggedError("NotConfigured")<{ readonly message: string }> {}

/** Where to look for the cluster and its credentials. */
export interface Options {
  /** `auto`: a kubeconfig that a setting names, else the pod's service account, else `~/.kube/config`. The other modes look in one place only. */
  readonly mode: "auto" | "kubeconfig" | "in-cluster"
  /** `--kubeconfig`. */
  readonly path?: string | undefined
  /** `--context`. */
  readonly context?: string | undefined
  /** `--master`: replaces the server of the kubeconfig. */
  readonly master?: string | undefined
  /** `--insecure-http`: credentials are sent to an `http://` server too. Default false. */
  readonly insecureHttp?: boolean | undefined
  /** `process.env`: `KUBECONFIG`, `HOME`, `USERPROFILE`, `KUBERNETES_SERVICE_HOST`, `KUBERNETES_SERVICE_PORT`. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Folder of the pod's service account. Default: `/var/run/secrets/kubernetes.io/serviceaccount`. */
  readonly serviceAccount?: string | undefined
}

/** An endpoint and where it was found, which is logged at the start. */
export interface Loaded {
  /** The server, and the identity of the client. */
  readonly endpoint: Endpoint["Service"]
  /** Where that was found. */
  readonly source: "kubeconfig" | "in-cluster"
  /** `/home/u/.kube/config`, or the server in a pod. */
  readonly origin: string
  /** Namespace of the context, or of the pod. */
  readonly namespace: string | undefined
}

/** The endpoint alone; fails like {@link find}. */
export const load = (options: Options): Effect.Effect<Endpoint["Service"], Document.KubeConfigError | NotConfigured> =>
  Effect.map(find(options), ({ endpoint }) => endpoint)

/**
 * Looks for a cluster where the options say. Fails with `KubeConfigError` if a configuration cannot be used, and in mode `auto` with
 * `NotConfigured` if there is none. On success the credentials have been obtained once.
 */
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
    : yield* new NotConfigured({ message: `${looked}, and not in a pod` })
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

/** A file that exists but cannot be read counts as found, so that the failure to read it is reported. */
const isPresent = (error: { readonly cause?: unknown }): boolean => codeOf(error.cause) !== "ENOENT"

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "unreadable"

const fromFiles = Effect.fnUntraced(function* (paths: ReadonlyArray<string>, required: boolean, options: Options) {
  const sources: Array<Document.KubeconfigFile> = []
  for (const path of paths) {
    const source = yield* readSource(resolve(path), required)
    if (source !== undefined) sources.push(source)
  }
  if (sources.length === 0) {
    return yield* fail(`none of the files of KUBECONFIG exists: ${paths.join(", ")}; correct it or unset it`)
  }
  const selected = yield* Effect.fromResult(Document.select(sources, options.context))
  const server = yield* Effect.fromResult(masterOf(options.master, () => Document.serverOf(selected.cluster)))
  const proxy = yield* Effect.fromResult(Document.proxyOf(selected.cluster))
  const isLeaking = isPlain(server) && selected.user !== undefined && options.insecureHttp !== true
  if (isLeaking) {
    yield* Effect.logWarning(
      `The credentials of user "${selected.user.name}" are not sent, because ${server} is plain http://: --insecure-http sends them in the clear`
    )
  }
  const user = isLeaking ? undefined : selected.user
  const provider = user === undefined ? undefined : yield* Effect.fromResult(Document.providerOf(user))
  const endpoint = yield* usable(Entries.toSource({ ...selected, user, provider }, { server, proxy }))
  const origin = sources.map(({ path }) => path).join(", ")
  return { endpoint, source: "kubeconfig", origin, namespace: selected.namespace } satisfies Loaded
})

/** Plain HTTP can be read in transit. Source: client-go `rest.IsConfigTransportTLS`; without TLS `clientcmd` sends no credentials. */
const isPlain = (server: string): boolean => server.startsWith("http:")

const masterOf = (master: string | undefined, otherwise: () => Result.Result<string, Document.KubeConfigError>) => {
  if (master === undefined || master === "") return otherwise()
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
    // The parser's own message quotes the line, which may contain the token.
    const line = error.linePos?.[0].line
    return yield* fail(`kubeconfig ${path} is not valid YAML${line === undefined ? "" : ` (line ${line})`}`)
  }
  const content: unknown = document.toJS()
  return Document.isDictionary(content) && ("clusters" in content || "contexts" in content)
    ? { path, content }
    : yield* fail(`${path} is not a kubeconfig: it has neither clusters nor contexts`)
})

/** The first identity is obtained here, so that its errors are reported before anything starts. */
const usable = Effect.fnUntraced(function* (source: Credentials.CredentialSource) {
  const endpoint = yield* Credentials.make(source)
  yield* Effect.mapError(endpoint.identity, ({ message }) => new Document.KubeConfigError({ message }))
  return endpoint
})

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

const fromPod = Effect.fnUntraced(function* ({ folder, server: own }: Pod, options: Options) {
  const server = yield* Effect.fromResult(masterOf(options.master, () => Result.succeed(own)))
  if (isPlain(server) && options.insecureHttp !== true) {
    return yield* fail(
      `--master is the plain ${server}, and the pod's token would be sent in the clear: say https://, or --insecure-http if that is meant`
    )
  }
  const endpoint = yield* usable({
    server,
    proxy: undefined,
    cluster: { name: "cluster", server, caFile: join(folder, "ca.crt"), skipTLSVerify: isPlain(server) },
    user: { name: "user" },
    tokenFile: join(folder, "token"),
    headers: {},
    kind: "files",
    exec: undefined,
    plugin: undefined
  })
  const namespace = yield* Effect.match(
    Effect.tryPromise(() => readFile(join(folder, "namespace"), "utf8")),
    { onFailure: () => undefined, onSuccess: (text) => text.trim() }
  )
  return { endpoint, source: "in-cluster", origin: own, namespace } satisfies Loaded
})

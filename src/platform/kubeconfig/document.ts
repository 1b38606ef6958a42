/**
 * A kubeconfig as data: merges the files of `KUBECONFIG`, selects a context, and finds all errors before a connection is tried. Pure. Each error is
 * one sentence that says what is wrong, where, and what to do. Source: client-go tools/clientcmd (the first file wins, relative paths are relative
 * to their file).
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"

/** A kubeconfig, service account or plugin cannot be used; the message is one sentence without secrets. */
export class KubeConfigError extends Data.TaggedError("KubeConfigError")<{ readonly message: string }> {}

export type Dictionary = Readonly<Record<string, unknown>>

/** One parsed file. */
export interface KubeconfigFile {
  readonly path: string
  readonly content: Dictionary
}

/** The cluster and user of a context, each with the file that defines it. */
export interface Selected {
  readonly cluster: Entry
  /** Absent when the context names no user. */
  readonly user: Entry | undefined
  readonly namespace: string | undefined
}

export interface Entry {
  readonly name: string
  readonly path: string
  readonly content: Dictionary
}

const fail = (message: string) => Result.fail(new KubeConfigError({ message }))

const quote = (names: ReadonlyArray<string>): string =>
  names.length === 0
    ? "it has none"
    : `there ${names.length === 1 ? "is" : "are"} ${names.map((n) => `"${n}"`).join(", ")}`

export const isDictionary = (value: unknown): value is Dictionary =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The string of a key; undefined if it is absent, empty or of another type. */
export const text = (content: Dictionary, key: string): string | undefined => {
  const value = content[key]
  return typeof value === "string" && value !== "" ? value : undefined
}

/** Named entries of all files; the first file to define a name wins. */
const entries = (sources: ReadonlyArray<KubeconfigFile>, list: string, inner: string): ReadonlyMap<string, Entry> => {
  const found = new Map<string, Entry>()
  for (const { content, path } of sources) {
    const items = content[list]
    if (!Array.isArray(items)) continue
    for (const item of items) {
      const name = isDictionary(item) ? text(item, "name") : undefined
      if (name === undefined || found.has(name)) continue
      const own = (item as Dictionary)[inner]
      found.set(name, { name, path, content: isDictionary(own) ? own : {} })
    }
  }
  return found
}

/** Resolves the named context, or the current one, to its cluster and user. */
export const select = (
  sources: ReadonlyArray<KubeconfigFile>,
  wanted: string | undefined
): Result.Result<Selected, KubeConfigError> => {
  const where = sources.map(({ path }) => path).join(", ")
  const contexts = entries(sources, "contexts", "context")
  const names = quote([...contexts.keys()])
  const name = wanted ?? sources.map(({ content }) => text(content, "current-context")).find((one) => one !== undefined)
  if (name === undefined)
    return fail(`kubeconfig ${where} has no current-context: choose one with --context (${names})`)
  const context = contexts.get(name)
  if (context === undefined) return fail(`kubeconfig ${where} has no context "${name}": ${names}`)
  const clusterName = text(context.content, "cluster")
  if (clusterName === undefined) return fail(`context "${name}" in ${context.path} names no cluster: add one to it`)
  const clusters = entries(sources, "clusters", "cluster")
  const cluster = clusters.get(clusterName)
  if (cluster === undefined) {
    return fail(
      `context "${name}" in ${context.path} names the cluster "${clusterName}", which is not defined: ${quote([...clusters.keys()])}`
    )
  }
  const namespace = text(context.content, "namespace")
  const userName = text(context.content, "user")
  if (userName === undefined) return Result.succeed({ cluster, user: undefined, namespace })
  const users = entries(sources, "users", "user")
  const user = users.get(userName)
  return user === undefined
    ? fail(
        `context "${name}" in ${context.path} names the user "${userName}", which is not defined: ${quote([...users.keys()])}`
      )
    : Result.succeed({ cluster, user, namespace })
}

/** The address of a cluster, or what is wrong with it. */
export const serverOf = (cluster: Entry): Result.Result<string, KubeConfigError> => {
  const server = text(cluster.content, "server")
  const named = `cluster "${cluster.name}" in ${cluster.path}`
  if (server === undefined) return fail(`${named} has no server: add its URL`)
  return isHttpUrl(server)
    ? Result.succeed(server)
    : fail(`${named} has the server "${server}", which is not an http:// or https:// URL`)
}

/** A proxy, or what is wrong with it; never quotes the URL, which may hold a password. */
export const proxyOf = (cluster: Entry): Result.Result<string | undefined, KubeConfigError> => {
  const proxy = text(cluster.content, "proxy-url")
  return proxy === undefined || isHttpUrl(proxy)
    ? Result.succeed(proxy)
    : fail(
        `proxy-url of cluster "${cluster.name}" in ${cluster.path} is not an http:// or https:// URL: use such a proxy`
      )
}

/**
 * The auth provider of a user, or what is wrong with it. Kubernetes removed all providers but OIDC in 1.26. client-node still runs their commands,
 * synchronously, so they are rejected here.
 */
export const providerOf = ({ content, name, path }: Entry): Result.Result<Dictionary | undefined, KubeConfigError> => {
  const provider = content["auth-provider"]
  if (!isDictionary(provider) || text(provider, "name") === "oidc") {
    return Result.succeed(isDictionary(provider) ? provider : undefined)
  }
  const called = text(provider, "name") ?? ""
  return fail(
    `user "${name}" in ${path} has the auth provider "${called}", which Kubernetes has no more: use an exec plugin`
  )
}

export const isHttpUrl = (url: string): boolean => /^https?:\/\/[^/]/.test(url) && URL.canParse(url)

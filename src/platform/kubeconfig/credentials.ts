/**
 * An `Endpoint` whose identity follows the files and the plugin of a kubeconfig. For OIDC it wraps `KubeConfig` of client-node and corrects it. Files are
 * read again every ten seconds, tokens are trimmed, at most one plugin process runs however many requests wait, a 401 runs the plugin again, and
 * every failure has a one-sentence message. If a file cannot be read during a rotation, the last good identity stays. If a plugin fails, it does
 * not, because its credentials may have been withdrawn.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Semaphore from "effect/Semaphore"
import { readFile } from "node:fs/promises"
import { CredentialsError, Endpoint, type Headers, type Identity, sameTls } from "../../layers/Endpoint.ts"
import * as Exec from "./exec.ts"
import * as Plain from "./plain.ts"

export interface CredentialSource {
  readonly server: string
  readonly proxy: string | undefined
  readonly cluster: Plain.Cluster
  readonly user: Plain.User
  /** Takes precedence over the token of the user. Read again regularly, because service account tokens are rotated on disk. */
  readonly tokenFile: string | undefined
  /** Headers for impersonation. */
  readonly headers: Headers
  /** `fixed` never changes; `files` may change on disk; `plugin` runs a plugin. */
  readonly kind: "fixed" | "files" | "plugin"
  /** Undefined: the credentials are in the kubeconfig, or those of OIDC. */
  readonly exec: Exec.Plugin | undefined
  /** The name of the plugin for messages, and its install hint. */
  readonly plugin: { readonly name: string; readonly hint: string | undefined } | undefined
}

/** How long an identity from files or plugins is used before it is read again. */
const freshness = Duration.seconds(10)
/** A plugin that takes longer has failed. */
const pluginTimeout = Duration.seconds(60)
/** The least time between two plugin runs, so that a server that always responds with 401 does not start one for every request. */
const renewalInterval = Duration.seconds(5)

export const make = (source: CredentialSource): Effect.Effect<Endpoint["Service"]> =>
  Effect.gen(function* () {
    const lock = yield* Semaphore.make(1)
    let apply: (() => Promise<Plain.Applied>) | undefined
    let credential: Exec.Credential | undefined
    let current: { readonly identity: Identity; readonly readAt: bigint } | undefined
    let renewedAt: bigint | undefined

    /** Reads the credentials. If they have not changed, the old object is returned, so that its connections are kept. */
    const read = Effect.gen(function* () {
      apply ??= yield* readerOf(source)
      if (source.exec !== undefined && hasExpired(credential, yield* Clock.currentTimeMillis)) {
        credential = yield* answered(
          source,
          Effect.mapError(Exec.ask(source.exec), ({ cause }) => explain(source, cause))
        )
      }
      const identity = yield* obtain(source, apply, credential)
      const kept = current !== undefined && same(current.identity, identity) ? current.identity : identity
      current = { identity: kept, readAt: yield* Clock.monotonicTimeNanos }
      return kept
    })

    const fresh = (now: bigint): Identity | undefined =>
      current !== undefined && (source.kind === "fixed" || now - current.readAt < Duration.toNanosUnsafe(freshness))
        ? current.identity
        : undefined

    const refresh = lock.withPermit(
      Effect.flatMap(Clock.monotonicTimeNanos, (now) => {
        const found = fresh(now)
        if (found !== undefined) return Effect.succeed(found)
        const last = current?.identity
        if (last === undefined || source.kind !== "files") return read
        const keep = Effect.sync(() => {
          current = { identity: last, readAt: now }
          return last
        })
        return Effect.matchEffect(read, { onFailure: () => keep, onSuccess: Effect.succeed })
      })
    )

    return Endpoint.of({
      server: source.server,
      proxy: source.proxy === undefined ? undefined : Redacted.make(source.proxy),
      identity: Effect.flatMap(Clock.monotonicTimeNanos, (now) => {
        const found = fresh(now)
        return found === undefined ? refresh : Effect.succeed(found)
      }),
      renew: (rejected) =>
        lock.withPermit(
          Effect.flatMap(Clock.monotonicTimeNanos, (now) => {
            if (current !== undefined && current.identity !== rejected) return Effect.succeed(true)
            const soon = renewedAt !== undefined && now - renewedAt < Duration.toNanosUnsafe(renewalInterval)
            if (source.kind === "fixed" || soon) return Effect.succeed(false)
            renewedAt = now
            apply = undefined
            credential = undefined
            return Effect.map(read, (identity) => identity !== rejected)
          })
        )
    })
  })

const readerOf = ({ cluster, user }: CredentialSource) =>
  user.authProvider === undefined
    ? Effect.succeed(Plain.make(cluster, user))
    : Effect.map(
        Effect.promise(() => import("./clientNode.ts")),
        ({ make }) => make(cluster, user)
      )

const same = (a: Identity, b: Identity): boolean =>
  sameTls(a.tls, b.tls) && JSON.stringify(Redacted.value(a.headers)) === JSON.stringify(Redacted.value(b.headers))

/** An expiry that cannot be parsed is ignored. */
const hasExpired = (credential: Exec.Credential | undefined, now: number): boolean =>
  credential === undefined || (credential.expires !== undefined && Date.parse(credential.expires) <= now)

const obtain = Effect.fnUntraced(function* (
  source: CredentialSource,
  apply: () => Promise<Plain.Applied>,
  credential: Exec.Credential | undefined
) {
  const applied = yield* answered(source, Effect.tryPromise({ try: apply, catch: (cause) => explain(source, cause) }))
  const token = source.tokenFile === undefined ? undefined : yield* tokenFrom(source.tokenFile)
  return identityOf(source, applied, { token, credential })
})

/** Fails if the plugin exceeds its timeout. */
const answered = <A>(
  source: CredentialSource,
  asking: Effect.Effect<A, CredentialsError>
): Effect.Effect<A, CredentialsError> =>
  Effect.timeoutOrElse(asking, {
    duration: pluginTimeout,
    orElse: () => Effect.fail(new CredentialsError({ message: `${pluginName(source)} gave no answer within 60 s` }))
  })

const tokenFrom = (path: string): Effect.Effect<string, CredentialsError> =>
  Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: (cause) => new CredentialsError({ message: `the token file ${path} cannot be read (${codeOf(cause)})` })
  }).pipe(
    Effect.flatMap((content) =>
      content.trim() === ""
        ? Effect.fail(new CredentialsError({ message: `the token file ${path} is empty` }))
        : Effect.succeed(content.trim())
    )
  )

interface Further {
  readonly token: string | undefined
  readonly credential: Exec.Credential | undefined
}

/** Credentials in the kubeconfig take precedence over those of a plugin. */
const identityOf = (source: CredentialSource, applied: Plain.Applied, { credential, token }: Further): Identity => {
  // client-node does not trim tokens, and a line break is not allowed in a header.
  const authorization =
    token === undefined
      ? applied.auth === undefined
        ? (applied.headers?.["Authorization"]?.trim() ?? bearer(credential?.token))
        : `Basic ${Buffer.from(applied.auth).toString("base64")}`
      : `Bearer ${token}`
  const key = credential?.key ?? applied.key?.toString()
  return {
    tls: {
      ca: applied.ca?.toString(),
      cert: credential?.certificate ?? applied.cert?.toString(),
      key: key === undefined ? undefined : Redacted.make(key),
      servername: applied.servername,
      rejectUnauthorized: applied.rejectUnauthorized !== false
    },
    headers: Redacted.make({ ...source.headers, ...(authorization === undefined ? {} : { authorization }) })
  }
}

const bearer = (token: string | undefined): string | undefined =>
  token === undefined ? undefined : `Bearer ${token.trim()}`

const pluginName = (source: CredentialSource): string => source.plugin?.name ?? "the credentials provider"

/** Never quotes the plugin's stdout, which contains the token. Of its stderr only the first line is quoted. */
const explain = (source: CredentialSource, cause: unknown): CredentialsError => {
  const path = cause instanceof Error && "path" in cause && typeof cause.path === "string" ? cause.path : undefined
  const code = codeOf(cause)
  if (source.plugin === undefined) {
    const what = path === undefined ? "the credentials" : `the file ${path}`
    return new CredentialsError({ message: `${what} of the kubeconfig cannot be read (${code})` })
  }
  const hint = source.plugin.hint === undefined ? "" : `: ${source.plugin.hint}`
  if (code === "ENOENT") return new CredentialsError({ message: `${source.plugin.name} is not installed${hint}` })
  if (cause instanceof SyntaxError || cause instanceof TypeError) {
    return new CredentialsError({ message: `${source.plugin.name} did not print an ExecCredential` })
  }
  const line = firstLine(cause instanceof Error ? cause.message : String(cause))
  return new CredentialsError({ message: `${source.plugin.name} failed: ${line === "" ? "it gave no reason" : line}` })
}

const firstLine = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trim())
    .find((line) => line !== "")
    ?.slice(0, 300) ?? ""

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "unreadable"

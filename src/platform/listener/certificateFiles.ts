/**
 * A server's certificate from files that another program renews. They are read at the start, after each change in their directory, and every ten
 * seconds, because not every file system reports changes. The content is compared, so the swapped symbolic links of mounted Secrets are noticed. A
 * pair that cannot be read, or does not match because only one file has been replaced so far, changes nothing. Source: controller-runtime:
 * pkg/certwatcher.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { X509Certificate } from "node:crypto"
import { type FSWatcher, watch } from "node:fs"
import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import { createSecureContext } from "node:tls"
import type { Certificate } from "../../layers/http/Certificates.ts"
import { CertificateError, type CertificateFiles as Files } from "../../layers/http/Listener.ts"

const counter = (name: string, description: string) => Metric.counter(name, { description, incremental: true })

const reads = counter("certwatcher_read_certificate_total", "Times that a server's certificate was read from its files")
const errors = counter("certwatcher_read_certificate_errors_total", "Times that it could not be, or was no pair")

/** Starts the series at zero. */
export const preset: Effect.Effect<void> = Effect.andThen(Metric.update(reads, 0), Metric.update(errors, 0))

const interval = "10 seconds"

/** Reads the pair and checks that the key belongs to the certificate. */
export const read = (files: Files): Effect.Effect<Certificate, CertificateError> =>
  Metric.update(reads, 1).pipe(
    Effect.andThen(Clock.currentTimeMillis),
    Effect.flatMap((now) =>
      Effect.tryPromise({
        try: () => load(files, now),
        catch: (error) => new CertificateError({ message: explain(files, error) })
      })
    ),
    Effect.tapError(() => Metric.update(errors, 1))
  )

const load = async (files: Files, now: number): Promise<Certificate> => {
  const text = (name: string) => readFile(resolve(files.directory, name), "utf8")
  // One after the other, so that of two missing files the error always names the first.
  const cert = await text(files.cert)
  const key = await text(files.key)
  createSecureContext({ cert, key })
  const { validFrom, validTo } = new X509Certificate(cert)
  if (files.mustBeValid === true && now >= Date.parse(validTo)) throw new Error(`it has expired, on ${validTo}`)
  if (files.mustBeValid === true && now < Date.parse(validFrom)) throw new Error(`it is not valid before ${validFrom}`)
  if (files.clientAuthorities === undefined) return { cert, key: Redacted.make(key) }
  const clientAuthorities = await text(files.clientAuthorities)
  if (!clientAuthorities.includes("-----BEGIN CERTIFICATE-----")) {
    throw new Error(`${files.clientAuthorities} has no certificate`)
  }
  createSecureContext({ ca: clientAuthorities })
  return { cert, key: Redacted.make(key), clientAuthorities }
}

const explain = ({ cert, directory, key }: Files, error: unknown): string => {
  const said = error instanceof Error ? error.message : String(error)
  // The message of OpenSSL.
  const why = said.includes("key values mismatch") ? `${key} is not the key of ${cert}` : said
  return `cannot use ${cert} and ${key} in ${directory} as a server's certificate and key: ${why}`
}

/** Calls `replace` with each new pair, for as long as the scope is open. */
export const follow = (
  files: Files,
  first: Certificate,
  replace: (certificate: Certificate) => void
): Effect.Effect<void, never, Scope.Scope> => {
  let present = first
  let last = ""
  const look = Effect.gen(function* () {
    const found = yield* Effect.result(read(files))
    if (found._tag === "Failure") {
      const { message } = found.failure
      if (message !== last) yield* Effect.logWarning(`${message}; keeping the previous one`)
      last = message
      return
    }
    last = ""
    if (isSame(found.success, present)) return
    present = found.success
    replace(present)
    yield* Effect.logInfo("The certificate has changed and is in use")
  })
  return Effect.gen(function* () {
    const happened = yield* watching(files.directory)
    const wait = Effect.raceFirst(happened.await, Effect.sleep(interval))
    // The latch is closed before the read, so that a change during the read causes another one.
    const once = wait.pipe(Effect.andThen(Effect.sync(() => happened.closeUnsafe())), Effect.andThen(look))
    yield* Effect.forkScoped(Effect.forever(once))
  })
}

/** Opens after a change in the directory; never opens if the directory cannot be watched. */
const watching = (directory: string): Effect.Effect<Latch.Latch, never, Scope.Scope> =>
  Effect.gen(function* () {
    const happened = Latch.makeUnsafe(false)
    yield* Effect.acquireRelease(
      Effect.sync(() => watcherOf(directory, () => happened.openUnsafe())),
      (watcher) => Effect.sync(() => watcher?.close())
    )
    return happened
  })

const watcherOf = (directory: string, tell: () => void): FSWatcher | undefined => {
  try {
    const watcher = watch(directory, { persistent: false }, tell)
    // The directory was removed, or there are too many watches: the interval remains.
    return watcher.on("error", () => watcher.close())
  } catch {
    return undefined
  }
}

const isSame = (a: Certificate, b: Certificate): boolean =>
  a.cert === b.cert && a.clientAuthorities === b.clientAuthorities && Redacted.value(a.key) === Redacted.value(b.key)

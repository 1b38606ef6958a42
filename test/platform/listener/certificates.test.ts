import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import { TestClock } from "effect/testing"
import { X509Certificate } from "node:crypto"
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises"
import { request } from "node:https"
import { join } from "node:path"
import type { TLSSocket } from "node:tls"
import type { Certificate } from "../../../src/layers/http/Certificates.ts"
import * as CertificateFiles from "../../../src/platform/listener/certificateFiles.ts"
import { text } from "../../../src/layers/http/handler.ts"
import * as Listener from "../../../src/platform/listener/Listener.ts"
import * as Signing from "../../../src/platform/listener/signing.ts"
import * as Process from "../../support/process.ts"
import { authority, type Pair } from "../../support/tls.ts"

const ca = await authority("the test authority")

/** Writes the pair as kubelets do: into a new directory, to which a link is then moved. */
const mount = (root: string, name: string, { cert, key }: Pair) =>
  Effect.promise(async () => {
    const directory = join(root, name)
    await mkdir(directory)
    await writeFile(join(directory, "tls.crt"), cert)
    await writeFile(join(directory, "tls.key"), key)
    await symlink(directory, join(root, `${name}-link`))
    await rename(join(root, `${name}-link`), join(root, "current"))
  })

/** The common name of the server's certificate. */
const nameOf = (port: number, trusted?: string) =>
  Effect.promise(
    () =>
      new Promise<string>((resolve, reject) => {
        const options = { host: "127.0.0.1", port, agent: false as const, ca: trusted ?? ca.cert }
        request(options, (response) => {
          const { socket } = response
          resolve("getPeerCertificate" in socket ? String((socket as TLSSocket).getPeerCertificate().subject.CN) : "")
          response.resume()
        })
          .on("error", reject)
          .end()
      })
  )

const count = (id: string) =>
  Effect.map(Metric.snapshot, (all) => {
    const state = all.find((one) => one.id === id)?.state
    return state !== undefined && "count" in state ? Number(state.count) : undefined
  })

const fresh = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, Metric.MetricRegistry, new Map())

const ok = () => Effect.succeed(text(200, "ok"))

const options = (certificate: Certificate) => ({
  name: "metrics",
  setting: "x",
  address: { host: "127.0.0.1", port: 0 },
  handle: ok,
  certificate
})

describe("a certificate from files", () => {
  it.effect("is replaced after a change; half of a pair changes nothing", () =>
    fresh(
      Effect.gen(function* () {
        const root = yield* Process.folder
        const [first, second, third] = yield* Effect.promise(() =>
          Promise.all(["first", "second", "third"].map((name) => ca.issue(name)))
        )
        if (first === undefined || second === undefined || third === undefined) return assert.fail()
        yield* mount(root, "a", first)
        const files = { directory: join(root, "current"), cert: "tls.crt", key: "tls.key" }
        const certificate = yield* CertificateFiles.read(files)
        const { port, replaceUnsafe } = yield* Listener.listen(options(certificate))
        assert.strictEqual(yield* nameOf(port), "first")
        let replaced = yield* Deferred.make<void>()
        yield* CertificateFiles.follow(files, certificate, (found) => {
          replaceUnsafe(found)
          Deferred.doneUnsafe(replaced, Effect.void)
        })
        yield* Effect.yieldNow
        yield* mount(root, "b", second)
        yield* TestClock.adjust("10 seconds")
        yield* Deferred.await(replaced)
        assert.strictEqual(yield* nameOf(port), "second")
        replaced = yield* Deferred.make<void>()
        yield* mount(root, "c", { cert: third.cert, key: second.key })
        while (((yield* count("certwatcher_read_certificate_errors_total")) ?? 0) === 0) {
          yield* TestClock.adjust("10 seconds")
          yield* TestClock.withLive(Effect.yieldNow)
        }
        assert.strictEqual(yield* nameOf(port), "second")
        yield* mount(root, "d", third)
        while (!Deferred.isDoneUnsafe(replaced)) {
          yield* TestClock.adjust("10 seconds")
          yield* TestClock.withLive(Effect.yieldNow)
        }
        assert.strictEqual(yield* nameOf(port), "third")
        assert.isAbove((yield* count("certwatcher_read_certificate_total")) ?? 0, 3)
      }).pipe(Effect.scoped)
    )
  )

  it.effect("is read at once after a change in its directory, as in a mounted Secret", () =>
    fresh(
      Effect.gen(function* () {
        const root = yield* Process.folder
        const [first, second] = yield* Effect.promise(() => Promise.all([ca.issue("first"), ca.issue("second")]))
        yield* mount(root, "a", first)
        yield* Effect.promise(() => symlink("current/tls.crt", join(root, "tls.crt")))
        yield* Effect.promise(() => symlink("current/tls.key", join(root, "tls.key")))
        const files = { directory: root, cert: "tls.crt", key: "tls.key" }
        const replaced = yield* Deferred.make<Certificate>()
        yield* CertificateFiles.follow(files, yield* CertificateFiles.read(files), (found) =>
          Deferred.doneUnsafe(replaced, Effect.succeed(found))
        )
        yield* Effect.yieldNow
        yield* mount(root, "b", second)
        assert.strictEqual((yield* Deferred.await(replaced)).cert, second.cert)
      }).pipe(Effect.scoped)
    )
  )

  it.effect("may have its key in another directory, by an absolute path", () =>
    fresh(
      Effect.gen(function* () {
        const [root, other] = [yield* Process.folder, yield* Process.folder]
        const { cert, key } = yield* Effect.promise(() => ca.issue("first"))
        yield* Effect.promise(() => writeFile(join(root, "tls.crt"), cert))
        yield* Effect.promise(() => writeFile(join(other, "private.key"), key))
        const files = { directory: root, cert: "tls.crt", key: join(other, "private.key") }
        assert.strictEqual((yield* CertificateFiles.read(files)).cert, cert)
      }).pipe(Effect.scoped)
    )
  )

  it.effect("that cannot be read is an error of one sentence with the names of the files", () =>
    fresh(
      Effect.gen(function* () {
        const root = yield* Process.folder
        const files = { directory: root, cert: "tls.crt", key: "tls.key" }
        const error = yield* Effect.flip(CertificateFiles.read(files))
        assert.match(
          error.message,
          /^cannot use tls\.crt and tls\.key in \S+ as a server's certificate and key: ENOENT/
        )
        assert.strictEqual(yield* count("certwatcher_read_certificate_errors_total"), 1)
        yield* Effect.promise(() => rm(root, { recursive: true }))
      }).pipe(Effect.scoped)
    )
  )
})

describe("a certificate of one's own", () => {
  it.live("is valid for this host and loopback", () =>
    Effect.gen(function* () {
      const certificate = yield* Effect.promise(() => Signing.temporary("replica-0", Date.now()))
      const { port } = yield* Listener.listen(options(certificate))
      assert.strictEqual(yield* nameOf(port, certificate.cert), "replica-0")
      const parsed = new X509Certificate(certificate.cert)
      for (const host of ["replica-0", "localhost"]) assert.strictEqual(parsed.checkHost(host), host)
      assert.strictEqual(parsed.checkIP("127.0.0.1"), "127.0.0.1")
      assert.isFalse(parsed.ca)
      assert.include(Redacted.value(certificate.key), "PRIVATE KEY")
    }).pipe(Effect.scoped)
  )
})

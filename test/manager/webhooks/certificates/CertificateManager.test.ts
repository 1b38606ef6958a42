import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { TestClock } from "effect/testing"
import { X509Certificate } from "node:crypto"
import type { KubeObject } from "../../../../src/kube/Meta.ts"
import * as Patch from "../../../../src/kube/Patch.ts"
import { ConfigMap, Secret } from "../../../../src/kube/resources.ts"
import { ClusterTest } from "../../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../../src/layers/KubeClient.ts"
import { Certificates } from "../../../../src/layers/http/Certificates.ts"
import { certificates } from "../../../../src/platform/listener/certificates.ts"
import * as CertificateManager from "../../../../src/manager/webhooks/certificates/CertificateManager.ts"
import * as CertificateBundle from "../../../../src/manager/webhooks/certificates/CertificateBundle.ts"
import * as Publication from "../../../../src/manager/webhooks/certificates/publication.ts"
import { configurations } from "../../../../src/manager/webhooks/configurations.ts"
import * as Webhook from "../../../../src/layers/Webhook.ts"

const services = Layer.merge(ClusterTest.layer(), Layer.succeed(Certificates, certificates))

const certificateOptions = {
  namespace: "kube-system",
  name: "webhook-cert",
  hosts: ["hooks.kube-system.svc", "127.0.0.1", "::1"]
}

const declared = [
  Webhook.defaulting(ConfigMap, Effect.succeed, { failurePolicy: "Ignore" }),
  Webhook.validating(ConfigMap, () => Effect.void, { failurePolicy: "Ignore" })
]

const targets = (installs: boolean) =>
  Publication.targets(configurations(declared, { name: "manager", at: { url: "https://127.0.0.1:9" } }), installs)

type Configuration = KubeObject & {
  readonly webhooks?: ReadonlyArray<{ readonly clientConfig: { readonly caBundle?: string } }>
}

/** The `caBundle` of each webhook; empty where none is published. */
const bundles = Effect.gen(function* () {
  const client = yield* KubeClient
  const all = yield* Effect.forEach(targets(false), ({ name, resource }) =>
    Effect.orElseSucceed(client.get<Configuration>(resource, { name }), () => undefined)
  )
  return all.flatMap((one) =>
    (one?.webhooks ?? []).map(({ clientConfig }) => Buffer.from(clientConfig.caBundle ?? "", "base64").toString())
  )
})

const shared = Effect.gen(function* () {
  const client = yield* KubeClient
  const { data } = yield* client.get(Secret, certificateOptions)
  return Result.getOrThrow(yield* CertificateBundle.read(data))
})

const isTrusted = (cert: string, caBundle: string): boolean =>
  certificates.read(caBundle).some((authority) => certificates.read(cert)[0]?.isSignedBy(authority))

/** Lets virtual time pass until the condition holds. Certificates are created outside of virtual time. */
const until = <E, R>(condition: Effect.Effect<boolean, E, R>, what: string) =>
  Effect.gen(function* () {
    for (let times = 0; times < 2000; times++) {
      if (yield* condition) return
      yield* TestClock.adjust("1 seconds")
      yield* TestClock.withLive(Effect.yieldNow)
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    }
    assert.fail(`waited in vain: ${what}`)
  })

/** A process that serves webhooks and leads; `serving` returns the certificate that it serves with. */
const leader = Effect.gen(function* () {
  const first = yield* CertificateManager.open(certificateOptions)
  let serving = first.certificate.cert
  yield* CertificateManager.follow(
    certificateOptions,
    first.certificate,
    (bundle) => (serving = bundle.certificate.cert)
  )
  yield* Effect.forkScoped(CertificateManager.keep(certificateOptions, targets(true)))
  return { first, serving: () => serving }
})

describe("certificates that the manager makes itself", () => {
  it.effect("are created by the first replica, and read by the others", () =>
    Effect.gen(function* () {
      const [a, b, c] = yield* Effect.all(
        [
          CertificateManager.open(certificateOptions),
          CertificateManager.open(certificateOptions),
          CertificateManager.open(certificateOptions)
        ],
        {
          concurrency: "unbounded"
        }
      )
      assert.strictEqual(a.certificate.cert, b.certificate.cert)
      assert.strictEqual(b.certificate.cert, c.certificate.cert)
      assert.deepStrictEqual(a.state.serving.names, certificateOptions.hosts)
    }).pipe(Effect.provide(services))
  )

  it.effect("are published again after another client has changed a caBundle, or has deleted the Secret", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const { first, serving } = yield* leader
      const isPublished = (caBundle: string) =>
        Effect.map(bundles, (all) => all.length === 2 && all.every((one) => one === caBundle))
      yield* until(isPublished(first.caBundle), "the authority is published")
      const [mutating = assert.fail()] = targets(false)
      const path = "/webhooks/0/clientConfig/caBundle"
      yield* client.patch<KubeObject>(mutating.resource, mutating, Patch.json([{ op: "remove", path }]))
      assert.isFalse(yield* isPublished(first.caBundle))
      yield* until(isPublished(first.caBundle), "it is published again")

      yield* client.delete(Secret, certificateOptions)
      yield* until(
        Effect.map(
          Effect.orElseSucceed(shared, () => first),
          ({ caBundle }) => caBundle !== first.caBundle
        ),
        "there is another Secret"
      )
      const second = yield* shared
      yield* until(isPublished(second.caBundle), "its authority is published")
      yield* until(
        Effect.sync(() => serving() === second.certificate.cert),
        "its certificate is served"
      )
    }).pipe(Effect.scoped, Effect.provide(services))
  )

  it.effect("are not published over a configuration that another client has written meanwhile", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const { caBundle } = yield* CertificateManager.open(certificateOptions)
      const [target = assert.fail()] = targets(true)
      if (target._tag !== "Admission" || target.wanted === undefined) return assert.fail()
      const read = yield* client.create<KubeObject>(target.resource, target.wanted)
      const patch = Publication.patchOf(target, read, caBundle) ?? assert.fail()
      const written = yield* client.patch<KubeObject>(target.resource, target, patch)
      assert.isUndefined(Publication.patchOf(target, written, caBundle))
      const late = Publication.patchOf(target, read, "another") ?? assert.fail()
      const error = yield* Effect.flip(client.patch<KubeObject>(target.resource, target, late))
      assert.strictEqual(error.reason._tag, "Conflict")
    }).pipe(Effect.provide(services))
  )

  it.effect("of an inconsistent Secret are rejected in one sentence that quotes no key", () =>
    Effect.gen(function* () {
      const client = yield* KubeClient
      const { certificate } = yield* CertificateManager.open(certificateOptions)
      const secret = yield* client.get(Secret, certificateOptions)
      const stranger = yield* CertificateBundle.after("Start", undefined, { now: 0, names: [] })
      const theirs = CertificateBundle.data(stranger)
      const broken: ReadonlyArray<readonly [Partial<Record<string, string>>, RegExp]> = [
        [{ "tls.crt": "" }, /it has no tls\.crt/],
        [{ "tls.crt": "AAAA" }, /its tls\.crt is no certificate/],
        [{ "ca.crt": "AAAA" }, /its ca\.crt has no certificate/],
        [{ "tls.key": theirs["tls.key"] }, /its tls\.key is not the key of tls\.crt/],
        [{ "ca.key": theirs["ca.key"] }, /its ca\.key is not the key of the first certificate in ca\.crt/],
        [
          { "ca.crt": theirs["ca.crt"], "ca.key": theirs["ca.key"] },
          /its tls\.crt is signed by none of the certificates/
        ]
      ]
      let { metadata } = secret
      for (const [change, said] of broken) {
        const data = { ...secret.data, ...change } as Record<string, string>
        metadata = (yield* client.update(Secret, { ...secret, metadata, data })).metadata
        const { message } = yield* Effect.flip(CertificateManager.open(certificateOptions))
        assert.match(
          message,
          /^Secret kube-system\/webhook-cert cannot be used for .*; delete it, and a new one is made$/
        )
        assert.match(message, said)
        assert.notInclude(message, Redacted.value(certificate.key).split("\n")[1] ?? "")
      }
    }).pipe(Effect.provide(services))
  )

  it.effect(
    "are renewed for years, and the served certificate is trusted at any time",
    () =>
      Effect.gen(function* () {
        const seen = { servings: new Set<string>(), authorities: new Set<string>() }
        /** Two processes, one of which leads, for some minutes. */
        const minutes = Effect.gen(function* () {
          const { serving } = yield* leader
          const isPublished = Effect.gen(function* () {
            const { caBundle, state } = yield* shared
            const all = yield* bundles
            // Not before the first publication.
            if (seen.authorities.size > 0) for (const one of all) assert.isTrue(isTrusted(serving(), one))
            assert.isAbove(Date.parse(new X509Certificate(serving()).validTo), yield* Clock.currentTimeMillis)
            const isDone = all.length === 2 && all.every((one) => one === caBundle)
            return isDone && state.serving.issuer === state.authorities[0].id && isTrusted(serving(), caBundle)
          })
          // A state that looks final may be followed by another step.
          for (let times = 0; times < 3; times++) {
            yield* until(isPublished, "everybody has what is shared")
            yield* TestClock.adjust("10 seconds")
          }
          const { caBundle } = yield* shared
          seen.servings.add(serving())
          seen.authorities.add(caBundle)
          assert.isAtMost(certificates.read(caBundle).length, 2)
          return { serving: serving(), caBundle }
        }).pipe(Effect.scoped)
        const first = yield* minutes
        let last = first
        for (let period = 0; period < 14; period++) {
          yield* TestClock.adjust("28 days")
          last = yield* minutes
        }
        assert.isAbove(seen.servings.size, 4)
        assert.isAbove(seen.authorities.size, 2)
        assert.isFalse(isTrusted(last.serving, first.caBundle))
      }).pipe(Effect.provide(services)),
    180_000
  )
})

/**
 * Webhooks as an operator runs them: a program with its own webhooks, called by the embedded server and by a real one, with a certificate that it creates
 * itself or that is mounted and renewed; and its messages when it cannot serve. A real server needs `KUBEBUILDER_ASSETS`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { X509Certificate } from "node:crypto"
import { mkdir, rename, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { connect } from "node:tls"
import { Memcached } from "../../src/controllers/memcached/kind.ts"
import type { KubeObject } from "../../src/kube/Meta.ts"
import { ConfigMap, Secret } from "../../src/kube/resources.ts"
import { EmbeddedCluster } from "../../src/apiserver/server/EmbeddedCluster.ts"
import { Endpoint } from "../../src/layers/Endpoint.ts"
import * as KubeConfig from "../../src/platform/KubeConfig.ts"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Certificates } from "../../src/layers/http/Certificates.ts"
import { certificates } from "../../src/platform/listener/certificates.ts"
import * as Signing from "../../src/platform/listener/signing.ts"
import * as CertificateBundle from "../../src/manager/webhooks/certificates/CertificateBundle.ts"
import * as Publication from "../../src/manager/webhooks/certificates/publication.ts"
import { configurations } from "../../src/manager/webhooks/configurations.ts"
import * as Webhook from "../../src/layers/Webhook.ts"
import * as Bundle from "../support/bundle.ts"
import * as envtest from "../support/envtest.ts"
import * as Process from "../support/process.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

const isMissing = envtest.isMissing("webhooks called by a real API server")

const hooked = Bundle.make("test/scenario/webhooks/program.ts")

const serving = ["--skip-webhook-config=false", "--webhook-host=127.0.0.1"]

/** Retries until it succeeds, for half a minute. */
const eventually = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.retry(effect, Schedule.upTo(Schedule.spaced("100 millis"), { duration: "30 seconds" }))

class NotShown extends Data.TaggedError("NotShown")<{ readonly cause: unknown }> {}

/** The certificate that a client gets; fails unless the authorities have signed it for the name. */
const shown = (port: number, ca: string, servername = "localhost") =>
  Effect.callback<X509Certificate, NotShown>((resume) => {
    const socket = connect({ host: "127.0.0.1", port, ca, servername }, () => {
      const certificate = socket.getPeerX509Certificate()
      socket.destroy()
      resume(certificate === undefined ? Effect.fail(new NotShown({ cause: "none" })) : Effect.succeed(certificate))
    })
    socket.once("error", (cause) => resume(Effect.fail(new NotShown({ cause }))))
  })

const over = (endpoint: Endpoint["Service"]) =>
  Layer.provide(KubeClient.layer, Layer.provide(HttpTransport.layer, Layer.succeed(Endpoint, endpoint)))

interface Target {
  readonly endpoint: Endpoint["Service"]
  readonly kubeconfig: string
  /** False for a build that crashes when it logs a patch. */
  readonly patches: boolean
}

const embedded = Effect.map(
  Layer.build(Layer.provideMerge(EmbeddedCluster.layerEndpoint, EmbeddedCluster.layer({}))),
  (context): Target => ({
    endpoint: Context.get(context, Endpoint),
    kubeconfig: Context.get(context, EmbeddedCluster).kubeconfig,
    patches: true
  })
)

const real = Effect.gen(function* () {
  const { ca, endpoint, token, url } = yield* envtest.start()
  const kubeconfig = yield* Kubeconfigs.write({ server: url, ca, user: { token } })
  // Kubernetes 1.20 built with a later Go crashes in the iteration over a map with which it logs patches.
  return { endpoint, kubeconfig, patches: false } satisfies Target
})

/** The printed configurations, with an address of this machine. */
const applied = (port: number, patches: boolean) =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    const declared = [Webhook.defaulting(ConfigMap, Effect.succeed), Webhook.validating(ConfigMap)]
    const at = { url: `https://127.0.0.1:${port}` }
    const { mutating, validating } = configurations(declared, { name: "hooked", at })
    if (patches) yield* client.create<KubeObject>(Publication.MutatingWebhookConfiguration, mutating ?? assert.fail())
    yield* client.create<KubeObject>(Publication.ValidatingWebhookConfiguration, validating ?? assert.fail())
  })

const secretName = { namespace: "kube-system", name: "hooked-webhook-cert" }

const kept = Effect.gen(function* () {
  const client = yield* KubeClient
  const secret = yield* client.get(Secret, secretName)
  return { secret, bundle: Result.getOrThrow(yield* CertificateBundle.read(secret.data)) }
})

/** Called, and renewed, with only what the program does by itself. */
const scenario = (start: Effect.Effect<Target, unknown, Scope.Scope>) =>
  Effect.gen(function* () {
    const { endpoint, kubeconfig, patches } = yield* start
    const port = yield* Process.freePort
    yield* Effect.gen(function* () {
      const client = yield* KubeClient
      yield* applied(port, patches)
      const args = [...serving, "--webhook-self-signed", `--webhook-port=${port}`, "--cluster=kubeconfig", "-v=9"]
      const running = yield* Process.start([...args, `--kubeconfig=${kubeconfig}`], {}, { program: yield* hooked })
      const draft = (name: string, data: Record<string, string>) => ({ metadata: { name, namespace: "default" }, data })
      let tries = 0
      // A server loads changed configurations after some time.
      yield* eventually(
        Effect.suspend(() =>
          Effect.flip(client.create(ConfigMap, draft(`refused-${tries++}`, { forbidden: "yes" })))
        ).pipe(Effect.filterOrFail(({ message }) => message.includes("it has what is forbidden")))
      )
      if (patches) {
        const { data } = yield* client.create(ConfigMap, draft("filled", { some: "data" }))
        assert.deepStrictEqual(data, { filled: "in", some: "data" })
      }

      const before = yield* kept
      const name = "hooked-webhook.kube-system.svc"
      const first = yield* shown(port, before.bundle.caBundle, name)
      const moment = { now: Date.now(), names: before.bundle.state.serving.names }
      const renewed = yield* CertificateBundle.after("Sign", before.bundle, moment)
      yield* client.update(Secret, { ...before.secret, data: CertificateBundle.data(renewed) })
      const second = yield* eventually(
        Effect.filterOrFail(
          shown(port, before.bundle.caBundle, name),
          (one) => one.fingerprint256 !== first.fingerprint256
        )
      )
      assert.strictEqual(second.toString(), renewed.certificate.cert)
      yield* client.create(ConfigMap, draft("again", {}))
      for (const { key } of [before.bundle.certificate, before.bundle.signer, renewed.certificate]) {
        const lines = Redacted.value(key)
          .split("\n")
          .filter((line) => line.length > 20 && !line.startsWith("-----"))
        for (const line of lines) assert.notInclude(running.said(), line)
      }
      yield* running.kill("SIGTERM")
      assert.strictEqual((yield* running.exit).code, 0, running.said())
    }).pipe(Effect.provide(over(endpoint)), Effect.provideService(Certificates, certificates))
  }).pipe(Effect.scoped)

describe("webhooks with a certificate that the program creates", () => {
  it.live("are called by the embedded server", () => scenario(embedded))
  it.live.skipIf(isMissing)("are called by a real API server", () => scenario(real))
})

describe("the shipped program", () => {
  it.live("serves its operators' webhooks when the flag is set, and its readiness says so", () =>
    Effect.gen(function* () {
      const port = yield* Process.freePort
      const args = ["--cluster=embedded", "--skip-webhook-config=false", "--webhook-port=0"]
      const running = yield* Process.start([...args, `--health-probe-bind-address=127.0.0.1:${port}`])
      const [, kubeconfig = ""] = yield* running.says(/--kubeconfig (\S+)/)
      yield* running.says(/ValidatingWebhookConfiguration effect-controller-manager has the webhooks' authorities/)
      const ready = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/readyz/webhook`))
      assert.strictEqual(ready.status, 200)
      const { endpoint } = yield* KubeConfig.find({ mode: "kubeconfig", path: kubeconfig, env: {} })
      const error = yield* Effect.flip(
        Effect.flatMap(KubeClient, (client) =>
          client.create(Memcached, { metadata: { name: "a".repeat(64), namespace: "default" }, spec: { size: 1 } })
        ).pipe(Effect.provide(over(endpoint)))
      )
      assert.include(error.message, "must be no more than 63 characters")
      yield* running.kill("SIGTERM")
      assert.strictEqual((yield* running.exit).code, 0)
    }).pipe(Effect.scoped)
  )
})

const day = 86_400_000
const authority = await Signing.authority({ name: "somebody's", notBefore: 0, notAfter: Date.now() + 900 * day })
const other = await Signing.authority({ name: "another's", notBefore: 0, notAfter: Date.now() + 900 * day })

const pair = (name: string, notAfter: number) =>
  Signing.signed(authority, { name, hosts: ["localhost"], notBefore: 0, notAfter })

/** Replaces files as kubelets do for a mounted Secret: a new directory, to which a link is moved. */
const mount = async (root: string, { cert, key }: { readonly cert: string; readonly key: string }) => {
  const directory = join(root, `..${cert.length}-${Math.round(performance.now() * 1000)}`)
  await mkdir(directory)
  await writeFile(join(directory, "tls.crt"), cert)
  await writeFile(join(directory, "tls.key"), key)
  await symlink(directory, join(root, "..new"))
  await rename(join(root, "..new"), join(root, "..data"))
}

const mounted = Effect.fnUntraced(function* (certificate: { readonly cert: string; readonly key: string }) {
  const root = yield* Process.folder
  yield* Effect.promise(async () => {
    await mount(root, certificate)
    for (const name of ["tls.crt", "tls.key"]) await symlink(join("..data", name), join(root, name))
  })
  return root
})

const [valid, expired] = await Promise.all([pair("valid", Date.now() + day), pair("expired", Date.now() - day)])

const clear = ({ cert, key }: Awaited<ReturnType<typeof pair>>) => ({ cert, key: Redacted.value(key) })

describe("webhooks with a mounted certificate", () => {
  it.live("use the new certificate once it has been renewed", () =>
    Effect.gen(function* () {
      const [first, second] = yield* Effect.promise(() =>
        Promise.all([pair("first", Date.now() + day), pair("second", Date.now() + day)])
      )
      const root = yield* mounted(clear(first))
      const args = [...serving, "--cluster=embedded", "--webhook-port=0", `--webhook-cert-path=${root}`]
      const running = yield* Process.start(args, {}, { program: yield* hooked })
      const [, port = ""] = yield* running.says(/Serving webhooks" port=(\d+)/)
      assert.strictEqual((yield* shown(Number(port), authority.cert)).subject, "CN=first")
      yield* Effect.promise(() => mount(root, clear(second)))
      yield* eventually(
        Effect.filterOrFail(shown(Number(port), authority.cert), ({ subject }) => subject === "CN=second")
      )
    }).pipe(Effect.scoped)
  )

  const remedy =
    /; mount a valid pair there, name another directory with --webhook-cert-path, or turn webhooks off with --skip-webhook-config\n$/
  for (const [title, certificate, said] of [
    ["has expired", clear(expired), /cannot use tls\.crt and tls\.key in \S+ as .*: it has expired, on /],
    [
      "is not of its key",
      { cert: valid.cert, key: Redacted.value(other.key) },
      /cannot use tls\.crt and tls\.key in \S+ as .*: tls\.key is not the key of tls\.crt/
    ],
    ["is empty", { cert: "", key: Redacted.value(valid.key) }, /cannot use tls\.crt and tls\.key in \S+ as /]
  ] as const) {
    it.live(`are not served when it ${title}`, () =>
      Effect.gen(function* () {
        const root = yield* mounted(certificate)
        const args = [...serving, "--cluster=embedded", `--webhook-cert-path=${root}`, "--webhook-port=0"]
        const { exit } = yield* Process.start(args, {}, { program: yield* hooked })
        const { code, stderr } = yield* exit
        assert.strictEqual(code, 1, stderr)
        const last = `${stderr.trim().split("\n").at(-1)}\n`
        assert.match(last, said)
        assert.match(last, remedy)
        for (const line of certificate.key.split("\n").slice(1, -2)) assert.notInclude(stderr, line)
      }).pipe(Effect.scoped)
    )
  }

  it.live("are not served when there is none", () =>
    Effect.gen(function* () {
      const args = [...serving, "--cluster=embedded", "--webhook-cert-path=/nowhere", "--webhook-port=0"]
      const { code, stderr } = yield* (yield* Process.start(args, {}, { program: yield* hooked })).exit
      assert.strictEqual(code, 1, stderr)
      assert.match(stderr, /hooked: cannot use tls\.crt and tls\.key in \/nowhere .*: ENOENT: .*\/nowhere\/tls\.crt/)
    }).pipe(Effect.scoped)
  )

  it.live("open no port and read no file when they are turned off", () =>
    Effect.gen(function* () {
      const args = ["--cluster=embedded", "--webhook-cert-path=/nowhere"]
      const running = yield* Process.start(args, {}, { program: yield* hooked })
      yield* running.says(/Starting Controller.*idle/)
      yield* running.kill("SIGTERM")
      assert.strictEqual((yield* running.exit).code, 0)
      assert.notMatch(running.said(), /webhook/i)
    }).pipe(Effect.scoped)
  )
})

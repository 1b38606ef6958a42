/**
 * No secret leaves the process, even at the most verbose level: neither in its output nor in what it serves nor in what it sends to a collector. The
 * cases are success, 401, 403, a cut connection, credentials that cannot be read, and servers that return the token.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { request } from "node:https"
import { join } from "node:path"
import * as Collector from "../support/collector.ts"
import * as HttpsServer from "../support/httpsServer.ts"
import * as Process from "../support/process.ts"
import * as Tls from "../support/tls.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

const verbose = ["-v=9", "--zap-stacktrace-level=info", "--leader-elect=false", "--controllers=pod-count"]
const forms = ["json", "console"] as const

const token = "kN3pT9wQ-x7Lr2.vB8mZ4cH6sJ1dF5gY0"

/** The forms of a secret that must not appear: its text, in base64 too, and each long line of a PEM. */
const fragments = (secret: string): ReadonlyArray<string> => {
  const lines = secret.split("\n").filter((line) => line.length > 20 && !line.startsWith("-----"))
  const texts = secret.includes("-----") ? lines : [secret, secret.slice(0, 20)]
  return [...texts, Buffer.from(secret).toString("base64").replace(/=+$/, "").slice(0, -2)]
}

const leaked = (text: string, secrets: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.entries(secrets).flatMap(([name, secret]) =>
    fragments(secret).some((part) => text.includes(part)) ? [name] : []
  )

const get = (port: number, path: string, bearer: string) =>
  Effect.promise(
    () =>
      new Promise<string>((resolve, reject) => {
        const headers = { authorization: `Bearer ${bearer}` }
        request({ host: "127.0.0.1", port, path, headers, agent: false, rejectUnauthorized: false }, (response) => {
          let body = ""
          response.setEncoding("utf8").on("data", (text: string) => (body += text))
          response.on("end", () => resolve(`${response.statusCode} ${JSON.stringify(response.headers)} ${body}`))
        })
          .on("error", reject)
          .end()
      })
  )

const ca = await Tls.authority("secrets")
const server = await ca.issue("127.0.0.1")
const client = await ca.issue("a client")

const user = {
  token,
  "client-certificate-data": Buffer.from(client.cert).toString("base64"),
  "client-key-data": Buffer.from(client.key).toString("base64")
}
const own = { token, "client key": client.key }

/** Runs the program until it ends or has printed the line, and returns everything that it printed. */
const printed = (args: ReadonlyArray<string>, form: (typeof forms)[number], says?: RegExp) =>
  Effect.gen(function* () {
    const running = yield* Process.start([...verbose, ...args], { CM_ZAP_ENCODER: form })
    if (says !== undefined) {
      yield* running.says(says)
      yield* running.kill("SIGTERM")
    }
    yield* running.exit
    return running.said()
  })

const paths = [
  "/metrics",
  "/configz",
  "/debug/controllers",
  "/debug/controllers/pod-count",
  "/debug/informers",
  "/debug/leader"
]

describe.concurrent("secrets", () => {
  it("would be found by this search", () => {
    for (const [name, secret] of Object.entries(own)) {
      for (const text of [secret, JSON.stringify({ secret }), Buffer.from(secret).toString("base64")]) {
        assert.deepStrictEqual(leaked(`before ${text} after`, own), [name])
      }
    }
    assert.deepStrictEqual(leaked("nothing of that kind", own), [])
  })

  it.live("are not in what a working program prints, serves and sends", () =>
    Effect.gen(function* () {
      const collector = yield* Collector.start()
      const cluster = yield* Process.start(["apiserver", "--nodes=2"])
      const [, kubeconfig = ""] = yield* cluster.says(/^export KUBECONFIG=(\S+)$/m)
      const text = yield* Effect.promise(() => readFile(kubeconfig, "utf8"))
      const [, admin = ""] = /token"?: *"?([\w.-]+)/.exec(text) ?? []
      assert.isAbove(admin.length, 15)
      const certificates = join(yield* Process.folder, "certificates")
      const pair = yield* Effect.promise(() => ca.issue("metrics"))
      yield* Effect.promise(async () => {
        await mkdir(certificates)
        await writeFile(join(certificates, "tls.crt"), pair.cert)
        await writeFile(join(certificates, "tls.key"), pair.key)
      })
      const header = "h3ader-of-the-collector"
      const running = yield* Process.start(
        [
          ...verbose,
          `--kubeconfig=${kubeconfig}`,
          "--client-metrics=all",
          "--metrics-secure",
          "--metrics-bind-address=127.0.0.1:0",
          "--health-probe-bind-address=127.0.0.1:0",
          `--metrics-cert-path=${certificates}`,
          `--otlp-endpoint=${collector.url}`
        ],
        { OTEL_EXPORTER_OTLP_HEADERS: `api-key=${header}`, CM_ZAP_ENCODER: "json" }
      )
      const [, port] = yield* running.says(/"msg":"Serving metrics".*?"port":(\d+)/)
      const served = yield* Effect.forEach(paths, (path) => get(Number(port), path, admin))
      const wrong = yield* get(Number(port), "/metrics", token)
      assert.match(wrong, /^401 /)
      assert.match(served[0] ?? "", /^200 [\s\S]*rest_client_request_duration_seconds/)
      yield* collector.gets(({ spans }) => spans().some(({ name }) => name === "patch nodes"))
      yield* running.kill("SIGTERM")
      assert.strictEqual((yield* running.exit).code, 0)
      assert.include(running.said(), '"level":"debug"')
      const everything = [running.said(), wrong, ...served, ...collector.texts.map(({ body }) => body)].join("\n")
      const secrets = { admin, "TLS key": pair.key, header, token }
      assert.deepStrictEqual(leaked(everything, secrets), [])
    }).pipe(Effect.scoped)
  )

  const answers: Readonly<Record<string, HttpsServer.Handler>> = {
    "a 401": (_, response) =>
      HttpsServer.answer(response, 401, HttpsServer.status(401, "Unauthorized", "Unauthorized")),
    "a 401 that says the token back": ({ headers }, response) =>
      HttpsServer.answer(response, 401, HttpsServer.status(401, "Unauthorized", `who is ${headers.authorization}?`)),
    "a 403": (_, response) =>
      HttpsServer.answer(response, 403, HttpsServer.status(403, "Forbidden", 'User "x" cannot list resource "pods"')),
    "a page of a proxy that says the token back": ({ headers }, response) =>
      response.writeHead(403, { "content-type": "text/html" }).end(`<html>${JSON.stringify(headers)}</html>`),
    "a cut connection": (incoming) => void incoming.socket.destroy(),
    "half an answer": (incoming, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" })
      response.write('{"kind":')
      incoming.socket.destroySoon()
    },
    "what is not JSON": ({ headers }, response) =>
      response.writeHead(200, { "content-type": "application/json" }).end(`{"${headers.authorization}`)
  }
  for (const [what, handler] of Object.entries(answers)) {
    for (const form of forms) {
      it.live(`are not in what is printed as ${form} after ${what}`, () =>
        Effect.gen(function* () {
          const api = yield* HttpsServer.start(handler, server)
          const kubeconfig = yield* Kubeconfigs.write({ server: api.url, ca: ca.cert, user })
          // A refused right may be granted later, so the program continues.
          const stays =
            handler === answers["a 403"] || handler === answers["a page of a proxy that says the token back"]
          const warning = /"level":"warn"|level=WARN/
          const text = yield* printed([`--kubeconfig=${kubeconfig}`], form, stays ? warning : undefined)
          assert.isAbove(api.requests.length, 0)
          assert.deepStrictEqual(leaked(text, own), [], text)
        }).pipe(Effect.scoped)
      )
    }
  }

  const broken: Readonly<Record<string, string>> = {
    "is not YAML": `users:\n- name: a\n  user:\n    token: ${token}\n   client-key-data: {${user["client-key-data"]}`,
    "has a list for a token": JSON.stringify(
      Kubeconfigs.content({ server: "https://127.0.0.1:1", user: { token: [token], "client-key-data": [client.key] } })
    ),
    "has a key that is none": JSON.stringify(
      Kubeconfigs.content({
        server: "https://127.0.0.1:1",
        user: { "client-key-data": Buffer.from(token).toString("base64"), "client-certificate-data": token }
      })
    ),
    "has a token for a header with a line break": JSON.stringify(
      Kubeconfigs.content({ server: "https://127.0.0.1:1", user: { token: `${token}\n${token}` } })
    ),
    "has a password in its address": JSON.stringify(
      Kubeconfigs.content({ server: `https://admin:${token}@127.0.0.1:1`, user })
    ),
    "has a plugin that prints nonsense": JSON.stringify(
      Kubeconfigs.content({
        server: "https://127.0.0.1:1",
        user: {
          exec: {
            apiVersion: "client.authentication.k8s.io/v1",
            command: "sh",
            args: ["-c", `echo '${token}'`],
            interactiveMode: "Never"
          }
        }
      })
    ),
    "has a plugin that fails": JSON.stringify(
      Kubeconfigs.content({
        server: "https://127.0.0.1:1",
        user: {
          exec: {
            apiVersion: "client.authentication.k8s.io/v1",
            command: "sh",
            args: ["-c", `echo '${token}'; echo 'log in first' >&2; exit 1`],
            env: [{ name: "TOKEN", value: token }],
            interactiveMode: "Never"
          }
        }
      })
    ),
    "names a server that is not there": JSON.stringify(
      Kubeconfigs.content({ server: "https://127.0.0.1:1", ca: ca.cert, user })
    )
  }
  for (const [what, text] of Object.entries(broken)) {
    it.live(`are not in the output about a kubeconfig that ${what}`, () =>
      Effect.gen(function* () {
        const kubeconfig = yield* Kubeconfigs.file(text)
        const said = yield* printed([`--kubeconfig=${kubeconfig}`], "console")
        assert.include(said, "effect-controller-manager: ")
        assert.deepStrictEqual(leaked(said, own), [], said)
      }).pipe(Effect.scoped)
    )
  }

  it.live("are not in the output about an invalid TLS key", () =>
    Effect.gen(function* () {
      const certificates = yield* Process.folder
      yield* Effect.promise(async () => {
        await writeFile(join(certificates, "tls.crt"), client.cert)
        await writeFile(join(certificates, "tls.key"), `${client.key.slice(0, 80)}\n${token}\n`)
      })
      const said = yield* printed(
        [
          "--cluster=embedded",
          "--metrics-secure",
          "--metrics-bind-address=127.0.0.1:0",
          `--metrics-cert-path=${certificates}`
        ],
        "console"
      )
      assert.include(said, "effect-controller-manager: ")
      assert.deepStrictEqual(leaked(said, own), [], said)
    }).pipe(Effect.scoped)
  )
})

import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { TestClock } from "effect/testing"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  createReadStream,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { Identity } from "../../src/layers/Endpoint.ts"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import * as KubeConfig from "../../src/platform/KubeConfig.ts"
import { start } from "../support/httpsServer.ts"
import { authority } from "../support/tls.ts"

interface Folder {
  readonly path: string
  /** Writes a file below the folder and returns its path. */
  readonly put: (name: string, content: string, mode?: number) => string
}

const folder: Effect.Effect<Folder, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => {
    const path = mkdtempSync(join(tmpdir(), "ecm-kubeconfig-"))
    const put = (name: string, content: string, mode = 0o600) => {
      const file = join(path, name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, content)
      chmodSync(file, mode)
      return file
    }
    return { path, put }
  }),
  ({ path }) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const base64 = (text: string) => Buffer.from(text).toString("base64")

/** A kubeconfig with one context, `c`. */
const config = (user: object | undefined, cluster: object = {}, context: object = {}) =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "k", ...(user && { user: "u" }), ...context } }],
    clusters: [{ name: "k", cluster: { server: "https://127.0.0.1:6443", ...cluster } }],
    users: user === undefined ? [] : [{ name: "u", user }]
  })

const load = (path: string, rest: Partial<KubeConfig.Options> = {}) =>
  KubeConfig.load({ mode: "kubeconfig", path, env: {}, ...rest })

const headersOf = (identity: Identity) => Redacted.value(identity.headers)

/** The headers of the first identity of a kubeconfig with this user. */
const headersFor = Effect.fnUntraced(function* (user: object | undefined) {
  const { put } = yield* folder
  const endpoint = yield* load(put("config", config(user)))
  return headersOf(yield* endpoint.identity)
})

describe("credentials", () => {
  it.effect("token, basic, impersonation, none", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* headersFor({ token: "abc\n" }), { authorization: "Bearer abc" })
      assert.deepStrictEqual(yield* headersFor({ username: "me", password: "pw" }), {
        authorization: `Basic ${base64("me:pw")}`
      })
      assert.deepStrictEqual(yield* headersFor(undefined), {})
      assert.deepStrictEqual(
        yield* headersFor({
          token: "t",
          as: "jane",
          "as-uid": "7",
          "as-groups": ["a", "b"],
          "as-user-extra": { "x.example/Scope": ["view"] }
        }),
        {
          "impersonate-user": "jane",
          "impersonate-uid": "7",
          "impersonate-group": ["a", "b"],
          "impersonate-extra-x.example%2Fscope": ["view"],
          authorization: "Bearer t"
        }
      )
    })
  )

  it.effect("TLS settings, inline and from files relative to the kubeconfig, with and without a user", () =>
    Effect.gen(function* () {
      const { put } = yield* folder
      put("pki/ca.crt", "CA")
      put("pki/me.crt", "CERT")
      put("pki/me.key", "KEY")
      const cluster = { "certificate-authority": "pki/ca.crt", "tls-server-name": "kubernetes" }
      const files = { "client-certificate": "pki/me.crt", "client-key": "pki/me.key" }
      const { tls } = yield* (yield* load(put("config", config(files, cluster)))).identity
      assert.deepStrictEqual(
        [tls.ca, tls.cert, tls.key && Redacted.value(tls.key), tls.servername, tls.rejectUnauthorized],
        ["CA", "CERT", "KEY", "kubernetes", true]
      )
      const data = { "client-certificate-data": base64("C2"), "client-key-data": base64("K2") }
      const inline = yield* (yield* load(
        put("config", config(data, { "certificate-authority-data": base64("CA2"), "insecure-skip-tls-verify": true }))
      )).identity
      assert.deepStrictEqual(
        [
          inline.tls.ca,
          inline.tls.cert,
          inline.tls.key && Redacted.value(inline.tls.key),
          inline.tls.rejectUnauthorized
        ],
        ["CA2", "C2", "K2", false]
      )
      const nobody = yield* (yield* load(put("config", config(undefined, cluster)))).identity
      assert.deepStrictEqual([nobody.tls.ca, nobody.tls.servername], ["CA", "kubernetes"])
    })
  )

  it.effect("server, proxy, master, namespace; plain HTTP is allowed", () =>
    Effect.gen(function* () {
      const { put } = yield* folder
      const path = put(
        "config",
        config({}, { server: "http://localhost:8001", "proxy-url": "http://u:p@proxy:3128" }, { namespace: "ns" })
      )
      const found = yield* KubeConfig.find({ mode: "kubeconfig", path, env: {} })
      assert.deepStrictEqual([found.endpoint.server, found.namespace], ["http://localhost:8001", "ns"])
      assert.strictEqual(found.endpoint.proxy && Redacted.value(found.endpoint.proxy), "http://u:p@proxy:3128")
      assert.strictEqual((yield* load(path, { master: "https://other:1" })).server, "https://other:1")
    })
  )

  it.effect("a token file is read again after ten seconds; while it is missing the last token is used", () =>
    Effect.gen(function* () {
      const { put } = yield* folder
      const token = put("token", "one\n")
      const endpoint = yield* load(put("config", config({ tokenFile: "token" })))
      const authorization = Effect.map(endpoint.identity, (identity) => headersOf(identity)["authorization"])
      const first = yield* endpoint.identity
      put("token", "two\n")
      assert.strictEqual(yield* endpoint.identity, first)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* authorization, "Bearer two")
      renameSync(token, `${token}.away`)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* authorization, "Bearer two")
      put("token", "three")
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* authorization, "Bearer three")
    })
  )

  it.effect("client certificates and authorities are read again; an unchanged identity stays the same object", () =>
    Effect.gen(function* () {
      const { put } = yield* folder
      put("ca", "CA")
      put("crt", "ONE")
      put("key", "KEY")
      const user = { "client-certificate": "crt", "client-key": "key" }
      const endpoint = yield* load(put("config", config(user, { "certificate-authority": "ca" })))
      const first = yield* endpoint.identity
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* endpoint.identity, first)
      put("crt", "TWO")
      put("ca", "CA2")
      yield* TestClock.adjust("10 seconds")
      const second = yield* endpoint.identity
      assert.deepStrictEqual([second.tls.cert, second.tls.ca], ["TWO", "CA2"])
    })
  )
})

/** A plugin that counts its runs in a file and prints `token-N`. */
const plugin = (count: string) => `#!/bin/sh
echo run >> "${count}"
n=$(wc -l < "${count}" | tr -d ' ')
if [ -f "${count}.fail" ]; then echo "first: broken $n" >&2; echo second >&2; exit 3; fi
echo "$KUBERNETES_EXEC_INFO" > "${count}.info"
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"token-'$n'"}}'
`

describe("exec plugins", () => {
  const setUp = Effect.fnUntraced(function* (server = "https://127.0.0.1:6443") {
    const { path, put } = yield* folder
    const count = join(path, "count")
    put("bin/plugin", plugin(count), 0o700)
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "./bin/plugin", provideClusterInfo: true }
    const file = put("config", config({ exec }, { server }))
    const runs = () => readFileSync(count, "utf8").split("\n").length - 1
    return { file, runs, put, count, path }
  })

  it.live("the plugin runs once for many waiting requests, and receives the cluster", () =>
    Effect.gen(function* () {
      const { count, file, runs } = yield* setUp()
      const endpoint = yield* load(file)
      const all = yield* Effect.all(
        Array.from({ length: 20 }, () => endpoint.identity),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(all).size, 1)
      assert.strictEqual(runs(), 1)
      const info = JSON.parse(readFileSync(`${count}.info`, "utf8")) as {
        spec: { interactive: boolean; cluster: { server: string } }
      }
      assert.deepStrictEqual([info.spec.interactive, info.spec.cluster.server], [false, "https://127.0.0.1:6443"])
    })
  )

  it.live("concurrent requests with a 401 run it once more, and then succeed", () =>
    Effect.gen(function* () {
      const server = yield* start((request, response) => {
        const expired = request.headers.authorization === "Bearer token-1"
        response.writeHead(expired ? 401 : 200, { "content-type": "application/json" }).end("{}")
      })
      const { file, runs } = yield* setUp(server.url)
      const transport = yield* HttpTransport.make(yield* load(file, { insecureHttp: true }))
      const call = transport.send({ method: "GET", path: "/a", context: { verb: "get", path: "/a" } })
      yield* Effect.all([call, call, call], { concurrency: "unbounded" })
      assert.strictEqual(runs(), 2)
    })
  )

  it.live("a server that always responds with 401 does not start it for every request", () =>
    Effect.gen(function* () {
      const server = yield* start((_, response) => void response.writeHead(401).end())
      const { file, runs } = yield* setUp(server.url)
      const transport = yield* HttpTransport.make(yield* load(file, { insecureHttp: true }))
      const call = Effect.flip(transport.send({ method: "GET", path: "/a", context: { verb: "get", path: "/a" } }))
      for (let i = 0; i < 5; i++) assert.strictEqual((yield* call).reason._tag, "Unauthorized")
      assert.strictEqual(runs(), 2)
    })
  )

  it.effect(
    "a failure is a Credentials failure with the first line of its stderr, and the next attempt may succeed",
    () =>
      Effect.gen(function* () {
        const { count, file, put, runs } = yield* setUp()
        const endpoint = yield* load(file)
        put("count.fail", "")
        const first = yield* endpoint.identity
        const error = yield* Effect.flip(endpoint.renew(first))
        assert.strictEqual(error.message, `exec plugin "./bin/plugin" failed: first: broken 2`)
        rmSync(`${count}.fail`)
        yield* TestClock.adjust("10 seconds")
        assert.deepStrictEqual(headersOf(yield* endpoint.identity), { authorization: "Bearer token-3" })
        assert.strictEqual(runs(), 3)
      })
  )

  it.effect("what it prints is never repeated in an error", () =>
    Effect.gen(function* () {
      const { file, put } = yield* setUp()
      for (const output of ["s3cret", '{"kind":"ExecCredential"}']) {
        put("bin/plugin", `#!/bin/sh\necho '${output}'\n`, 0o700)
        const error = yield* Effect.flip(load(file))
        assert.strictEqual(error.message, `exec plugin "./bin/plugin" did not print an ExecCredential`)
      }
      const missing = config({ exec: { command: "/no/such/plugin", installHint: "install it with make" } })
      const error = yield* Effect.flip(load(put("config2", missing)))
      assert.strictEqual(error.message, `exec plugin "/no/such/plugin" is not installed: install it with make`)
    })
  )
})

/**
 * A named pipe that a plugin and its children hold open: their output arrives while they run, and the end of file when the last of them has ended,
 * whatever its parent is by then.
 */
const held = (path: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      execFileSync("mkfifo", [path])
      const reader = createReadStream(path, "utf8")
      const gone = once(reader, "close")
      return { started: Effect.promise(() => once(reader, "data")), gone: Effect.promise(() => gone), reader }
    }),
    ({ reader }) => Effect.sync(() => reader.destroy())
  )

describe("an exec plugin that does not end", () => {
  /** Runs the script with the pipe as file descriptor 3, also in a child of the script. */
  const hanging = Effect.fnUntraced(function* (script: string) {
    const { path, put } = yield* folder
    const pipe = join(path, "pipe")
    const running = yield* held(pipe)
    put("plugin", `#!/bin/sh\nexec 3> "${pipe}"\necho started >&3\n${script}\n`, 0o700)
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "./plugin" }
    return { ...running, file: put("config", config({ exec })) }
  })

  it.effect("is killed after a minute, with its child processes", () =>
    Effect.gen(function* () {
      const { file, gone, started } = yield* hanging("sleep 30 & sleep 30 & wait")
      const asking = yield* Effect.forkChild(Effect.flip(load(file)))
      yield* started
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual((yield* Fiber.join(asking)).message, `exec plugin "./plugin" gave no answer within 60 s`)
      yield* gone
    })
  )

  it.effect("is killed when no request waits for it any more", () =>
    Effect.gen(function* () {
      const { file, gone, started } = yield* hanging("sleep 30 & wait")
      const asking = yield* Effect.forkChild(load(file))
      yield* started
      yield* Fiber.interrupt(asking)
      yield* gone
    })
  )

  it.live("is killed when its output is too long", () =>
    Effect.gen(function* () {
      const { file, gone, started } = yield* hanging("yes")
      const asking = yield* Effect.forkChild(Effect.flip(load(file)))
      yield* started
      assert.strictEqual((yield* Fiber.join(asking)).message, `exec plugin "./plugin" did not print an ExecCredential`)
      yield* gone
    })
  )

  it.effect("has no stdin", () =>
    Effect.gen(function* () {
      const { put } = yield* folder
      const printed = '{"kind":"ExecCredential","status":{"token":"t"}}'
      put("plugin", `#!/bin/sh\ncat > /dev/null\necho '${printed}'\n`, 0o700)
      const endpoint = yield* load(put("config", config({ exec: { command: "./plugin" } })))
      assert.deepStrictEqual(headersOf(yield* endpoint.identity), { authorization: "Bearer t" })
    })
  )
})

describe("what an exec plugin answers", () => {
  const answering = Effect.fnUntraced(function* (status: object, user: object = {}) {
    const { path, put } = yield* folder
    const count = join(path, "count")
    put("plugin", `#!/bin/sh\necho run >> "${count}"\necho '${JSON.stringify({ status })}'\n`, 0o700)
    const exec = { command: "./plugin", args: ["a"], env: [{ name: "A", value: "b" }] }
    return { file: put("config", config({ ...user, exec })), runs: () => readFileSync(count, "utf8").length / 4 }
  })

  it.effect("a client certificate with its key is used; one without the other is an error", () =>
    Effect.gen(function* () {
      const pair = { clientCertificateData: "CERT", clientKeyData: "KEY" }
      const { tls } = yield* (yield* load((yield* answering(pair)).file)).identity
      assert.deepStrictEqual([tls.cert, tls.key && Redacted.value(tls.key)], ["CERT", "KEY"])
      for (const part of [{}, { clientKeyData: "KEY" }, { clientCertificateData: "CERT" }, { token: 7 }]) {
        const error = yield* Effect.flip(load((yield* answering(part)).file))
        assert.strictEqual(error.message, `exec plugin "./plugin" did not print an ExecCredential`)
      }
    })
  )

  it.effect("is used until it expires; without an expiry, until a 401", () =>
    Effect.gen(function* () {
      const ending = yield* answering({ token: "t", expirationTimestamp: "1970-01-01T00:01:00Z" })
      const endless = yield* answering({ token: "t" })
      const all = [yield* load(ending.file), yield* load(endless.file)]
      yield* TestClock.adjust("59 seconds")
      yield* Effect.forEach(all, ({ identity }) => identity)
      assert.deepStrictEqual([ending.runs(), endless.runs()], [1, 1])
      yield* TestClock.adjust("12 seconds")
      yield* Effect.forEach(all, ({ identity }) => identity)
      assert.deepStrictEqual([ending.runs(), endless.runs()], [2, 1])
    })
  )

  it.effect("a token in the kubeconfig takes precedence over it", () =>
    Effect.gen(function* () {
      const { file } = yield* answering({ token: "plugin" }, { token: "own" })
      assert.deepStrictEqual(headersOf(yield* (yield* load(file)).identity), { authorization: "Bearer own" })
    })
  )

  it.effect(
    "auth providers that Kubernetes has removed are rejected, because their commands would block the process",
    () =>
      Effect.gen(function* () {
        const { put } = yield* folder
        for (const name of ["azure", "gcp"]) {
          const user = { "auth-provider": { name, config: { "cmd-path": "/bin/sleep", "cmd-args": "30" } } }
          const error = yield* Effect.flip(load(put("config", config(user))))
          assert.match(error.message, new RegExp(`auth provider "${name}", .* exec plugin`))
        }
      })
  )
})

describe("where it looks", () => {
  it.effect("--kubeconfig, then KUBECONFIG, then the pod, then the home directory, then nothing", () =>
    Effect.gen(function* () {
      const { path, put } = yield* folder
      const server = (name: string) => config({ token: "t" }, { server: `https://${name}` })
      const given = put("given", server("given"))
      const listed = put("listed", server("listed"))
      put(".kube/config", server("home"))
      const pod = dirname(put("pod/token", "pod-token\n"))
      put("pod/ca.crt", "POD CA")
      put("pod/namespace", "controllers")
      const service = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" }
      const find = (options: Partial<KubeConfig.Options>, env: Record<string, string>) =>
        KubeConfig.find({ mode: "auto", serviceAccount: pod, env, ...options })
      const where = (options: Partial<KubeConfig.Options>, env: Record<string, string>) =>
        Effect.map(find(options, env), ({ endpoint, source }) => `${source} ${endpoint.server}`)
      const all = { KUBECONFIG: listed, HOME: path, ...service }
      assert.strictEqual(yield* where({ path: given }, all), "kubeconfig https://given")
      assert.strictEqual(yield* where({}, all), "kubeconfig https://listed")
      assert.strictEqual(yield* where({}, { HOME: path, ...service }), "in-cluster https://[fd00::1]:443")
      assert.strictEqual(yield* where({ mode: "kubeconfig" }, { HOME: path, ...service }), "kubeconfig https://home")
      assert.strictEqual(yield* where({ mode: "in-cluster", path: given }, all), "in-cluster https://[fd00::1]:443")
      assert.strictEqual(yield* where({}, { HOME: path }), "kubeconfig https://home")
      const inPod = yield* find({}, service)
      assert.strictEqual(inPod.namespace, "controllers")
      const { headers, tls } = yield* inPod.endpoint.identity
      assert.deepStrictEqual([Redacted.value(headers), tls.ca], [{ authorization: "Bearer pod-token" }, "POD CA"])
      assert.strictEqual((yield* Effect.flip(where({}, { HOME: "/nowhere" })))._tag, "NotConfigured")
      assert.strictEqual((yield* Effect.flip(where({ mode: "in-cluster" }, {})))._tag, "KubeConfigError")
      assert.strictEqual((yield* Effect.flip(where({ mode: "kubeconfig" }, {})))._tag, "KubeConfigError")
    })
  )

  it.effect("the files of KUBECONFIG are merged, the first to name something wins, missing ones are skipped", () =>
    Effect.gen(function* () {
      const { path, put } = yield* folder
      const one = put("a/one", JSON.stringify({ contexts: [{ name: "x", context: { cluster: "k", user: "u" } }] }))
      put("b/ca", "CA of b")
      const two = put(
        "b/two",
        JSON.stringify({
          "current-context": "x",
          contexts: [{ name: "x", context: { cluster: "other" } }],
          clusters: [{ name: "k", cluster: { server: "https://k", "certificate-authority": "ca" } }],
          users: [{ name: "u", user: { token: "from two" } }]
        })
      )
      const env = { KUBECONFIG: [join(path, "none"), one, two].join(":") }
      const identity = yield* (yield* KubeConfig.load({ mode: "auto", env })).identity
      assert.deepStrictEqual([headersOf(identity)["authorization"], identity.tls.ca], ["Bearer from two", "CA of b"])
    })
  )
})

describe("credentials do not cross a network in the clear unless that was said", () => {
  const service = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" }

  /** The credentials that a plain HTTP server receives. */
  const seenAt = Effect.fnUntraced(function* (find: (server: string) => ReturnType<typeof KubeConfig.load>) {
    const seen: Array<string> = []
    const server = yield* start((request, response) => {
      seen.push(JSON.stringify(request.headers))
      response.writeHead(200, { "content-type": "application/json" }).end("{}")
    })
    const transport = yield* HttpTransport.make(yield* find(server.url))
    yield* transport.send({ method: "GET", path: "/a", context: { verb: "get", path: "/a" } })
    return seen.join()
  })

  it.live("a pod rejects --master=http://, and accepts it with --insecure-http", () =>
    Effect.gen(function* () {
      const { put } = yield* folder
      const serviceAccount = dirname(put("pod/token", "s3cret"))
      put("pod/ca.crt", "CA")
      for (const mode of ["auto", "in-cluster"] as const) {
        const pod = { mode, serviceAccount, env: service }
        for (const master of ["http://10.0.0.1:8080", "http://127.0.0.1:8001"]) {
          const error = yield* Effect.flip(KubeConfig.load({ ...pod, master }))
          assert.strictEqual(
            error.message,
            `--master is the plain ${master}, and the pod's token would be sent in the clear: say https://, or --insecure-http if that is meant`
          )
        }
        const nonsense = yield* Effect.flip(KubeConfig.load({ ...pod, master: "ftp://x" }))
        assert.strictEqual(nonsense.message, '--master is not an http:// or https:// URL: "ftp://x"')
        for (const [master, server] of [
          ["https://other:1", "https://other:1"],
          ["", "https://10.0.0.1:443"]
        ] as const) {
          assert.strictEqual((yield* KubeConfig.load({ ...pod, master })).server, server)
        }
        assert.include(
          yield* seenAt((master) => KubeConfig.load({ ...pod, master, insecureHttp: true })),
          "Bearer s3cret"
        )
      }
    })
  )

  it.live("those of a kubeconfig are not sent, as in client-go, and no plugin runs", () =>
    Effect.gen(function* () {
      const { put } = yield* folder
      const users = [
        { token: "s3cret" },
        { tokenFile: put("token", "s3cret") },
        { username: "me", password: "s3cret" },
        { token: "s3cret", as: "s3cret" },
        { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "/no/such/plugin" } }
      ]
      for (const user of users) {
        const said = yield* seenAt((server) => load(put("config", config(user, { server }))))
        assert.notMatch(said, /authorization|impersonate|s3cret/i)
        const overruled = yield* seenAt((master) => load(put("config", config(user)), { master }))
        assert.notMatch(overruled, /authorization|impersonate|s3cret/i)
      }
      const [token] = users
      const meant = yield* seenAt((server) => load(put("config", config(token, { server })), { insecureHttp: true }))
      assert.include(meant, "Bearer s3cret")
    })
  )
})

describe("bad input ends in one sentence that says what, where and what to do", () => {
  const cases: ReadonlyArray<readonly [title: string, content: string, message: string]> = [
    ["empty", "", "FILE is not a kubeconfig: it has neither clusters nor contexts"],
    ["a list", "- a\n- b\n", "FILE is not a kubeconfig: it has neither clusters nor contexts"],
    ["not YAML", "users: []\nclusters: s3cret: x\n", "kubeconfig FILE is not valid YAML (line 2)"],
    [
      "no current context",
      JSON.stringify({ contexts: [{ name: "a", context: {} }], clusters: [] }),
      `kubeconfig FILE has no current-context: choose one with --context (there is "a")`
    ],
    [
      "a context without a cluster",
      config({}, {}, { cluster: "" }),
      `context "c" in FILE names no cluster: add one to it`
    ],
    [
      "a context with an unknown cluster",
      config({}, {}, { cluster: "z" }),
      `context "c" in FILE names the cluster "z", which is not defined: there is "k"`
    ],
    [
      "a context with an unknown user",
      config({}, {}, { user: "z" }),
      `context "c" in FILE names the user "z", which is not defined: there is "u"`
    ],
    ["a cluster without a server", config({}, { server: "" }), `cluster "k" in FILE has no server: add its URL`],
    [
      "a server that is no URL",
      config({}, { server: "localhost:6443" }),
      `cluster "k" in FILE has the server "localhost:6443", which is not an http:// or https:// URL`
    ],
    [
      "a SOCKS proxy",
      config({}, { "proxy-url": "socks5://me:s3cret@p" }),
      `proxy-url of cluster "k" in FILE is not an http:// or https:// URL: use such a proxy`
    ],
    [
      "a missing certificate authority",
      config({ token: "s3cret" }, { "certificate-authority": "/no/ca" }),
      "the file /no/ca of the kubeconfig cannot be read (ENOENT)"
    ],
    ["a missing token file", config({ tokenFile: "/no/token" }), "the token file /no/token cannot be read (ENOENT)"]
  ]
  for (const [title, content, message] of cases) {
    it.effect(title, () =>
      Effect.gen(function* () {
        const { put } = yield* folder
        const file = put("config", content)
        const error = yield* Effect.flip(load(file))
        assert.strictEqual(error.message.replace(file, "FILE"), message)
      })
    )
  }

  it.effect("a missing file, a folder, an unknown context, an empty KUBECONFIG list", () =>
    Effect.gen(function* () {
      const { path, put } = yield* folder
      const missing = yield* Effect.flip(load(join(path, "none")))
      assert.strictEqual(missing.message, `kubeconfig ${path}/none does not exist: check the path and its permissions`)
      const directory = yield* Effect.flip(load(path))
      assert.strictEqual(
        directory.message,
        `kubeconfig ${path} cannot be read (EISDIR): check the path and its permissions`
      )
      const file = put("config", config({}))
      const unknown = yield* Effect.flip(load(file, { context: "prod" }))
      assert.strictEqual(unknown.message, `kubeconfig ${file} has no context "prod": there is "c"`)
      const env = { KUBECONFIG: "/no/a:/no/b" }
      const none = yield* Effect.flip(KubeConfig.load({ mode: "auto", env }))
      assert.strictEqual(none.message, "none of the files of KUBECONFIG exists: /no/a, /no/b; correct it or unset it")
      const master = yield* Effect.flip(load(file, { master: "nonsense" }))
      assert.strictEqual(master.message, '--master is not an http:// or https:// URL: "nonsense"')
    })
  )
})

it.live("a kubeconfig with a client certificate authenticates, end to end", () =>
  Effect.gen(function* () {
    const ca = yield* Effect.promise(() => authority("ca"))
    const [serving, mine] = yield* Effect.promise(() => Promise.all([ca.issue("server"), ca.issue("me")]))
    const server = yield* start(
      (_, response) => void response.writeHead(200, { "content-type": "application/json" }).end('{"ok":true}'),
      { ...serving, ca: ca.cert, requestCert: true, rejectUnauthorized: true }
    )
    const { put } = yield* folder
    const user = { "client-certificate-data": base64(mine.cert), "client-key-data": base64(mine.key) }
    const cluster = { server: server.url, "certificate-authority-data": base64(ca.cert) }
    const transport = yield* HttpTransport.make(yield* load(put("config", config(user, cluster))))
    const { body } = yield* transport.send({ method: "GET", path: "/a", context: { verb: "get", path: "/a" } })
    assert.deepStrictEqual(body, { ok: true })
  })
)

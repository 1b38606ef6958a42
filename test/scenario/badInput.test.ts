/**
 * The program as a process, with bad input and failures around it: one line on standard error that says what is wrong, where, and what to do.
 * The exit code is 2 for a wrong command line and 1 for everything else. Nothing is written, and no secret is printed.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { readdir } from "node:fs/promises"
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { printable } from "../../src/kube/printable.ts"
import * as HttpsServer from "../support/httpsServer.ts"
import * as Process from "../support/process.ts"
import * as Tls from "../support/tls.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

const secret = "s3cr3t-of-the-test"

type Ended = Effect.Success<ReturnType<typeof Process.run>>

/** Asserts that exactly one line, the last one, is no log line, and that it is as expected. */
const endsWith = ({ code, stderr, stdout, temporary }: Ended, expected: { code: number; line: RegExp | string }) =>
  Effect.promise(async () => {
    const lines = stderr.split("\n").slice(0, -1)
    const plain = lines.filter((line) => !line.startsWith("timestamp="))
    assert.strictEqual(plain.length, 1, stderr)
    assert.strictEqual(plain[0], lines.at(-1))
    const [, line = ""] = /^effect-controller-manager: (.*)$/.exec(plain[0] ?? "") ?? []
    if (typeof expected.line === "string") assert.strictEqual(line, expected.line)
    else assert.match(line, expected.line)
    assert.strictEqual(code, expected.code)
    assert.strictEqual(stdout, "")
    assert.notMatch(stderr, /\n\s+at |node:internal|ERROR/)
    assert.notInclude(stderr, secret)
    assert.deepStrictEqual(await readdir(temporary), [])
  })

/** Asserts that the server got only reads. */
const onlyRead = ({ requests }: HttpsServer.TestServer) =>
  assert.deepStrictEqual(
    requests.filter((request) => !request.startsWith("GET ")),
    []
  )

const https = Effect.fnUntraced(function* (handler: HttpsServer.Handler) {
  const ca = yield* Effect.promise(() => Tls.authority("scenario"))
  const server = yield* HttpsServer.start(handler, yield* Effect.promise(() => ca.issue("127.0.0.1")))
  return { ca: ca.cert, server }
})

/** Accepts connections and never sends anything. */
const silent = Effect.acquireRelease(
  Effect.promise(async () => {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => sockets.add(socket.on("error", () => {}))).listen(0, "127.0.0.1")
    await once(server, "listening")
    return { server, sockets }
  }),
  ({ server, sockets }) =>
    Effect.promise(async () => {
      const closed = once(server.close(), "close")
      for (const socket of sockets) socket.destroy()
      await closed
    })
)

const portOf = (server: Server) => (server.address() as AddressInfo).port

describe.concurrent("failures outside the program", () => {
  it.live("a server that refuses connections is retried for ten seconds", () =>
    Effect.gen(function* () {
      const port = yield* Effect.scoped(Effect.map(silent, ({ server }) => portOf(server)))
      const kubeconfig = yield* Kubeconfigs.write({ server: `https://127.0.0.1:${port}` })
      const ended = yield* Process.run(["--kubeconfig", kubeconfig])
      const detail = `https://127.0.0.1:${port} refuses the connection (ECONNREFUSED): is the API server running?`
      const line = `the API server did not answer within 10s, check its address: ${detail}`
      yield* endsWith(ended, { code: 1, line })
      assert.isAbove(ended.millis, 9500)
      assert.isBelow(ended.millis, 14_000)
    }).pipe(Effect.scoped)
  )

  it.live("a server that never responds is retried for ten seconds", () =>
    Effect.gen(function* () {
      const { server } = yield* silent
      const kubeconfig = yield* Kubeconfigs.write({ server: `https://127.0.0.1:${portOf(server)}` })
      const ended = yield* Process.run(["--kubeconfig", kubeconfig])
      yield* endsWith(ended, {
        code: 1,
        line: /^the API server did not answer within 10s, check its address: \S/
      })
      assert.isAbove(ended.millis, 9500)
      assert.isBelow(ended.millis, 14_000)
    }).pipe(Effect.scoped)
  )

  it.live("403 on a list, with strict isolation, names controller, verb and resource", () =>
    Effect.gen(function* () {
      const message =
        'pods is forbidden: User "nobody" cannot list resource "pods" in API group "" at the cluster scope'
      const { ca, server } = yield* https((request, response) => {
        if (request.url === "/version") return HttpsServer.answer(response, 200, { major: "1", minor: "33" })
        return request.url?.startsWith("/api/v1/pods") === true
          ? HttpsServer.answer(response, 403, HttpsServer.status(403, "Forbidden", message))
          : HttpsServer.answer(response, 200, { metadata: { resourceVersion: "1" }, items: [] })
      })
      const kubeconfig = yield* Kubeconfigs.write({ server: server.url, ca, user: { token: secret } })
      const strict = ["--cache-isolation=strict", "--cache-sync-timeout=5s"]
      yield* endsWith(yield* Process.run(["--kubeconfig", kubeconfig, ...strict]), {
        code: 1,
        line: /^pod-count failed: pods did not sync within 5s: (list|watch) pods: pods is forbidden: User "nobody" cannot list resource "pods".*; grant list and watch on pods, or leave the controller out with --controllers/
      })
      onlyRead(server)
    }).pipe(Effect.scoped)
  )

  it.live("control characters from a server are escaped in the log, in the last line and in the table", () =>
    Effect.gen(function* () {
      const message = "\u001b[2J\u001b]0;mine\u0007 \u009b1A\u202e\rall\nconfiguration   ok       well"
      const { ca, server } = yield* https((request, response) => {
        if (request.url === "/version")
          return HttpsServer.answer(response, 200, { major: "1", minor: message, gitVersion: message })
        return HttpsServer.answer(response, 403, HttpsServer.status(403, "Forbidden", message))
      })
      const kubeconfig = yield* Kubeconfigs.write({ server: server.url, ca, user: { token: secret } })
      const strict = ["--cache-isolation=strict", "--cache-sync-timeout=5s"]
      for (const args of [strict, [...strict, "--zap-encoder=json"], ["check"]]) {
        const { code, stderr, stdout } = yield* Process.run([...args, "--kubeconfig", kubeconfig])
        assert.strictEqual(code, 1)
        for (const text of [stderr, stdout]) {
          assert.strictEqual(printable(text), text)
          assert.notMatch(text, /^configuration   ok       well/m)
        }
        assert.include(stderr + stdout, String.raw`\u001b[2J`)
      }
    }).pipe(Effect.scoped)
  )

  it.live("with a wrong token the program ends with the 401", () =>
    Effect.gen(function* () {
      const { ca, server } = yield* https((_, response) =>
        HttpsServer.answer(response, 401, HttpsServer.status(401, "Unauthorized", "Unauthorized"))
      )
      const kubeconfig = yield* Kubeconfigs.write({ server: server.url, ca, user: { token: secret } })
      yield* endsWith(yield* Process.run(["--kubeconfig", kubeconfig]), {
        code: 1,
        line: "the API server does not accept our credentials (401): Unauthorized; check the user in the kubeconfig"
      })
      onlyRead(server)
    }).pipe(Effect.scoped)
  )

  it.live("a certificate of an unknown authority ends the program", () =>
    Effect.gen(function* () {
      const { server } = yield* https((_, response) => HttpsServer.answer(response, 200, {}))
      const other = yield* Effect.promise(() => Tls.authority("other"))
      const user = { token: secret }
      for (const ca of [other.cert, undefined]) {
        const kubeconfig = yield* Kubeconfigs.write({ server: server.url, ca, user })
        yield* endsWith(yield* Process.run(["--kubeconfig", kubeconfig]), {
          code: 1,
          line: /^the certificate of https:\S+ is not trusted \([A-Z_]+\): check certificate-authority/
        })
      }
      assert.deepStrictEqual(server.requests, [])
    }).pipe(Effect.scoped)
  )

  it.live("a port of the embedded server that is in use ends the program", () =>
    Effect.gen(function* () {
      const { server } = yield* silent
      const port = portOf(server)
      yield* endsWith(yield* Process.run(["--cluster=embedded", `--embedded-port=${port}`]), {
        code: 1,
        line: `port ${port} on 127.0.0.1 is already in use: stop the process that listens there, or choose another port (0 takes a free one)`
      })
    }).pipe(Effect.scoped)
  )
})

const plugin = (script: string) =>
  JSON.stringify(
    Kubeconfigs.content({
      server: "https://127.0.0.1:1",
      user: {
        exec: {
          apiVersion: "client.authentication.k8s.io/v1",
          interactiveMode: "Never",
          command: "/bin/sh",
          args: ["-c", script]
        }
      }
    })
  )

const kubeconfigs: ReadonlyArray<{ title: string; text: string; args?: ReadonlyArray<string>; line: RegExp }> = [
  {
    title: "is not YAML",
    text: `clusters: [\n  token: ${secret}\n`,
    line: /^kubeconfig \/\S+ is not valid YAML \(line \d\)$/
  },
  {
    title: "is something else",
    text: "hello",
    line: /^\/\S+ is not a kubeconfig: it has neither clusters nor contexts$/
  },
  {
    title: "has no such context",
    text: JSON.stringify(Kubeconfigs.content({ server: "https://127.0.0.1:1", user: { token: secret } })),
    args: ["--context=nope"],
    line: /context "nope".*test/
  },
  {
    title: "has a plugin that fails",
    text: plugin(`echo ${secret}; echo 'log in first' >&2; exit 3`),
    line: /^exec plugin "\/bin\/sh" failed: .*log in first/
  },
  {
    title: "has a plugin that prints something else",
    text: plugin(`echo ${secret}`),
    line: /^exec plugin "\/bin\/sh" did not print an ExecCredential/
  }
]

describe.concurrent("a kubeconfig that cannot be used", () => {
  for (const { args = [], line, text, title } of kubeconfigs) {
    it.live(title, () =>
      Effect.gen(function* () {
        const kubeconfig = yield* Kubeconfigs.file(text)
        yield* endsWith(yield* Process.run(["--kubeconfig", kubeconfig, ...args]), { code: 1, line })
      }).pipe(Effect.scoped)
    )
  }

  it.live("does not exist, is a folder, or is not named", () =>
    Effect.gen(function* () {
      const folder = yield* Process.folder
      const [missing, unreadable, none, pod] = yield* Effect.all(
        [
          Process.run(["--kubeconfig", `${folder}/none`]),
          Process.run(["--cluster=kubeconfig"], { KUBECONFIG: folder }),
          Process.run(["--cluster=kubeconfig"]),
          Process.run(["--cluster=in-cluster"])
        ],
        { concurrency: 4 }
      )
      const check = "check the path and its permissions"
      yield* endsWith(missing, { code: 1, line: `kubeconfig ${folder}/none does not exist: ${check}` })
      yield* endsWith(unreadable, { code: 1, line: `kubeconfig ${folder} cannot be read (EISDIR): ${check}` })
      yield* endsWith(none, { code: 1, line: /^there is no kubeconfig \(.*\): give one with --kubeconfig$/ })
      yield* endsWith(pod, { code: 1, line: /^this is not a pod: KUBERNETES_SERVICE_HOST and / })
    }).pipe(Effect.scoped)
  )
})

const usage: ReadonlyArray<readonly [args: string, line: RegExp | string]> = [
  ["--controlers=x", "unknown flag --controlers: did you mean --controllers?; see --help"],
  ["-controlers=x", "unknown flag --controlers: did you mean --controllers?; see --help"],
  ["whatever", /"whatever"; see --help$/],
  ["--context", "--context needs a value: name; see --help"],
  ["--kubeconfig=a --kubeconfig=b", /^--kubeconfig does not take .*at most 1 value; see --help$/],
  ["--retry-priod=10s", "unknown flag --retry-priod; see --help"],
  [
    "--pod-count-interval=10",
    '--pod-count-interval does not take "10": it must be a duration longer than zero, like 10s or 1m30s; see --help'
  ],
  [
    "--cluster=embedded --context=x",
    /^--context means nothing with --cluster embedded: leave one of them out; see --help$/
  ],
  [
    "--feature-gates=Nope=true",
    /^--feature-gates does not take "Nope=true": there is no feature gate "Nope"; there are: .*AllBeta; see --help$/
  ],
  ["--feature-gates=AllAlpa=true", /there is no feature gate "AllAlpa": did you mean AllAlpha\?; see --help$/],
  ["--feature-gates=AllBeta", /"AllBeta" must be Name=true or Name=false; see --help$/],
  ["--leader-elect --enable-leader-election", /^--leader-elect does not take .*at most 1 value; see --help$/],
  ["--leader-elect-resource-lock=endpoints", /^--leader-elect-resource-lock does not take "endpoints"/],
  ["--config=/nonexistent/x.yaml", "configuration file /nonexistent/x.yaml: there is no such file; see --help"],
  [
    "--pod-count-interval=0s",
    /^--pod-count-interval does not take .* longer than zero, like 10s or 1m30s; see --help$/
  ],
  ["--graceful-shutdown-timeout=soon", /^--graceful-shutdown-timeout does not take "soon": it must be a duration/],
  ["--embedded-port=65536", '--embedded-port does not take "65536": it must be a port from 0 to 65535; see --help'],
  ["--embedded-port=http", '--embedded-port does not take "http": it must be a port from 0 to 65535; see --help'],
  [
    "--pod-count-node-selector=a=(b",
    '--pod-count-node-selector does not take "a=(b": it must be a label selector like app=web,tier!=cache; see --help'
  ],
  [
    "--cluster=moon",
    /^--cluster does not take "moon": it must be "auto" \| "kubeconfig" \| "in-cluster" \| "embedded"/
  ],
  ["--leader-elect=maybe", /^--leader-elect does not take "maybe"/],
  ["--controllers=pod-count,nope", /^"nope" is not a controller; there are: .*, pod-count, .*$/],
  [
    "--leader-elect --leader-elect-renew-deadline=20s",
    "leader election: the lease duration (15s) must be longer than the renew deadline (20s)"
  ],
  [
    "--leader-elect --leader-elect-retry-period=9s",
    "leader election: the renew deadline (10s) must be longer than 1.2 times the retry period (9s)"
  ],
  [
    "--leader-elect --leader-elect-lease-duration=0s",
    "leader election: the lease duration (0) must be at least one second"
  ],
  ["manifests --service-monitor --metrics-secure=false", /^--service-monitor would collect nothing: .*--metrics-secure/]
]

const files: ReadonlyArray<readonly [title: string, text: string, env: Record<string, string>, line: string]> = [
  [
    "a key that nothing has",
    "leader-elekt: true",
    {},
    'configuration file FILE: unknown key "leader-elekt": did you mean "leader-elect"?; see --help'
  ],
  [
    "a value that a setting does not take",
    "leader-elect-retry-period: 10",
    {},
    '"leader-elect-retry-period" in FILE does not take "10": it must be a duration like 10s, 1m30s or \'90 seconds\'; see --help'
  ],
  [
    "a variable that is wrong, which goes before it",
    "v: 2",
    { CM_V: "loud" },
    'CM_V does not take "loud": it must be a number from 0 to 999; see --help'
  ],
  [
    "two settings that cannot both be meant",
    "{ cluster: embedded, context: prod }",
    {},
    '"context" in FILE means nothing with "cluster" in FILE embedded: leave one of them out; see --help'
  ]
]

describe.concurrent("a wrong command line ends the program before it looks for a cluster", () => {
  for (const [args, line] of usage) {
    it.live(args, () =>
      Effect.gen(function* () {
        // The next error would be about this kubeconfig, which does not exist.
        yield* endsWith(yield* Process.run(args.split(" "), { KUBECONFIG: "/nonexistent" }), { code: 2, line })
      }).pipe(Effect.scoped)
    )
  }

  for (const [title, text, env, line] of files) {
    it.live(`a configuration with ${title}`, () =>
      Effect.gen(function* () {
        const config = yield* Kubeconfigs.file(text)
        const ended = yield* Process.run([], { KUBECONFIG: "/nonexistent", CM_CONFIG: config, ...env })
        yield* endsWith(ended, { code: 2, line: line.replaceAll("FILE", config) })
      }).pipe(Effect.scoped)
    )
  }
})

/**
 * A real control plane for tests: etcd and kube-apiserver from the folder that `KUBEBUILDER_ASSETS` names (the convention of controller-runtime's envtest),
 * on free loopback ports, with data and keys in a temporary folder that is removed at the end. Nothing else runs: no controller manager, no scheduler and
 * no kubelet.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import { generateKeyPairSync, randomUUID } from "node:crypto"
import { accessSync, constants } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { request } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { Endpoint } from "../../layers/Endpoint.ts"
import { certificates } from "../../platform/listener/certificates.ts"
import * as Etcd from "./etcd.ts"
import { freePorts } from "./ports.ts"
import * as Processes from "./processes.ts"

/** There is no API server: the variable is missing, a program cannot be started, or it did not become ready. The message has the end of its log. */
export class EnvtestError extends Data.TaggedError("EnvtestError")<{ readonly message: string }> {}

/** How the API server is started. */
export interface Options {
  /** More flags of kube-apiserver: `--feature-gates=…`. A flag that is given here too is used in place of ours. */
  readonly flags?: ReadonlyArray<string> | undefined
  /** Users beside the administrator, for tests of authorization: each sends its token as a bearer token. */
  readonly users?: ReadonlyArray<User> | undefined
}

/** A user of the API server. */
export interface User {
  /** The bearer token. */
  readonly token: string
  /** `system:serviceaccount:shop:operator`, for instance. */
  readonly name: string
  /** Default: none, beside `system:authenticated`. */
  readonly groups?: ReadonlyArray<string> | undefined
}

/** A running etcd and kube-apiserver. */
export interface ControlPlane {
  /** The API server and the credentials of an administrator. */
  readonly endpoint: Endpoint["Service"]
  /** `https://127.0.0.1:43211`. */
  readonly url: string
  /** The authority of the server's certificate, as PEM. */
  readonly ca: string
  /** The bearer token of the administrator, in the group `system:masters`. */
  readonly token: string
  /** Path of a kubeconfig with them, for kubectl and other programs. */
  readonly kubeconfig: string
  /** Path of the key that signs tokens of service accounts. */
  readonly tokenKey: string
  /** `1.20`, as two numbers. */
  readonly version: { readonly major: number; readonly minor: number }
  /** The end of the logs of both processes, for the message of a failed test. */
  readonly logs: Effect.Effect<string>
  /** The values in etcd whose keys begin with that text, such as `/registry/example.com/widgets/`: JSON for custom resources. */
  readonly stored: (prefix: string) => Effect.Effect<ReadonlyArray<string>, EnvtestError>
  /** Compacts etcd's history: every revision before the present one is removed, so that watches and pages from before get 410. */
  readonly compact: Effect.Effect<void, EnvtestError>
  /** Kills the API server with SIGKILL; etcd stays. */
  readonly kill: Effect.Effect<void>
  /** Starts it again on the same port, and waits until it is ready. */
  readonly restart: Effect.Effect<void, EnvtestError>
}

const variable = "KUBEBUILDER_ASSETS"

const programs = ["etcd", "kube-apiserver"] as const

/** The reason why no control plane can be started on this machine; undefined where one can. */
export const missing = (): string | undefined => {
  const folder = process.env[variable] ?? ""
  if (folder === "") return `${variable} is not set: it names a folder with ${programs.join(" and ")}`
  const absent = programs.filter((name) => !isExecutable(join(folder, name)))
  return absent.length === 0
    ? undefined
    : `${variable}=${folder} has no ${absent.join(" and no ")} that this user can execute`
}

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** How long each process may take to become ready. */
const patience = "2 minutes"

/** Starts both, and waits until the API server is ready and has created the first objects of a cluster. */
export const start = Effect.fnUntraced(function* ({ flags: more = [], users = [] }: Options = {}) {
  const reason = missing()
  if (reason !== undefined) return yield* new EnvtestError({ message: reason })
  const assets = process.env[variable] ?? ""
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "envtest-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true, force: true, maxRetries: 3 }))
  )
  const [etcdPort, peerPort, port] = yield* Effect.promise(() => freePorts(3))
  const etcdUrl = `http://127.0.0.1:${etcdPort}`
  const etcd = yield* Processes.start(
    join(assets, "etcd"),
    [
      `--data-dir=${join(folder, "etcd")}`,
      `--listen-client-urls=${etcdUrl}`,
      `--advertise-client-urls=${etcdUrl}`,
      `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
      `--initial-advertise-peer-urls=http://127.0.0.1:${peerPort}`,
      `--initial-cluster=default=http://127.0.0.1:${peerPort}`,
      "--unsafe-no-fsync"
    ],
    folder
  )
  const { ca, flags, kubeconfig, token, tokenKey } = yield* credentials(folder, `https://127.0.0.1:${port}`, users)
  const ask: Ask = { port: Number(port), ca, token }
  const around = yield* Effect.scope
  const boot = Effect.gen(function* () {
    const scope = yield* Scope.fork(around)
    const server = yield* Scope.provide(
      Processes.start(
        join(assets, "kube-apiserver"),
        [
          ...flags,
          `--etcd-servers=${etcdUrl}`,
          "--bind-address=127.0.0.1",
          // No client connects to this address; with a loopback address the Service `kubernetes` would have no Endpoints.
          "--advertise-address=10.0.0.1",
          `--secure-port=${port}`,
          "--service-cluster-ip-range=10.0.0.0/24",
          // Nothing creates the default ServiceAccount of a namespace, which the plugin requires for pods.
          "--disable-admission-plugins=ServiceAccount",
          "--authorization-mode=RBAC",
          "--allow-privileged",
          ...more
        ],
        folder
      ),
      scope
    )
    yield* ready(ask, { "kube-apiserver": server, etcd })
    return { scope, server }
  })
  let running = yield* boot
  const version = yield* Effect.promise(() => read(ask, "/version"))
  const { major, minor } = JSON.parse(version.body) as { major: string; minor: string }
  const url = `https://127.0.0.1:${port}`
  const orError = (message: string) => new EnvtestError({ message })
  return {
    endpoint: Endpoint.fixed({ server: url, tls: { ca }, token: Redacted.make(token) }),
    url,
    ca,
    token,
    kubeconfig,
    tokenKey,
    version: { major: Number(major), minor: Number.parseInt(minor, 10) },
    logs: Effect.sync(() => logsOf({ "kube-apiserver": running.server, etcd })),
    stored: (prefix) => Effect.mapError(Etcd.stored(etcdUrl, prefix), orError),
    compact: Effect.mapError(Etcd.compact(etcdUrl), orError),
    kill: Effect.suspend(() => Scope.close(running.scope, Exit.void)),
    restart: Effect.map(boot, (again) => {
      running = again
    })
  } satisfies ControlPlane
})

type Servers = Readonly<Record<string, Processes.Running>>

const logsOf = (servers: Servers): string =>
  Object.entries(servers)
    .map(([name, { log }]) => `--- the end of the log of ${name}:\n${log}`)
    .join("\n")

/** The server is ready before its own controllers have created the initial objects of a cluster, of which these are the last. */
const first = ["/readyz", "/api/v1/namespaces/kube-system", "/api/v1/namespaces/default/endpoints/kubernetes"]

/** Asks ten times a second: the server's output is no signal, since a server whose `/readyz` fails may print nothing for half a minute. */
const ready = Effect.fnUntraced(function* (ask: Ask, servers: Servers) {
  const fails = (what: string) => new EnvtestError({ message: `${what}\n${logsOf(servers)}` })
  const attempt = Effect.gen(function* () {
    const ended = Object.entries(servers).find(([, { process: one }]) => Processes.hasEnded(one))
    if (ended !== undefined) return yield* fails(`${ended[0]} ended before the API server was ready`)
    for (const path of first) {
      const { status } = yield* Effect.tryPromise({ try: () => read(ask, path), catch: () => "unreachable" as const })
      if (status !== 200) return yield* Effect.fail("not ready" as const)
    }
  })
  yield* attempt.pipe(
    Effect.retry({ while: (error) => typeof error === "string", schedule: Schedule.spaced("100 millis") }),
    Effect.timeoutOrElse({
      duration: patience,
      orElse: () => Effect.fail(fails(`the API server was not ready within ${patience}`))
    }),
    Effect.catchIf(
      (error): error is "unreachable" | "not ready" => typeof error === "string",
      () => Effect.fail(fails("the API server was not ready"))
    )
  )
})

const day = 86_400_000

/** Writes the keys and certificates, the token of the administrator, and the kubeconfig. */
const credentials = Effect.fnUntraced(function* (folder: string, url: string, users: ReadonlyArray<User>) {
  const now = yield* Clock.currentTimeMillis
  const validity = { notBefore: now - day, notAfter: now + 365 * day }
  const ca = yield* certificates.authority({ name: "envtest", ...validity })
  const hosts = ["127.0.0.1", "localhost"]
  const serving = yield* certificates.sign(ca, { name: "kube-apiserver", hosts, ...validity })
  const token = randomUUID()
  const administrator: User = { token, name: "admin", groups: ["system:masters"] }
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
  const put = (name: string, content: string) =>
    Effect.promise(() => writeFile(join(folder, name), content, { mode: 0o600 })).pipe(Effect.as(join(folder, name)))
  const tokenKey = yield* put("sa.key", privateKey.export({ type: "pkcs8", format: "pem" }))
  return {
    ca: ca.cert,
    token,
    tokenKey,
    kubeconfig: yield* put("kubeconfig", kubeconfigOf(url, ca.cert, token)),
    flags: [
      `--cert-dir=${folder}`,
      `--tls-cert-file=${yield* put("serving.crt", serving.cert)}`,
      `--tls-private-key-file=${yield* put("serving.key", Redacted.value(serving.key))}`,
      `--token-auth-file=${yield* put("tokens.csv", [administrator, ...users].map(lineOf).join(""))}`,
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-key-file=${tokenKey}`,
      `--service-account-signing-key-file=${tokenKey}`
    ]
  }
})

/** A line of the file of tokens: the token, the name, the uid and the groups. Source: apiserver/pkg/authentication/token/tokenfile. */
const lineOf = ({ groups = [], name, token }: User): string =>
  `${[token, name, name, groups.join(",")].map((field) => `"${field.replaceAll('"', '""')}"`).join(",")}\n`

/** JSON is YAML. */
const kubeconfigOf = (server: string, ca: string, token: string): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "envtest",
    contexts: [{ name: "envtest", context: { cluster: "envtest", user: "admin" } }],
    clusters: [
      { name: "envtest", cluster: { server, "certificate-authority-data": Buffer.from(ca).toString("base64") } }
    ],
    users: [{ name: "admin", user: { token } }]
  })

interface Ask {
  readonly port: number
  readonly ca: string
  readonly token: string
}

const read = ({ ca, port, token }: Ask, path: string): Promise<{ readonly status: number; readonly body: string }> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    const call = request({ host: "127.0.0.1", port, path, ca, headers, agent: false }, (response) => {
      let body = ""
      response.setEncoding("utf8").on("data", (text: string) => (body += text))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }))
      response.on("error", reject)
    })
    call.on("error", reject)
    call.end()
  })

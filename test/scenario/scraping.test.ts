/**
 * A ServiceMonitor with a real Prometheus: it reads the metrics of the program, and sends its token to no server with another certificate. Needs
 * kubectl and Debian's `prometheus`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { parseAllDocuments, stringify } from "yaml"
import { EmbeddedCluster } from "../../src/apiserver/server/EmbeddedCluster.ts"
import * as HttpsServer from "../support/httpsServer.ts"
import * as Kubectl from "../support/kubectl.ts"
import * as Process from "../support/process.ts"
import * as Tls from "../support/tls.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

const missing = ["kubectl", "prometheus"].filter((command) => !Process.has(command))
if (missing.length > 0) process.stderr.write(`scraping skipped: there is no ${missing.join(" and no ")} on PATH\n`)

const name = "effect-controller-manager"

/** The used fields of a printed ServiceMonitor. */
interface Endpoint {
  readonly path: string
  readonly scheme: string
  readonly bearerTokenFile: string
  readonly tlsConfig: {
    readonly ca?: { readonly secret: { readonly key: string } }
    readonly serverName?: string
    readonly insecureSkipVerify?: boolean
  }
}

/** The configuration that the Prometheus operator would write, with the Secret and the account's token as files of this folder. */
const scrapeConfig = ({ path, scheme, tlsConfig }: Endpoint, folder: string, targets: ReadonlyArray<string>) =>
  stringify({
    global: { scrape_interval: "1s" },
    scrape_configs: [
      {
        job_name: "manager",
        metrics_path: path,
        scheme,
        authorization: { credentials_file: join(folder, "token") },
        tls_config: {
          ...(tlsConfig.ca === undefined ? {} : { ca_file: join(folder, tlsConfig.ca.secret.key) }),
          ...(tlsConfig.serverName === undefined ? {} : { server_name: tlsConfig.serverName }),
          ...(tlsConfig.insecureSkipVerify === true ? { insecure_skip_verify: true } : {})
        },
        static_configs: [{ targets }]
      }
    ]
  })

interface Target {
  readonly scrapeUrl: string
  readonly health: string
  readonly lastError: string
}

/** Runs until the scope closes; returns the state of its targets once it has scraped each of them. */
const prometheus = Effect.fnUntraced(function* (config: string) {
  const folder = yield* Process.folder
  const port = yield* Process.freePort
  yield* Effect.promise(() => writeFile(join(folder, "prometheus.yml"), config))
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(
        "prometheus",
        [
          `--config.file=${join(folder, "prometheus.yml")}`,
          `--storage.tsdb.path=${join(folder, "data")}`,
          `--web.listen-address=127.0.0.1:${port}`
        ],
        { stdio: "ignore" }
      )
    ),
    (child) =>
      Effect.promise(async () => {
        const gone = once(child, "exit")
        child.kill("SIGKILL")
        await gone
      })
  )
  const asked = Effect.promise(() =>
    fetch(`http://127.0.0.1:${port}/api/v1/targets`).then(
      async (response) =>
        // 503 while Prometheus starts.
        response.ok ? ((await response.json()) as { data: { activeTargets: Array<Target> } }).data.activeTargets : [],
      (): Array<Target> => []
    )
  )
  while (true) {
    const targets = yield* asked
    // The first scrape of a program that is still starting may take longer than Prometheus waits.
    if (["up", "down"].every((wanted) => targets.some(({ health }) => health === wanted))) return targets
    yield* Effect.sleep("200 millis")
  }
})

describe.skipIf(missing.length > 0)("Prometheus with a printed ServiceMonitor", () => {
  it.live("reads the metrics of the program, and sends no token to a server with another certificate", () =>
    Effect.gen(function* () {
      const { endpoint, kubeconfig } = Context.get(yield* Layer.build(EmbeddedCluster.layer()), EmbeddedCluster)
      const kubectl = yield* Kubectl.make(kubeconfig)
      const unsaid = { CM_METRICS_BIND_ADDRESS: "", CM_HEALTH_PROBE_BIND_ADDRESS: "" }
      const printed = yield* Process.run(["manifests", "--controllers=pod-count", "--service-monitor"], unsaid)
      const all = parseAllDocuments(printed.stdout).map((one) => one.toJS())
      const monitor = all.find(({ kind }) => kind === "ServiceMonitor")
      yield* kubectl("apply -f -", { apiVersion: "v1", kind: "List", items: all.filter((one) => one !== monitor) })
      yield* kubectl("create serviceaccount prometheus")
      yield* kubectl(
        `create clusterrolebinding prometheus --clusterrole=${name}-metrics-reader --serviceaccount=default:prometheus`
      )

      // The mounted Secret of the pods, and the token of Prometheus' account.
      const folder = yield* Process.folder
      const [ours, theirs] = yield* Effect.promise(() => Promise.all([Tls.authority("ours"), Tls.authority("theirs")]))
      const host = `${name}-metrics.${name}.svc`
      const [pair, forged] = yield* Effect.promise(() =>
        Promise.all([ours.issue("manager", [host]), theirs.issue("manager", [host])])
      )
      const token = (yield* kubectl("create token prometheus")).trim()
      const files = { "tls.crt": pair.cert, "tls.key": pair.key, "ca.crt": ours.cert, token }
      for (const [file, text] of Object.entries(files)) {
        yield* Effect.promise(() => writeFile(join(folder, file), text, { mode: 0o600 }))
      }

      const account = (yield* kubectl(`create token ${name} -n ${name}`)).trim()
      const own = yield* Kubeconfigs.write({ server: endpoint.server, ca: endpoint.ca, user: { token: account } })
      const args = ["--controllers=pod-count", "--metrics-secure", `--metrics-cert-path=${folder}`]
      const program = yield* Process.start(["--kubeconfig", own, ...args, "--metrics-bind-address=127.0.0.1:0"])
      const [, port = ""] = yield* program.says(/message="Serving metrics" port=(\d+)/)

      const shown: Array<string | undefined> = []
      const impostor = yield* HttpsServer.start((request, response) => {
        shown.push(request.headers.authorization)
        response.writeHead(200, { "content-type": "text/plain" }).end("up 1\n")
      }, forged)

      const targets = [`127.0.0.1:${port}`, `127.0.0.1:${impostor.port}`]
      const found = yield* prometheus(scrapeConfig(monitor.spec.endpoints[0], folder, targets))
      const of = (address: string | undefined) => found.find(({ scrapeUrl }) => scrapeUrl.includes(`${address}/`))
      assert.deepStrictEqual([of(targets[0])?.health, of(targets[0])?.lastError], ["up", ""])
      assert.strictEqual(of(targets[1])?.health, "down")
      assert.match(of(targets[1])?.lastError ?? "", /x509/)
      assert.deepStrictEqual(shown, [])
      assert.isAbove(impostor.accepted, 0)
    }).pipe(Effect.scoped)
  )
})

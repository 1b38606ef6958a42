/**
 * What the command `kube-controller-manager` exposes, held against what kube-controller-manager 1.36 does: the names, types, labels and buckets of
 * metrics and the names of queues, so that a dashboard made for the one works with the other.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { generateKeyPairSync } from "node:crypto"
import { request } from "node:https"
import { EmbeddedCluster } from "../../src/layers/EmbeddedCluster.ts"
import * as Reference from "../parity/metrics.ts"
import * as Exposition from "../support/exposition.ts"
import * as Process from "../support/process.ts"
import * as Cluster from "./cluster.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

const patience = 120_000

/** The text at a path, for the bearer of a token. */
const get = (port: number, path: string, token: string) =>
  Effect.promise(
    () =>
      new Promise<string>((resolve, reject) => {
        const headers = { authorization: `Bearer ${token}` }
        const options = { host: "127.0.0.1", port, path, headers, agent: false as const, rejectUnauthorized: false }
        request(options, (response) => {
          let text = ""
          response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
          response.once("end", () => resolve(text))
        })
          .on("error", reject)
          .end()
      })
  )

const started = Effect.gen(function* () {
  const { endpoint } = Context.get(yield* Layer.build(Layer.fresh(EmbeddedCluster.layer())), EmbeddedCluster)
  const token = Redacted.value(endpoint.token)
  const upstream = { server: endpoint.server, ca: endpoint.ca, token }
  const kubeconfig = yield* Kubeconfigs.write({ server: endpoint.server, ca: endpoint.ca, user: { token } })
  const port = yield* Process.freePort
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
  const keyFile = yield* Kubeconfigs.file(privateKey.export({ type: "pkcs8", format: "pem" }))
  const args = [
    `--kubeconfig=${kubeconfig}`,
    `--service-account-private-key-file=${keyFile}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`
  ]
  const program = yield* Process.start(["kube-controller-manager", ...args])
  return { client: yield* Cluster.client(upstream), port, program, token }
})

describe("the metrics in the place of kube-controller-manager", () => {
  it.live(
    "have its names of queues, with its labels and buckets",
    () =>
      Effect.gen(function* () {
        const { port, program, token } = yield* started
        yield* program.says(/message="Serving metrics"/)
        const text = yield* get(port, "/metrics", token)
        const queues = Array.from(text.matchAll(/^workqueue_adds_total{name="([^"]+)"}/gm), ([, name = ""]) => name)
        assert.deepStrictEqual(
          queues.toSorted(),
          Reference.queues.flatMap(({ absent, name }) => (absent === undefined ? [name] : [])).toSorted()
        )
        const families = Exposition.parse(text)
        for (const { bounds, labels, name, type } of Reference.metrics) {
          if (name.startsWith("workqueue_")) assert.deepInclude(families.get(name), { type, labels, bounds }, name)
        }
      }).pipe(Effect.scoped),
    patience
  )
})

/**
 * The program in place of kube-controller-manager, with the command line that kubeadm writes, including flags that have no effect here. It logs what
 * it does not do, serves the port and holds the lease of that program, and its loops work.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { request } from "node:https"
import { Deployment, Lease, Namespace, ReplicaSet, ServiceAccount } from "../../src/kube/resources.ts"
import * as Flags from "../../src/manager/kubeControllerManager/flags.ts"
import * as CommandLine from "../parity/commandLine.ts"
import { EmbeddedCluster } from "../../src/apiserver/server/EmbeddedCluster.ts"
import * as Process from "../support/process.ts"
import * as Cluster from "./cluster.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

const timeout = 90_000

const status = (port: number, path: string) =>
  Effect.promise(
    () =>
      new Promise<number | undefined>((resolve, reject) => {
        const call = request({ host: "127.0.0.1", port, path, agent: false, rejectUnauthorized: false }, (response) => {
          resolve(response.statusCode)
          response.resume()
        })
        call.on("error", reject).end()
      })
  )

describe("in place of kube-controller-manager", () => {
  it.live(
    "runs its loops with its command line, on its port and under its lease, and logs what it does not do",
    () =>
      Effect.gen(function* () {
        const { endpoint } = Context.get(yield* Layer.build(Layer.fresh(EmbeddedCluster.layer())), EmbeddedCluster)
        const upstream = { server: endpoint.server, ca: endpoint.ca, token: Redacted.value(endpoint.token) }
        const { ca, server, token } = upstream
        const kubeconfig = yield* Kubeconfigs.write({ server, ca, user: { token } })
        const port = yield* Process.freePort
        const program = yield* Process.start([
          "kube-controller-manager",
          // Every flag with its default value; of several values the last one counts.
          ...CommandLine.flags.map((flag) => `--${flag[0]}=${CommandLine.initialOf(flag)}`),
          "--allocate-node-cidrs",
          "--bind-address=127.0.0.1",
          "--cloud-provider=external",
          "--cluster-cidr",
          "10.244.0.0/16",
          "--controllers=bootstrapsigner,tokencleaner",
          "--feature-gates=JobManagedBy=false",
          `--kubeconfig=${kubeconfig}`,
          "--leader-elect-resource-namespace=default",
          `--secure-port=${port}`
        ])
        yield* program.says(
          /WARN.*Of the controllers that were asked for, bootstrapsigner and tokencleaner are not here/
        )
        for (const flag of Flags.withoutEffect) assert.match(program.said(), new RegExp(`--${flag}\\b.* no effect`))
        assert.match(program.said(), /WARN.*JobManagedBy has no effect/)
        yield* program.says(/Starting Controller.*taint-eviction/)
        assert.notMatch(program.said(), /Starting Controller.*pod-count/)
        assert.deepStrictEqual(
          yield* Effect.forEach(["/healthz", "/metrics"], (path) => status(port, path)),
          [200, 401]
        )
        const client = yield* Cluster.client(upstream)
        const lease = yield* client.get(Lease, { namespace: "default", name: "kube-controller-manager" })
        assert.notStrictEqual(lease.spec?.holderIdentity ?? "", "")
        const labels = { app: "web" }
        yield* client.create(Deployment, {
          metadata: { name: "web", namespace: "default" },
          spec: {
            selector: { matchLabels: labels },
            template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "web:1" }] } }
          }
        })
        yield* Cluster.until(client, ReplicaSet, { namespace: "default" }, ({ status: made }) => made?.replicas === 1)
      }).pipe(Effect.scoped),
    timeout
  )

  it.live(
    "limits the requests of each controller separately, twenty times as high for the namespace controller",
    () =>
      Effect.gen(function* () {
        const upstream = yield* Cluster.embedded
        const client = yield* Cluster.client(upstream)
        yield* client.create(Namespace, { metadata: { name: "going" } })
        const { ca, server, token } = upstream
        const kubeconfig = yield* Kubeconfigs.write({ server, ca, user: { token } })
        const controllers = "--controllers=namespace,serviceaccount,deployment"
        const limits = ["--kube-api-qps=1", "--kube-api-burst=1", "--secure-port=0", "--leader-elect=false"]
        yield* Process.start(["kube-controller-manager", `--kubeconfig=${kubeconfig}`, controllers, ...limits])
        const isDefault = ({ metadata }: ServiceAccount) => metadata.name === "default"
        yield* Cluster.until(client, ServiceAccount, { namespace: "going" }, isDefault)
        yield* client.delete(Namespace, { name: "going" })
        // Two requests for each of some fifty kinds, 5 s after the deletion: with one a second it would take two minutes.
        const isGone = Effect.map(client.list(Namespace), ({ items }) =>
          items.every(({ metadata }) => metadata.name !== "going")
        )
        while (!(yield* isGone)) yield* Effect.sleep("100 millis")
      }).pipe(Effect.scoped, Effect.timeout("60 seconds")),
    timeout
  )

  it.live(
    "refuses flags that neither of them has",
    () =>
      Effect.gen(function* () {
        for (const [flag, why] of [
          ["--alocate-node-cidrs=true", "unknown flag --alocate-node-cidrs"],
          ["--controllers=deploymet", '"deploymet" is not a controller'],
          ["--tls-cert-file=tls.crt", "belong together"]
        ] as const) {
          const { code, stderr } = yield* Process.run(["kube-controller-manager", flag])
          assert.deepStrictEqual([code, stderr.includes(why)], [2, true], stderr)
        }
      }).pipe(Effect.scoped),
    timeout
  )
})

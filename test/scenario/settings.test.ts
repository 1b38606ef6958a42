/**
 * The program with settings from all sources at once: its effect on the cluster shows which of them is in force.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { Event, Lease, Node } from "../../src/kube/resources.ts"
import * as Gateway from "../support/gateway.ts"
import * as Process from "../support/process.ts"
import * as Cluster from "./cluster.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

describe("settings", () => {
  it.live("the flag overrides the variable, the variable overrides the file; a dry run writes only to the lease", () =>
    Effect.gen(function* () {
      const { client, upstream } = yield* Cluster.withOnePod

      const writes: Array<string> = []
      let patches = 0
      const twice = Latch.makeUnsafe(false)
      const gateway = yield* Gateway.start(upstream, (line) => {
        if (line.startsWith("GET ")) return
        writes.push(line)
        if (line.startsWith("PATCH /api/v1/nodes/") && ++patches === 2) twice.openUnsafe()
      })
      const kubeconfig = yield* Kubeconfigs.write({
        server: gateway.server,
        ca: gateway.ca,
        user: { token: upstream.token }
      })
      const config = yield* Kubeconfigs.file(
        [
          `kubeconfig: ${kubeconfig}`,
          "controllers: [pod-count]",
          "pod_count_interval: 50ms",
          "dry-run: true",
          "kube-api-qps: 500",
          "enable-leader-election: false",
          "leader-election-id: of-the-file",
          "leader-elect-resource-namespace: default"
        ].join("\n")
      )
      const program = yield* Process.start(
        ["--config", config, "-leader_elect_resource_name=of-the-flag", "--zap-log-level=error"],
        { CM_LEADER_ELECT: "true", CM_LEADER_ELECT_RESOURCE_NAME: "of-the-variable" }
      )
      // A label that is not stored is written again at the next count.
      yield* twice.await
      yield* program.kill("SIGTERM")
      const { code, stderr } = yield* program.exit
      assert.strictEqual(code, 0, stderr)
      assert.strictEqual(stderr, "")

      const leases = yield* client.list(Lease, { namespace: "default" })
      assert.deepStrictEqual(
        leases.items.map(({ metadata }) => metadata.name),
        ["of-the-flag"]
      )
      assert.strictEqual(
        (yield* client.get(Node, { name: "control-plane" })).metadata.labels?.[Cluster.label],
        undefined
      )
      assert.deepStrictEqual((yield* client.list(Event, { namespace: "default" })).items, [])
      const [toTheLease, others] = [
        writes.filter((line) => line.includes("/leases")),
        writes.filter((line) => !line.includes("/leases"))
      ]
      assert.isTrue(toTheLease.length >= 2 && toTheLease.every((line) => !line.includes("dryRun")))
      assert.isTrue(
        others.every((line) => line.includes("dryRun=All")),
        others.join("\n")
      )
    }).pipe(Effect.scoped)
  )
})

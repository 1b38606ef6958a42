/**
 * Core loops on a real cluster: off unless named, and then under the Lease of kube-controller-manager, whoever holds it now. Our own
 * controllers do not wait for it. The cluster is the embedded server behind a kubeconfig, which the program does not recognize as its own.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Lease } from "../../src/kube/resources.ts"
import * as Process from "../support/process.ts"
import * as Cluster from "./cluster.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

const fixture = Effect.gen(function* () {
  const upstream = yield* Cluster.embedded
  const { ca, server, token } = upstream
  const file = yield* Kubeconfigs.write({ server, ca, user: { token } })
  const client = yield* Cluster.client(upstream)
  const start = (...args: ReadonlyArray<string>) => Process.start(["--kubeconfig", file, ...args])
  const leases = Effect.map(client.list(Lease, { namespace: "kube-system" }), ({ items }) =>
    items.map(({ metadata, spec }) => `${metadata.name} ${spec?.holderIdentity === "" ? "free" : "held"}`)
  )
  return { client, leases, start }
})

describe.concurrent("core loops on a real cluster", () => {
  it.live("are off by default, without an election", () =>
    Effect.gen(function* () {
      const { leases, start } = yield* fixture
      const program = yield* start()
      yield* program.says(/Starting Controller.* controller=pod-count/)
      assert.match(program.said(), /"?\\?"deployment\\?" is disabled/)
      yield* program.kill("SIGTERM")
      assert.strictEqual((yield* program.exit).code, 0)
      assert.notMatch(program.said(), /controller=deployment/)
      assert.deepStrictEqual(yield* leases, [])
    }).pipe(Effect.scoped)
  )

  it.live("wait for kube-controller-manager's lease and log its holder; our own controllers do not wait", () =>
    Effect.gen(function* () {
      const { client, leases, start } = yield* fixture
      const now = new Date().toISOString().replace("Z", "000Z")
      yield* client.create(Lease, {
        metadata: { namespace: "kube-system", name: "kube-controller-manager" },
        spec: { holderIdentity: "the-other-one", leaseDurationSeconds: 6, acquireTime: now, renewTime: now }
      })
      const program = yield* start("--controllers=*,deployment,replicaset-controller")
      yield* program.says(/waiting for lease kube-system\/kube-controller-manager as /)
      yield* program.says(/lease kube-system\/kube-controller-manager is held by the-other-one/)
      yield* program.says(/Starting Controller.* controller=pod-count/)
      assert.notMatch(program.said(), /Starting Controller.* controller=deployment/)
      // Its holder does not renew it, so it expires.
      yield* program.says(/Starting Controller.* controller=deployment/)
      yield* program.says(/Starting Controller.* controller=replicaset/)
      assert.deepStrictEqual(yield* leases, ["kube-controller-manager held"])
      yield* program.kill("SIGTERM")
      assert.strictEqual((yield* program.exit).code, 0)
      assert.deepStrictEqual(yield* leases, ["kube-controller-manager free"])
    }).pipe(Effect.scoped)
  )

  it.live(
    "lead under another lease beside a manager that was started without them, and without an election when the flag says so",
    () =>
      Effect.gen(function* () {
        const { leases, start } = yield* fixture
        const beside = yield* start("--controllers=deployment", "--core-lease-name=deployments")
        yield* beside.says(/Starting Controller.* controller=deployment/)
        assert.deepStrictEqual(yield* leases, ["deployments held"])
        const alone = yield* start("--controllers=replicaset", "--leader-elect=false")
        yield* alone.says(/Starting Controller.* controller=replicaset/)
        assert.deepStrictEqual(yield* leases, ["deployments held"])
      }).pipe(Effect.scoped)
  )

  it.live("have a lease of their own with --leader-elect, and so have our own controllers", () =>
    Effect.gen(function* () {
      const { leases, start } = yield* fixture
      const program = yield* start("--controllers=*,deployment", "--leader-elect")
      yield* program.says(/Starting Controller.* controller=deployment/)
      yield* program.says(/Starting Controller.* controller=pod-count/)
      assert.sameMembers([...(yield* leases)], ["kube-controller-manager held", "effect-controller-manager held"])
    }).pipe(Effect.scoped)
  )
})

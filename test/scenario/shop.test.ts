/** `npm start -- --nodes 5 --demo shop`, as a process: what works comes up, what fails is seen to fail, and a new version is released. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Kubectl from "../clients/kubectl.ts"
import * as Harness from "./kubectl/harness.ts"

if (!Kubectl.isInstalled) process.stderr.write(`the demo shop ${Kubectl.reason}\n`)

const lines = [
  "rollout status deployment/storefront",
  "rollout status statefulset/orders",
  "rollout status daemonset/log-agent",
  "rollout status deployment/sessions",
  "wait memcached/sessions --for=condition=Available",
  "wait job/import-catalog --for=condition=complete",
  "wait service/storefront --for=jsonpath={.status.loadBalancer.ingress[0].ip}",
  "wait ecsbinding/machine-1 --for=jsonpath={.metadata.annotations.has-reconcile}=true",
  "wait pods -l app=recommendations --for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=ImagePullBackOff",
  "wait pods -l app=payments --for=jsonpath={.status.containerStatuses[0].lastState.terminated.reason}=OOMKilled",
  "wait deployment/storefront --for=jsonpath={.spec.template.spec.containers[0].image}=shop.example/storefront:1.1"
]

describe.skipIf(!Kubectl.isInstalled)("the demo shop", () => {
  it.live(
    "has the given nodes, both operators, failures to look at, and new versions",
    () =>
      Effect.gen(function* () {
        const cluster = yield* Harness.embedded(["--nodes", "5", "--demo", "shop"])
        const { ok, run } = yield* Harness.kubectl(cluster, "any")
        assert.strictEqual((yield* ok("get nodes -o name")).trim().split("\n").length, 5)
        yield* ok("wait namespace/shop --for=create --timeout=60s")
        const reached = Effect.fnUntraced(function* (line: string) {
          const { code, stderr } = yield* run(`${line} --namespace=shop --timeout=100s`)
          // The objects are created one after another, and kubectl does not wait for one that is not there yet.
          const isMissing = /not ?found|no matching resources/i.test(stderr)
          assert.isTrue(code === 0 || isMissing, `kubectl ${line}: ${stderr}`)
          return code === 0
        })
        yield* Effect.forEach(lines, (line) => Harness.eventually(line, reached(line)), {
          concurrency: "unbounded",
          discard: true
        })
      }).pipe(Effect.scoped),
    300_000
  )

  it.live.skipIf(Kubectl.minor < 25)("runs the ephemeral containers of kubectl debug", () =>
    Effect.gen(function* () {
      const cluster = yield* Harness.embedded(["--demo=none"])
      const { ok } = yield* Harness.kubectl(cluster, "debugged")
      yield* ok("run web --image=nginx")
      yield* ok("wait pod/web --for=condition=Ready --timeout=60s")
      yield* ok("debug web --image=busybox --container=shell --target=web --attach=false -- sleep 3600")
      yield* ok("wait pod/web --for=jsonpath={.status.ephemeralContainerStatuses[0].state.running} --timeout=60s")
      assert.match(yield* ok("describe pod web"), /Ephemeral Containers:\n +shell:/)
    }).pipe(Effect.scoped)
  )
})

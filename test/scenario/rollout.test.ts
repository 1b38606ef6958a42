/**
 * A Deployment from a user's view: the whole program, simulated machines, and kubectl from create to delete. The same scenario runs on the embedded
 * cluster, where one process is everything, and on a real kube-apiserver, where loops and machines are two ordinary clients of it.
 * Needs kubectl; the second also `KUBEBUILDER_ASSETS`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Kubectl from "../clients/kubectl.ts"
import * as Harness from "./kubectl/harness.ts"

if (!Kubectl.isInstalled) process.stderr.write(`rollouts ${Kubectl.reason}\n`)
else if (Harness.missing !== undefined)
  process.stderr.write(`rollouts on a real API server skipped: ${Harness.missing}\n`)

const loops = ["deployment", "replicaset", "replicationcontroller", "garbagecollector", "namespace", "serviceaccount"]

/** Revisions as `rollout history` lists them. */
const revisionsIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^(\d+) /gm)].map(([, number = ""]) => number)

const scenario = (cluster: Effect.Effect<Harness.Cluster, never, Scope.Scope>) =>
  Effect.gen(function* () {
    const { ok, run } = yield* Harness.kubectl(yield* cluster, "scenario")
    const field = (path: string) => ok(`get deployment web -o jsonpath={${path}}`)
    const rolledOut = Effect.gen(function* () {
      assert.match(yield* ok("rollout status deployment/web --timeout=60s"), /successfully rolled out/)
    })

    yield* ok("create deployment web --image=example.test/web:1 --replicas=3")
    yield* rolledOut
    yield* Harness.shows(
      { ok },
      "describe deployment web",
      /ScalingReplicaSet.* Scaled up replica set web-\w+ from 0 to 3\n/
    )
    assert.deepStrictEqual(revisionsIn(yield* ok("rollout history deployment/web")), ["1"])

    yield* ok("set image deployment/web web=example.test/web:2")
    yield* rolledOut
    assert.deepStrictEqual(revisionsIn(yield* ok("rollout history deployment/web")), ["1", "2"])
    assert.match(yield* ok("rollout history deployment/web --revision=1"), /Image:\s+example\.test\/web:1/)

    yield* ok("rollout undo deployment/web")
    yield* rolledOut
    assert.strictEqual(yield* field(".spec.template.spec.containers[0].image"), "example.test/web:1")
    assert.deepStrictEqual(revisionsIn(yield* ok("rollout history deployment/web")), ["2", "3"])

    yield* ok("scale deployment/web --replicas=5")
    yield* rolledOut
    yield* ok("wait deployment/web --for=condition=Available --timeout=60s")
    assert.strictEqual(yield* field(".status.availableReplicas"), "5")

    yield* ok("rollout pause deployment/web")
    yield* ok("set image deployment/web web=example.test/web:3")
    yield* ok("wait deployment/web --for=condition=Progressing=Unknown --timeout=60s")
    assert.deepStrictEqual(revisionsIn(yield* ok("rollout history deployment/web")), ["2", "3"])
    yield* ok("rollout resume deployment/web")
    yield* rolledOut
    yield* ok("rollout restart deployment/web")
    yield* rolledOut
    assert.deepStrictEqual(revisionsIn(yield* ok("rollout history deployment/web")), ["2", "3", "4", "5"])

    yield* ok(`patch deployment web -p {"spec":{"progressDeadlineSeconds":2}}`)
    yield* ok("set image deployment/web web=example.test/web:404")
    const stuck = yield* run("rollout status deployment/web --timeout=60s")
    assert.strictEqual(stuck.code, 1)
    assert.match(stuck.stderr, /deployment "web" exceeded its progress deadline/)
    // As in Go, the old condition stays until the rollout has progressed: rollout status would report it again.
    yield* ok(`patch deployment web -p {"spec":{"progressDeadlineSeconds":600}}`)
    yield* ok("rollout undo deployment/web --to-revision=2")
    yield* ok("wait deployment/web --for=condition=Progressing --timeout=60s")
    yield* rolledOut
    assert.strictEqual(yield* field(".spec.template.spec.containers[0].image"), "example.test/web:2")

    yield* ok("delete deployment web")
    yield* ok("wait pods -l app=web --for=delete --timeout=60s")
    assert.strictEqual(yield* ok("get replicasets -l app=web -o name"), "")
    yield* ok("delete namespace scenario --timeout=60s")
  }).pipe(Effect.scoped)

describe.skipIf(!Kubectl.isInstalled).concurrent("kubectl rolls a Deployment out and back", () => {
  it.live("on the embedded cluster", () => scenario(Harness.embedded()), 180_000)
  it.live.skipIf(Harness.missing !== undefined)("on a real API server", () => scenario(Harness.real(loops)), 180_000)
})

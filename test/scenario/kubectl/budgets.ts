/** A disruption budget from a user's view: a drain waits for it, continues when it may, and never evicts more pods than it allows. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as PodState from "../../../src/kube/pod.ts"
import { Pod } from "../../../src/kube/resources.ts"
import * as Kubectl from "../../clients/kubectl.ts"
import type { Scenario } from "./harness.ts"

const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: {
    replicas: 4,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { terminationGracePeriodSeconds: 1, containers: [{ name: "web", image: "example.test/web:1" }] }
    }
  }
}

/** The lowest number of healthy pods from now on. */
const fewest = Effect.fnUntraced(function* ({ client, namespace }: Kubectl.Kubectl) {
  const selection = { namespace, labelSelector: "app=web" }
  const { items, metadata } = yield* client.list(Pod, selection)
  const pods = new Map(items.map((pod) => [pod.metadata.name, pod]))
  const count = () =>
    [...pods.values()].filter((pod) => PodState.isReady(pod) && pod.metadata.deletionTimestamp === undefined).length
  let least = count()
  yield* client.watch(Pod, { ...selection, resourceVersion: metadata.resourceVersion, timeoutSeconds: 300 }).pipe(
    Stream.runForEach(({ object, type }) =>
      Effect.sync(() => {
        const pod = object as Pod
        if (type === "DELETED") pods.delete(pod.metadata.name)
        else pods.set(pod.metadata.name, pod)
        least = Math.min(least, count())
      })
    ),
    Effect.ignore,
    Effect.forkScoped
  )
  return () => least
})

export const budgets: Scenario = Effect.fnUntraced(function* (kubectl) {
  const { ok, run, send } = kubectl
  const allows = (count: number) =>
    ok(`wait pdb/web --for=jsonpath={.status.disruptionsAllowed}=${count} --timeout=60s`)
  yield* send("create", deployment)
  yield* ok("rollout status deployment/web --timeout=60s")
  assert.match(
    yield* ok("create poddisruptionbudget web --selector=app=web --min-available=4"),
    /^poddisruptionbudget\.policy\/web created/
  )
  yield* ok("wait pdb/web --for=jsonpath={.status.currentHealthy}=4 --timeout=60s")
  assert.include(Kubectl.table(yield* ok("get pdb web"))[0], { "MIN AVAILABLE": "4", "ALLOWED DISRUPTIONS": "0" })
  assert.match(yield* ok("describe pdb web"), /Allowed disruptions: +0\n +Current: +4\n +Desired: +4\n +Total: +4\n/)
  const [node = ""] = (yield* ok("get pods -l app=web -o jsonpath={.items[*].spec.nodeName}")).split(" ")
  const drain = (seconds: number) => `drain ${node} --pod-selector=app=web --timeout=${seconds}s`

  const blocked = yield* run(drain(1))
  assert.strictEqual(blocked.code, 1)
  assert.match(blocked.stderr, /Cannot evict pod as it would violate the pod's disruption budget\./)
  yield* ok(`patch pdb web --type=merge -p {"spec":{"minAvailable":"75%"}}`)
  yield* allows(1)
  const least = yield* fewest(kubectl)
  const drained = yield* ok(drain(60))
  assert.match(drained, /^pod\/web-\S+ evicted$/m)
  assert.match(drained, /^node\/\S+ drained$/m)
  yield* ok("rollout status deployment/web --timeout=60s")
  const left = (yield* ok("get pods -l app=web -o jsonpath={.items[*].spec.nodeName}")).split(" ")
  assert.notInclude(left, node)
  yield* allows(1)
  assert.isAtLeast(least(), 3)

  // A changed size counts at once.
  yield* ok("scale deployment/web --replicas=8")
  yield* ok("wait pdb/web --for=jsonpath={.status.desiredHealthy}=6 --timeout=60s")
  yield* allows(2)
  yield* ok(`uncordon ${node}`)
  yield* ok("delete pdb web")
  yield* ok("delete deployment web")
})

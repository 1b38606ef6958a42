/**
 * kubectl commands that depend on controllers and nodes: rollouts, for which the test does the work of the Deployment controller, and nodes that are
 * cordoned, tainted and drained.
 */
import { assert, describe, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Patch from "../../src/kube/Patch.ts"
import { Deployment, Node, Pod, PodDisruptionBudget, ReplicaSet } from "../../src/kube/resources.ts"
import * as Kubectl from "./kubectl.ts"
import { Fixture } from "./fixture.ts"

if (!Kubectl.isInstalled) console.log(Kubectl.reason)

const template = (image: string) => ({
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "web", image }] }
})

const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: { replicas: 2, selector: { matchLabels: { app: "web" } }, template: template("example.test/web:1") }
}

/** The work of the Deployment controller: the ReplicaSet of a revision, and a status that shows the progress of the rollout. */
const controller = ({ client, namespace }: Kubectl.Kubectl) => ({
  revision: Effect.fnUntraced(function* (revision: number, image: string, cause?: string) {
    const { metadata } = yield* client.get(Deployment, { namespace, name: "web" })
    const labels = { app: "web", "pod-template-hash": `h${revision}` }
    yield* client.create(ReplicaSet, {
      metadata: {
        namespace,
        name: `web-h${revision}`,
        labels,
        annotations: {
          "deployment.kubernetes.io/revision": String(revision),
          ...(cause === undefined ? {} : { "kubernetes.io/change-cause": cause })
        },
        ownerReferences: [
          { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: metadata.uid ?? "", controller: true }
        ]
      },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { ...template(image), metadata: { labels } }
      }
    })
    const annotations = { "deployment.kubernetes.io/revision": String(revision) }
    yield* client.patch(Deployment, { namespace, name: "web" }, Patch.merge({ metadata: { annotations } }))
  }),
  report: Effect.fnUntraced(function* (updated: number, available: number) {
    const { metadata } = yield* client.get(Deployment, { namespace, name: "web" })
    const status = {
      observedGeneration: metadata.generation,
      replicas: 2,
      updatedReplicas: updated,
      readyReplicas: available,
      availableReplicas: available,
      unavailableReplicas: 2 - available
    }
    yield* client.patch(Deployment, { namespace, name: "web", subresource: "status" }, Patch.merge({ status }))
  })
})

describe.skipIf(!Kubectl.isInstalled)("kubectl", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("rollout status follows a rollout to its end", () =>
      Effect.gen(function* () {
        const kubectl = yield* Kubectl.make("rollout-status")
        const { report } = controller(kubectl)
        yield* kubectl.send("create", deployment)
        const status = yield* kubectl.start("rollout status deployment/web --timeout=15s")
        yield* status.prints(/Waiting for deployment spec update to be observed/)
        yield* report(1, 0)
        yield* status.prints(/1 out of 2 new replicas have been updated/)
        yield* report(2, 1)
        yield* status.prints(/1 of 2 updated replicas are available/)
        yield* report(2, 2)
        const { code, stdout } = yield* status.exit
        assert.strictEqual(code, 0, stdout)
        assert.match(stdout, /^deployment "web" successfully rolled out$/m)
        const [row] = Kubectl.table(yield* kubectl.ok("get deployment -o wide"))
        assert.include(row, { NAME: "web", READY: "2/2", "UP-TO-DATE": "2", AVAILABLE: "2" })
        assert.include(row, { CONTAINERS: "web", IMAGES: "example.test/web:1", SELECTOR: "app=web" })
      })
    )

    it.effect("rollout history, undo, pause, resume and restart", () =>
      Effect.gen(function* () {
        const kubectl = yield* Kubectl.make("rollout")
        const { json, ok, run, send } = kubectl
        const { revision } = controller(kubectl)
        yield* send("create", deployment)
        yield* revision(1, "example.test/web:1", "the first")
        yield* ok("set image deployment/web web=example.test/web:2")
        yield* revision(2, "example.test/web:2")
        assert.match(
          yield* ok("rollout history deployment/web"),
          /^deployment\.apps\/web *\nREVISION +CHANGE-CAUSE\n1 +the first\n2 +<none>$/m
        )
        assert.match(yield* ok("rollout history deployment/web --revision=2"), /^ +Image:\texample\.test\/web:2$/m)
        assert.strictEqual(yield* ok("rollout undo deployment/web"), "deployment.apps/web rolled back\n")
        const undone = yield* json("deployment web")
        assert.nestedInclude(undone, { "spec.template.spec.containers[0].image": "example.test/web:1" })
        assert.deepNestedInclude(undone, { "spec.template.metadata.labels": { app: "web" } })
        assert.strictEqual(yield* ok("rollout pause deployment/web"), "deployment.apps/web paused\n")
        assert.nestedInclude(yield* json("deployment web"), { "spec.paused": true })
        assert.match(
          (yield* run("rollout undo deployment/web --to-revision=2")).stderr,
          /cannot rollback a paused deployment/
        )
        assert.match((yield* run("rollout restart deployment/web")).stderr, /can't restart paused deployment/)
        assert.strictEqual(yield* ok("rollout resume deployment/web"), "deployment.apps/web resumed\n")
        assert.strictEqual(yield* ok("rollout restart deployment/web"), "deployment.apps/web restarted\n")
        const restarted = yield* json("deployment web")
        assert.notNestedProperty(restarted, "spec.paused")
        assert.match(JSON.stringify(restarted), /"kubectl\.kubernetes\.io\/restartedAt":"\d{4}-/)
      })
    )

    it.effect("cordon, uncordon and taint change a node; drain evicts its pods", () =>
      Effect.gen(function* () {
        const kubectl = yield* Kubectl.make("nodes")
        const { client, json, namespace, ok, run, send } = kubectl
        yield* client.create(Node, { metadata: { name: "spare" } })
        const pod = (name: string, more: object = {}) => ({
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name, labels: { app: "drained" }, ...more },
          spec: {
            nodeName: "spare",
            terminationGracePeriodSeconds: 0,
            containers: [{ name: "a", image: "example.test/a:1" }]
          }
        })
        assert.strictEqual(yield* ok("cordon spare"), "node/spare cordoned\n")
        assert.strictEqual(yield* ok("cordon spare"), "node/spare already cordoned\n")
        assert.match(yield* ok("get node spare"), /^spare +\S*SchedulingDisabled/m)
        assert.strictEqual(yield* ok("uncordon spare"), "node/spare uncordoned\n")
        assert.notNestedProperty(yield* json("node spare"), "spec.unschedulable")
        assert.strictEqual(yield* ok("taint node spare gpu=yes:NoSchedule"), "node/spare tainted\n")
        assert.deepNestedInclude(yield* json("node spare"), {
          "spec.taints": [{ key: "gpu", value: "yes", effect: "NoSchedule" }]
        })
        assert.strictEqual(yield* ok("taint node spare gpu-"), "node/spare untainted\n")
        yield* send("create", pod("lonely"))
        const refused = yield* run("drain spare --ignore-daemonsets")
        assert.strictEqual(refused.code, 1)
        assert.match(refused.stderr, /cannot delete Pods .*\(use --force to override\): nodes\/lonely/)
        const drained = yield* ok("drain spare --ignore-daemonsets --force --timeout=10s")
        assert.match(drained, /^evicting pod nodes\/lonely$/m)
        assert.match(drained, /^node\/spare (drained|evicted)$/m)
        assert.deepStrictEqual((yield* client.list(Pod, { namespace })).items, [])
        assert.nestedInclude(yield* json("node spare"), { "spec.unschedulable": true })
      })
    )

    it.effect("drain waits for a disruption budget that allows nothing", () =>
      Effect.gen(function* () {
        const { client, namespace, run, send } = yield* Kubectl.make("budget")
        yield* client.create(Node, { metadata: { name: "kept" } })
        yield* send(
          "create",
          {
            apiVersion: "policy/v1",
            kind: "PodDisruptionBudget",
            metadata: { name: "b" },
            spec: { minAvailable: 1, selector: { matchLabels: { app: "kept" } } }
          },
          {
            apiVersion: "v1",
            kind: "Pod",
            metadata: { name: "a", labels: { app: "kept" } },
            spec: { nodeName: "kept", containers: [{ name: "a", image: "example.test/a:1" }] }
          }
        )
        yield* client.patch(
          Pod,
          { namespace, name: "a", subresource: "status" },
          Patch.merge({ status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } })
        )
        // A budget that its controller has not reconciled gets the response "wait ten seconds", which kubectl does without a message.
        const counts = { currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, disruptionsAllowed: 0 }
        yield* client.patch(
          PodDisruptionBudget,
          { namespace, name: "b", subresource: "status" },
          Patch.merge({ status: { observedGeneration: 1, ...counts } })
        )
        const { code, stderr } = yield* run("drain kept --force --timeout=1s")
        assert.strictEqual(code, 1)
        assert.match(stderr, /Cannot evict pod as it would violate the pod's disruption budget/)
        assert.strictEqual((yield* client.list(Pod, { namespace })).items.length, 1)
      })
    )

    it.effect.skipIf(Kubectl.minor < 27)(
      "create token, auth can-i, events and a debugging container use the subresources",
      () =>
        Effect.gen(function* () {
          const { client, json, namespace, ok, send } = yield* Kubectl.make("subresources")
          yield* ok("create serviceaccount robot")
          assert.match(yield* ok("create token robot --duration=1h"), /^[\w-]+\.[\w-]+\.[\w-]+\n?$/)
          assert.strictEqual(yield* ok("auth can-i create deployments.apps"), "yes\n")
          yield* send("create", {
            apiVersion: "v1",
            kind: "Pod",
            metadata: { name: "a" },
            spec: { containers: [{ name: "a", image: "example.test/a:1" }] }
          })
          yield* ok("wait --for=jsonpath={.status.phase}=Running pod/a")
          yield* ok("debug a --image=example.test/debug:1 --container=debug --profile=general")
          assert.deepNestedInclude(yield* json("pod a"), { "spec.ephemeralContainers[0].name": "debug" })
          const { metadata } = yield* client.get(Pod, { namespace, name: "a" })
          yield* send("create", {
            apiVersion: "v1",
            kind: "Event",
            metadata: { name: "a.1" },
            involvedObject: { apiVersion: "v1", kind: "Pod", name: "a", namespace, uid: metadata.uid },
            reason: "Tested",
            message: "a message",
            type: "Warning",
            count: 2,
            firstTimestamp: "2020-01-01T00:00:00Z",
            lastTimestamp: "2020-01-01T00:00:00Z"
          })
          assert.match(yield* ok("events --for pod/a"), /Warning +Tested +Pod\/a +a message$/m)
          assert.match(yield* ok("describe pod a"), /Warning +Tested +.* a message$/m)
          assert.match(yield* ok("get events"), /Warning +Tested +pod\/a +a message$/m)
        })
    )

    it.effect("autoscale creates an autoscaler", () =>
      Effect.gen(function* () {
        const { json, ok, send } = yield* Kubectl.make("autoscale")
        yield* send("create", deployment)
        const made = yield* ok("autoscale deployment web --min=1 --max=3 --cpu-percent=80")
        assert.strictEqual(made, "horizontalpodautoscaler.autoscaling/web autoscaled\n")
        assert.deepNestedInclude(yield* json("horizontalpodautoscalers.v2.autoscaling web"), {
          "spec.minReplicas": 1,
          "spec.maxReplicas": 3,
          "spec.scaleTargetRef": { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
          "spec.metrics": [
            { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } }
          ]
        })
      })
    )
  })
})

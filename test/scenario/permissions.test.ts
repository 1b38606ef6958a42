/**
 * The program with exactly the rights that `manifests` prints: an embedded cluster with RBAC, the objects applied as a user would, and every loop
 * at work through one account, as a process. The audit log of the server shows whether anything was denied. `test/roles` shows that
 * no rule is superfluous. Needs kubectl.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Cache } from "../../src/layers/Cache.ts"
import { EmbeddedCluster } from "../../src/apiserver/server/EmbeddedCluster.ts"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Nodes from "../../src/simulation/Nodes.ts"
import * as Audit from "../support/audit.ts"
import * as Kubectl from "../support/kubectl.ts"
import * as Process from "../support/process.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

const installed = Process.has("kubectl")
if (!installed) process.stderr.write("permissions skipped: there is no kubectl on PATH\n")

const cluster = Nodes.layer().pipe(
  Layer.provide(Cache.layer()),
  Layer.provideMerge(KubeClient.layer),
  Layer.provide(HttpTransport.layer),
  Layer.provide(EmbeddedCluster.layerEndpoint),
  Layer.provideMerge(
    EmbeddedCluster.layer({
      authorization: "RBAC",
      admission: { serviceAccount: true },
      audit: { capacity: 100_000 }
    })
  )
)

const name = "effect-controller-manager"
const account = `system:serviceaccount:${name}:${name}`
const template = (app: string) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: "a", image: "example.test/a:1" }] }
})

const controller = {
  apiVersion: "v1",
  kind: "ReplicationController",
  metadata: { name: "rc" },
  spec: { replicas: 1, selector: { app: "rc" }, template: template("rc") }
}

/** A ReplicaSet without an owner, and a Deployment that can adopt it. */
const stray = (kind: "ReplicaSet" | "Deployment", name: string) => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name, labels: { app: "kept" } },
  spec: { replicas: 1, selector: { matchLabels: { app: "kept" } }, template: template("kept") }
})

/** What a user does, through kubectl. */
type Scenario = (kubectl: Kubectl.Kubectl) => Effect.Effect<void>

const rollouts: Scenario = Effect.fnUntraced(function* (kubectl) {
  yield* kubectl("create namespace scenario")
  yield* kubectl("create deployment web -n scenario --image=example.test/web:1 --replicas=2")
  yield* kubectl("rollout status deployment/web -n scenario --timeout=60s")
  yield* kubectl("label rs -n scenario -l app=web old=yes")
  yield* kubectl("set image deployment/web -n scenario web=example.test/web:2")
  yield* kubectl("rollout status deployment/web -n scenario --timeout=60s")
  yield* kubectl("scale deployment/web -n scenario --replicas=1")
  yield* kubectl('patch deployment web -n scenario -p {"spec":{"revisionHistoryLimit":0}}')
  yield* kubectl("wait rs -n scenario -l old=yes --for=delete --timeout=60s")
  yield* kubectl("apply -n scenario -f -", JSON.stringify(stray("ReplicaSet", "kept-1")))
  yield* kubectl("apply -n scenario -f -", JSON.stringify(stray("Deployment", "kept")))
  yield* kubectl("wait rs/kept-1 -n scenario --for=jsonpath={.metadata.ownerReferences[0].name}=kept --timeout=60s")
  yield* kubectl("run orphan -n scenario --image=example.test/a:1 --labels=app=rc")
  yield* kubectl("apply -n scenario -f -", JSON.stringify(controller))
  yield* kubectl("wait rc/rc -n scenario --for=jsonpath={.status.readyReplicas}=1 --timeout=60s")
  yield* kubectl("delete serviceaccount default -n scenario")
  yield* kubectl("wait serviceaccount/default -n scenario --for=create --timeout=60s")
})

const removals: Scenario = Effect.fnUntraced(function* (kubectl) {
  yield* kubectl("delete deployment web -n scenario --cascade=foreground --timeout=60s")
  yield* kubectl("delete namespace scenario --timeout=60s")
})

/** Installs what is printed for these controllers, runs them as the account in it, and asserts that no request is denied. */
const play = Effect.fnUntraced(function* (loops: string, scenario: Scenario) {
  const { audit, endpoint, kubeconfig } = Context.get(yield* Layer.build(cluster), EmbeddedCluster)
  const kubectl = yield* Kubectl.make(kubeconfig)
  const printed = yield* Process.run(["manifests", `--controllers=${loops}`])
  assert.strictEqual(printed.code, 0, printed.stderr)
  yield* kubectl("apply -f -", printed.stdout)
  const token = (yield* kubectl(`create token ${name} -n ${name}`)).trim()
  const file = yield* Kubeconfigs.write({ server: endpoint.server, ca: endpoint.ca, user: { token } })
  const args = ["--kubeconfig", file, `--controllers=${loops}`, "--leader-elect=true"]
  const program = yield* Process.start(args, { POD_NAMESPACE: name })
  yield* program.says(/Starting Controller.*replicationcontroller/)
  yield* scenario(kubectl)
  const asked = (yield* audit).filter(({ user }) => user === account)
  assert.isAbove(asked.length, 100)
  assert.deepStrictEqual(asked.filter(Audit.isDenied).map(Audit.line), [])
})

const replicas = "serviceaccount,deployment,replicaset,replicationcontroller"

describe.skipIf(!installed)("with exactly the rules that manifests prints", () => {
  it.live(
    "every loop does its work, and nothing is denied",
    () =>
      Effect.gen(function* () {
        const scenario: Scenario = (kubectl) => Effect.andThen(rollouts(kubectl), removals(kubectl))
        yield* play(`*,namespace,garbagecollector,podgc,${replicas}`, scenario)
      }).pipe(Effect.scoped),
    240_000
  )
})

/** kubectl exits with 1 when the answer is no. */
const mayI = (kubectl: (line: string) => Effect.Effect<string>, what: string) =>
  Effect.match(Effect.sandbox(kubectl(`auth can-i ${what}`)), { onFailure: () => false, onSuccess: () => true })

describe.skipIf(!installed).concurrent("the embedded cluster authorizes by roles", () => {
  it.live(
    "npm start: the printed user is the administrator, and the program has the rights that its controllers declare",
    () =>
      Effect.gen(function* () {
        const program = yield* Process.start(["--cluster=embedded", "--controllers=pod-count"])
        const [, kubeconfig = ""] = yield* program.says(/kubectl --kubeconfig (\S+)/)
        yield* program.says(/Starting Controller/)
        const kubectl = yield* Kubectl.make(kubeconfig)
        const asProgram = `--as system:serviceaccount:kube-system:${name}`
        assert.isTrue(yield* mayI(kubectl, "* *"))
        assert.isTrue(yield* mayI(kubectl, `watch pods -A ${asProgram}`))
        assert.isTrue(yield* mayI(kubectl, `patch nodes ${asProgram}`))
        for (const more of ["delete pods -A", "get secrets -A", "patch pods -A", "create clusterrolebindings"]) {
          assert.isFalse(yield* mayI(kubectl, `${more} ${asProgram}`), more)
        }
        // The program works as that account: without its roles it is refused, as in an installation.
        yield* kubectl(`delete clusterrolebinding ${name}`)
        yield* kubectl("run more --image=example.test/a:1 -n kube-system")
        yield* program.says(new RegExp(`User .*${asProgram.slice(5)}.* cannot patch resource .*nodes`))
      }).pipe(Effect.scoped)
  )

  it.live("npm start with accounts for controllers: each has its own rights, even where two share one account", () =>
    Effect.gen(function* () {
      const loops = "--controllers=deployment,nodelifecycle,taint-eviction,serviceaccount"
      const program = yield* Process.start(["--cluster=embedded", loops, "--use-service-account-credentials"])
      const [, kubeconfig = ""] = yield* program.says(/kubectl --kubeconfig (\S+)/)
      const kubectl = yield* Kubectl.make(kubeconfig)
      const as = (account: string) => `--as system:serviceaccount:kube-system:${account}`
      assert.isTrue(yield* mayI(kubectl, `create replicasets.apps -A ${as("deployment-controller")}`))
      assert.isFalse(yield* mayI(kubectl, `create replicasets.apps -A ${as(name)}`))
      assert.isTrue(yield* mayI(kubectl, `delete pods -A ${as("node-controller")}`))
      assert.isTrue(yield* mayI(kubectl, `patch nodes ${as("node-controller")}`))
      yield* kubectl("rollout status deployment/web --timeout=1s").pipe(Effect.ignoreCause)
      yield* kubectl(
        "wait deployment/web --for=jsonpath={.metadata.annotations.deployment\\.kubernetes\\.io/revision}=1 --timeout=60s"
      )
      assert.notInclude(program.said(), "is forbidden")
    }).pipe(Effect.scoped)
  )

  it.live(
    "apiserver: the printed kubeconfig is an administrator's, and an account has only the rights that it was granted",
    () =>
      Effect.gen(function* () {
        const server = yield* Process.start(["apiserver"])
        const [, kubeconfig = ""] = yield* server.says(/^export KUBECONFIG=(\S+)$/m)
        const kubectl = yield* Kubectl.make(kubeconfig)
        assert.include(yield* kubectl("auth whoami -o yaml"), "system:masters")
        yield* kubectl("create serviceaccount someone")
        const as = "--as system:serviceaccount:default:someone"
        assert.isFalse(yield* mayI(kubectl, `list secrets ${as}`))
        yield* kubectl("create rolebinding someone --clusterrole=edit --serviceaccount=default:someone")
        assert.isTrue(yield* mayI(kubectl, `list secrets ${as}`))
      }).pipe(Effect.scoped)
  )
})

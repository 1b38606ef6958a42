/**
 * An API server that enforces rights over owner references, as OpenShift's does: the loops work with the roles that `manifests` prints. Without the
 * rights over owners they log what is refused, and continue once they have them. Needs `KUBEBUILDER_ASSETS` and kubectl.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import * as envtest from "../support/envtest.ts"
import * as Kubectl from "../support/kubectl.ts"
import * as Process from "../support/process.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

const hasKubectl = (() => {
  try {
    return execFileSync("kubectl", ["version", "--client"]).length > 0
  } catch {
    return false
  }
})()

const isMissing = envtest.isMissing("rights over owner references")

const name = "effect-controller-manager"
const loops = "deployment,replicaset,replicationcontroller,daemonset,job"

const labels = { app: "web" }
const template = { metadata: { labels }, spec: { containers: [{ name: "a", image: "example.test/a:1" }] } }
const once = { metadata: { labels: { app: "once" } }, spec: { ...template.spec, restartPolicy: "Never" } }
/** A toleration for the node, which stays not ready. */
const anywhere = { ...template, spec: { ...template.spec, tolerations: [{ operator: "Exists" }] } }
const selector = { matchLabels: labels }
const metadata = { name: "web", namespace: "default" }

const objects = [
  { apiVersion: "v1", kind: "Node", metadata: { name: "one" } },
  { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: { replicas: 2, selector, template } },
  { apiVersion: "apps/v1", kind: "DaemonSet", metadata, spec: { selector, template: anywhere } },
  { apiVersion: "v1", kind: "ReplicationController", metadata, spec: { replicas: 1, selector: labels, template } },
  { apiVersion: "batch/v1", kind: "Job", metadata, spec: { template: once } }
]

const asText = (all: ReadonlyArray<object>) => JSON.stringify({ apiVersion: "v1", kind: "List", items: all })

/** Asserts that all objects that the loops create name their owner with blockOwnerDeletion, which needs the right. */
const made = [
  "deployment/web {.status.replicas} 2",
  "daemonset/web {.status.currentNumberScheduled} 1",
  "replicationcontroller/web {.status.replicas} 1",
  "job/web {.status.active} 1"
]

describe.skipIf(!hasKubectl || isMissing)("where rights over owner references are enforced", () => {
  it.live(
    "the printed roles are enough; without those over owners the refusal is logged, and retried until they are granted",
    () =>
      Effect.gen(function* () {
        const server = yield* envtest.start(["--enable-admission-plugins=OwnerReferencesPermissionEnforcement"])
        const access = { server: server.url, ca: server.ca }
        const kubectl = yield* Kubectl.make(yield* Kubeconfigs.write({ ...access, user: { token: server.token } }))
        const printed = yield* Process.run(["manifests", `--controllers=${loops}`])
        assert.strictEqual(printed.code, 0, printed.stderr)
        const roles = printed.stdout
          .split("---\n")
          .filter((text) => /^kind: (Namespace|ServiceAccount|(Cluster)?Role(Binding)?)$/m.test(text))
          .join("---\n")
        assert.include(roles, "deployments/finalizers")
        yield* kubectl("apply -f -", roles.replaceAll("/finalizers", "/nothing"))
        const token = (yield* kubectl(`create token ${name} -n ${name}`)).trim()
        const file = yield* Kubeconfigs.write({ ...access, user: { token } })
        const args = ["--kubeconfig", file, `--controllers=${loops}`, "--leader-elect=true"]
        const program = yield* Process.start(args, { POD_NAMESPACE: name })
        yield* program.says(/Starting Controller.*replicationcontroller/)
        yield* kubectl("apply -f -", asText(objects))
        yield* program.says(/replicasets\.apps .*you can't set finalizers on/)
        yield* kubectl("apply -f -", roles)
        for (const line of made) {
          const [object = "", path = "", value = ""] = line.split(" ")
          yield* kubectl(`wait --for=jsonpath=${path}=${value} ${object} --timeout=90s`)
        }
      }).pipe(Effect.scoped),
    180_000
  )
})

/**
 * A program that may not read one of the kinds that it needs, on an embedded cluster with RBAC over HTTPS: only the controllers that need the kind
 * wait, readiness has the reason, and after the right is granted they start. With strict isolation the process ends.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { Namespace, ServiceAccount } from "../../src/kube/resources.ts"
import * as Resource from "../../src/kube/Resource.ts"
import type { KubeObject } from "../../src/kube/Meta.ts"
import { EmbeddedCluster } from "../../src/apiserver/server/EmbeddedCluster.ts"
import * as Process from "../support/process.ts"
import * as Cluster from "./cluster.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

interface Bound extends KubeObject {
  readonly rules?: ReadonlyArray<object>
  readonly roleRef?: object
  readonly subjects?: ReadonlyArray<object>
}

const rbac = { group: "rbac.authorization.k8s.io", version: "v1", scope: "Cluster" } as const
const ClusterRole = Resource.make<Bound>()({ ...rbac, kind: "ClusterRole", plural: "clusterroles" })
const ClusterRoleBinding = Resource.make<Bound>()({
  ...rbac,
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings"
})

/** A cluster with RBAC, and a kubeconfig of a user with exactly the granted rights. */
const guarded = Effect.gen(function* () {
  const { endpoint, issue } = Context.get(
    yield* Layer.build(Layer.fresh(EmbeddedCluster.layer({ authorization: "RBAC" }))),
    EmbeddedCluster
  )
  const admin = yield* Cluster.client({
    server: endpoint.server,
    ca: endpoint.ca,
    token: Redacted.value(endpoint.token)
  })
  const { certificate, key } = yield* issue("limited")
  const kubeconfig = yield* Kubeconfigs.write({
    server: endpoint.server,
    ca: endpoint.ca,
    user: {
      "client-certificate-data": Buffer.from(certificate).toString("base64"),
      "client-key-data": Buffer.from(Redacted.value(key)).toString("base64")
    }
  })
  const grant = (name: string, group: string, resources: ReadonlyArray<string>, verbs: ReadonlyArray<string>) =>
    Effect.andThen(
      admin.create(ClusterRole, { metadata: { name }, rules: [{ apiGroups: [group], resources, verbs }] }),
      admin.create(ClusterRoleBinding, {
        metadata: { name },
        roleRef: { apiGroup: rbac.group, kind: "ClusterRole", name },
        subjects: [{ apiGroup: rbac.group, kind: "User", name: "limited" }]
      })
    )
  yield* grant("discovery", "", ["namespaces"], ["get", "list", "watch"])
  yield* grant("accounts", "", ["serviceaccounts"], ["get", "list", "watch", "create"])
  return { admin, kubeconfig, grant }
})

const chosen = ["--controllers=serviceaccount,podgc", "--leader-elect=false"]

/** Repeats the request of a probe until it has this response. */
const until = Effect.fnUntraced(function* (url: string, pattern: RegExp) {
  while (true) {
    const answer = yield* Effect.promise(() => fetch(url).then((response) => response.text()))
    if (pattern.test(answer)) return
    yield* Effect.sleep("50 millis")
  }
})

describe("a kind that may not be read", () => {
  it.live("delays only the controllers that need it, readiness has the reason, and granting the right is enough", () =>
    Effect.gen(function* () {
      const { admin, grant, kubeconfig } = yield* guarded
      const program = yield* Process.start([
        "--kubeconfig",
        kubeconfig,
        ...chosen,
        "--cache-sync-timeout=5s",
        "--health-probe-bind-address=127.0.0.1:0"
      ])
      const [, port] = yield* program.says(/Serving probes.*port=(\d+)/)
      yield* admin.create(Namespace, { metadata: { name: "served" } })
      yield* Cluster.until(
        admin,
        ServiceAccount,
        { namespace: "served" },
        ({ metadata }) => metadata.name === "default"
      )
      yield* program.says(/Controller waits: .*(nodes|pods) did not sync within 5s: .*forbidden.*controller=podgc/)
      yield* until(
        `http://127.0.0.1:${port}/readyz?verbose`,
        /\[-\]informer-sync failed: .*pods not synced, failed .*(list|watch) pods: .*User "limited" cannot/
      )
      yield* grant("pods", "", ["pods", "nodes"], ["get", "list", "watch"])
      yield* program.says(/Controller waits no longer.*controller=podgc/)
      yield* until(`http://127.0.0.1:${port}/readyz`, /^ok$/)
      yield* program.kill("SIGTERM")
      assert.strictEqual((yield* program.exit).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("ends the process with strict isolation", () =>
    Effect.gen(function* () {
      const { kubeconfig } = yield* guarded
      const strict = ["--cache-isolation=strict", "--cache-sync-timeout=5s"]
      const { code, stderr } = yield* Process.run(["--kubeconfig", kubeconfig, ...chosen, ...strict])
      assert.strictEqual(code, 1)
      assert.match(
        stderr,
        /^effect-controller-manager: podgc failed: .*pods did not sync within 5s: (list|watch) pods: .*User "limited" cannot .*\n$/m
      )
    }).pipe(Effect.scoped)
  )
})

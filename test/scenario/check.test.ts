/** `check` as a process: its table, its exit code, and a real server on which exactly the printed roles are enough. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Namespace, ServiceAccount } from "../../src/kube/resources.ts"
import * as Resource from "../../src/kube/Resource.ts"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import * as envtest from "../support/envtest.ts"
import * as Process from "../support/process.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

const isMissing = envtest.isMissing("check on a real API server")

const failures = (stdout: string) => stdout.split("\n").filter((line) => line.includes(" FAILED "))

describe.concurrent("check", () => {
  it.live("succeeds on the embedded cluster", () =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* Process.run(["check", "--cluster=embedded", "--leader-elect"])
      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /^CHECK +RESULT +SUBJECT +DETAIL\n/)
      assert.match(stdout, /^permissions +ok +everything +list delete deletecollection watch get patch$/m)
      assert.match(stdout, /^permissions +ok +leases.coordination.k8s.io in kube-system +get watch update create$/m)
      assert.deepStrictEqual(failures(stdout), [])
    }).pipe(Effect.scoped)
  )

  it.live("asks for the rights of secured metrics, and only about the watched namespaces", () =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* Process.run([
        "check",
        "--cluster=embedded",
        "--controllers=pod-count",
        "--metrics-secure",
        "--metrics-bind-address=127.0.0.1:0",
        "--watch-namespaces=red,blue"
      ])
      assert.strictEqual(code, 0, stderr)
      for (const subject of ["tokenreviews.authentication.k8s.io", "subjectaccessreviews.authorization.k8s.io"]) {
        assert.include(stdout.replace(/ +/g, " "), `permissions ok ${subject} create\n`)
      }
      for (const namespace of ["red", "blue"]) {
        assert.match(stdout, new RegExp(`^permissions +ok +pods in ${namespace} +(get )?list watch`, "m"))
      }
      assert.notMatch(stdout, /^permissions +ok +pods {2}/m)
    }).pipe(Effect.scoped)
  )

  it.live("reports a wrong configuration as the program itself does", () =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* Process.run(["check", "--cluster=embedded", "--controllers=nope"])
      assert.strictEqual(code, 2)
      assert.match(stderr, /^effect-controller-manager: "nope" is not a controller/)
      assert.strictEqual(stdout, "")
    }).pipe(Effect.scoped)
  )

  it.live(
    "reports that the server does not respond",
    () =>
      Effect.gen(function* () {
        const kubeconfig = yield* Kubeconfigs.write({ server: "https://127.0.0.1:1" })
        const { code, stderr, stdout } = yield* Process.run(["check", "--kubeconfig", kubeconfig, "--log-level=none"])
        assert.strictEqual(code, 1)
        assert.strictEqual(stderr, "effect-controller-manager: 1 of 2 checks failed\n")
        assert.match(
          failures(stdout)[0] ?? "",
          /^reachability +FAILED +https:\/\/127.0.0.1:1 +the API server did not answer/
        )
      }).pipe(Effect.scoped),
    30_000
  )
})

const rule = (apiGroups: string, resources: string, verbs: ReadonlyArray<string>) => ({
  apiGroups: [apiGroups],
  resources: [resources],
  verbs
})

describe.skipIf(isMissing)("check on a real API server", () => {
  it.live("finds the one permission that a service account lacks, and succeeds when it has it", () =>
    Effect.gen(function* () {
      const server = yield* envtest.start()
      const transport = yield* HttpTransport.make(server.endpoint)
      const send = (method: "POST" | "PUT", path: string, body: object) =>
        transport.send({ method, path, body, context: { verb: method.toLowerCase(), path } })
      yield* send("POST", Resource.path(Namespace), { metadata: { name: "app" } })
      yield* send("POST", Resource.path(ServiceAccount, { namespace: "app" }), { metadata: { name: "manager" } })
      const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
      const role = (nodeVerbs: ReadonlyArray<string>) => ({
        metadata: { name: "manager" },
        rules: [
          rule("", "pods", ["get", "list", "watch"]),
          rule("", "nodes", nodeVerbs),
          rule("", "events", ["create", "patch"]),
          rule("coordination.k8s.io", "leases", ["get", "watch", "update", "create"])
        ]
      })
      yield* send("POST", roles, role(["get", "list", "watch"]))
      yield* send("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
        metadata: { name: "manager" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "manager" },
        subjects: [{ kind: "ServiceAccount", namespace: "app", name: "manager" }]
      })
      const { body } = yield* send(
        "POST",
        `${Resource.path(ServiceAccount, { namespace: "app", name: "manager" })}/token`,
        { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} }
      )
      const { token } = (body as { status: { token: string } }).status
      const kubeconfig = yield* Kubeconfigs.write({ server: server.url, ca: server.ca, user: { token } })
      const check = Process.run(["check", "--kubeconfig", kubeconfig, "--leader-elect", "--log-level=none"])

      const lacking = yield* check
      assert.strictEqual(lacking.code, 1, lacking.stderr)
      assert.strictEqual(lacking.stderr, "effect-controller-manager: 1 of 10 checks failed\n")
      assert.strictEqual(failures(lacking.stdout).length, 1, lacking.stdout)
      assert.match(
        failures(lacking.stdout)[0] ?? "",
        /^permissions +FAILED +nodes +patch is not allowed(, [^(]*)? \(for pod-count\)$/
      )
      assert.notInclude(lacking.stdout + lacking.stderr, token)

      yield* send("PUT", `${roles}/manager`, role(["get", "list", "watch", "patch"]))
      const content = yield* check
      assert.strictEqual(content.code, 0, content.stdout)
      assert.deepStrictEqual(failures(content.stdout), [])
    }).pipe(Effect.scoped)
  )
})

/**
 * kubectl with the embedded server, over HTTPS: a third-party client and its daily commands. The tests check the essential part of its output, and read
 * back what it sent.
 */
import { assert, describe, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Deployment } from "../../src/kube/resources.ts"
import * as Kubectl from "./kubectl.ts"
import { Fixture } from "./fixture.ts"

if (!Kubectl.isInstalled) console.log(Kubectl.reason)

const deployment = (name: string, image = "example.test/web:1") => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, labels: { app: name } },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "web", image }] } }
  }
})

/** No node accepts it. */
const waitingPod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "waiting" },
  spec: { nodeSelector: { none: "such" }, containers: [{ name: "a", image: "example.test/a:1" }] }
}

const configMap = (name: string, data: Readonly<Record<string, string>>) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data
})

describe.skipIf(!Kubectl.isInstalled)("kubectl", () => {
  layer(Fixture.layer, { excludeTestServices: true, concurrent: true })((it) => {
    it.effect("create creates objects of every kind that it knows, in protobuf", () =>
      Effect.gen(function* () {
        const { json, ok } = yield* Kubectl.make("create")
        const create = (line: string | ReadonlyArray<string>, made: string) =>
          Effect.map(ok(typeof line === "string" ? `create ${line}` : ["create", ...line]), (text) =>
            assert.strictEqual(text, `${made} created\n`)
          )
        yield* Effect.all(
          [
            create("configmap a --from-literal=x=y --from-literal=z=", "configmap/a"),
            create("secret generic a --from-literal=user=me", "secret/a"),
            create("namespace create-2", "namespace/create-2"),
            create("serviceaccount a", "serviceaccount/a"),
            create("deployment a --image=example.test/web:1 --replicas=0 --port=80", "deployment.apps/a"),
            create("job a --image=example.test/job:1 -- sleep 1", "job.batch/a"),
            create("service clusterip a --tcp=80:http", "service/a"),
            create("quota a --hard=pods=3,cpu=500m", "resourcequota/a"),
            create("role a --verb=get,list --resource=pods,deployments.apps", "role.rbac.authorization.k8s.io/a"),
            create("rolebinding a --role=a --serviceaccount=create:a", "rolebinding.rbac.authorization.k8s.io/a"),
            create(
              "clusterrole create-a --verb=get --non-resource-url=/healthz",
              "clusterrole.rbac.authorization.k8s.io/create-a"
            ),
            create("priorityclass create-a --value=-7", "priorityclass.scheduling.k8s.io/create-a")
          ],
          { concurrency: 3, discard: true }
        )
        const [configMap, secret, deployment, job, service, quota, role, binding, priority] = yield* Effect.all(
          [
            json("configmap a"),
            json("secret a"),
            json("deployment a"),
            json("job a"),
            json("service a"),
            json("quota a"),
            json("role a"),
            json("rolebinding a"),
            json("priorityclass create-a")
          ],
          { concurrency: 3 }
        )
        assert.deepStrictEqual(configMap["data"], { x: "y", z: "" })
        assert.deepStrictEqual([secret["type"], secret["data"]], ["Opaque", { user: "bWU=" }])
        assert.include(deployment, { kind: "Deployment" })
        assert.nestedInclude(deployment, {
          "spec.replicas": 0,
          "spec.template.spec.containers[0].ports[0].containerPort": 80
        })
        assert.deepNestedInclude(job, { "spec.template.spec.containers[0].command": ["sleep", "1"] })
        assert.nestedInclude(service, { "spec.ports[0].targetPort": "http", "spec.selector.app": "a" })
        assert.deepNestedInclude(quota, { "spec.hard": { pods: "3", cpu: "500m" } })
        assert.deepStrictEqual(role["rules"], [
          { apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] },
          { apiGroups: ["apps"], resources: ["deployments"], verbs: ["get", "list"] }
        ])
        assert.deepNestedInclude(binding, { "subjects[0]": { kind: "ServiceAccount", name: "a", namespace: "create" } })
        assert.strictEqual(priority["value"], -7)
        // Older kubectl versions use versions of these kinds that no longer exist.
        if (Kubectl.minor < 21) return
        yield* create(["cronjob", "a", "--image=example.test/job:1", "--schedule=*/5 * * * *"], "cronjob.batch/a")
        assert.nestedInclude(yield* json("cronjob a"), { "spec.schedule": "*/5 * * * *" })
        yield* create("poddisruptionbudget a --selector=app=a --max-unavailable=25%", "poddisruptionbudget.policy/a")
        assert.nestedInclude(yield* json("pdb a"), { "spec.maxUnavailable": "25%" })
      })
    )

    it.effect("run, expose, wait and get follow a pod from its creation to its end", () =>
      Effect.gen(function* () {
        const { json, ok, send, start } = yield* Kubectl.make("pods")
        yield* send("create", waitingPod)
        const watch = yield* start("get pods -w -o wide")
        yield* watch.prints(/^waiting +0\/1 +Pending/m)
        yield* ok("run web --image=example.test/web:1 --port=80 --labels=app=web")
        assert.match(yield* ok("wait --for=condition=Ready pod/web"), /^pod\/web condition met$/m)
        yield* watch.prints(/^web +1\/1 +Running +0 +\d+s +10\.244\.\d+\.\d+ +worker-\d +<none> +<none>$/m)
        const { stdout } = yield* watch.stop
        assert.match(stdout, /^NAME +READY +STATUS +RESTARTS +AGE +IP +NODE +NOMINATED NODE +READINESS GATES$/m)
        assert.match(stdout, /^web +0\/1 +Pending +0 +\d+s +<none> +<none> +<none> +<none>$/m)
        yield* ok("expose pod web --port=8080 --target-port=80")
        assert.deepNestedInclude(yield* json("service web"), {
          "spec.ports": [{ port: 8080, protocol: "TCP", targetPort: 80 }],
          "spec.selector": { app: "web" }
        })
        const [, row] = Kubectl.table(yield* ok("get pods -o wide"))
        assert.include(row, { NAME: "web", READY: "1/1", STATUS: "Running" })
        assert.match(yield* ok("get pod web -o yaml"), /^apiVersion: v1\nkind: Pod\nmetadata:\n[^]*^status:\n/m)
        assert.strictEqual(yield* ok("get pods -l app=web -o name"), "pod/web\n")
        assert.strictEqual(yield* ok("get pods --field-selector=status.phase=Pending -o name"), "pod/waiting\n")
        assert.match(yield* ok("describe pod web"), /^Status: +Running$/m)
        const gone = yield* start("wait --for=delete pod/web")
        assert.strictEqual(yield* ok("delete pod web --now"), 'pod "web" deleted\n')
        assert.strictEqual((yield* gone.exit).code, 0)
      })
    )

    it.effect("apply creates, configures, leaves unchanged, and removes fields that are no longer in the file", () =>
      Effect.gen(function* () {
        const { json, send } = yield* Kubectl.make("apply")
        const first = configMap("a", { x: "1", y: "1" })
        assert.strictEqual(
          yield* send("apply", first, deployment("d")),
          "configmap/a created\ndeployment.apps/d created\n"
        )
        assert.strictEqual(
          yield* send("apply", first, deployment("d")),
          "configmap/a unchanged\ndeployment.apps/d unchanged\n"
        )
        assert.strictEqual(yield* send("apply", configMap("a", { y: "2" })), "configmap/a configured\n")
        const { data, metadata } = yield* json("configmap a")
        assert.deepStrictEqual(data, { y: "2" })
        assert.hasAnyKeys(metadata.annotations, ["kubectl.kubernetes.io/last-applied-configuration"])
        assert.strictEqual(
          yield* send("apply", deployment("d", "example.test/web:2")),
          "deployment.apps/d configured\n"
        )
        assert.nestedInclude(yield* json("deployment d"), {
          "metadata.generation": 2,
          "spec.template.spec.containers[0].image": "example.test/web:2"
        })
      })
    )

    it.effect("apply --server-side owns fields, meets conflicts and forces them", () =>
      Effect.gen(function* () {
        const { client, json, namespace, run, send } = yield* Kubectl.make("apply-server")
        // The test sends only the fields under test, which older kubectl versions report as an error.
        const line = "apply --server-side --validate=false --field-manager"
        assert.strictEqual(yield* send(`${line} one`, deployment("d")), "deployment.apps/d serverside-applied\n")
        const { metadata } = yield* client.get(Deployment, { namespace, name: "d" })
        assert.deepInclude(metadata.managedFields?.[0], {
          manager: "one",
          operation: "Apply",
          apiVersion: "apps/v1"
        })
        const other = JSON.stringify({
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata: { name: "d" },
          spec: { replicas: 5 }
        })
        const { code, stderr } = yield* run(`${line} two -f -`, { input: other })
        assert.strictEqual(code, 1)
        assert.match(stderr, /Apply failed with 1 conflict: conflict with "one": \.spec\.replicas$/m)
        const forced = yield* run(`${line} two --force-conflicts -f -`, { input: other })
        assert.strictEqual(forced.stdout, "deployment.apps/d serverside-applied\n")
        assert.nestedInclude(yield* json("deployment d"), { "spec.replicas": 5 })
      })
    )

    it.effect("diff shows what an apply would change, and changes nothing", () =>
      Effect.gen(function* () {
        const { json, run, send } = yield* Kubectl.make("diff")
        yield* send("apply", deployment("d"))
        const same = yield* run("diff -f -", { input: JSON.stringify(deployment("d")) })
        assert.deepStrictEqual([same.code, same.stdout], [0, ""])
        const other = JSON.stringify(deployment("d", "example.test/web:2"))
        const changed = yield* run("diff -f -", { input: other })
        assert.strictEqual(changed.code, 1, changed.stderr)
        assert.match(changed.stdout, /^-.*image: example.test\/web:1\n\+.*image: example.test\/web:2$/m)
        const applied = yield* run("diff --server-side --force-conflicts -f -", { input: other })
        assert.strictEqual(applied.code, 1, applied.stderr)
        assert.nestedInclude(yield* json("deployment d"), {
          "metadata.generation": 1,
          "spec.template.spec.containers[0].image": "example.test/web:1"
        })
      })
    )

    it.effect("patch and edit change the object with every type of patch", () =>
      Effect.gen(function* () {
        const { json, ok, send } = yield* Kubectl.make("patch")
        yield* send("create", deployment("d"))
        const patch = (type: string, text: string) => ok(["patch", "deployment", "d", `--type=${type}`, "-p", text])
        const sidecar = '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"example.test/side:1"}]}}}}'
        assert.strictEqual(yield* patch("strategic", sidecar), "deployment.apps/d patched\n")
        assert.strictEqual(yield* patch("strategic", sidecar), "deployment.apps/d patched (no change)\n")
        yield* patch("merge", '{"metadata":{"labels":{"tier":"front","app":null}}}')
        yield* patch("json", '[{"op":"replace","path":"/spec/replicas","value":3}]')
        const patched = yield* json("deployment d")
        assert.deepNestedInclude(patched, {
          "metadata.labels": { tier: "front" },
          "spec.replicas": 3
        })
        const names = (object: object) => JSON.stringify(object).match(/"image":"[^"]+"/g) ?? []
        assert.deepStrictEqual(names(patched), ['"image":"example.test/side:1"', '"image":"example.test/web:1"'])
        const edited = yield* ok("edit deployment d", { env: { KUBE_EDITOR: "sed -i s/side:1/side:2/" } })
        assert.strictEqual(edited, "deployment.apps/d edited\n")
        assert.include(names(yield* json("deployment d")), '"image":"example.test/side:2"')
        if (Kubectl.minor < 24) return
        yield* ok([
          "patch",
          "deployment",
          "d",
          "--subresource=status",
          "--type=merge",
          "-p",
          '{"status":{"replicas":1}}'
        ])
        assert.nestedInclude(yield* json("deployment d"), { "status.replicas": 1 })
      })
    )

    it.effect("label and annotate add, refuse to overwrite, overwrite and remove", () =>
      Effect.gen(function* () {
        const { json, ok, run, send } = yield* Kubectl.make("label")
        yield* send("create", configMap("a", {}))
        assert.strictEqual(yield* ok("label configmap a tier=front x=1"), "configmap/a labeled\n")
        const refused = yield* run("label configmap a tier=back")
        assert.strictEqual(refused.code, 1)
        assert.match(refused.stderr, /'tier' already has a value \(front\), and --overwrite is false/)
        yield* ok("label configmap a tier=back x- --overwrite")
        assert.match(yield* ok(["annotate", "configmap", "a", "note=two words"]), /^configmap\/a annotated?$/m)
        assert.deepNestedInclude(yield* json("configmap a"), {
          "metadata.labels": { tier: "back" },
          "metadata.annotations": { note: "two words" }
        })
        assert.include(Kubectl.table(yield* ok("get configmap -L tier"))[0], { NAME: "a", DATA: "0", TIER: "back" })
        assert.match(yield* ok("get configmap --show-labels"), / tier=back$/m)
      })
    )

    it.effect("scale, set image, set env and set resources change the workload and nothing else", () =>
      Effect.gen(function* () {
        const { json, ok, run, send } = yield* Kubectl.make("scale")
        yield* send("create", deployment("d"))
        assert.strictEqual(yield* ok("scale deployment d --replicas=4"), "deployment.apps/d scaled\n")
        const refused = yield* run("scale deployment d --current-replicas=2 --replicas=5")
        assert.match(refused.stderr, /Expected replicas to be 2, was 4/)
        assert.strictEqual(
          yield* ok("set image deployment/d web=example.test/web:3"),
          "deployment.apps/d image updated\n"
        )
        assert.strictEqual(yield* ok("set env deployment/d MODE=fast"), "deployment.apps/d env updated\n")
        yield* ok("set resources deployment/d --requests=cpu=100m,memory=64Mi")
        assert.deepNestedInclude(yield* json("deployment d"), {
          "metadata.generation": 5,
          "spec.replicas": 4,
          "spec.template.spec.containers[0].image": "example.test/web:3",
          "spec.template.spec.containers[0].env": [{ name: "MODE", value: "fast" }],
          "spec.template.spec.containers[0].resources": { requests: { cpu: "100m", memory: "64Mi" } }
        })
      })
    )

    it.effect("delete with each propagation policy leaves the work to the garbage collector, as finalizers", () =>
      Effect.gen(function* () {
        const { json, ok, run, send } = yield* Kubectl.make("delete")
        yield* send("create", deployment("orphan"), deployment("foreground"), deployment("background"))
        for (const [way, finalizers] of [
          ["orphan", ["orphan"]],
          ["foreground", ["foregroundDeletion"]]
        ] as const) {
          assert.strictEqual(
            yield* ok(`delete deployment ${way} --cascade=${way} --wait=false`),
            `deployment.apps "${way}" deleted\n`
          )
          const { metadata } = yield* json(`deployment ${way}`)
          assert.deepInclude(metadata, { finalizers })
          assert.property(metadata, "deletionTimestamp")
        }
        yield* ok("delete deployment background --cascade=background")
        const gone = yield* run("get deployment background")
        assert.deepStrictEqual(
          [gone.code, gone.stderr],
          [1, 'Error from server (NotFound): deployments.apps "background" not found\n']
        )
        assert.strictEqual(yield* ok("delete deployment background --ignore-not-found"), "")
        yield* send("create", configMap("a", {}), configMap("b", {}), configMap("c", {}))
        yield* ok("label configmap a b x=y")
        assert.strictEqual(yield* ok("delete configmap -l x=y"), 'configmap "a" deleted\nconfigmap "b" deleted\n')
        assert.strictEqual(yield* ok("delete configmap --all"), 'configmap "c" deleted\n')
      })
    )

    it.effect("get, create and replace report errors in the server's words", () =>
      Effect.gen(function* () {
        const { ok, run, send } = yield* Kubectl.make("errors")
        assert.strictEqual((yield* run("get pods")).stderr, "No resources found in errors namespace.\n")
        yield* send("create", configMap("a", {}))
        const again = yield* run("create configmap a")
        assert.match(again.stderr, /^[eE]rror.*: configmaps "a" already exists\n$/)
        const unknown = yield* run("get widgets")
        assert.strictEqual(unknown.stderr, 'error: the server doesn\'t have a resource type "widgets"\n')
        const nowhere = yield* run("-n nowhere create configmap a")
        assert.match(nowhere.stderr, /^[eE]rror.*: namespaces "nowhere" not found\n$/)
        const bad = yield* run("create configmap UPPER")
        assert.match(
          bad.stderr,
          /is invalid: metadata\.name: Invalid value: "UPPER": a lowercase RFC 1123 subdomain must/
        )
        const stale = { ...configMap("a", { x: "1" }), metadata: { name: "a", resourceVersion: "1" } }
        const conflict = yield* run("replace -f -", { input: JSON.stringify(stale) })
        assert.match(conflict.stderr, /^Error from server \(Conflict\): .*the object has been modified/m)
        assert.strictEqual(yield* send("replace", configMap("a", { x: "1" })), "configmap/a replaced\n")
        assert.strictEqual(yield* ok("get configmap a -o jsonpath={.data.x}"), "1")
      })
    )

    it.effect("api-resources, api-versions, version and explain read discovery and OpenAPI", () =>
      Effect.gen(function* () {
        const { ok } = yield* Kubectl.make("discovery")
        const rows = Kubectl.table(yield* ok("api-resources"))
        const deployments = rows.find((row) => row["NAME"] === "deployments")
        assert.deepStrictEqual(deployments, {
          NAME: "deployments",
          SHORTNAMES: "deploy",
          APIVERSION: "apps/v1",
          NAMESPACED: "true",
          KIND: "Deployment"
        })
        assert.include(
          rows.find((row) => row["NAME"] === "nodes"),
          { SHORTNAMES: "no", NAMESPACED: "false", APIVERSION: "v1" }
        )
        const versions = (yield* ok("api-versions")).split("\n")
        for (const version of ["v1", "apps/v1", "batch/v1", "coordination.k8s.io/v1"]) assert.include(versions, version)
        assert.match(yield* ok("version"), /^Server Version: .*v1\.\d+\./m)
        assert.strictEqual(yield* ok("get --raw /readyz"), "ok")
        const field = yield* ok("explain deployment.spec.replicas")
        assert.match(field, /^KIND: +Deployment\nVERSION: +(apps\/)?v1\n\nFIELD: +replicas <integer>$/m)
        if (Kubectl.minor < 27) return
        const pod = yield* ok("explain pods.spec --recursive")
        assert.match(pod, /^ {2}containers\t<\[\]Container> -required-\n {4}args\t<\[\]string>$/m)
      })
    )
  })
})

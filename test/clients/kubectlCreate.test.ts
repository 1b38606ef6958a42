/**
 * Every generator of kubectl's `create`, and `run`, `expose` and `autoscale`: the server accepts and defaults what they send, and the tests read it back.
 * Kinds with simple fields are in kubectl.test.ts.
 */
import { assert, describe, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { authority } from "../support/tls.ts"
import * as Kubectl from "./kubectl.ts"
import { Fixture } from "./fixture.ts"

if (!Kubectl.isInstalled) console.log(Kubectl.reason)

const created =
  ({ ok }: Kubectl.Kubectl) =>
  (line: string | ReadonlyArray<string>, made: string) =>
    Effect.map(ok(typeof line === "string" ? `create ${line}` : ["create", ...line]), (text) =>
      assert.strictEqual(text, `${made} created\n`)
    )

/** A key and its certificate, as files. */
const pair = Effect.acquireRelease(
  Effect.promise(async () => {
    const folder = await mkdtemp(join(tmpdir(), "pair-"))
    const { cert, key } = await (await authority("clients")).issue("web.example")
    await writeFile(join(folder, "tls.crt"), cert)
    await writeFile(join(folder, "tls.key"), key)
    return folder
  }),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

describe.skipIf(!Kubectl.isInstalled)("kubectl", () => {
  layer(Fixture.layer, { excludeTestServices: true, concurrent: true })((it) => {
    it.effect("create ingress: hosts, paths of both kinds, certificates, annotations, a default", () =>
      Effect.gen(function* () {
        const kubectl = yield* Kubectl.make("create-ingress")
        const create = created(kubectl)
        yield* create("ingress plain --rule=web.example/=web:80", "ingress.networking.k8s.io/plain")
        assert.deepNestedInclude(yield* kubectl.json("ingress plain"), {
          "spec.rules": [
            {
              host: "web.example",
              http: {
                paths: [{ path: "/", pathType: "Exact", backend: { service: { name: "web", port: { number: 80 } } } }]
              }
            }
          ],
          status: { loadBalancer: {} }
        })
        yield* create(
          [
            "ingress",
            "full",
            "--class=outer",
            "--rule=a.example/shop*=shop:http,tls=a-cert",
            "--rule=*.example/=any:8080",
            "--default-backend=last:80",
            "--annotation=a.example/b=c"
          ],
          "ingress.networking.k8s.io/full"
        )
        const full = yield* kubectl.json("ingress full")
        assert.deepNestedInclude(full, {
          "spec.ingressClassName": "outer",
          "spec.tls": [{ hosts: ["a.example"], secretName: "a-cert" }],
          "spec.defaultBackend": { service: { name: "last", port: { number: 80 } } },
          "spec.rules[0].http.paths[0].pathType": "Prefix",
          "spec.rules[0].http.paths[0].backend": { service: { name: "shop", port: { name: "http" } } },
          "spec.rules[1].host": "*.example"
        })
        assert.deepStrictEqual(full.metadata.annotations, { "a.example/b": "c" })
        const [row] = Kubectl.table(yield* kubectl.ok("get ingress full"))
        assert.include(row, { NAME: "full", CLASS: "outer", HOSTS: "a.example,*.example", PORTS: "80, 443" })
        const { code, stderr } = yield* kubectl.run("create ingress bad --rule=1.2.3.4/=web:80")
        assert.strictEqual(code, 1)
        assert.include(stderr, "must be a DNS name, not an IP address")
      })
    )

    it.effect("create service: each of the four types", () =>
      Effect.gen(function* () {
        const kubectl = yield* Kubectl.make("create-service")
        const create = created(kubectl)
        yield* create("service clusterip inside --tcp=5678:8080", "service/inside")
        yield* create("service clusterip headless --clusterip=None", "service/headless")
        yield* create("service nodeport nodes --tcp=80:http --node-port=30123", "service/nodes")
        yield* create("service loadbalancer outside --tcp=443", "service/outside")
        yield* create("service externalname elsewhere --external-name=db.example", "service/elsewhere")
        assert.deepNestedInclude(yield* kubectl.json("service inside"), {
          "spec.type": "ClusterIP",
          "spec.ports": [{ name: "5678-8080", port: 5678, protocol: "TCP", targetPort: 8080 }],
          "spec.selector": { app: "inside" }
        })
        assert.nestedInclude(yield* kubectl.json("service headless"), { "spec.clusterIP": "None" })
        assert.nestedInclude(yield* kubectl.json("service nodes"), {
          "spec.type": "NodePort",
          "spec.ports[0].nodePort": 30_123,
          "spec.ports[0].targetPort": "http",
          "spec.externalTrafficPolicy": "Cluster"
        })
        assert.nestedInclude(yield* kubectl.json("service outside"), {
          "spec.type": "LoadBalancer",
          "spec.allocateLoadBalancerNodePorts": true
        })
        assert.nestedInclude(yield* kubectl.json("service elsewhere"), {
          "spec.type": "ExternalName",
          "spec.externalName": "db.example"
        })
        const taken = yield* kubectl.run("create service nodeport again --tcp=80 --node-port=30123")
        assert.include(taken.stderr, "provided port is already allocated")
      })
    )

    it.effect("create secret: of each type; and a token of an account", () =>
      Effect.gen(function* () {
        const kubectl = yield* Kubectl.make("create-secret")
        const create = created(kubectl)
        const folder = yield* pair
        yield* create(`secret tls tls --cert=${folder}/tls.crt --key=${folder}/tls.key`, "secret/tls")
        yield* create(
          "secret docker-registry pull --docker-server=registry.example --docker-username=me --docker-password=x",
          "secret/pull"
        )
        yield* create(`secret generic files --from-file=${folder} --type=a.example/b`, "secret/files")
        const [tls, pull, files] = yield* Effect.all([
          kubectl.json("secret tls"),
          kubectl.json("secret pull"),
          kubectl.json("secret files")
        ])
        const keys = (secret: Kubectl.Shown) => [secret["type"], Object.keys(secret["data"] as object).sort()]
        assert.deepStrictEqual(keys(tls), ["kubernetes.io/tls", ["tls.crt", "tls.key"]])
        assert.deepStrictEqual(keys(pull), ["kubernetes.io/dockerconfigjson", [".dockerconfigjson"]])
        assert.deepStrictEqual(keys(files), ["a.example/b", ["tls.crt", "tls.key"]])
        if (Kubectl.minor < 24) return
        yield* create("serviceaccount runner", "serviceaccount/runner")
        const token = yield* kubectl.ok("create token runner --duration=20m")
        const [, claims = ""] = token.trim().split(".")
        const { sub } = JSON.parse(Buffer.from(claims, "base64url").toString())
        assert.strictEqual(sub, "system:serviceaccount:create-secret:runner")
      })
    )

    it.effect("create clusterrolebinding and clusterrole: subjects of all kinds, aggregation", () =>
      Effect.gen(function* () {
        const kubectl = yield* Kubectl.make("create-roles")
        const create = created(kubectl)
        const group = "rbac.authorization.k8s.io"
        yield* create(
          ["clusterrole", "create-roles-all", "--aggregation-rule=a.example/all=true"],
          `clusterrole.${group}/create-roles-all`
        )
        yield* create(
          "clusterrolebinding create-roles-b --clusterrole=view --user=u --group=g --serviceaccount=create-roles:s",
          `clusterrolebinding.${group}/create-roles-b`
        )
        assert.deepNestedInclude(yield* kubectl.json("clusterrole create-roles-all"), {
          "aggregationRule.clusterRoleSelectors": [{ matchLabels: { "a.example/all": "true" } }]
        })
        const binding = yield* kubectl.json("clusterrolebinding create-roles-b")
        assert.deepStrictEqual(binding["subjects"], [
          { apiGroup: group, kind: "User", name: "u" },
          { apiGroup: group, kind: "Group", name: "g" },
          { kind: "ServiceAccount", name: "s", namespace: "create-roles" }
        ])
      })
    )

    it.effect("create job --from a cron job; create quota with scopes; priority classes and budgets", () =>
      Effect.gen(function* () {
        const kubectl = yield* Kubectl.make("create-more")
        const create = created(kubectl)
        yield* create("quota best --hard=pods=3 --scopes=BestEffort", "resourcequota/best")
        assert.deepNestedInclude(yield* kubectl.json("quota best"), { "spec.scopes": ["BestEffort"], status: {} })
        const classes = "priorityclass.scheduling.k8s.io"
        yield* create(
          ["priorityclass", "create-more", "--value=9", "--preemption-policy=Never", "--description=nine"],
          `${classes}/create-more`
        )
        assert.include(yield* kubectl.json("priorityclass create-more"), {
          value: 9,
          preemptionPolicy: "Never",
          description: "nine"
        })
        const reserved = yield* kubectl.run("create priorityclass system-mine --value=9")
        assert.include(reserved.stderr, "reserved for system use only")
        // Older kubectl versions use versions of these kinds that no longer exist.
        if (Kubectl.minor < 21) return
        const every = "--schedule=*/5 * * * *"
        yield* create(["cronjob", "often", "--image=example.test/job:1", every, "--", "true"], "cronjob.batch/often")
        yield* create("job once --from=cronjob/often", "job.batch/once")
        const once = yield* kubectl.json("job once")
        assert.deepStrictEqual(once.metadata.annotations, { "cronjob.kubernetes.io/instantiate": "manual" })
        assert.deepNestedInclude(once, { "spec.template.spec.containers[0].command": ["true"] })
        yield* create("pdb few --selector=app=a --min-available=2", "poddisruptionbudget.policy/few")
        const [row] = Kubectl.table(yield* kubectl.ok("get pdb few"))
        assert.include(row, { "MIN AVAILABLE": "2", "MAX UNAVAILABLE": "N/A", "ALLOWED DISRUPTIONS": "0" })
      })
    )

    it.effect("run, expose and autoscale: from a deployment to its address and its bounds", () =>
      Effect.gen(function* () {
        const kubectl = yield* Kubectl.make("expose")
        const create = created(kubectl)
        yield* create("deployment web --image=example.test/web:1 --replicas=0 --port=8080", "deployment.apps/web")
        assert.strictEqual(
          yield* kubectl.ok("expose deployment web --type=NodePort --port=80 --target-port=8080 --name=web-nodes"),
          "service/web-nodes exposed\n"
        )
        assert.deepNestedInclude(yield* kubectl.json("service web-nodes"), {
          "spec.type": "NodePort",
          "spec.selector": { app: "web" },
          "spec.ports[0].targetPort": 8080
        })
        assert.strictEqual(
          yield* kubectl.ok("expose service web-nodes --name=web-more --port=81 --cluster-ip=None"),
          "service/web-more exposed\n"
        )
        assert.match(
          yield* kubectl.ok("autoscale deployment web --min=2 --max=5 --cpu-percent=70"),
          /^horizontalpodautoscaler.autoscaling\/web autoscaled$/m
        )
        assert.deepNestedInclude(yield* kubectl.json("hpa web"), {
          "spec.minReplicas": 2,
          "spec.maxReplicas": 5,
          "spec.metrics": [
            { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 70 } } }
          ]
        })
        const backwards = yield* kubectl.run("autoscale deployment web --name=bad --min=5 --max=2")
        assert.notStrictEqual(backwards.code, 0)
        yield* kubectl.ok([
          "run",
          "once",
          "--image=example.test/job:1",
          "--restart=Never",
          "--env=A=b",
          "--",
          "sleep",
          "1"
        ])
        const pod = yield* kubectl.json("pod once")
        assert.deepNestedInclude(pod, {
          "spec.restartPolicy": "Never",
          "spec.containers[0].args": ["sleep", "1"],
          "spec.containers[0].env": [{ name: "A", value: "b" }]
        })
        assert.deepStrictEqual(pod.metadata.labels, { run: "once" })
        const both = yield* kubectl.ok("run seen --image=example.test/web:1 --port=80 --expose")
        assert.strictEqual(both, "service/seen created\npod/seen created\n")
        assert.deepNestedInclude(yield* kubectl.json("service seen"), { "spec.selector": { run: "seen" } })
      })
    )
  })
})

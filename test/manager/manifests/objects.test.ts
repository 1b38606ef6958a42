import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Access from "../../../src/kube/Access.ts"
import { ConfigMap, Node, Pod } from "../../../src/kube/resources.ts"
import * as Result from "effect/Result"
import { manifests } from "../../../src/manager/manifests/command.ts"
import { files } from "../../../src/manager/manifests/objects.ts"
import { settings } from "../../../src/manager/manifests/settings.ts"
import * as Sources from "../../../src/manager/setting/sources.ts"
import { holders } from "../../../src/manager/permissions.ts"
import * as Webhook from "../../../src/layers/Webhook.ts"
import { askAs, layer, master } from "../../apiserver/users.ts"

const resolved = (flags: Readonly<Record<string, string>> = {}) =>
  Result.getOrThrow(Sources.resolve(settings, { flags: new Map(Object.entries(flags)), env: {} }))

const podCount = { who: "pod-count", access: [Access.read(Pod), Access.patch(Node)], isCore: false, needsLeader: true }
const deployment = { who: "deployment", access: [Access.read(Pod)], isCore: true, needsLeader: true }

const places: Readonly<Record<string, (namespace: string) => string>> = {
  Namespace: () => "/api/v1/namespaces",
  ServiceAccount: (namespace) => `/api/v1/namespaces/${namespace}/serviceaccounts`,
  Service: (namespace) => `/api/v1/namespaces/${namespace}/services`,
  ClusterRole: () => "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  ClusterRoleBinding: () => "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
  Role: (namespace) => `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`,
  RoleBinding: (namespace) => `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`,
  Deployment: (namespace) => `/apis/apps/v1/namespaces/${namespace}/deployments`,
  PodDisruptionBudget: (namespace) => `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`,
  NetworkPolicy: (namespace) => `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`
}

const where = (one: {
  readonly kind: string
  readonly metadata: { readonly namespace?: string; readonly name: string }
}) => [one.kind, one.metadata.namespace ?? "", one.metadata.name].join(" ")

/** The first object of a kind; its fields depend on the kind. */
const one = (all: ReturnType<typeof manifests>, kind: string, name: string): any =>
  all.find((found) => found.kind === kind && found.metadata.name === name)

const argsOf = (all: ReturnType<typeof manifests>): ReadonlyArray<string> => {
  const found = all.find(({ kind }) => kind === "Deployment") as any
  return found.spec.template.spec.containers[0].args
}

describe("manifests", () => {
  it("of replicas that share the work have three of them, which are replaced one by one, and may write Leases", () => {
    const name = "effect-controller-manager"
    const shared = { ...podCount, who: "shared", sharded: true }
    const all = manifests(resolved({ sharding: "true" }), [shared])
    const { replicas, strategy } = one(all, "Deployment", name).spec
    assert.deepStrictEqual([replicas, strategy.rollingUpdate], [3, { maxSurge: 0, maxUnavailable: 1 }])
    assert.strictEqual(one(all, "PodDisruptionBudget", name).spec.minAvailable, 2)
    assert.include(argsOf(all), "--sharding=true")
    const leases = (role: {
      rules: ReadonlyArray<{ resources?: ReadonlyArray<string>; verbs: ReadonlyArray<string> }>
    }) => role.rules.find(({ resources }) => resources?.includes("leases"))
    assert.sameMembers(
      [...(leases(one(all, "Role", name))?.verbs ?? [])],
      ["get", "list", "watch", "create", "update", "patch", "delete"]
    )
    const without = manifests(resolved(), [shared])
    assert.deepStrictEqual(
      [one(without, "Deployment", name).spec.replicas, one(without, "Deployment", name).spec.strategy],
      [2, undefined]
    )
    assert.notInclude(leases(one(without, "Role", `${name}-leader-election`))?.verbs ?? [], "delete")
  })

  it("of a console that others can reach have its port, a role for its readers, and the right to review their tokens", () => {
    const name = "effect-controller-manager"
    const reviews = (all: ReturnType<typeof manifests>) =>
      JSON.stringify(one(all, "ClusterRole", name).rules).includes("tokenreviews")
    const insecure = { "metrics-secure": "false" }
    for (const address of ["127.0.0.1:8082", "true", "0"]) {
      const all = manifests(resolved({ ...insecure, "console-bind-address": address }), [podCount])
      assert.isUndefined(one(all, "ClusterRole", `${name}-console-reader`), address)
      assert.isFalse(reviews(all))
    }
    const all = manifests(resolved({ ...insecure, "console-bind-address": "0.0.0.0:9000" }), [podCount])
    assert.deepStrictEqual(one(all, "ClusterRole", `${name}-console-reader`).rules, [
      { nonResourceURLs: ["/console"], verbs: ["get"] }
    ])
    assert.isTrue(reviews(all))
    const { ports } = one(all, "Deployment", name).spec.template.spec.containers[0]
    assert.deepInclude(ports, { name: "console", containerPort: 9000 })
    assert.deepInclude(one(all, "NetworkPolicy", name).spec.ingress, { ports: [{ port: "console", protocol: "TCP" }] })
    assert.include(argsOf(all), "--console-bind-address=0.0.0.0:9000")
  })

  it("are all objects that the chosen controllers need, in an order in which they can be applied", () => {
    const name = "effect-controller-manager"
    assert.deepStrictEqual(manifests(resolved(), [podCount, deployment]).map(where), [
      `Namespace  ${name}`,
      `ServiceAccount ${name} ${name}`,
      `ClusterRole  ${name}`,
      `ClusterRoleBinding  ${name}`,
      `Role ${name} ${name}-leader-election`,
      `RoleBinding ${name} ${name}-leader-election`,
      `Role kube-system ${name}-leader-election`,
      `RoleBinding kube-system ${name}-leader-election`,
      `ClusterRole  ${name}-metrics-reader`,
      `Deployment ${name} ${name}`,
      `PodDisruptionBudget ${name} ${name}`,
      `NetworkPolicy ${name} ${name}`,
      `Service ${name} ${name}-metrics`
    ])
  })

  it("follow the settings of leader election, ports and arguments", () => {
    const own = manifests(resolved({ "install-namespace": "ops", "leader-elect-resource-name": "mine" }), [podCount])
    const roles = own.filter(({ kind }) => kind === "Role") as ReadonlyArray<any>
    assert.deepStrictEqual(
      roles.map(({ metadata, rules }) => [metadata.namespace, rules]),
      [
        [
          "ops",
          [
            { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
            { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"] },
            {
              apiGroups: ["coordination.k8s.io"],
              resources: ["leases"],
              resourceNames: ["mine"],
              verbs: ["get", "watch", "update"]
            }
          ]
        ]
      ]
    )
    assert.deepStrictEqual(argsOf(own), [
      "--cluster=in-cluster",
      "--controllers=pod-count",
      "--leader-elect=true",
      "--leader-elect-resource-name=mine",
      "--metrics-bind-address=:8443",
      "--metrics-secure=true"
    ])
    const alone = manifests(resolved({ "leader-elect": "false", "metrics-bind-address": "0", kubeconfig: "/x" }), [
      podCount
    ])
    assert.notIncludeMembers(
      alone.map(({ kind }) => kind),
      ["Role", "ServiceMonitor", "Service"]
    )
    assert.deepStrictEqual(argsOf(alone), [
      "--cluster=in-cluster",
      "--controllers=pod-count",
      "--leader-elect=false",
      "--metrics-bind-address=0"
    ])
  })

  it("pass settings from the environment on to the pods, because the roles depend on them", () => {
    const env = { WATCH_NAMESPACE: "blue", KUBECONFIG: "/x", CM_CLUSTER_NAME: "demo" }
    const all = manifests(Result.getOrThrow(Sources.resolve(settings, { flags: new Map(), env })), [podCount])
    assert.includeMembers([...argsOf(all)], ["--watch-namespaces=blue", "--cluster-name=demo"])
    assert.notInclude(argsOf(all).join(" "), "kubeconfig")
    assert.includeMembers(all.map(where), [
      "ClusterRole  effect-controller-manager",
      "Role blue effect-controller-manager"
    ])
  })

  it("have for webhooks a Service, the configurations, and a mounted certificate or the permissions to create one", () => {
    const name = "effect-controller-manager"
    const workload = { name, settings, webhooks: [Webhook.defaulting(Pod, Effect.succeed), Webhook.validating(Pod)] }
    const printed = (flags: Readonly<Record<string, string>>) => manifests(resolved(flags), [podCount], workload)
    assert.deepStrictEqual(printed({}), manifests(resolved(), [podCount]))
    const on = { "skip-webhook-config": "false" }
    assert.deepStrictEqual(printed({ ...on, "webhook-port": "-1" }).length, printed({}).length)

    const kept = printed({ ...on, "webhook-self-signed": "true" })
    assert.deepStrictEqual(kept.slice(-3).map(where), [
      `Service ${name} ${name}-webhook`,
      `MutatingWebhookConfiguration  ${name}`,
      `ValidatingWebhookConfiguration  ${name}`
    ])
    const rules = (kept as ReadonlyArray<any>).flatMap((one) => one.rules ?? [])
    assert.deepInclude(rules, { apiGroups: [""], resources: ["secrets"], verbs: ["create"] })
    assert.deepInclude(rules, {
      apiGroups: [""],
      resources: ["secrets"],
      resourceNames: [`${name}-webhook-cert`],
      verbs: ["get", "update"]
    })
    assert.deepInclude(rules, {
      apiGroups: ["admissionregistration.k8s.io"],
      resources: ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
      resourceNames: [name],
      verbs: ["get", "patch"]
    })
    const podOf = (all: ReturnType<typeof manifests>) =>
      (all.find(({ kind }) => kind === "Deployment") as any).spec.template.spec
    assert.deepInclude(podOf(kept).containers[0].ports, { name: "webhooks", containerPort: 9443 })
    assert.isUndefined(podOf(kept).volumes)

    const mounted = printed({ ...on, "webhook-cert-path": "/certs" })
    assert.deepStrictEqual(podOf(mounted).volumes, [
      { name: "webhook-certificate", secret: { secretName: `${name}-webhook-cert` } }
    ])
    assert.deepStrictEqual(podOf(mounted).containers[0].volumeMounts, [
      { name: "webhook-certificate", mountPath: "/certs", readOnly: true }
    ])
    assert.notInclude(JSON.stringify((mounted as ReadonlyArray<any>).flatMap((one) => one.rules ?? [])), "secrets")
  })

  it("are valid for the given version of the server", () => {
    const versionOf = (flags: Readonly<Record<string, string>>) =>
      manifests(resolved(flags), [podCount]).find(({ kind }) => kind === "PodDisruptionBudget")?.apiVersion
    assert.deepStrictEqual(
      [versionOf({}), versionOf({ "kubernetes-version": "v1.20.2" }), versionOf({ "kubernetes-version": "1.21" })],
      ["policy/v1", "policy/v1beta1", "policy/v1"]
    )
    const wrong = Sources.resolve(settings, { flags: new Map([["kubernetes-version", "20"]]), env: {} })
    assert.isTrue(Result.isFailure(wrong))
  })

  it("as files are a base for Kustomize that names every one of them", () => {
    const all = manifests(resolved(), [podCount, deployment])
    const written = files(all)
    const base = written.at(-1)
    assert.strictEqual(base?.name, "kustomization.yaml")
    const named = (base?.documents[0] as any).resources
    assert.deepStrictEqual(
      named,
      written.slice(0, -1).map(({ name }) => name)
    )
    assert.sameMembers(
      written.slice(0, -1).flatMap(({ documents }) => documents),
      [...all]
    )
  })

  it("only a program with webhooks has the permissions that they need", () => {
    const picky = Webhook.validating(Pod, undefined, { access: [Access.list(ConfigMap)] })
    const both = Webhook.inOrder(picky, Webhook.validating(Pod, undefined, { access: [Access.get(Node)] }))
    const rules = (webhooks: ReadonlyArray<Webhook.Any>) =>
      (
        manifests(resolved(), [podCount], {
          name: "effect-controller-manager",
          settings,
          webhooks
        }) as ReadonlyArray<any>
      ).find(({ kind, metadata }) => kind === "ClusterRole" && metadata.name === "effect-controller-manager").rules
    const asked = [
      { apiGroups: [""], resources: ["configmaps"], verbs: ["list"] },
      { apiGroups: [""], resources: ["nodes"], verbs: ["get", "patch"] }
    ]
    for (const one of asked) {
      assert.deepInclude(rules([both]), one)
      assert.notDeepInclude(rules([]), one)
    }
    const [who] = holders([both])
    assert.strictEqual(who?.who, "webhook validate.pods.core")
    assert.isEmpty(holders([Webhook.validating(Pod)]))
  })

  it("controllers with their own accounts write under these, and the program may create their tokens", () => {
    const own = { ...deployment, access: [Access.read(Pod), Access.patch(Node)], account: "deployment-controller" }
    const all = manifests(resolved({ "watch-namespaces": "blue" }), [own]) as ReadonlyArray<any>
    const rules = (kind: string, name: string, namespace?: string) =>
      all.find((one) => one.kind === kind && one.metadata.name === name && one.metadata.namespace === namespace)?.rules
    const name = "effect-controller-manager"
    assert.deepStrictEqual(rules("ClusterRole", `${name}-deployment-controller`), [
      { apiGroups: [""], resources: ["nodes"], verbs: ["patch"] }
    ])
    assert.deepStrictEqual(rules("Role", name, "blue"), [
      { apiGroups: [""], resources: ["pods"], verbs: ["list", "watch"] }
    ])
    assert.deepStrictEqual(rules("Role", name, "kube-system"), [
      { apiGroups: [""], resources: ["serviceaccounts"], verbs: ["create"] },
      {
        apiGroups: [""],
        resources: ["serviceaccounts/token"],
        resourceNames: ["deployment-controller"],
        verbs: ["create"]
      }
    ])
    const binding = all.find(
      (one) => one.kind === "ClusterRoleBinding" && one.metadata.name === `${name}-deployment-controller`
    )
    assert.deepStrictEqual(binding.subjects, [
      { kind: "ServiceAccount", name: "deployment-controller", namespace: "kube-system" }
    ])
  })

  it("an account that controllers share has the permissions of all of them", () => {
    const own = { ...deployment, access: [Access.patch(Node)], account: "node-controller" }
    const other = { ...own, who: "taint-eviction", access: [Access.patch(Pod)] }
    const all = manifests(resolved(), [own, other])
    const roles = all.filter(
      ({ kind, metadata }) => kind === "ClusterRole" && metadata.name.endsWith("-node-controller")
    )
    assert.deepStrictEqual(
      (roles as ReadonlyArray<any>).map(({ rules }) => rules),
      [[{ apiGroups: [""], resources: ["nodes", "pods"], verbs: ["patch"] }]]
    )
  })

  it("secure metrics come with a role to read them and the permission to send reviews", () => {
    const all = manifests(resolved(), [podCount])
    const name = "effect-controller-manager"
    assert.includeMembers([...argsOf(all)], ["--metrics-bind-address=:8443", "--metrics-secure=true"])
    assert.deepStrictEqual(one(all, "Service", `${name}-metrics`).spec.ports, [
      { name: "metrics", port: 8443, targetPort: "metrics" }
    ])
    assert.deepStrictEqual(one(all, "ClusterRole", `${name}-metrics-reader`).rules, [
      { nonResourceURLs: ["/metrics"], verbs: ["get"] }
    ])
    assert.deepInclude(one(all, "ClusterRole", name).rules, {
      apiGroups: ["authentication.k8s.io"],
      resources: ["tokenreviews"],
      verbs: ["create"]
    })
  })

  it("metrics are reached only from namespaces with the label that kubebuilder's policy asks for", () => {
    const from = [{ namespaceSelector: { matchLabels: { metrics: "enabled" } } }]
    const rule = { from, ports: [{ port: "metrics", protocol: "TCP" }] }
    const policy = (flags: Readonly<Record<string, string>>) =>
      one(manifests(resolved(flags), [podCount]), "NetworkPolicy", "effect-controller-manager").spec.ingress
    assert.deepStrictEqual(policy({}), [rule])
    assert.deepStrictEqual(policy({ "metrics-secure": "false", "metrics-bind-address": "0.0.0.0:8080" }), [rule])
  })

  it("plain metrics without an address stay on loopback: no port, no Service, no NetworkPolicy rule", () => {
    const name = "effect-controller-manager"
    for (const flags of [
      { "metrics-secure": "false" },
      { "metrics-secure": "false", "metrics-bind-address": ":8080" },
      { "metrics-bind-address": "127.0.0.1:8443" },
      { "metrics-bind-address": "[::1]:8443" },
      { "metrics-bind-address": "localhost:8443" }
    ]) {
      const all = manifests(resolved(flags), [podCount])
      assert.notInclude(all.map(where), `Service ${name} ${name}-metrics`)
      assert.deepStrictEqual(one(all, "NetworkPolicy", name).spec.ingress, [])
      assert.notInclude(JSON.stringify(one(all, "Deployment", name)), 'containerPort":8080')
    }
    assert.notInclude(argsOf(manifests(resolved({ "metrics-secure": "false" }), [podCount])).join(" "), ":8443")
    const plain = manifests(resolved({ "metrics-secure": "false", "metrics-bind-address": "0.0.0.0:8080" }), [podCount])
    assert.strictEqual(one(plain, "Service", `${name}-metrics`).spec.ports[0].port, 8080)
    assert.notInclude(JSON.stringify(plain), "tokenreviews")
    assert.notInclude(JSON.stringify(plain), "https")
  })

  it("a ServiceMonitor is included on request, and sends its token only to a verified server", () => {
    const name = "effect-controller-manager"
    const monitor = (flags: Readonly<Record<string, string>>) =>
      one(
        manifests(resolved({ "service-monitor": "true", "install-namespace": "ops", ...flags }), [podCount]),
        "ServiceMonitor",
        name
      ).spec.endpoints
    assert.deepStrictEqual(monitor({}), [
      {
        port: "metrics",
        path: "/metrics",
        scheme: "https",
        bearerTokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token",
        tlsConfig: {
          ca: { secret: { name: `${name}-metrics-cert`, key: "ca.crt" } },
          serverName: `${name}-metrics.ops.svc`
        }
      }
    ])
    assert.deepStrictEqual(monitor({ "metrics-cert-path": "/certs" }), monitor({}))
    assert.deepStrictEqual(monitor({ "metrics-secure": "false", "metrics-bind-address": "0.0.0.0:8080" }), [
      { port: "metrics", path: "/metrics" }
    ])
  })

  it("the pods mount the certificate that a ServiceMonitor verifies, at the path of their flags", () => {
    const mountsOf = (flags: Readonly<Record<string, string>>) => {
      const all = manifests(resolved(flags), [podCount])
      const { containers, volumes } = one(all, "Deployment", "effect-controller-manager").spec.template.spec
      const told = argsOf(all).filter((arg) => arg.startsWith("--metrics-cert-path"))
      return { told, mounted: containers[0].volumeMounts, volumes }
    }
    const secret = { secretName: "effect-controller-manager-metrics-cert" }
    const at = (mountPath: string) => ({
      told: [`--metrics-cert-path=${mountPath}`],
      mounted: [{ name: "metrics-certificate", mountPath, readOnly: true }],
      volumes: [{ name: "metrics-certificate", secret }]
    })
    assert.deepStrictEqual(mountsOf({ "service-monitor": "true" }), at("/etc/metrics-certificate"))
    assert.deepStrictEqual(mountsOf({ "metrics-cert-path": "/certs" }), at("/certs"))
    assert.deepStrictEqual(mountsOf({}), { told: [], mounted: undefined, volumes: undefined })
    assert.deepStrictEqual(mountsOf({ "service-monitor": "true", "metrics-secure": "false" }), mountsOf({}))
  })

  it.effect("are accepted by an API server, and grant what the controllers declare", () =>
    Effect.gen(function* () {
      const all = manifests(resolved(), [podCount, deployment])
      for (const one of all) {
        const place = places[one.kind]?.(one.metadata.namespace ?? "") ?? ""
        const { body, status } = yield* askAs(master, "POST", `${place}?fieldValidation=Strict`, one)
        assert.strictEqual(status, 201, `${where(one)}: ${body.message}`)
      }
      const name = "effect-controller-manager"
      const account = { name: `system:serviceaccount:${name}:${name}`, groups: ["system:authenticated"] }
      const status = (method: string, path: string, body?: object) =>
        Effect.map(askAs(account, method, path, body), (reply) => reply.status)
      const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
      assert.deepStrictEqual(
        [
          yield* status("GET", "/api/v1/pods"),
          yield* status("DELETE", "/api/v1/namespaces/default/pods/x"),
          yield* status("GET", `${leases}/kube-controller-manager`),
          yield* status("GET", `${leases}/kube-scheduler`),
          yield* status("GET", "/api/v1/secrets")
        ],
        [200, 403, 404, 403, 403]
      )
    }).pipe(Effect.provide(layer()))
  )
})

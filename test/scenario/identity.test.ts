/**
 * The user and the user agent of requests, from the server's audit log: every controller has a user agent of its own, and with service accounts a
 * user of its own, with exactly the rights of that account.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { parse } from "yaml"
import { Namespace, Node, Pod, ServiceAccount } from "../../src/kube/resources.ts"
import { EmbeddedCluster } from "../../src/apiserver/server/EmbeddedCluster.ts"
import * as Process from "../support/process.ts"
import * as Cluster from "./cluster.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

const started = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const cluster = Context.get(
    // Most cases are about the identity, not about rights; the last case is about rights.
    yield* Layer.build(
      Layer.fresh(EmbeddedCluster.layer({ authorization: "AlwaysAllow", audit: { capacity: 10_000 } }))
    ),
    EmbeddedCluster
  )
  const { ca, server, token } = cluster.endpoint
  const upstream = { server, ca, token: Redacted.value(token) }
  const client = yield* Cluster.client(upstream)
  const kubeconfig = yield* Kubeconfigs.write({ server, ca, user: { token: upstream.token } })
  yield* Cluster.addNode(client)
  yield* Process.start([
    "--kubeconfig",
    kubeconfig,
    "--controllers=pod-count,serviceaccount",
    "--leader-elect=false",
    ...args
  ])
  yield* client.create(Namespace, { metadata: { name: "mine" } })
  yield* Cluster.until(client, ServiceAccount, { namespace: "mine" }, ({ metadata }) => metadata.name === "default")
  yield* Cluster.until(client, Node, {}, ({ metadata }) => metadata.labels?.[Cluster.label] !== undefined)
  return (yield* cluster.audit).filter(({ userAgent }) => userAgent.startsWith("effect-controller-manager/"))
})

const agents = { "serviceaccounts create": "serviceaccount", "nodes patch": "pod-count" }

describe("every controller", () => {
  it.live("asks under a name of its own", () =>
    Effect.gen(function* () {
      const asked = yield* started()
      for (const [what, name] of Object.entries(agents)) {
        const [resource, verb] = what.split(" ")
        const writes = asked.filter((entry) => entry.resource === resource && entry.verb === verb)
        assert.isNotEmpty(writes, what)
        for (const { userAgent } of writes)
          assert.match(userAgent, new RegExp(`^effect-controller-manager/\\S+ ${name}$`))
      }
      // Shared informers have the user agent of the program.
      const watches = asked.filter((entry) => entry.verb === "watch" && entry.resource === Pod.plural)
      assert.isNotEmpty(watches)
      for (const { userAgent } of watches) assert.match(userAgent, /^effect-controller-manager\/\S+$/)
    }).pipe(Effect.scoped)
  )

  it.live("writes as an account of its own with --use-service-account-credentials", () =>
    Effect.gen(function* () {
      const asked = yield* started("--use-service-account-credentials")
      const users = (resource: string, verb: string, namespace = "") => [
        ...new Set(
          asked
            .filter((entry) => entry.resource === resource && entry.verb === verb && entry.subresource === "")
            .filter((entry) => namespace === "" || entry.namespace === namespace)
            .map(({ user }) => user)
        )
      ]
      assert.deepStrictEqual(users("nodes", "patch"), ["system:serviceaccount:kube-system:pod-count"])
      assert.deepStrictEqual(users("serviceaccounts", "create", "mine"), [
        "system:serviceaccount:kube-system:service-account-controller"
      ])
      const accounts = asked.filter((entry) => entry.subresource === "token" && entry.allowed)
      assert.sameMembers([...new Set(accounts.map(({ name }) => name))], ["pod-count", "service-account-controller"])
    }).pipe(Effect.scoped)
  )

  it.live(
    "needs exactly the rights that manifests prints for that: nothing is denied, and no account has another's rights",
    () =>
      Effect.gen(function* () {
        const cluster = Context.get(
          yield* Layer.build(
            Layer.fresh(EmbeddedCluster.layer({ authorization: "RBAC", audit: { capacity: 10_000 } }))
          ),
          EmbeddedCluster
        )
        const { ca, server, token } = cluster.endpoint
        const client = yield* Cluster.client({ server, ca, token: Redacted.value(token) })
        const flags = [
          "--controllers=pod-count,serviceaccount",
          "--leader-elect=false",
          "--use-service-account-credentials"
        ]
        const printed = yield* Process.run(["manifests", ...flags])
        assert.strictEqual(printed.code, 0, printed.stderr)
        yield* Effect.forEach(parseAll(printed.stdout), (object) => create(client, object), { discard: true })
        const name = "effect-controller-manager"
        const path = `/api/v1/namespaces/${name}/serviceaccounts/${name}/token`
        const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} }
        const answer = yield* client.raw({ method: "POST", path, body, context: { verb: "create", path } })
        const { status } = answer.body as { readonly status: { readonly token: string } }
        const kubeconfig = yield* Kubeconfigs.write({ server, ca, user: { token: status.token } })
        yield* Cluster.addNode(client)
        yield* Process.start(["--kubeconfig", kubeconfig, ...flags])
        yield* client.create(Namespace, { metadata: { name: "mine" } })
        yield* Cluster.until(
          client,
          ServiceAccount,
          { namespace: "mine" },
          ({ metadata }) => metadata.name === "default"
        )
        yield* Cluster.labelled(client, 0)
        const asked = (yield* cluster.audit).filter(({ user }) => user.startsWith("system:serviceaccount:"))
        assert.deepStrictEqual(
          asked.filter(({ allowed }) => !allowed).map(({ path: denied, user, verb }) => `${user} ${verb} ${denied}`),
          []
        )
        const writers = asked.filter(({ resource, verb }) => resource === "nodes" && verb === "patch")
        assert.isNotEmpty(writers)
        for (const { user } of writers) assert.strictEqual(user, "system:serviceaccount:kube-system:pod-count")
      }).pipe(Effect.scoped)
  )
})

interface Printed {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

const parseAll = (text: string): ReadonlyArray<Printed> =>
  text
    .split("---\n")
    .map((one) => parse(one) as Printed)
    .filter(({ kind }) => kind in plurals)

/** The parts of a right. */
const plurals: Readonly<Record<string, string>> = {
  Namespace: "namespaces",
  ServiceAccount: "serviceaccounts",
  ClusterRole: "clusterroles",
  ClusterRoleBinding: "clusterrolebindings",
  Role: "roles",
  RoleBinding: "rolebindings"
}

const create = (client: Cluster.Client, object: Printed) => {
  const { namespace } = object.metadata
  const root = object.apiVersion === "v1" ? "/api/v1" : `/apis/${object.apiVersion}`
  const path = `${root}${namespace === undefined ? "" : `/namespaces/${namespace}`}/${plurals[object.kind]}`
  return client.raw({ method: "POST", path, body: object, context: { verb: "create", path } })
}

/**
 * The core loops in place of kube-controller-manager on a cluster with its initial roles: a real API server with RBAC, the program as the user
 * `system:kube-controller-manager`, and only the rights that the server grants by itself. A user gives every loop something to do; the
 * server's audit log shows that nothing was denied. Needs `KUBEBUILDER_ASSETS` and kubectl.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Cache } from "../../src/layers/Cache.ts"
import { Endpoint } from "../../src/layers/Endpoint.ts"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Nodes from "../../src/simulation/Nodes.ts"
import { covers, type Permission } from "../../src/manager/permissions.ts"
import * as Stock from "../parity/stockPolicy.ts"
import * as envtest from "../support/envtest.ts"
import * as Kubectl from "../support/kubectl.ts"
import * as Process from "../support/process.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"
import { workloads } from "./stockRoles.ts"

const missing = envtest.missing ?? (Process.has("kubectl") ? undefined : "there is no kubectl on PATH")
if (missing !== undefined) process.stderr.write(`stock roles skipped: ${missing}\n`)

const user = "system:kube-controller-manager"

/** The user and the resource of a request, and the code of the response. */
const policy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived", "ResponseStarted"],
  rules: [
    { level: "Metadata", users: [user] },
    { level: "Metadata", userGroups: ["system:serviceaccounts:kube-system"] },
    { level: "None" }
  ]
}

/** Source: audit.k8s.io/v1 Event. */
interface Asked {
  readonly verb: string
  readonly user: { readonly username: string }
  readonly objectRef?: {
    readonly apiGroup?: string
    readonly resource: string
    readonly subresource?: string
    readonly name?: string
  }
  readonly annotations?: Readonly<Record<string, string>>
}

/** A server that knows the user, and its requests until now. */
const cluster = Effect.gen(function* () {
  const folder = yield* Process.folder
  const files = { policy: join(folder, "policy.json"), log: join(folder, "log") }
  writeFileSync(files.policy, JSON.stringify(policy))
  writeFileSync(files.log, "")
  const server = yield* envtest.start(
    [`--audit-policy-file=${files.policy}`, `--audit-log-path=${files.log}`, "--feature-gates=TTLAfterFinished=true"],
    [{ token: "manager", name: user }]
  )
  const asked = Effect.sync(() =>
    readFileSync(files.log, "utf8")
      .split("\n")
      // The last line may still be written.
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Asked)
  )
  yield* machines(server)
  return { server, asked, kubectl: yield* Kubectl.make(yield* kubeconfigOf(server, server.token)) }
})

const kubeconfigOf = ({ ca, url }: envtest.RealServer, token: string) =>
  Kubeconfigs.write({ server: url, ca, user: { token } })

/** Simulated machines, for as long as the scope is open. */
const machines = ({ endpoint }: envtest.RealServer) =>
  Layer.build(
    Nodes.layer({ delays: { start: 20, stop: 20 } }).pipe(
      Layer.provide(Cache.layer()),
      Layer.provide(KubeClient.layer),
      Layer.provide(HttpTransport.layer),
      Layer.provide(Layer.succeed(Endpoint, endpoint))
    )
  )

const loops = [
  "serviceaccount-token,serviceaccount,root-ca-cert-publisher,namespace,garbagecollector,podgc,deployment,replicaset",
  "replicationcontroller,daemonset,statefulset,job,ttl-after-finished,endpoint,endpointslice,nodelifecycle,taint-eviction,resourcequota"
].join(",")

const isDenied = ({ annotations }: Asked) => annotations?.["authorization.k8s.io/decision"] === "forbid"

const accountOf = ({ user: { username } }: Asked) => username.split(":").at(-1) ?? ""

const permissionOf = ({ objectRef, user: { username }, verb }: Asked): Permission => ({
  verb,
  group: objectRef?.apiGroup ?? "",
  resource: objectRef?.resource ?? "",
  subresource: objectRef?.subresource ?? "",
  namespace: "",
  name: objectRef?.name ?? "",
  needed: [username]
})

/** The rules that the roles of 1.36 have, and those of an older server do not. */
const isLater = (one: Asked) =>
  Stock.ofAccount(accountOf(one))?.some((held) => covers(held, permissionOf(one))) === true

const say = ({ objectRef, user: { username }, verb }: Asked) =>
  `${verb} ${objectRef?.resource}${objectRef?.subresource === undefined ? "" : `/${objectRef.subresource}`} as ${username}`

/** Runs the program as the user, has every loop work, and asserts that nothing is refused. */
const play = Effect.fnUntraced(function* (
  prepare: (kubectl: Kubectl.Kubectl) => Effect.Effect<void>,
  commandLine: (files: Files) => ReadonlyArray<string>
) {
  const { asked, kubectl, server } = yield* cluster
  yield* prepare(kubectl)
  const kubeconfig = yield* kubeconfigOf(server, "manager")
  const program = yield* Process.start([
    ...commandLine({ kubeconfig, key: server.tokenKey }),
    "--node-startup-grace-period=2s"
  ])
  yield* workloads(kubectl)
  const all = yield* asked
  const refused = all.filter(isDenied).filter((one) => !isLater(one))
  assert.deepStrictEqual([...new Set(refused.map(say))], [], program.said())
  return all
})

interface Files {
  readonly kubeconfig: string
  readonly key: string
}

/** The command line that kubeadm writes into the static pod, except the port. Source: kubeadm's app/phases/controlplane. */
const kubeadm = ({ kubeconfig, key }: Files) => [
  "kube-controller-manager",
  "--allocate-node-cidrs=true",
  `--authentication-kubeconfig=${kubeconfig}`,
  `--authorization-kubeconfig=${kubeconfig}`,
  "--bind-address=127.0.0.1",
  "--client-ca-file=/etc/kubernetes/pki/ca.crt",
  "--cluster-cidr=10.244.0.0/16",
  "--cluster-name=kubernetes",
  "--cluster-signing-cert-file=/etc/kubernetes/pki/ca.crt",
  "--cluster-signing-key-file=/etc/kubernetes/pki/ca.key",
  "--controllers=*,bootstrapsigner,tokencleaner",
  `--kubeconfig=${kubeconfig}`,
  "--leader-elect=true",
  "--requestheader-client-ca-file=/etc/kubernetes/pki/front-proxy-ca.crt",
  `--service-account-private-key-file=${key}`,
  "--service-cluster-ip-range=10.96.0.0/12",
  "--use-service-account-credentials=true",
  "--secure-port=0"
]

/** For a manager that runs all loops as one user: the role of each loop is bound to it too. Source: kubernetes.io, RBAC, controller roles. */
const bindAll = (kubectl: Kubectl.Kubectl) =>
  Effect.gen(function* () {
    const roles = yield* kubectl("get clusterroles -o name")
    for (const [, name] of roles.matchAll(/\/(system:controller:\S+)/g))
      yield* kubectl(`create clusterrolebinding manager:${name} --clusterrole=${name} --user=${user}`)
  })

describe.skipIf(missing !== undefined).concurrent("with the rights that a cluster grants by itself", () => {
  it.live(
    "every loop does its work as its own service account, with the command line that kubeadm writes",
    () =>
      Effect.gen(function* () {
        const all = yield* play(() => Effect.void, kubeadm)
        assert.includeMembers(
          [...new Set(all.map(accountOf))],
          ["deployment-controller", "generic-garbage-collector", "node-controller"]
        )
      }).pipe(Effect.scoped),
    400_000
  )

  it.live(
    "every loop does its work as one user who has the roles of all loops",
    () =>
      play(bindAll, ({ kubeconfig, key }) => [
        "--kubeconfig",
        kubeconfig,
        `--controllers=${loops}`,
        `--service-account-private-key-file=${key}`
      ]).pipe(Effect.scoped),
    400_000
  )
})

/**
 * The subcommands as processes: the embedded API server alone, and simulated nodes in the cluster of a kubeconfig. They print how to reach them in one
 * line of standard output, stop on a signal with code 0, and leave no files.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { chmod, readdir, readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import type { Draft, KubeObject } from "../../src/kube/Meta.ts"
import * as Resource from "../../src/kube/Resource.ts"
import { ConfigMap, Namespace, Node, Pod, ServiceAccount } from "../../src/kube/resources.ts"
import * as Cluster from "../scenario/cluster.ts"
import * as Kubeconfigs from "../scenario/kubeconfigs.ts"
import * as Process from "../support/process.ts"

const ready = /^export KUBECONFIG=(\S+)$/m

const stop = Effect.fnUntraced(function* (running: Process.Running, signal: NodeJS.Signals) {
  yield* running.kill(signal)
  const exited = yield* running.exit
  assert.strictEqual(exited.code, 0, exited.stderr)
  const lines = exited.stderr.split("\n").slice(0, -1)
  assert.isTrue(
    lines.every((line) => line.includes(" level=INFO ")),
    exited.stderr
  )
  return exited
})

/** Everything that kube-apiserver has at its start, and nothing that a controller would create. */
const isBare = Effect.fnUntraced(function* (client: Cluster.Client) {
  const { items } = yield* client.list(Namespace)
  const names = items.map(({ metadata }) => metadata.name)
  assert.sameMembers(names, ["default", "kube-system", "kube-public", "kube-node-lease"])
  assert.deepStrictEqual((yield* client.list(ConfigMap)).items, [])
  assert.deepStrictEqual((yield* client.list(Pod)).items, [])
})

const nodesOf = (client: Cluster.Client) =>
  Effect.map(client.list(Node), ({ items }) =>
    items.map(({ metadata, status }) => [
      metadata.name,
      status?.conditions?.find(({ type }) => type === "Ready")?.status
    ])
  )

const ClusterRole = Resource.make<KubeObject>()({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "ClusterRole",
  plural: "clusterroles",
  scope: "Cluster"
})

/** A new account, and a token of it. */
const tokenOf = Effect.fnUntraced(function* (client: Cluster.Client, target: { name: string; namespace: string }) {
  yield* client.create(ServiceAccount, { metadata: target })
  const { status } = (yield* client.create(
    ServiceAccount,
    // A TokenRequest, which this endpoint accepts in place of an account.
    { metadata: { name: target.name }, spec: {} } as Draft<ServiceAccount>,
    { namespace: target.namespace, subresource: "token" }
  )) as unknown as { readonly status: { readonly token: string } }
  return status
})

describe.concurrent("apiserver", () => {
  it.live("authorizes by RBAC when the flag is set", () =>
    Effect.gen(function* () {
      const server = yield* Process.start(["apiserver", "--authorization-mode=RBAC"])
      const [, path = ""] = yield* server.says(ready)
      const client = yield* Cluster.client(yield* Cluster.accessIn(path))
      const { metadata } = yield* client.get(ClusterRole, { name: "cluster-admin" })
      assert.strictEqual(metadata.labels?.["kubernetes.io/bootstrapping"], "rbac-defaults")
      yield* stop(server, "SIGTERM")
    }).pipe(Effect.scoped)
  )

  it.live("writes an audit log for other programs: who sent which request, and its result", () =>
    Effect.gen(function* () {
      const file = join(yield* Process.folder, "audit.jsonl")
      const server = yield* Process.start(["apiserver", "--authorization-mode=RBAC", "--audit-log-path", file])
      const [, path = ""] = yield* server.says(ready)
      const client = yield* Cluster.client(yield* Cluster.accessIn(path))
      yield* Cluster.addPod(client, "a")
      yield* Effect.flip(client.get(Pod, { namespace: "default", name: "none" }))
      const { token } = yield* tokenOf(client, { name: "robot", namespace: "default" })
      const robot = yield* Cluster.client({ ...(yield* Cluster.accessIn(path)), token })
      yield* Effect.flip(robot.delete(Pod, { namespace: "default", name: "a" }))
      yield* stop(server, "SIGTERM")
      assert.strictEqual((yield* Effect.promise(() => stat(file))).mode & 0o777, 0o600)
      const text = yield* Effect.promise(() => readFile(file, "utf8"))
      assert.notInclude(text, token)
      const events = text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
      const pods = events.filter(({ objectRef }) => objectRef?.resource === "pods")
      assert.deepStrictEqual(
        pods.map(({ annotations, objectRef, responseStatus, user, verb }) => [
          user.username,
          verb,
          objectRef.name,
          responseStatus.code,
          annotations["authorization.k8s.io/decision"],
          annotations["effect-controller-manager/changed"]
        ]),
        [
          ["admin", "create", "a", 201, "allow", "true"],
          ["admin", "get", "none", 404, "allow", "false"],
          ["system:serviceaccount:default:robot", "delete", "a", 403, "forbid", "false"]
        ]
      )
      assert.strictEqual(new Set(events.map(({ auditID }) => auditID)).size, events.length)
    }).pipe(Effect.scoped)
  )

  it.live("with an audit log path that cannot be written ends with code 1 and one line", () =>
    Effect.gen(function* () {
      const file = join(yield* Process.folder, "none", "audit.jsonl")
      const { code, stderr } = yield* Process.run(["apiserver", "--audit-log-path", file])
      assert.strictEqual(code, 1)
      assert.match(stderr, /^effect-controller-manager: cannot write the audit log: .*\/none\/audit.jsonl.*\n$/)
    }).pipe(Effect.scoped)
  )

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    it.live(`serves a bare API until ${signal}`, () =>
      Effect.gen(function* () {
        const running = yield* Process.start(["apiserver"])
        const [line, path = ""] = yield* running.says(ready)
        assert.strictEqual((yield* Effect.promise(() => stat(path))).mode & 0o777, 0o600)
        const client = yield* Cluster.client(yield* Cluster.accessIn(path))
        yield* isBare(client)
        assert.deepStrictEqual(yield* nodesOf(client), [])
        const { stdout } = yield* stop(running, signal)
        assert.strictEqual(stdout, `${line}\n`)
        assert.deepStrictEqual(yield* Effect.promise(() => readdir(running.temporary)), [])
      }).pipe(Effect.scoped)
    )
  }

  it.live("writes the kubeconfig to the given path, prints it for any shell, and removes it again", () =>
    Effect.gen(function* () {
      const directory = join(yield* Process.folder, "it's here")
      const running = yield* Process.start(["apiserver", "--directory", directory])
      const [, quoted] = yield* running.says(/^export KUBECONFIG=('.*')$/m)
      assert.strictEqual(quoted, `'${directory.replace("'", String.raw`'\''`)}/kubeconfig'`)
      yield* isBare(yield* Cluster.client(yield* Cluster.accessIn(join(directory, "kubeconfig"))))
      yield* stop(running, "SIGINT")
      assert.isFalse(existsSync(join(directory, "kubeconfig")))
    }).pipe(Effect.scoped)
  )

  it.live("refuses a directory in which others could replace the kubeconfig", () =>
    Effect.gen(function* () {
      const directory = yield* Process.folder
      yield* Effect.promise(() => chmod(directory, 0o777))
      const { code, stderr, stdout } = yield* Process.run(["apiserver", "--directory", directory])
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(stderr, /^effect-controller-manager: cannot use the directory for the kubeconfig: .* by others/m)
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(directory)), [])
    }).pipe(Effect.scoped)
  )

  it.live("with --nodes has ready ones that run pods when it prints that it is up", () =>
    Effect.gen(function* () {
      const running = yield* Process.start(["apiserver", "--nodes=2"])
      const [, path = ""] = yield* running.says(ready)
      const client = yield* Cluster.client(yield* Cluster.accessIn(path))
      assert.deepStrictEqual(yield* nodesOf(client), [
        ["control-plane", "True"],
        ["worker-1", "True"]
      ])
      yield* Cluster.addPod(client, "a")
      const { spec } = yield* Cluster.until(client, Pod, {}, ({ status }) => status?.phase === "Running")
      assert.strictEqual(spec?.nodeName, "worker-1")
      yield* stop(running, "SIGINT")
    }).pipe(Effect.scoped)
  )

  it.live("on a port that is in use ends with code 1 and one line", () =>
    Effect.gen(function* () {
      const { server } = yield* Cluster.embedded
      const port = new URL(server).port
      const { code, stderr, stdout } = yield* Process.run(["apiserver", `--port=${port}`])
      assert.strictEqual(code, 1)
      assert.strictEqual(stdout, "")
      assert.match(stderr, new RegExp(`^effect-controller-manager: port ${port} on 127.0.0.1 is already in use: .*\n$`))
    }).pipe(Effect.scoped)
  )
})

describe.concurrent("nodes", () => {
  it.live("joins a cluster, runs its pods, and stops on a signal", () =>
    Effect.gen(function* () {
      const upstream = yield* Cluster.embedded
      const client = yield* Cluster.client(upstream)
      const kubeconfig = yield* Kubeconfigs.write({ ...upstream, user: { token: upstream.token } })
      const running = yield* Process.start(["nodes", "--kubeconfig", kubeconfig, "--count=1"])
      yield* running.says(/^1 simulated node is ready$/m)
      assert.deepStrictEqual(yield* nodesOf(client), [["worker-1", "True"]])
      yield* Cluster.addPod(client, "a")
      yield* Cluster.until(client, Pod, {}, ({ status }) => status?.phase === "Running")
      yield* stop(running, "SIGTERM")
    }).pipe(Effect.scoped)
  )

  it.live("without a cluster ends with code 1 and one line", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* Process.run(["nodes", "--kubeconfig", "/nonexistent"])
      assert.strictEqual(code, 1)
      assert.match(stderr, /^effect-controller-manager: .*\/nonexistent.*\n$/)
    }).pipe(Effect.scoped)
  )
})

describe.concurrent("commands", () => {
  it.live("are in the help, and an error in their flags is printed in one line", () =>
    Effect.gen(function* () {
      const help = yield* Process.run(["--help"])
      assert.match(help.stdout, /^ {2}apiserver +\S.*\n {2}nodes +\S/m)
      const own = yield* Process.run(["apiserver", "--help"])
      assert.strictEqual(own.code, 0)
      for (const flag of ["port", "directory", "nodes"]) assert.match(own.stdout, new RegExp(`^ {2}--${flag} `, "m"))
      for (const args of [
        ["apiserver", "--port=x"],
        ["apiserver", "--nodes=255"],
        ["nodes", "--count=-1"],
        ["apiservr"]
      ]) {
        const { code, stderr, stdout } = yield* Process.run(args)
        assert.strictEqual(code, 2)
        assert.strictEqual(stdout, "")
        assert.match(stderr, /^effect-controller-manager: .*; see --help\n$/)
      }
    }).pipe(Effect.scoped)
  )
})

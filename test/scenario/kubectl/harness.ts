/**
 * Where kubectl scenarios run: the embedded cluster, where one process is everything, and a real kube-apiserver, where the loops and the machines are two
 * ordinary clients of it. A scenario gets kubectl in a namespace of its own, and the version of the server.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as Kubectl from "../../clients/kubectl.ts"
import { Fixture } from "../../clients/fixture.ts"
import * as envtest from "../../support/envtest.ts"
import * as Process from "../../support/process.ts"
import * as Kubeconfigs from "../kubeconfigs.ts"

/** A scenario leaves out the fields and kinds that an old server does not store. */
export type Server = "present" | "1.20"

export interface Cluster {
  /** Its path. */
  readonly kubeconfig: string
  readonly server: Server
}

export type Scenario = (kubectl: Kubectl.Kubectl, server: Server) => Effect.Effect<void, unknown, Scope.Scope>

/** One process: server, machines, and every loop that is on by default. */
export const embedded = Effect.fnUntraced(function* (more: ReadonlyArray<string> = []) {
  const program = yield* Process.start(["--cluster=embedded", ...more])
  const [, kubeconfig = ""] = yield* program.says(/^kubectl --kubeconfig (\S+) /m)
  // Pods of a new namespace need its account, for which their creation waits a second.
  yield* program.says(/Starting Controller.* controller=serviceaccount\n/)
  return { kubeconfig, server: "present" } satisfies Cluster
})

/** The reason why there is no real server; undefined where there is one. */
export const missing = envtest.missing

/** The chosen loops on a real server with three machines. */
export const real = Effect.fnUntraced(function* (loops: ReadonlyArray<string>, more: ReadonlyArray<string> = []) {
  const server = yield* envtest.start()
  const kubeconfig = yield* Kubeconfigs.write({ server: server.url, ca: server.ca, user: { token: server.token } })
  const authority = join(yield* Process.folder, "ca.crt")
  yield* Effect.promise(() => writeFile(authority, server.ca))
  const machines = yield* Process.start(["nodes", "--kubeconfig", kubeconfig, "--count", "3"])
  yield* machines.says(/3 simulated nodes are ready/)
  const program = yield* Process.start([
    "--kubeconfig",
    kubeconfig,
    "--leader-elect=false",
    `--controllers=${loops.join(",")}`,
    `--service-account-private-key-file=${server.tokenKey}`,
    `--root-ca-file=${authority}`,
    ...more
  ])
  yield* program.says(/Starting Controller.*deployment/)
  return { kubeconfig, server: "1.20" } satisfies Cluster
})

/** kubectl in a new namespace of the cluster. */
export const kubectl = Effect.fnUntraced(function* ({ kubeconfig }: Cluster, namespace: string) {
  return yield* Kubectl.make(namespace).pipe(Effect.provideService(Fixture, yield* Fixture.at(kubeconfig)))
})

/** Runs one scenario after another: some of them change nodes, which all share. */
export const runAll = Effect.fnUntraced(function* (cluster: Cluster, scenarios: Readonly<Record<string, Scenario>>) {
  for (const [name, scenario] of Object.entries(scenarios)) {
    yield* Effect.scoped(Effect.flatMap(kubectl(cluster, name), (one) => scenario(one, cluster.server)))
  }
})

/** Repeats a command until its output is as expected: kubectl cannot wait for lists or for missing objects. */
export const eventually = <E, R>(what: string, ask: Effect.Effect<boolean, E, R>) =>
  Effect.gen(function* () {
    while (!(yield* ask)) yield* Effect.sleep(50)
  }).pipe(
    Effect.timeoutOrElse({ duration: "2 minutes", orElse: () => Effect.die(new Error(`not reached in time: ${what}`)) })
  )

/** Repeats a command until its output has all of these texts: events are recorded after the change. */
export const shows = ({ ok }: Pick<Kubectl.Kubectl, "ok">, line: string, ...patterns: ReadonlyArray<RegExp>) =>
  eventually(
    `kubectl ${line} shows ${patterns.join(", ")}`,
    Effect.map(ok(line), (text) => patterns.every((pattern) => pattern.test(text)))
  )

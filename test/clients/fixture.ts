/**
 * The fixture for third-party clients: the embedded server behind HTTPS with three simulated nodes, in this process, and functions to run commands
 * against it. Every test has a namespace of its own, so all of them can run at the same time. A test does the work of a controller with
 * `client`.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Namespace } from "../../src/kube/resources.ts"
import { Cache } from "../../src/layers/Cache.ts"
import { EmbeddedCluster, type Options as EmbeddedClusterOptions } from "../../src/apiserver/server/EmbeddedCluster.ts"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as KubeConfig from "../../src/platform/KubeConfig.ts"
import * as Nodes from "../../src/simulation/Nodes.ts"
import { Transport } from "../../src/layers/Transport.ts"

export interface Exited {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Started {
  /** The first match in its output, now or later; fails when it ends without one. */
  readonly prints: (pattern: RegExp) => Effect.Effect<RegExpExecArray>
  readonly exit: Effect.Effect<Exited>
  readonly stop: Effect.Effect<Exited>
}

export interface Options {
  /** Standard input. */
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
}

export class Fixture extends Context.Service<
  Fixture,
  {
    readonly client: KubeClient["Service"]
    readonly server: string
    /** Starts a command that finds the server in KUBECONFIG; it is killed with the scope. */
    readonly start: (
      command: string,
      args: ReadonlyArray<string>,
      options?: Options
    ) => Effect.Effect<Started, never, Scope.Scope>
    /** A namespace of its own for one test. */
    readonly namespace: (name: string) => Effect.Effect<string>
  }
>()("test/clients/Stand") {
  /** An embedded cluster with these options. */
  static readonly layerOf = (options: EmbeddedClusterOptions): Layer.Layer<Fixture> =>
    Layer.effect(
      Fixture,
      Effect.gen(function* () {
        const { endpoint, kubeconfig } = yield* EmbeddedCluster
        return yield* make(yield* KubeClient, endpoint.server, kubeconfig)
      })
    ).pipe(
      Layer.provide(Nodes.layer()),
      Layer.provide(Cache.layer()),
      Layer.provideMerge(KubeClient.layer),
      Layer.provide(HttpTransport.layer),
      Layer.provideMerge(EmbeddedCluster.layerEndpoint),
      Layer.provideMerge(EmbeddedCluster.layer(options)),
      Layer.orDie
    )

  /** The cluster of a kubeconfig; nothing is simulated for it. */
  static readonly at = (kubeconfig: string) =>
    Effect.gen(function* () {
      const endpoint = yield* Effect.orDie(KubeConfig.load({ mode: "kubeconfig", path: kubeconfig, env: {} }))
      const transport = Layer.succeed(Transport, yield* HttpTransport.make(endpoint))
      const services = yield* Layer.build(Layer.fresh(Layer.provide(KubeClient.layer, transport)))
      return yield* make(Context.get(services, KubeClient), endpoint.server, kubeconfig)
    })

  static readonly layer: Layer.Layer<Fixture> = Fixture.layerOf({})
}

const make = Effect.fnUntraced(function* (client: KubeClient["Service"], server: string, kubeconfig: string) {
  const home = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "clients-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
  )
  const base = { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: home, KUBECONFIG: kubeconfig }
  return Fixture.of({
    client,
    server,
    start: (command, args, options = {}) =>
      Effect.acquireRelease(
        Effect.sync(() => launch(command, args, { ...base, ...options.env }, options.input)),
        ({ stop }) => Effect.asVoid(stop)
      ),
    namespace: (name) => Effect.as(Effect.orDie(client.create(Namespace, { metadata: { name } })), name)
  })
})

const launch = (
  command: string,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  input: string | undefined
): Started => {
  const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "pipe"] })
  const output = { stdout: "", stderr: "" }
  const waiting = new Set<() => void>()
  const changed = () => {
    for (const wake of waiting) wake()
  }
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      output[stream] += text
      changed()
    })
  }
  child.stdin.on("error", () => undefined).end(input ?? "")
  const ended = exitOf(child, output, changed)
  const exit = Effect.promise(() => ended)
  return {
    exit,
    stop: Effect.suspend(() => {
      child.kill()
      return exit
    }),
    prints: (pattern) =>
      Effect.promise(
        () =>
          new Promise((resolve, reject) => {
            const look = (over?: Exited) => {
              const found = pattern.exec(output.stdout)
              if (found !== null) resolve(found)
              else if (over === undefined) return
              else reject(new Error(`it ended without printing ${pattern}:\n${over.stdout}${over.stderr}`))
              waiting.delete(look)
            }
            waiting.add(look)
            look()
            void ended.then(look)
          })
      )
  }
}

const exitOf = (child: ChildProcess, output: Omit<Exited, "code">, changed: () => void): Promise<Exited> =>
  new Promise((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (code) => {
      changed()
      resolve({ code, ...output })
    })
  })

/** `npm run three`: an API server and three processes of the application on this machine. Kill one, and its counters move. Ctrl-C ends all. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { EmbeddedCluster } from "effect-controller-manager/node"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import process from "node:process"
import { fileURLToPath } from "node:url"

const program = fileURLToPath(new URL("main.js", import.meta.url))

/** A process that is stopped and waited for when the scope closes. */
const started = (env: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, [program], { stdio: "inherit", env: { ...process.env, ...env } })
      return { child, exit: once(child, "exit") }
    }),
    ({ child, exit }) =>
      Effect.andThen(
        Effect.sync(() => child.kill("SIGTERM")),
        Effect.promise(() => exit)
      )
  )

const main = Effect.gen(function* () {
  const { kubeconfig } = yield* EmbeddedCluster
  for (const port of ["34431", "34432", "34433"]) {
    const own = { HOST: "127.0.0.1", PORT: port, SHARD_LOCK_EXPIRATION: "15 seconds" }
    const { child } = yield* started({ KUBECONFIG: kubeconfig, ...own })
    yield* Console.log(`127.0.0.1:${port} is process ${child.pid}`)
  }
  return yield* Effect.never
})

NodeRuntime.runMain(main.pipe(Effect.scoped, Effect.provide(EmbeddedCluster.layer())))

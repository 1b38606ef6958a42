/** A program that starts a child as `Envtest` starts its servers, prints the child's pid, and waits. The argument is the folder of the child. */
import * as Effect from "effect/Effect"
import * as Processes from "../../../src/testing/envtest/processes.ts"

const started = Effect.gen(function* () {
  const running = yield* Processes.start("/bin/sh", ["-c", "echo $$; exec sleep 600"], process.argv[2] ?? "")
  running.process.stdout?.on("data", (text: Buffer) => process.stdout.write(text))
  return yield* Effect.never
})

await Effect.runPromise(Effect.scoped(started))

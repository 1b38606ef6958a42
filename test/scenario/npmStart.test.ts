/**
 * Ctrl-C under `npm start`: the terminal signals npm and the program, and npm passes its signal on, so the program gets two signals for one key
 * press. `npm run readme` presses the key in a real terminal.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Process from "../support/process.ts"

it.live("a signal that npm repeats does not count as a second one", () =>
  Effect.gen(function* () {
    const running = yield* Process.start(["--cluster=embedded"], { npm_lifecycle_event: "start" })
    yield* running.says(/Starting Controller/)
    yield* running.kill("SIGINT")
    yield* running.says(/Stopping/)
    yield* running.kill("SIGINT")
    const { code } = yield* running.exit
    assert.strictEqual(code, 0)
  }).pipe(Effect.scoped)
)

/**
 * Ctrl-C under `npm start`: the terminal signals npm and the program, and npm passes its signal on, so the program gets two signals for one key
 * press. `npm run readme` presses the key in a real terminal. A signal to npm alone reaches the program, too, although npm starts a shell for it.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as Process from "../support/process.ts"

it.live("a signal to npm reaches the program that its script starts", () =>
  Effect.gen(function* () {
    const folder = yield* Process.folder
    const printed = yield* Effect.promise(async () => {
      const manifest = await readFile(new URL("../../package.json", import.meta.url), "utf8")
      const { start } = (JSON.parse(manifest) as { readonly scripts: Record<string, string> }).scripts
      await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", scripts: { start } }))
      await mkdir(join(folder, "dist"))
      const program = `
        process.on("SIGTERM", () => { console.log("stopped"); process.exit(0) })
        setInterval(() => {}, 1000)
        console.log("up")`
      await writeFile(join(folder, "dist", "main.js"), program)
      const npm = spawn("npm", ["start", "--silent"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] })
      let output = ""
      npm.stdout.setEncoding("utf8").on("data", (text: string) => {
        if (!output.includes("up") && (output + text).includes("up")) npm.kill("SIGTERM")
        output += text
      })
      await once(npm, "close")
      return output
    })
    assert.strictEqual(printed, "up\nstopped\n")
  }).pipe(Effect.scoped)
)

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

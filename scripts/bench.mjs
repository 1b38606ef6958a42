/**
 * `npm run bench [suite …]`: bundles the benchmarks, because Node 20 cannot run TypeScript, and runs them with the garbage collector exposed. The last line
 * printed is JSON; the exit code is 1 if a figure misses its limit.
 */
import { spawnSync } from "node:child_process"
import { rmSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"
import { untraced } from "./untraced.mjs"

process.chdir(fileURLToPath(new URL("..", import.meta.url)))
const bundle = await rolldown({
  input: { main: "bench/main.ts" },
  platform: "node",
  logLevel: "silent",
  plugins: [untraced]
})
rmSync("node_modules/.bench", { recursive: true, force: true })
await bundle.write({ dir: "node_modules/.bench", format: "esm" })
await bundle.close()

const { status } = spawnSync(
  process.execPath,
  ["--expose-gc", "node_modules/.bench/main.js", ...process.argv.slice(2)],
  { stdio: "inherit" }
)
process.exit(status ?? 1)

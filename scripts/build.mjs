/**
 * Builds `dist`: the library as plain tsc output, one file a module with its types, and the program as one bundle with lazy
 * chunks, so that starting it reads two files instead of a thousand. Unminified: stack traces stay readable. The pages are bundles of their own.
 */
import { spawnSync } from "node:child_process"
import { chmodSync, rmSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"
import { notices } from "./notices.mjs"
import { buildPage, buildReportPage } from "./page.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
process.chdir(root)
rmSync("dist", { recursive: true, force: true })

const tsc = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"], {
  stdio: "inherit"
})
if (tsc.status !== 0) process.exit(tsc.status ?? 1)

const bundle = await rolldown({
  input: { main: "src/main.ts" },
  platform: "node",
  treeshake: { moduleSideEffects: (id) => !id.includes("/node_modules/effect/") && !id.includes("client-node") },
  onLog: (level, log, handler) => {
    if (level === "warn") handler(level, log)
  }
})
const { output } = await bundle.write({
  dir: "dist",
  format: "esm",
  sourcemap: "hidden",
  entryFileNames: "[name].js",
  chunkFileNames: "program/[name]-[hash].js"
})
await bundle.close()
const page = [...(await buildPage("dist/console")), ...(await buildReportPage("dist/explore"))]
writeFileSync(
  "dist/THIRD-PARTY-NOTICES.txt",
  notices([...output.flatMap((file) => (file.type === "chunk" ? Object.keys(file.modules) : [])), ...page])
)
chmodSync("dist/main.js", 0o755)

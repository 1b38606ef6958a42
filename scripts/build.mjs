/**
 * Builds `dist`: the library as plain tsc output, one file a module with its types, and the program as one bundle with lazy
 * chunks, so that starting it reads two files instead of a thousand. Unminified: stack traces stay readable. The pages are bundles of their own.
 */
import { spawnSync } from "node:child_process"
import { chmodSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
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

/** The parts of the program that its entry loads, each as a file of CommonJS with lazy chunks beside it: see `src/compileCache.ts`. */
const parts = {
  product: "cli/product",
  renewal: "manager/renewal/thread",
  protocol: "manager/renewal/protocol",
  explore: "cli/explore/thread"
}
const options = {
  platform: "node",
  treeshake: { moduleSideEffects: (id) => !id.includes("/node_modules/effect/") && !id.includes("client-node") },
  onLog: (level, log, handler) => {
    // Effect asks for the environment of a browser's bundler; there is none in Node either.
    if (level === "warn" && log.code !== "EMPTY_IMPORT_META") handler(level, log)
  }
}
// Comments are in the sources; V8 would read them at each start.
const form = { dir: "dist", sourcemap: "hidden", comments: { annotation: false, jsdoc: false } }
/** Effect makes this at import for tables of the command line, and the first one of a process loads ICU's data: a tenth of the start. */
const lazySegmenter = {
  name: "lazySegmenter",
  transform: (code, id) => {
    if (!id.endsWith("/effect/dist/cli/CliOutput.js")) return undefined
    const made = /const graphemeSegmenter = \/\*#__PURE__\*\/(new Intl\.Segmenter\(.*?\));/s
    if (!made.test(code)) throw new Error(`${id} makes no segmenter any more: remove this plugin`)
    const lazily = "let segmenter; const graphemeSegmenter = { segment: (text) => (segmenter ??= $1).segment(text) };"
    return { code: code.replace(made, lazily), map: null }
  }
}
/** Written in ASCII, a text is read without decoding it, and V8 keeps a byte for each character instead of two. */
const escaped = (text) =>
  text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
const built = async (input, output) => {
  const bundle = await rolldown({ ...options, ...input })
  const { output: files } = await bundle.write({ ...form, ...output })
  await bundle.close()
  const chunks = files.filter((file) => file.type === "chunk")
  for (const { fileName, code } of chunks) writeFileSync(join("dist", fileName), escaped(code))
  return chunks
}
const chunks = await built(
  {
    input: Object.fromEntries(Object.entries(parts).map(([name, path]) => [name, `src/${path}.ts`])),
    plugins: [lazySegmenter]
  },
  {
    format: "cjs",
    entryFileNames: "program/[name]-[hash].cjs",
    chunkFileNames: "program/[name]-[hash].cjs",
    dynamicImportInCjs: false
  }
)
/** Puts what `compileCache.ts` loads in place of the parts. */
const loading = {
  name: "loading",
  resolveId: (id) => {
    const name = Object.keys(parts).find((one) => id === `./${parts[one]}.ts`)
    return name === undefined ? (id === "part:load" ? id : undefined) : `part:${name}`
  },
  load: (id) => {
    if (!id.startsWith("part:")) return undefined
    const chunk = chunks.find(({ isEntry, name }) => isEntry && id === `part:${name}`)
    return chunk === undefined
      ? `import { make } from ${JSON.stringify(join(root, "src/compileCache.ts"))}\nexport const load = make(new URL("program/", import.meta.url))`
      : `import { load } from "part:load"\nexport const { ${chunk.exports.join(", ")} } = load("${basename(chunk.fileName)}")`
  }
}
const entry = await built(
  { input: { main: "src/main.ts" }, plugins: [loading] },
  { format: "esm", entryFileNames: "[name].js", codeSplitting: false }
)
const output = [...chunks, ...entry]
const page = [...(await buildPage("dist/console")), ...(await buildReportPage("dist/explore"))]
writeFileSync(
  "dist/THIRD-PARTY-NOTICES.txt",
  notices([...output.flatMap((file) => Object.keys(file.modules)), ...page])
)
chmodSync("dist/main.js", 0o755)

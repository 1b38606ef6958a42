/**
 * Builds the console's page: its browser code as one minified bundle, its styles, and its document. Names contain a hash of the content, so that a
 * browser never shows an old file. The document names the other files; nothing is loaded from elsewhere.
 */
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"

const source = "src/manager/console/page"

const hashOf = (text) => createHash("sha256").update(text).digest("hex").slice(0, 12)

/** Writes the files to the folder, and returns the modules of the bundle. */
export const buildPage = async (folder) => {
  const bundle = await rolldown({
    input: { app: `${source}/main.tsx` },
    platform: "browser",
    onLog: (level, log, handler) => {
      if (level === "warn") handler(level, log)
    }
  })
  const { output } = await bundle.generate({ format: "esm", minify: true, codeSplitting: false })
  await bundle.close()
  const [script] = output
  const css = readFileSync(`${source}/app.css`, "utf8")
  const names = { script: `app-${hashOf(script.code)}.js`, style: `app-${hashOf(css)}.css` }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, names.script), script.code)
  writeFileSync(join(folder, names.style), css)
  const page = readFileSync(`${source}/index.html`, "utf8")
  writeFileSync(
    join(folder, "index.html"),
    page.replace('"main.tsx"', `"${names.script}"`).replace('"app.css"', `"${names.style}"`)
  )
  return Object.keys(script.modules)
}

// Alone, it builds only the page.
if (process.argv[1]?.endsWith("page.mjs")) await buildPage("dist/console")

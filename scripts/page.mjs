/**
 * Builds the pages. The console's: its browser code as one minified bundle, its styles, and its document; names contain a hash of the content, so that a
 * browser never shows an old file. That of the reports of explorations: one document with everything in it, into which the command writes the data.
 * Nothing is loaded from elsewhere.
 */
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"

const source = "src/manager/console/page"
const reports = "src/cli/explore/page"

const hashOf = (text) => createHash("sha256").update(text).digest("hex").slice(0, 12)

const scriptOf = async (entry) => {
  const bundle = await rolldown({
    input: { app: entry },
    platform: "browser",
    onLog: (level, log, handler) => {
      if (level === "warn") handler(level, log)
    }
  })
  const { output } = await bundle.generate({ format: "esm", minify: true, codeSplitting: false })
  await bundle.close()
  return output[0]
}

/** Writes the console's files to the folder, and returns the modules of the bundle. */
export const buildPage = async (folder) => {
  const script = await scriptOf(`${source}/main.tsx`)
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

/** The source of an inline element in a content security policy. Source: CSP level 3, hash-source. */
const allowed = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`

/** Writes `report.html` to the folder, and returns the modules of the bundle. */
export const buildReportPage = async (folder) => {
  const script = await scriptOf(`${reports}/main.tsx`)
  const css = `${readFileSync(`${source}/app.css`, "utf8")}${readFileSync(`${reports}/report.css`, "utf8")}`
  if (/<\/(?:script|style)|<!--/i.test(script.code + css)) throw new Error("the page would end its own elements")
  const policy = `default-src 'none'; script-src ${allowed(script.code)}; style-src ${allowed(css)}; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'`
  mkdirSync(folder, { recursive: true })
  const page = readFileSync(`${reports}/report.html`, "utf8")
    .replace('content="policy"', () => `content="${policy}"`)
    .replace("<style></style>", () => `<style>${css}</style>`)
    .replace('<script type="module"></script>', () => `<script type="module">${script.code}</script>`)
  writeFileSync(join(folder, "report.html"), page)
  return Object.keys(script.modules)
}

// Alone, it builds only the pages.
if (process.argv[1]?.endsWith("page.mjs")) {
  await buildPage("dist/console")
  await buildReportPage("dist/explore")
}

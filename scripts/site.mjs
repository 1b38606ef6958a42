/**
 * `npm run site`: builds the documentation site into `site/dist`, with packages of its own, and fails for a link or an anchor that leads nowhere and for a
 * page that the index does not name.
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { main, root, run } from "./run.mjs"

const site = join(root, "site")
const built = join(site, "dist")

const htmlPages = () =>
  readdirSync(built, { recursive: true })
    .map(String)
    .filter((path) => path.endsWith(".html") && path !== "404.html")

const text = (html) => html.replaceAll("&amp;", "&").replaceAll("&quot;", '"').replaceAll("&#39;", "'")

/** The file that an address of the site means. */
const fileOf = (address) =>
  [address, `${address}.html`, join(address, "index.html")].find(
    (path) => existsSync(join(built, path)) && statSync(join(built, path)).isFile()
  )

const brokenLinks = () => {
  const pages = new Map(htmlPages().map((path) => [path, readFileSync(join(built, path), "utf8")]))
  const ids = new Map(
    [...pages].map(([path, html]) => [path, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => text(id)))])
  )
  const broken = []
  const linked = new Set()
  for (const [path, html] of pages) {
    for (const [, href] of html.matchAll(/<a [^>]*?href="([^"]*)"/g)) {
      if (/^[a-z]+:/.test(href)) continue
      const { hash, pathname } = new URL(text(href), `http://site/${path}`)
      const target = fileOf(decodeURIComponent(pathname).slice(1))
      if (target === undefined) broken.push(`${path}: ${href}`)
      else if (hash !== "" && ids.get(target)?.has(decodeURIComponent(hash.slice(1))) === false)
        broken.push(`${path}: ${href} has no such heading`)
      if (path === "index.html" && target !== undefined) linked.add(target)
    }
  }
  const inReference = (path) => path.startsWith("api/")
  const unnamed = [...pages.keys()].filter((path) => !linked.has(path) && !inReference(path) && path !== "index.html")
  return [...broken, ...unnamed.map((path) => `docs/README.md does not name ${path.replace(/html$/, "md")}`)]
}

await main(async () => {
  if (!existsSync(join(site, "node_modules"))) run("npm", ["ci", "--no-audit", "--no-fund"], { cwd: site })
  // A copy, because pages become modules that import Vue from where they are.
  rmSync(join(site, "pages"), { recursive: true, force: true })
  cpSync(join(root, "docs"), join(site, "pages"), { recursive: true })
  run(process.execPath, ["node_modules/vitepress/bin/vitepress.js", "build"], {
    cwd: site,
    env: { ...process.env, SITE_BASE: "/" }
  })
  const broken = brokenLinks()
  if (broken.length > 0) throw new Error(`links that lead nowhere:\n${broken.join("\n")}`)
  process.stdout.write(`${htmlPages().length} pages in ${built}\n`)
})

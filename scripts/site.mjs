/**
 * `npm run site`: builds the documentation site into `site/dist`, with packages of its own, and fails for a link or an anchor that leads nowhere and for a
 * page that the index does not name. `--base /path/` is the path below which it is served. `--release 0.1.0` adds the pages of that release below its version,
 * from the tag `v0.1.0`, or `--release 0.1.0=HEAD` from another commit; a menu on each page leads from version to version.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { parseArgs } from "node:util"
import { folder, main, root, run } from "./run.mjs"

const site = join(root, "site")
const built = join(site, "dist")

const htmlPages = () =>
  readdirSync(built, { recursive: true })
    .map(String)
    .filter((path) => path.endsWith(".html") && !/(^|\/)404\.html$/.test(path))

const text = (html) => html.replaceAll("&amp;", "&").replaceAll("&quot;", '"').replaceAll("&#39;", "'")

/** The file that an address of the site means. */
const fileOf = (address) =>
  [address, `${address}.html`, join(address, "index.html")].find(
    (path) => existsSync(join(built, path)) && statSync(join(built, path)).isFile()
  )

/** The paths of addresses start with the base. */
const brokenLinks = (base, releases) => {
  const pages = new Map(htmlPages().map((path) => [path, readFileSync(join(built, path), "utf8")]))
  const ids = new Map(
    [...pages].map(([path, html]) => [path, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => text(id)))])
  )
  const broken = []
  const linked = new Set()
  for (const [path, html] of pages) {
    for (const [, href] of html.matchAll(/<a [^>]*?href="([^"]*)"/g)) {
      if (/^[a-z]+:/.test(href)) continue
      const { hash, pathname } = new URL(text(href), `http://site${base}${path}`)
      const target = pathname.startsWith(base) ? fileOf(decodeURIComponent(pathname).slice(base.length)) : undefined
      if (target === undefined) broken.push(`${path}: ${href}`)
      else if (hash !== "" && ids.get(target)?.has(decodeURIComponent(hash.slice(1))) === false)
        broken.push(`${path}: ${href} has no such heading`)
      if (path === "index.html" && target !== undefined) linked.add(target)
    }
  }
  // The reference has an index of its own, and the pages of a release were complete when it was made.
  const isElsewhere = (path) =>
    path.startsWith("api/") || releases.some(({ version }) => path.startsWith(`${version}/`))
  const unnamed = [...pages.keys()].filter((path) => !linked.has(path) && !isElsewhere(path) && path !== "index.html")
  return [...broken, ...unnamed.map((path) => `docs/README.md does not name ${path.replace(/html$/, "md")}`)]
}

const readArguments = () => {
  const { base, release } = parseArgs({
    options: { base: { type: "string", default: "/" }, release: { type: "string", multiple: true, default: [] } }
  }).values
  if (!/^\/(?:[\w.-]+\/)*$/.test(base))
    throw new Error(`--base ${base} is not a path that starts and ends with a slash`)
  const releases = release.map((one) => {
    const [version, commit = `v${version}`] = one.split("=")
    if (!/^\d+\.\d+\.\d+[\w.-]*$/.test(version)) throw new Error(`--release ${one} does not start with a version`)
    return { version, commit }
  })
  return { base, releases }
}

/** The documentation, its version and its changelog at a commit, in a new folder. */
const checkedOut = (commit) => {
  const path = folder("site-source")
  const archive = join(path, "archive.tar")
  run("git", ["archive", "--format=tar", `--output=${archive}`, "--end-of-options", commit, "docs", "package.json"])
  mkdirSync(join(path, "source"))
  run("tar", ["-xf", archive, "-C", join(path, "source")])
  return join(path, "source")
}

/** `source`: the folder with `docs` and `package.json`; `out`: the folder below `site/dist`. */
const build = (source, out, options) => {
  // A copy, because pages become modules that import Vue from where they are.
  rmSync(join(site, "pages"), { recursive: true, force: true })
  cpSync(join(source, "docs"), join(site, "pages"), { recursive: true })
  const { version } = JSON.parse(readFileSync(join(source, "package.json"), "utf8"))
  const settings = { ...options, base: `${options.root}${out}`, out: join("dist", out), version }
  run(process.execPath, ["node_modules/vitepress/bin/vitepress.js", "build"], {
    cwd: site,
    env: { ...process.env, SITE: JSON.stringify(settings) }
  })
}

await main(() => {
  const { base, releases } = readArguments()
  if (!existsSync(join(site, "node_modules"))) run("npm", ["ci", "--no-audit", "--no-fund"], { cwd: site })
  const options = { root: base, releases: releases.map(({ version }) => version) }
  build(root, "", options)
  for (const { commit, version } of releases) build(checkedOut(commit), `${version}/`, options)
  const broken = brokenLinks(base, releases)
  if (broken.length > 0) throw new Error(`links that lead nowhere:\n${broken.join("\n")}`)
  const what = releases.length === 0 ? "" : `, with those of ${options.releases.join(", ")}`
  process.stdout.write(`${htmlPages().length} pages in ${built}${what}\n`)
})

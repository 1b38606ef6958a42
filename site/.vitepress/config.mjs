/**
 * The documentation as a site: the pages of `docs/`, with the links of its index as the sidebar. `scripts/site.mjs` says in the variable `SITE` which version
 * this is and where it stands: the pages of each release are a site of their own, below its version.
 */
import { readFileSync } from "node:fs"
import process from "node:process"
import { defineConfig } from "vitepress"

/** `root`: the path of the whole site; `base`: that of this version; `releases`: the versions that have a site below the root. */
const { base, out, releases, root, version } = JSON.parse(process.env.SITE)

/** `[The pipeline](design/pipeline.md)` of a list. */
const link = /^- \[([^\]]+)\]\(([^)]+)\.md\)/gm

const sidebar = readFileSync(new URL("../pages/README.md", import.meta.url), "utf8")
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    text: section.slice(0, section.indexOf("\n")),
    items: [...section.matchAll(link)].map(([, text, page]) => ({ text, link: `/${page.replace(/README$/, "")}` }))
  }))

/** Out of this version's site: VitePress puts the base before a link, and a target keeps its router from looking for the page in this site. */
const toVersion = (text, path) => ({ text, link: `/${"../".repeat(base === root ? 0 : 1)}${path}`, target: "_self" })

/**
 * An index is `README.md` for the code host, and has another name here. Pages outside of `docs/` are in the repository and not on the site: links to them become
 * text.
 */
const links = (md) => {
  // Before VitePress turns the addresses into those of the site.
  md.core.ruler.push("links", ({ env, tokens }) => {
    const depth = env.relativePath.split("/").length - 1
    for (const { children } of tokens) {
      let isOutside = false
      for (const token of children ?? []) {
        if (token.type === "link_open") {
          const href = token.attrGet("href") ?? ""
          isOutside = /^(?:\.\.\/)*/.exec(href)[0].length / 3 > depth
          if (!href.includes(":")) token.attrSet("href", href.replace(/(^|\/)README\.md/, "$1index.md"))
        }
        const isLink = token.type === "link_open" || token.type === "link_close"
        if (isOutside && isLink) Object.assign(token, { type: "text", tag: "", nesting: 0, content: "" })
      }
    }
  })
}

/** As the code host makes the anchor of a heading. */
const slugify = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}_\- ]/gu, "")
    .replaceAll(" ", "-")

export default defineConfig({
  title: "effect-controller-manager",
  description: "A Kubernetes controller manager and controller library on Effect 4",
  srcDir: "pages",
  outDir: out,
  cacheDir: "node_modules/.cache",
  base,
  cleanUrls: true,
  rewrites: { "README.md": "index.md", "api/README.md": "api/index.md" },
  // The pages are read on the code host as well, where angle brackets are text.
  markdown: { anchor: { slugify }, config: (md) => links(md.set({ html: false })) },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    sidebar,
    nav: [
      {
        text: version,
        items: [toVersion("latest", ""), ...releases.map((release) => toVersion(release, `${release}/`))]
      }
    ]
  }
})

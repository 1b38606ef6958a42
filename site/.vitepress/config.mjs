/**
 * The documentation as a site: the pages of `docs/`, with the links of its index as the sidebar. `SITE_BASE` is the path below which it is served: the
 * site of each release stands below its version.
 */
import { readFileSync } from "node:fs"
import process from "node:process"
import { defineConfig } from "vitepress"

const textOf = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")

/** `[The pipeline](design/pipeline.md)` of a list. */
const link = /^- \[([^\]]+)\]\(([^)]+)\.md\)/gm

const sidebar = textOf("docs/README.md")
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    text: section.slice(0, section.indexOf("\n")),
    items: [...section.matchAll(link)].map(([, text, page]) => ({ text, link: `/${page.replace(/README$/, "")}` }))
  }))

const { version } = JSON.parse(textOf("package.json"))

/** A heading of a release: `## 0.1.0`, or `## [0.1.0] - 2026-11-22`. */
const releases = [...textOf("CHANGELOG.md").matchAll(/^## \[?(\d+\.\d+\.\d+[^\s\]]*)/gm)].map(([, release]) => release)

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
  outDir: "dist",
  cacheDir: "node_modules/.cache",
  base: process.env.SITE_BASE ?? "/",
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
        items: [{ text: "latest", link: "/" }, ...releases.map((release) => ({ text: release, link: `/${release}/` }))]
      }
    ]
  }
})

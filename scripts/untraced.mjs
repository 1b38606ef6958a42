/**
 * For the benchmarks: `untraced:queue/KeyedQueue` and `untraced:reconcile/Reconcile` are copies of these modules with the lines of tracing removed;
 * `traceable:…` are unchanged copies. A replacement that does not find its lines fails.
 */
import { readFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

const streams = resolve("src/streams")

/** For each file, the lines and their replacement. */
const cuts = {
  "queue/queueState.ts": [[",\n      causes: cause === undefined ? undefined : merge(undefined, cause)\n", "\n"]],
  "reconcile/Reconcile.ts": [
    ["    const causes = queue.claimUnsafe(key)\n    const span = trace?.begin(key, causes)\n", ""],
    ["options.reconcile(key, causes)", "options.reconcile(key, undefined)"],
    ["fiber: undefined, span }", "fiber: undefined }"],
    ["fork(span === undefined ? reconcile : Effect.withParentSpan(reconcile, span))", "fork(reconcile)"],
    [/    const isAgain = (conclude\(.*?\))\n.*?\n  }\n/s, "    $1\n  }\n"]
  ]
}

const cut = (name) =>
  (cuts[name] ?? []).reduce(
    (source, [find, replace]) => {
      const without = source.replace(find, replace)
      if (without === source) throw new Error(`${name} has no longer ${find}`)
      return without
    },
    readFileSync(join(streams, name), "utf8")
  )

/** The copies, by the scheme under which they are imported. Both are copies, so that neither is already optimized by other benchmarks. */
const copies = { "untraced:": cut, "traceable:": (name) => readFileSync(join(streams, name), "utf8") }
const schemes = Object.keys(copies)
const schemeOf = (id) => schemes.find((scheme) => id?.startsWith(scheme))
/** A module of a copy is known by its path and this. */
const markOf = (id) => schemes.map((scheme) => `?${scheme}`).find((mark) => id?.endsWith(mark))

export const untraced = {
  name: "untraced",
  resolveId(source, importer) {
    if (schemeOf(source) !== undefined) return source
    const scheme = schemeOf(importer)
    if (scheme !== undefined) return `${join(streams, source)}?${scheme}`
    const mark = markOf(importer)
    if (mark === undefined || !source.startsWith(".")) return undefined
    const path = resolve(dirname(importer), source)
    return path.startsWith(`${streams}/`) ? `${path}${mark}` : path
  },
  load(id) {
    const scheme = schemeOf(id)
    if (scheme !== undefined) {
      return `import * as module from "${id.slice(scheme.length)}.ts"\nexport default module`
    }
    const mark = markOf(id)
    if (mark === undefined) return undefined
    return { code: copies[mark.slice(1)](id.slice(streams.length + 1, -mark.length)), moduleType: "ts" }
  }
}

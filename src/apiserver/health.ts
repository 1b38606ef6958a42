/** Health: `/livez`, `/readyz` and `/healthz`, whole, check by check, and told in words with `verbose`. All is in memory: all is well. */
import type { Answer } from "./Api.ts"

const common: ReadonlyArray<string> = ["ping", "log", "etcd"]

/** Names of the checks, as the reference server's probes are asked for them. */
const checks: Readonly<Record<string, ReadonlyArray<string>>> = {
  healthz: common,
  livez: common,
  readyz: [...common, "informer-sync", "shutdown"]
}

const text = (body: string): Answer => ({
  _tag: "Answer",
  status: 200,
  contentType: "text/plain; charset=utf-8",
  body
})

/** The answer of a probe; undefined for paths that are none, and for checks that do not exist. */
export const find = (segments: ReadonlyArray<string>, query: URLSearchParams): Answer | undefined => {
  const [root = "", check, ...more] = segments
  const names = Object.hasOwn(checks, root) ? checks[root] : undefined
  if (names === undefined || more.length > 0) return undefined
  if (check !== undefined) return names.includes(check) ? text("ok") : undefined
  if (!query.has("verbose")) return text("ok")
  const excluded = query.getAll("exclude")
  const lines = names.map((name) => `[+]${name} ${excluded.includes(name) ? "excluded: ok" : "ok"}\n`)
  return text(`${lines.join("")}${root} check passed\n`)
}

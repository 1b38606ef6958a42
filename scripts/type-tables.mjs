/** The type tables of the embedded API server, as text: those that `schema-table.mjs` writes, and that of CustomResourceDefinitions. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const source = fileURLToPath(new URL("../src/apiserver", import.meta.url))

/**
 * Name of each table and its lines, ordered by name.
 *
 * @returns {Array<[string, Array<string>]>} of all tables
 */
export const readTables = () => {
  const files = ["generated/coreTypes.ts", "generated/types.ts", "scheme/types.ts"]
  const text = files.map((file) => readFileSync(`${source}/${file}`, "utf8")).join("\n")
  return Array.from(
    text.matchAll(/^(?:export )?const (\w+) = `\n([^`]*)`/gm),
    ([, table = "", lines = ""]) => /** @type {[string, Array<string>]} */ ([table, lines.trim().split("\n")])
  ).sort(([a], [b]) => (a < b ? -1 : 1))
}

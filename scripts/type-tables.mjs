/** The type tables of the embedded API server, as text: those that `schema-table.mjs` writes, and that of CustomResourceDefinitions. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const source = fileURLToPath(new URL("../src/apiserver", import.meta.url))

/** Name of the table and its lines, ordered by name. */
export const readTables = () =>
  ["generated/coreTypes.ts", "generated/types.ts", "scheme/types.ts"]
    .flatMap((file) => [
      ...readFileSync(`${source}/${file}`, "utf8").matchAll(/^(?:export )?const (\w+) = `\n([^`]*)`/gm)
    ])
    .map(([, table, text]) => [table, text.trim().split("\n")])
    .sort(([a], [b]) => (a < b ? -1 : 1))

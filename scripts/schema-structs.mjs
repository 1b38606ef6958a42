/**
 * Writes `schema-presence.mjs`: how Go structs hold the fields of the API types, which decides whether an empty or absent value is written. Read from
 * a Go client's executable; fields that are newer than it are in `schema-facts.mjs`.
 *
 *     node scripts/schema-structs.mjs [path of a kubectl] && node scripts/schema-table.mjs
 *
 * `*` held by a pointer: a zero is a value like any other · `&` always written, empty or not: a struct held by value, or a field
 * that is not `omitempty`. A field without a mark is omitted when it is empty.
 */
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as goStructs from "./go-structs.mjs"
import { readTables } from "./type-tables.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))

/** The executable (1.33 when this was written) differs: since 1.34 an absent creation time is omitted. */
const since = new Map([["meta.ObjectMeta.creationTimestamp", ""]])

const structs = goStructs.read(process.argv[2] ?? "/usr/bin/kubectl")

/** Marks by JSON name, members of embedded structs among them. */
const marksOf = (struct) =>
  (structs.get(struct) ?? []).flatMap((field) => {
    const [name, ...options] = goStructs.tagOf(field, "json")
    if (field.embedded && name === "") return marksOf(field.type)
    const leftOut = options.includes("omitzero") || (options.includes("omitempty") && !field.isStruct)
    return [[name, `${field.type.startsWith("*") ? "*" : ""}${leftOut ? "" : "&"}`]]
  })

const lines = readTables()
  .flatMap(([table, types]) => types.map((line) => `${table}.${/^\w+/.exec(line)[0]}`))
  .map((id) => {
    const marked = marksOf(goStructs.structOf(id)).map(([name, mark]) => [name, since.get(`${id}.${name}`) ?? mark])
    return [id, ...marked.filter(([, mark]) => mark !== "").map(([name, mark]) => `${name}${mark}`)].join(" ")
  })
  .filter((line) => line.includes(" "))

writeFileSync(
  `${root}/scripts/schema-presence.mjs`,
  `/** How Go holds the fields of the API types: written by schema-structs.mjs, which explains the marks. */
export const presence = \`
${lines.join("\n")}
\`
`
)

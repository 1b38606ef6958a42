/**
 * Writes the protobuf field numbers of the embedded API server's kinds,
 * `src/apiserver/generated/protobufNumbers.ts`. Which types and fields there are is the type table's business; their numbers
 * are read from the structs in the executable of a Go client, and completed by `newer` below, for fields that are younger than
 * that.
 *
 *     node scripts/protobuf-numbers.mjs [path of a kubectl] && npx oxfmt src/apiserver/generated/protobufNumbers.ts
 */
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as goStructs from "./go-structs.mjs"
import { readTables } from "./type-tables.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
const target = `${root}/src/apiserver/generated/protobufNumbers.ts`
const structs = goStructs.read(process.argv[2] ?? "/usr/bin/kubectl")

/** `Type.field` → number, for fields the executable (1.33 when the table was made) does not know yet. */
const newer = {
  "core.Container.restartPolicyRules": 25,
  "core.ContainerRestartRule.action": 1,
  "core.ContainerRestartRule.exitCodes": 2,
  "core.ContainerRestartRuleOnExitCodes.operator": 1,
  "core.ContainerRestartRuleOnExitCodes.values": 2,
  "core.EnvVarSource.fileKeyRef": 5,
  "core.FileKeySelector.key": 3,
  "core.FileKeySelector.optional": 4,
  "core.FileKeySelector.path": 2,
  "core.FileKeySelector.volumeName": 1,
  "core.PodSpec.hostnameOverride": 41
}

const missing = []

/** `name:1`; the fields of an embedded struct are in parentheses after the number of the field that holds them. */
const numbersOf = (struct, wanted) =>
  (structs.get(struct) ?? []).flatMap((field) => {
    const [name] = goStructs.tagOf(field, "json")
    const [, number] = goStructs.tagOf(field, "protobuf")
    if (number === undefined) return []
    if (wanted.delete(name)) return [`${name}:${number}`]
    const inner = field.embedded ? numbersOf(field.type, wanted) : []
    return inner.length > 0 ? [`${number}(${inner.join(" ")})`] : []
  })

const line = (table, text) => {
  const [head, ...fields] = text.split(" ")
  const id = `${table}.${head.replace("@", "")}`
  const wanted = new Set(fields.map((field) => /^\w+/.exec(field)[0]))
  const struct = goStructs.structOf(id)
  const numbers = numbersOf(struct, wanted)
  // Kind and version of an object are in the envelope.
  if (structs.get(struct)?.some(({ type }) => type.endsWith(".TypeMeta"))) {
    for (const name of ["apiVersion", "kind"]) wanted.delete(name)
  }
  for (const name of wanted) {
    const number = newer[`${id}.${name}`]
    if (number === undefined) missing.push(`${id}.${name}`)
    else numbers.push(`${name}:${number}`)
  }
  return `${id} ${numbers.join(" ")}`.trim()
}

/** Only in responses. */
const answers = /^meta\.(API|GroupVersion|ListMeta|ServerAddress|Shard|Status|WatchEvent)/

const out = []
for (const [table, lines] of readTables()) {
  for (const one of lines) {
    const text = line(table, one)
    if (!answers.test(text) && text.includes(" ")) out.push(text)
  }
}
if (missing.length > 0) console.error(`without a number: ${missing.join(" ")}`)
writeFileSync(
  target,
  `/** Protobuf field numbers: written by scripts/protobuf-numbers.mjs, read by ../server/bodies/protobufBody.ts, which explains the notation. */
export const numbers = \`
${out.join("\n")}
\`
`
)

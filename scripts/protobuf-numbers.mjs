/**
 * Writes the protobuf field numbers of the embedded API server's kinds,
 * `src/layers/apiserver/http/protobufNumbers.ts`. Which types and fields there are is the type table's business; their numbers
 * are read from the descriptors that every Go client of Kubernetes carries in its executable, and completed by `newer` below,
 * for fields that are younger than that executable.
 *
 *     node scripts/protobuf-numbers.mjs [path of a kubectl] && npx oxfmt src/layers/apiserver/http/protobufNumbers.ts
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { gunzipSync, constants } from "node:zlib"
import { BinaryReader } from "@bufbuild/protobuf/wire"

const root = fileURLToPath(new URL("..", import.meta.url))
const tables = `${root}/src/layers/apiserver/schema/types`
const target = `${root}/src/layers/apiserver/http/protobufNumbers.ts`

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

const packageOf = (table) => {
  if (table === "meta") return "k8s.io.apimachinery.pkg.apis.meta.v1"
  return table === "autoscaling2" ? "k8s.io.api.autoscaling.v2" : `k8s.io.api.${table}.v1`
}

/** Calls `on` with each field of a message; it reads the value and says so. */
const fieldsOf = (bytes, on) => {
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag()
    if (!on(number, reader)) reader.skip(wire, number)
  }
}

/** A field's options say `nullable = false` where a Go client always sends the field, zero or not. */
const alwaysSent = (options) => {
  let found = false
  fieldsOf(options, (number, reader) => number === 65001 && ((found = !reader.bool()), true))
  return found
}

const readField = (bytes) => {
  const field = { name: "", number: 0, type: 0, ref: "", always: false, repeated: false }
  fieldsOf(bytes, (number, reader) => {
    if (number === 1) field.name = reader.string()
    else if (number === 3) field.number = reader.int32()
    else if (number === 4) field.repeated = reader.int32() === 3
    else if (number === 5) field.type = reader.int32()
    else if (number === 6) field.ref = reader.string().slice(1)
    else if (number === 8) field.always = alwaysSent(reader.bytes())
    else return false
    return true
  })
  return field
}

const messages = new Map()

const readMessage = (bytes, prefix) => {
  let name = ""
  const fields = []
  fieldsOf(bytes, (number, reader) => {
    if (number === 1) name = reader.string()
    else if (number === 2) fields.push(readField(reader.bytes()))
    else return false
    return true
  })
  messages.set(`${prefix}.${name}`, fields)
}

const readFile = (bytes) => {
  let prefix = ""
  const inside = []
  fieldsOf(bytes, (number, reader) => {
    if (number === 2) prefix = reader.string()
    else if (number === 4) inside.push(reader.bytes())
    else return false
    return true
  })
  for (const message of inside) readMessage(message, prefix)
}

/** The descriptors are gzip streams somewhere among the executable's data. */
const readExecutable = (path) => {
  const executable = readFileSync(path)
  const magic = Buffer.from([0x1f, 0x8b, 0x08])
  for (let at = executable.indexOf(magic); at >= 0; at = executable.indexOf(magic, at + 1)) {
    try {
      const piece = executable.subarray(at, at + 200_000)
      const file = gunzipSync(piece, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 1 << 20 })
      if (file.subarray(0, 200).includes("generated.proto")) readFile(file)
    } catch {
      // What follows is no gzip stream, or something follows the stream.
    }
  }
}

const missing = []

/** `name:1`, with `-` where zero means absent; members that Go embeds stand in parentheses after the number of what holds them. */
const numbersOf = (message, wanted) => {
  const out = []
  for (const { always, name, number, ref, repeated } of messages.get(message) ?? []) {
    const zero = always && !repeated && (ref === "" || ref.endsWith(".IntOrString"))
    // Casing differs where Go has an abbreviation, and where the JSON name starts with a capital.
    const json = [...wanted].find((one) => one.toLowerCase() === name.toLowerCase())
    if (json !== undefined && wanted.delete(json)) out.push(`${json}:${number}${zero ? "-" : ""}`)
    else {
      const inner = messages.has(ref) ? numbersOf(ref, wanted) : []
      if (inner.length > 0) out.push(`${number}(${inner.join(" ")})`)
    }
  }
  return out
}

const line = (table, text) => {
  const [head, ...fields] = text.split(" ")
  const id = `${table}.${head.replace("@", "")}`
  const wanted = new Set(fields.map((field) => /^[^:!]+/.exec(field)[0]))
  const message = `${packageOf(table)}.${head.replace("@", "")}`
  const isObject =
    wanted.has("kind") && wanted.has("apiVersion") && !(messages.get(message) ?? []).some((f) => f.name === "kind")
  if (isObject) for (const name of ["apiVersion", "kind"]) wanted.delete(name)
  const numbers = numbersOf(message, wanted)
  for (const name of wanted) {
    const number = newer[`${id}.${name}`]
    if (number === undefined) missing.push(`${id}.${name}`)
    else numbers.push(`${name}:${number}`)
  }
  return `${id} ${numbers.join(" ")}`.trim()
}

/** Only ever in answers. */
const answers = /^meta\.(API|GroupVersion|ListMeta|ServerAddress|Shard|Status|WatchEvent)/

readExecutable(process.argv[2] ?? "/usr/bin/kubectl")
const out = []
for (const file of readdirSync(tables).sort()) {
  const text = /`\n([^`]*)`/.exec(readFileSync(`${tables}/${file}`, "utf8"))[1]
  for (const one of text.trim().split("\n")) {
    const text = line(file.replace(".ts", ""), one)
    if (!answers.test(text) && text.includes(" ")) out.push(text)
  }
}
if (missing.length > 0) console.error(`without a number: ${missing.join(" ")}`)
writeFileSync(
  target,
  `/** Protobuf field numbers: written by scripts/protobuf-numbers.mjs, read by protobufBody.ts, which explains the notation. */
export const numbers = \`
${out.join("\n")}
\`
`
)

/**
 * Writes the protobuf field numbers of the embedded API server's kinds,
 * `src/apiserver/generated/{coreProtobufNumbers,protobufNumbers}.ts`. Which types and fields there are is the type table's business; their numbers
 * are read from the structs in the executable of a Go client, and completed by `newer` below, for fields that are younger than
 * that.
 *
 *     node scripts/protobuf-numbers.mjs [path of a kubectl] && npx oxfmt src/apiserver/generated
 */
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as goStructs from "./go-structs.mjs"
import { readTables } from "./type-tables.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
const target = `${root}/src/apiserver/generated`
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
  "core.PodSpec.hostnameOverride": 41,
  "resource.AllocatedDeviceStatus.shareID": 7,
  "resource.AllocationResult.allocationTimestamp": 5,
  "resource.CapacityRequestPolicy.default": 1,
  "resource.CapacityRequestPolicy.validValues": 3,
  "resource.CapacityRequestPolicy.validRange": 4,
  "resource.CapacityRequestPolicyRange.min": 1,
  "resource.CapacityRequestPolicyRange.max": 2,
  "resource.CapacityRequestPolicyRange.step": 3,
  "resource.CapacityRequirements.requests": 1,
  "resource.Device.bindsToNode": 9,
  "resource.Device.bindingConditions": 10,
  "resource.Device.bindingFailureConditions": 11,
  "resource.Device.allowMultipleAllocations": 12,
  "resource.Device.nodeAllocatableResourceMappings": 13,
  "resource.DeviceAttribute.ints": 6,
  "resource.DeviceAttribute.bools": 7,
  "resource.DeviceAttribute.strings": 8,
  "resource.DeviceAttribute.versions": 9,
  "resource.DeviceCapacity.requestPolicy": 2,
  "resource.DeviceClassSpec.extendedResourceName": 4,
  "resource.DeviceConstraint.distinctAttribute": 3,
  "resource.DeviceRequestAllocationResult.bindingConditions": 7,
  "resource.DeviceRequestAllocationResult.bindingFailureConditions": 8,
  "resource.DeviceRequestAllocationResult.shareID": 9,
  "resource.DeviceRequestAllocationResult.consumedCapacity": 10,
  "resource.DeviceSubRequest.capacity": 7,
  "resource.ExactDeviceRequest.capacity": 7,
  "resource.NodeAllocatableResourceMapping.capacityKey": 1,
  "resource.NodeAllocatableResourceMapping.allocationMultiplier": 2,
  "storage.CSIDriverSpec.serviceAccountTokenInSecrets": 10,
  "storage.CSIDriverSpec.preventPodSchedulingIfMissing": 11
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

/** The core group has a file of its own: the others together are as long. */
const isCore = (text) => text.startsWith("core.")
const head = `/** Protobuf field numbers: written by scripts/protobuf-numbers.mjs, read by ../server/bodies/protobufBody.ts, which explains the notation. */`
writeFileSync(
  `${target}/coreProtobufNumbers.ts`,
  `${head}
export const coreNumbers = \`
${out.filter(isCore).join("\n")}
\`
`
)
writeFileSync(
  `${target}/protobufNumbers.ts`,
  `${head}
import { coreNumbers } from "./coreProtobufNumbers.ts"

export const numbers = \`\${coreNumbers}
${out.filter((text) => !isCore(text)).join("\n")}
\`
`
)

/**
 * How the structs of a Go program are declared, read from what every Go executable carries for reflection: `kubectl` has all
 * types of the API, with the tags that say how a field is written as JSON and as protobuf.
 *
 * For executables of Linux on little-endian 64-bit machines, linked at a fixed address, made by Go 1.19 or later.
 * Source: Go's internal/abi, type.go.
 */
import { readFileSync } from "node:fs"

const kinds = { pointer: 22, slice: 23, struct: 25 }
const hasUncommon = 1
const extraStar = 2

/**
 * Structs by package and name, `k8s.io/api/core/v1.Pod`: fields in order, with `type` (the same kind of name; `*` pointer,
 * `[]` slice), whether it is embedded, and `tag`.
 */
export const read = (path) => {
  const bytes = readFileSync(path)
  const sections = sectionsOf(bytes)
  const base = sections.get(".rodata").address
  const links = sections.get(".typelink")
  const at = (address) => {
    for (const { address: start, offset, size } of sections.values())
      if (start > 0 && address >= start && address < start + size) return address - start + offset
    throw new Error(`no section holds address ${address}`)
  }
  const word = (offset) => Number(bytes.readBigUInt64LE(offset))

  const nameAt = (offset) => {
    const flags = bytes[offset]
    let position = offset + 1
    const text = () => {
      let length = 0
      for (let shift = 0; ; shift += 7) {
        const byte = bytes[position++]
        length |= (byte & 127) << shift
        if (byte < 128) break
      }
      position += length
      return bytes.toString("utf8", position - length, position)
    }
    const name = text()
    return { name, tag: (flags & 2) === 0 ? "" : text(), embedded: (flags & 8) !== 0 }
  }
  const named = (offset) => nameAt(at(base + bytes.readInt32LE(offset))).name
  const kindAt = (offset) => bytes[offset + 23] & 31

  const typeName = (address) => {
    const offset = at(address)
    const kind = kindAt(offset)
    if (kind === kinds.pointer) return `*${typeName(word(offset + 48))}`
    if (kind === kinds.slice) return `[]${typeName(word(offset + 48))}`
    const text = named(offset + 40).slice((bytes[offset + 20] & extraStar) === 0 ? 0 : 1)
    if (kind !== kinds.struct || (bytes[offset + 20] & hasUncommon) === 0) return text
    return `${named(offset + 80)}.${text.slice(text.indexOf(".") + 1)}`
  }

  const structs = new Map()
  const visit = (address) => {
    const offset = at(address)
    const kind = kindAt(offset)
    if (kind === kinds.pointer || kind === kinds.slice) return visit(word(offset + 48))
    if (kind !== kinds.struct) return
    const id = typeName(address)
    if (structs.has(id)) return
    const fields = []
    structs.set(id, fields)
    const first = at(word(offset + 56))
    for (let index = 0; index < word(offset + 64); index++) {
      const type = word(first + index * 24 + 8)
      const { embedded, tag } = nameAt(at(word(first + index * 24)))
      fields.push({ type: typeName(type), isStruct: kindAt(at(type)) === kinds.struct, tag, embedded })
      visit(type)
    }
  }
  for (let link = 0; link < links.size; link += 4) visit(base + bytes.readInt32LE(links.offset + link))
  return structs
}

const sectionsOf = (bytes) => {
  const [headers, size, count, strings] = [
    Number(bytes.readBigUInt64LE(40)),
    bytes.readUInt16LE(58),
    bytes.readUInt16LE(60),
    bytes.readUInt16LE(62)
  ]
  const names = Number(bytes.readBigUInt64LE(headers + strings * size + 24))
  const sections = new Map()
  for (let index = 0; index < count; index++) {
    const header = headers + index * size
    const name = names + bytes.readUInt32LE(header)
    // A section without bytes in the file has none to read.
    if (bytes.readUInt32LE(header + 4) === 8) continue
    sections.set(bytes.toString("latin1", name, bytes.indexOf(0, name)), {
      address: Number(bytes.readBigUInt64LE(header + 16)),
      offset: Number(bytes.readBigUInt64LE(header + 24)),
      size: Number(bytes.readBigUInt64LE(header + 32))
    })
  }
  return sections
}

/** Where the executable (1.33 when this was written) has the structs of newer stable versions: in the beta or alpha before, unchanged. */
const before = {
  resource: "k8s.io/api/resource/v1beta2",
  "admissionregistration.ApplyConfiguration": "k8s.io/api/admissionregistration/v1alpha1",
  "admissionregistration.JSONPatch": "k8s.io/api/admissionregistration/v1alpha1",
  "admissionregistration.MutatingAdmissionPolicy": "k8s.io/api/admissionregistration/v1alpha1",
  "admissionregistration.MutatingAdmissionPolicyBinding": "k8s.io/api/admissionregistration/v1alpha1",
  "admissionregistration.MutatingAdmissionPolicyBindingSpec": "k8s.io/api/admissionregistration/v1alpha1",
  "admissionregistration.MutatingAdmissionPolicySpec": "k8s.io/api/admissionregistration/v1alpha1",
  "admissionregistration.Mutation": "k8s.io/api/admissionregistration/v1alpha1",
  "storage.VolumeAttributesClass": "k8s.io/api/storage/v1beta1"
}

const packageOf = (table) => {
  if (table === "meta") return "k8s.io/apimachinery/pkg/apis/meta/v1"
  return table === "autoscaling2" ? "k8s.io/api/autoscaling/v2" : `k8s.io/api/${table}/v1`
}

/** Name of the struct of a type of the type table, `core.Pod`. */
export const structOf = (id) => {
  const [table, name] = id.split(".")
  return `${before[id] ?? before[table] ?? packageOf(table)}.${name}`
}

/** `json` and `protobuf` of a field's tag, each as its comma-separated parts. */
export const tagOf = ({ tag }, key) => (new RegExp(`${key}:"([^"]*)"`).exec(tag)?.[1] ?? "").split(",")

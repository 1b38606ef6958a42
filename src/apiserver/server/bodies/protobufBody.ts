/**
 * Protobuf request bodies as JSON text: what Go's typed clients send since 1.32. Types come from the schema's type table, field numbers from
 * `generated/protobufNumbers.ts`, the wire format from the protobuf library; all of it is loaded with the first such body. The result is
 * what the same client would have sent as JSON: a Go struct has no absent scalars, so this omits the zeros that JSON omits. Fields without a
 * number are skipped, as an older server skips fields that it does not know.
 *
 *     type field:1 field:2 3(member:1 member:2)
 *
 * Parentheses: a struct that Go embeds, so that its members are the outer type's in JSON.
 * Source: k8s.io/apimachinery/pkg/runtime/serializer/protobuf.
 */
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire"
import * as Result from "effect/Result"
import { set } from "../../json.ts"
import type { Json, JsonObject } from "../../json.ts"
import * as Types from "../../scheme/types.ts"
import { numbers } from "../../generated/protobufNumbers.ts"

/** The magic number of Kubernetes protobuf bodies. */
const magic = [0x6b, 0x38, 0x73, 0x00]

/** The JSON text, or why the bytes are no object of a known kind. */
export const toJson = (bytes: Uint8Array): Result.Result<string, string> => {
  try {
    return read(bytes)
  } catch (cause) {
    // The reader of the library throws where the bytes end too early or are not UTF-8, and `malformed` throws like it.
    return Result.fail(cause instanceof Error ? cause.message : "")
  }
}

const malformed = (why: string): never => {
  throw new Error(why)
}

const read = (bytes: Uint8Array): Result.Result<string, string> => {
  if (magic.some((byte, index) => bytes[index] !== byte)) {
    return Result.fail("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
  }
  const { apiVersion, kind, raw } = readEnvelope(bytes.subarray(magic.length))
  if (kind === "") return Result.fail("Object 'Kind' is missing in the protobuf message")
  const type = typeOf(apiVersion, kind)
  if (type === undefined) {
    return Result.fail(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`)
  }
  const object: JsonObject = { kind, apiVersion }
  readFields(raw, planOf(type), object)
  return Result.succeed(JSON.stringify(object))
}

/** Options that are registered in every group. */
const everywhere = new Set(["DeleteOptions"])

const typeOf = (apiVersion: string, kind: string): string | undefined => {
  if (everywhere.has(kind)) return `meta.${kind}`
  const slash = apiVersion.indexOf("/")
  const group = slash < 0 ? "" : apiVersion.slice(0, slash)
  const type = Types.ofKind({ group, version: apiVersion.slice(slash + 1), kind })
  return type !== undefined && type.fields.has("apiVersion") && type.fields.has("kind") ? type.id : undefined
}

/** runtime.Unknown: 1 the kind, 2 the object. */
const readEnvelope = (bytes: Uint8Array) => {
  const out = { apiVersion: "", kind: "", raw: new Uint8Array() as Uint8Array }
  eachField(
    bytes,
    (number, reader) => {
      if (number === 2) out.raw = reader.bytes()
      else if (number === 1) {
        eachField(
          reader.bytes(),
          (inner, type) => {
            if (inner === 1) out.apiVersion = type.string(true)
            else if (inner === 2) out.kind = type.string(true)
            else return false
            return true
          },
          delimited
        )
      } else return false
      return true
    },
    delimited
  )
  return out
}

const { LengthDelimited: delimited, Varint: varint } = WireType

/** Calls `on` for each field; a field for which it returns false is skipped. With `expected`, another wire type is an error. */
const eachField = (
  bytes: Uint8Array,
  on: (number: number, reader: BinaryReader, wire: WireType) => boolean,
  expected?: WireType
): void => {
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag()
    if (expected !== undefined && wire !== expected) malformed(`field ${number} has wire type ${wire}`)
    if (!on(number, reader, wire)) reader.skip(wire, number)
  }
}

// Plans ----------------------------------------------------------------------------------------------------------------

type Member =
  | { readonly _tag: "Field"; readonly name: string; readonly fieldType: Types.FieldType; readonly dropZero: boolean }
  | { readonly _tag: "Embedded"; readonly plan: Plan }

/** The decoder of a type: its members by field number. */
type Plan = ReadonlyMap<number, Member>

const lines: ReadonlyMap<string, string> = new Map(
  numbers
    .trim()
    .split("\n")
    .map((line) => [line.split(" ", 1)[0] ?? "", line])
)

const plans = new Map<string, Plan>()

const planOf = (id: string): Plan => {
  const known = plans.get(id)
  if (known !== undefined) return known
  const plan = parsePlan(Types.get(id), lines.get(id)?.slice(id.length + 1) ?? "")
  plans.set(id, plan)
  return plan
}

const parsePlan = (type: Types.Type, text: string): Plan => {
  const outermost = new Map<number, Member>()
  const open = [outermost]
  for (const [, embedded, name = "", number, close] of text.matchAll(/\s*(?:(\d+)\(|([^\s:()]+):(\d+)|(\)))/gy)) {
    const plan = open.at(-1) ?? outermost
    if (close !== undefined) open.pop()
    else if (embedded !== undefined) {
      const inner = new Map<number, Member>()
      plan.set(Number(embedded), { _tag: "Embedded", plan: inner })
      open.push(inner)
    } else {
      const field = type.fields.get(name)
      if (field === undefined) continue
      const dropZero = !field.pointer && !field.always
      plan.set(Number(number), { _tag: "Field", name, fieldType: field.fieldType, dropZero })
    }
  }
  return outermost
}

// Values ---------------------------------------------------------------------------------------------------------------

const readFields = (bytes: Uint8Array, plan: Plan, out: JsonObject): void =>
  eachField(bytes, (number, reader, wire) => {
    const member = plan.get(number)
    if (member === undefined) return false
    if (member._tag === "Embedded") {
      expectWire(delimited, wire, number)
      readFields(reader.bytes(), member.plan, out)
    } else readField(reader, wire, member, out)
    return true
  })

const readField = (reader: BinaryReader, wire: WireType, member: Member & { _tag: "Field" }, out: JsonObject): void => {
  const { dropZero, fieldType, name } = member
  const present = Object.hasOwn(out, name) ? out[name] : undefined
  if (fieldType._tag === "List") {
    const list = Array.isArray(present) ? present : []
    readElements(reader, wire, fieldType.element, list)
    set(out, name, list)
  } else if (fieldType._tag === "Map") {
    const map = typeof present === "object" && present !== null && !Array.isArray(present) ? present : {}
    readEntry(reader, wire, fieldType.element, map)
    set(out, name, map)
  } else {
    const value = readValue(reader, wire, fieldType)
    if (value === null || (dropZero && (value === "" || value === 0 || value === false))) delete out[name]
    else set(out, name, value)
  }
}

/** One element, or several packed numbers. */
const readElements = (reader: BinaryReader, wire: WireType, fieldType: Types.FieldType, list: Array<Json>): void => {
  if (fieldType._tag !== "Scalar" || wire !== delimited || !isNumber(fieldType.scalar)) {
    list.push(readValue(reader, wire, fieldType))
    return
  }
  const packed = new BinaryReader(reader.bytes())
  while (packed.pos < packed.len) list.push(readValue(packed, varint, fieldType))
}

const isNumber = (scalar: Types.Scalar): boolean => scalar === "i" || scalar === "l" || scalar === "b"

/** An entry of a map is a message: 1 the key, 2 the value; either may be missing when it is zero. */
const readEntry = (reader: BinaryReader, wire: WireType, fieldType: Types.FieldType, map: JsonObject): void => {
  expectWire(delimited, wire, 0)
  let key = ""
  let value: Json | undefined
  eachField(reader.bytes(), (number, entry, inner) => {
    if (number === 1) {
      expectWire(delimited, inner, 1)
      key = entry.string(true)
    } else if (number === 2) value = readValue(entry, inner, fieldType)
    else return false
    return true
  })
  set(map, key, value ?? zeroOf(fieldType))
}

const zeroOf = (fieldType: Types.FieldType): Json => {
  if (fieldType._tag === "List") return []
  if (fieldType._tag !== "Scalar") return {}
  if (fieldType.scalar === "q") return "0"
  return isNumber(fieldType.scalar) || fieldType.scalar === "d"
    ? 0
    : fieldType.scalar === "t" || fieldType.scalar === "u"
      ? null
      : ""
}

const expectWire = (expected: WireType, wire: WireType, number: number): void => {
  if (wire !== expected) malformed(`field ${number} has wire type ${wire}`)
}

const readValue = (reader: BinaryReader, wire: WireType, fieldType: Types.FieldType): Json => {
  switch (fieldType._tag) {
    case "Scalar":
      return readScalar(reader, wire, fieldType.scalar)
    case "Ref": {
      expectWire(delimited, wire, 0)
      const object: JsonObject = {}
      readFields(reader.bytes(), planOf(fieldType.type), object)
      return object
    }
    default: {
      // A list as the value of a map is a message that holds the list as its only field.
      expectWire(delimited, wire, 0)
      const list: Array<Json> = []
      const element = fieldType.element
      eachField(reader.bytes(), (number, inner, innerWire) => {
        if (number !== 1) return false
        readElements(inner, innerWire, element, list)
        return true
      })
      return list
    }
  }
}

const readScalar = (reader: BinaryReader, wire: WireType, scalar: Types.Scalar): Json => {
  expectWire(scalar === "d" ? WireType.Bit64 : isNumber(scalar) ? varint : delimited, wire, 0)
  switch (scalar) {
    case "s":
      return reader.string(true)
    case "y":
      return Buffer.from(reader.bytes()).toString("base64")
    case "i":
      return reader.int32()
    case "l":
      return Number(reader.int64())
    case "b":
      return reader.bool()
    case "d":
      return reader.double()
    case "t":
      return readTime(reader.bytes(), false)
    case "u":
      return readTime(reader.bytes(), true)
    case "x":
      return readIntOrString(reader.bytes())
    case "q":
      return readQuantity(reader.bytes())
    case "j":
      return readAny(reader.bytes())
  }
}

/** meta.Time and meta.MicroTime: 1 seconds, 2 nanoseconds; an empty message is the zero time, which is null in JSON. */
const readTime = (bytes: Uint8Array, micro: boolean): Json => {
  if (bytes.length === 0) return null
  let [seconds, nanos] = [0, 0]
  eachField(
    bytes,
    (number, reader) => {
      if (number === 1) seconds = Number(reader.int64())
      else if (number === 2) nanos = reader.int32()
      else return false
      return true
    },
    varint
  )
  const date = new Date(seconds * 1000)
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999 || date.getUTCFullYear() < 0) {
    malformed(`a time of ${seconds} seconds is out of range`)
  }
  const text = date.toISOString().slice(0, 19)
  return micro
    ? `${text}.${String(Math.trunc(nanos / 1000))
        .padStart(6, "0")
        .slice(-6)}Z`
    : `${text}Z`
}

/** 1 the type, 2 the number, 3 the string. */
const readIntOrString = (bytes: Uint8Array): Json => {
  let [type, integer, text] = [0, 0, ""]
  eachField(bytes, (number, reader, wire) => {
    if (number > 3) return false
    expectWire(number === 3 ? delimited : varint, wire, number)
    if (number === 1) type = Number(reader.int64())
    else if (number === 2) integer = reader.int32()
    else text = reader.string(true)
    return true
  })
  return type === 1 ? text : integer
}

const readQuantity = (bytes: Uint8Array): Json => {
  let text = "0"
  eachField(
    bytes,
    (number, reader) => {
      if (number !== 1) return false
      text = reader.string(true)
      return true
    },
    delimited
  )
  return text
}

/** runtime.RawExtension and meta.FieldsV1 alike: 1 the JSON text. */
const readAny = (bytes: Uint8Array): Json => {
  let raw: Uint8Array = new Uint8Array()
  eachField(
    bytes,
    (number, reader) => {
      if (number !== 1) return false
      raw = reader.bytes()
      return true
    },
    delimited
  )
  return raw.length === 0 ? null : (JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(raw)) as Json)
}

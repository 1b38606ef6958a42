/**
 * Protobuf request bodies: objects of every kind, encoded independently of the decoder, decode to the same object; zeros decode as in
 * the JSON of a Go client; other bytes fail with one sentence.
 */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as ProtobufBody from "../../../../src/apiserver/server/bodies/protobufBody.ts"
import { numbers } from "../../../../src/apiserver/generated/protobufNumbers.ts"
import type { Json, JsonObject } from "../../../../src/apiserver/json.ts"
import * as resources from "../../../../src/apiserver/scheme/resources.ts"
import * as Types from "../../../../src/apiserver/scheme/types.ts"

/** Field name → the numbers on the way to it, by type. */
const ways = new Map(
  numbers
    .trim()
    .split("\n")
    .map((line) => {
      const [id = "", ...words] = line.split(" ")
      const way: Array<number> = []
      const fields = new Map<string, ReadonlyArray<number>>()
      for (const word of words) {
        const [opening = "", rest = word] = word.includes("(") ? word.split("(") : ["", word]
        if (opening !== "") way.push(Number(opening))
        const [name = "", number = ""] = rest.replaceAll(")", "").split(":")
        fields.set(name, [...way, Number.parseInt(number, 10)])
        if (word.endsWith(")")) way.pop()
      }
      return [id, fields] as const
    })
)

const inside = (writer: BinaryWriter, number: number, write: () => void): void => {
  writer.tag(number, WireType.LengthDelimited).fork()
  write()
  writer.join()
}

const writeScalar = (writer: BinaryWriter, number: number, scalar: Types.Scalar, value: Json): void => {
  const text = typeof value === "string" ? value : ""
  const millis = () => Date.parse(text)
  switch (scalar) {
    case "i":
    case "l":
      return void writer.tag(number, WireType.Varint).int64(Number(value))
    case "b":
      return void writer.tag(number, WireType.Varint).bool(value === true)
    case "d":
      return void writer.tag(number, WireType.Bit64).double(Number(value))
    case "s":
      return void writer.tag(number, WireType.LengthDelimited).string(text)
    case "y":
      return void writer.tag(number, WireType.LengthDelimited).bytes(Buffer.from(text, "base64"))
    case "q":
      return inside(writer, number, () => writeScalar(writer, 1, "s", value))
    case "j":
      return inside(writer, number, () => writeScalar(writer, 1, "s", JSON.stringify(value)))
    case "t":
    case "u":
      return inside(writer, number, () => {
        writeScalar(writer, 1, "l", Math.floor(millis() / 1000))
        writeScalar(writer, 2, "i", (((millis() % 1000) + 1000) % 1000) * 1_000_000)
      })
    case "x":
      return inside(writer, number, () => {
        writeScalar(writer, 1, "l", typeof value === "string" ? 1 : 0)
        if (typeof value === "string") writeScalar(writer, 3, "s", value)
        else writeScalar(writer, 2, "i", value)
      })
  }
}

const write = (writer: BinaryWriter, number: number, fieldType: Types.FieldType, value: Json): void => {
  if (fieldType._tag === "Scalar") writeScalar(writer, number, fieldType.scalar, value)
  else if (fieldType._tag === "Ref")
    inside(writer, number, () => writeFields(writer, fieldType.type, value as JsonObject))
  else if (fieldType._tag === "List")
    for (const element of value as Array<Json>) write(writer, number, fieldType.element, element)
  else {
    for (const [key, entry] of Object.entries(value as JsonObject)) {
      inside(writer, number, () => {
        writeScalar(writer, 1, "s", key)
        if (fieldType.element._tag === "List") inside(writer, 2, () => write(writer, 1, fieldType.element, entry))
        else write(writer, 2, fieldType.element, entry)
      })
    }
  }
}

const writeFields = (writer: BinaryWriter, id: string, object: JsonObject): void => {
  for (const [name, value] of Object.entries(object)) {
    const way = ways.get(id)?.get(name) ?? []
    const fieldType = Types.get(id).fields.get(name)?.fieldType
    if (fieldType === undefined) continue
    const at = (depth: number): void => {
      const number = way[depth] ?? 0
      if (depth === way.length - 1) write(writer, number, fieldType, value)
      else inside(writer, number, () => at(depth + 1))
    }
    at(0)
  }
}

const encode = (apiVersion: string, kind: string, id: string, object: JsonObject): Uint8Array => {
  const writer = new BinaryWriter()
  inside(writer, 1, () => {
    writeScalar(writer, 1, "s", apiVersion)
    writeScalar(writer, 2, "s", kind)
  })
  inside(writer, 2, () => writeFields(writer, id, object))
  writeScalar(writer, 3, "s", "")
  writeScalar(writer, 4, "s", "")
  return Buffer.concat([Buffer.from("k8s\0"), writer.finish()])
}

/** Every kind whose objects a client may send. */
const sendable = resources.all.flatMap((resource) => {
  const type = Types.ofKind(resource)
  const apiVersion = resource.group === "" ? resource.version : `${resource.group}/${resource.version}`
  return type === undefined ? [] : [{ apiVersion, kind: resource.kind, id: type.id }]
})
const requests = [
  { apiVersion: "v1", kind: "Binding", id: "core.Binding" },
  { apiVersion: "policy/v1", kind: "Eviction", id: "policy.Eviction" },
  { apiVersion: "autoscaling/v1", kind: "Scale", id: "autoscaling.Scale" },
  { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", id: "authentication.TokenRequest" },
  { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", id: "authentication.TokenReview" },
  { apiVersion: "apps/v1", kind: "DeleteOptions", id: "meta.DeleteOptions" },
  { apiVersion: "v1", kind: "DeleteOptions", id: "meta.DeleteOptions" }
]
const all = [...sendable, ...requests]

/** Choices from which an object is generated; when they are used up the object ends, so that fewer choices shrink it. */
class Tape {
  private position = 0
  private readonly choices: ReadonlyArray<number>
  constructor(choices: ReadonlyArray<number>) {
    this.choices = choices
  }
  next(): number {
    return this.choices[this.position++] ?? 0
  }
}

const scalarOf = (scalar: Types.Scalar, choice: number): Json => {
  const date = new Date((choice - 5000) * 86_399_999)
  switch (scalar) {
    case "s":
      return `täxt-${choice}`
    case "y":
      return Buffer.from([choice & 255, choice >> 8, 0]).toString("base64")
    case "i":
      return choice % 2 === 0 ? -choice - 1 : choice
    case "l":
      return choice % 2 === 0 ? -choice * 2 ** 30 - 1 : choice * 2 ** 38
    case "d":
      return choice / 8 + 1
    case "b":
      return true
    case "t":
      return `${date.toISOString().slice(0, 19)}Z`
    case "u":
      return `${date.toISOString().slice(0, 23)}000Z`
    case "x":
      return choice % 2 === 0 ? `${choice}%` : choice
    case "q":
      return `${choice}Mi`
    case "j":
      return { any: [choice, null, { __proto: "x" }] }
  }
}

const valueOf = (fieldType: Types.FieldType, tape: Tape): Json => {
  if (fieldType._tag === "Scalar") return scalarOf(fieldType.scalar, tape.next())
  if (fieldType._tag === "Ref") return objectOf(fieldType.type, tape)
  const count = 1 + (tape.next() % 3)
  const elements = Array.from({ length: count }, () => valueOf(fieldType.element, tape))
  return fieldType._tag === "List" ? elements : Object.fromEntries(elements.map((one, index) => [`key-${index}`, one]))
}

/** Some of the members with a field number; `never` apiVersion and kind of the object itself. */
const objectOf = (id: string, tape: Tape): JsonObject => {
  const out: JsonObject = {}
  for (const [name, field] of Types.get(id).fields) {
    if (ways.get(id)?.has(name) === true && tape.next() % 3 === 1) out[name] = valueOf(field.fieldType, tape)
  }
  return out
}

const natural = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000 }))
const choices = Arbitrary.array(Arbitrary.schema(natural), { minLength: 1, maxLength: 300 })
const which = Arbitrary.schema(natural)

/** An object of a kind, and its decoded encoding. */
const throughProtobuf = (index: number, tape: ReadonlyArray<number>) => {
  const { apiVersion, id, kind } = all[index % all.length] ?? all[0]!
  const object = objectOf(id, new Tape(tape))
  const decoded: unknown = JSON.parse(Result.getOrThrow(ProtobufBody.toJson(encode(apiVersion, kind, id, object))))
  return { sent: { kind, apiVersion, ...object }, decoded }
}

describe("protobuf bodies", () => {
  it.prop("decode to the encoded object, for every kind", { which, choices }, ({ choices, which }) => {
    const { decoded, sent } = throughProtobuf(which, choices)
    assert.deepStrictEqual(decoded, sent)
  })

  it("decode to the encoded object when each kind has many fields", () => {
    for (let seed = 0; seed < 40; seed++) {
      const tape = Array.from({ length: 300 }, (_, n) => (seed * 7919 + n * n * 31) % 9973)
      for (const index of all.keys()) {
        const { decoded, sent } = throughProtobuf(index, tape)
        assert.deepStrictEqual(decoded, sent)
      }
    }
  })

  it("have field numbers for nearly every field of every type", () => {
    const without = [...ways.keys()].flatMap((id) =>
      [...Types.get(id).fields.keys()].filter((name) => ways.get(id)?.has(name) !== true).map((name) => `${id}.${name}`)
    )
    const surprising = without.filter((field) => !/\.(apiVersion|kind)$/.test(field))
    assert.isBelow(surprising.length, 45, surprising.join(" "))
  })

  it("omit the zeros of a Go struct, unless the field is required or a pointer", () => {
    const writer = new BinaryWriter()
    inside(writer, 1, () => {
      writeScalar(writer, 1, "s", "apps/v1")
      writeScalar(writer, 2, "s", "Deployment")
    })
    inside(writer, 2, () => {
      inside(writer, 1, () => {
        writeScalar(writer, 1, "s", "a")
        writeScalar(writer, 2, "s", "")
        writeScalar(writer, 7, "l", 0)
        inside(writer, 8, () => {})
        inside(writer, 13, () => {
          for (const number of [1, 3, 4, 5]) writeScalar(writer, number, "s", "")
          writeScalar(writer, 6, "b", false)
        })
      })
      inside(writer, 2, () => {
        writeScalar(writer, 1, "i", 0)
        writeScalar(writer, 5, "i", 0)
        writeScalar(writer, 7, "b", false)
      })
    })
    const bytes = Buffer.concat([Buffer.from("k8s\0"), writer.finish()])
    assert.deepStrictEqual(JSON.parse(Result.getOrThrow(ProtobufBody.toJson(bytes))), {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "a", ownerReferences: [{ kind: "", name: "", uid: "", apiVersion: "", controller: false }] },
      spec: { replicas: 0 }
    })
  })

  it("decode __proto__ as a plain key", () => {
    const data = JSON.parse('{"__proto__":"x","constructor":"y"}') as JsonObject
    const text = ProtobufBody.toJson(encode("v1", "ConfigMap", "core.ConfigMap", { data }))
    assert.strictEqual(
      Result.merge(text),
      '{"kind":"ConfigMap","apiVersion":"v1","data":{"__proto__":"x","constructor":"y"}}'
    )
  })

  it.prop("decode to an object or fail with one sentence when truncated or damaged", { which, choices }, (input) => {
    const { apiVersion, id, kind } = all[input.which % all.length]!
    const bytes = encode(apiVersion, kind, id, objectOf(id, new Tape(input.choices)))
    const damaged = Uint8Array.from(bytes)
    for (const choice of input.choices.slice(0, 3)) damaged[choice % damaged.length] = choice & 255
    for (const body of [damaged, bytes.subarray(0, input.which % bytes.length)]) {
      const json = ProtobufBody.toJson(body)
      if (Result.isSuccess(json)) JSON.parse(json.success)
      else assert.match(json.failure, /\S/)
    }
  })

  const message = (body: string | Uint8Array): string =>
    Result.merge(ProtobufBody.toJson(typeof body === "string" ? Buffer.from(body) : body))

  it("without the prefix, without a kind or of an unknown one fail with the messages of kube-apiserver", () => {
    assert.match(
      message('{"kind":"Pod"}'),
      /^provided data does not appear to be a protobuf message, expected prefix \[/
    )
    assert.match(message("k8s\0"), /^Object 'Kind' is missing/)
    const unknown = message(encode("stable.example.com/v1", "CronTab", "core.ConfigMap", {}))
    assert.strictEqual(unknown, 'no kind "CronTab" is registered for version "stable.example.com/v1"')
    assert.match(message(encode("v1", "Container", "core.Container", {})), /^no kind "Container"/)
  })
})

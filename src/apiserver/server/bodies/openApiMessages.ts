/**
 * Encoders from JSON to the protobuf messages of OpenAPI, as far as the documents of the embedded server need them. A member without a
 * field is an error, so that nothing is lost silently. Source: field numbers of gnostic: OpenAPIv2.proto and OpenAPIv3.proto.
 */
import type { BinaryWriter } from "@bufbuild/protobuf/wire"
import type { Json, JsonObject } from "../../json.ts"

/** Writes a value as field `number`. */
type Encode = (writer: BinaryWriter, number: number, value: Json) => void

type Fields = Readonly<Record<string, readonly [number, Encode]>>

/** Wire types of protobuf. */
const varint = 0
const delimited = 2

const text: Encode = (writer, number, value) => {
  if (typeof value !== "string") throw new Error("an OpenAPI document has something else where a text belongs")
  writer.tag(number, delimited).string(value)
}

const bool: Encode = (writer, number, value) => {
  writer.tag(number, varint).bool(value === true)
}

const object = (value: Json): JsonObject => {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value
  throw new Error("an OpenAPI document has something else where an object belongs")
}

const inside = (writer: BinaryWriter, number: number, write: () => void): void => {
  writer.tag(number, delimited).fork()
  write()
  writer.join()
}

const repeated =
  (one: Encode): Encode =>
  (writer, number, value) => {
    for (const element of Array.isArray(value) ? value : [value]) one(writer, number, element)
  }

/** A map as `{ name, value }` pairs. */
const named =
  (one: Encode): Encode =>
  (writer, number, value) => {
    const map = object(value)
    for (const name of Object.keys(map)) pair(writer, number, name, map[name] ?? null, one)
  }

const pair = (writer: BinaryWriter, number: number, name: string, value: Json, one: Encode): void =>
  inside(writer, number, () => {
    text(writer, 1, name)
    one(writer, 2, value)
  })

/** A value of any type is encoded as YAML, of which JSON is a subset. */
const any: Encode = (writer, number, value) => inside(writer, number, () => text(writer, 2, JSON.stringify(value)))

/** A message around one field. */
const around =
  (field: number, one: Encode): Encode =>
  (writer, number, value) =>
    inside(writer, number, () => one(writer, field, value))

/** Fields by their JSON names; `x-…` members become extensions. Lazy, since messages contain each other. */
const message =
  (extensions: number, fields: () => Fields): Encode =>
  (writer, number, value) =>
    inside(writer, number, () => writeFields(writer, extensions, fields(), object(value)))

const writeFields = (writer: BinaryWriter, extensions: number, fields: Fields, value: JsonObject): void => {
  for (const name of Object.keys(value)) {
    const member = value[name] ?? null
    const field = fields[name]
    if (field !== undefined) field[1](writer, field[0], member)
    else if (name.startsWith("x-")) pair(writer, extensions, name, member, any)
    else throw new Error(`OpenAPI messages have no field ${name}`)
  }
}

const choice =
  (choose: (value: JsonObject) => readonly [number, Encode]): Encode =>
  (writer, number, value) =>
    inside(writer, number, () => {
      const [field, one] = choose(object(value))
      one(writer, field, value)
    })

type Write = (writer: BinaryWriter, document: JsonObject) => void

const info: Encode = message(7, () => ({ title: [1, text], version: [2, text] }))

// Version 2.

const schema2: Encode = message(31, () => ({
  $ref: [1, text],
  format: [2, text],
  description: [4, text],
  default: [5, any],
  required: [19, repeated(text)],
  additionalProperties: [21, around(1, schema2)],
  type: [22, around(1, repeated(text))],
  items: [23, around(1, repeated(schema2))],
  properties: [25, around(1, named(schema2))]
}))

const bodyParameter: Encode = message(6, () => ({
  name: [2, text],
  in: [3, text],
  required: [4, bool],
  schema: [5, schema2]
}))

const queryParameter: Encode = message(23, () => ({
  in: [2, text],
  name: [4, text],
  type: [6, text],
  uniqueItems: [20, bool]
}))

const pathParameter: Encode = message(22, () => ({
  required: [1, bool],
  in: [2, text],
  name: [4, text],
  type: [5, text],
  uniqueItems: [19, bool]
}))

const parameter2: Encode = choice((value) => {
  if (value["in"] === "body") return [1, bodyParameter]
  return [2, around(value["in"] === "path" ? 4 : 3, value["in"] === "path" ? pathParameter : queryParameter)]
})

const response2: Encode = message(5, () => ({ description: [1, text], schema: [2, around(1, schema2)] }))

const operation2: Encode = message(13, () => ({
  description: [3, text],
  operationId: [5, text],
  produces: [6, repeated(text)],
  consumes: [7, repeated(text)],
  parameters: [8, repeated(around(1, parameter2))],
  responses: [9, around(1, named(around(1, response2)))]
}))

const path2: Encode = message(10, () => ({
  get: [2, operation2],
  put: [3, operation2],
  post: [4, operation2],
  delete: [5, operation2],
  patch: [8, operation2],
  parameters: [9, repeated(around(1, parameter2))]
}))

export const writeV2: Write = (writer, document) =>
  writeFields(
    writer,
    16,
    {
      swagger: [1, text],
      info: [2, info],
      paths: [8, around(2, named(path2))],
      definitions: [9, around(1, named(schema2))]
    },
    document
  )

// Version 3.

const reference: Encode = message(0, () => ({ $ref: [1, text] }))

const schemaOrReference: Encode = choice((value) => ("$ref" in value ? [2, reference] : [1, schema3]))

const schema3: Encode = message(36, () => ({
  uniqueItems: [20, bool],
  required: [23, repeated(text)],
  type: [25, text],
  allOf: [26, repeated(schemaOrReference)],
  oneOf: [27, repeated(schemaOrReference)],
  items: [30, around(1, repeated(schemaOrReference))],
  properties: [31, around(1, named(schemaOrReference))],
  additionalProperties: [32, around(1, schemaOrReference)],
  default: [33, around(3, text)],
  description: [34, text],
  format: [35, text]
}))

const info3: Encode = message(7, () => ({ title: [1, text], version: [6, text] }))

const content: Encode = around(1, named(message(5, () => ({ schema: [1, schemaOrReference] }))))

const parameter3: Encode = message(14, () => ({
  name: [1, text],
  in: [2, text],
  required: [4, bool],
  schema: [10, schemaOrReference]
}))

const requestBody: Encode = message(4, () => ({ content: [2, content], required: [3, bool] }))

const response3: Encode = message(5, () => ({ description: [1, text], content: [3, content] }))

const operation3: Encode = message(13, () => ({
  description: [3, text],
  operationId: [5, text],
  parameters: [6, repeated(around(1, parameter3))],
  requestBody: [7, around(1, requestBody)],
  responses: [8, around(2, named(around(1, response3)))]
}))

const path3: Encode = message(14, () => ({
  get: [4, operation3],
  put: [5, operation3],
  post: [6, operation3],
  delete: [7, operation3],
  patch: [10, operation3],
  parameters: [13, repeated(around(1, parameter3))]
}))

export const writeV3: Write = (writer, document) =>
  writeFields(
    writer,
    9,
    {
      openapi: [1, text],
      info: [2, info3],
      paths: [4, around(1, named(path3))],
      components: [5, message(10, () => ({ schemas: [1, around(1, named(schemaOrReference))] }))]
    },
    document
  )

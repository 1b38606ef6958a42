/**
 * Chooses the encoder for the Accept header: the first media type that the server supports. Go clients offer protobuf first and
 * JSON as the fallback; kubectl offers tables first. Source: apiserver, endpoints/handlers/negotiation.
 */
import * as StatusError from "../StatusError.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"
import { tableEncoder } from "./table.ts"
import type { Include } from "./table.ts"
import { metadataEncoder, objectEncoder } from "./Encoder.ts"
import type { Encoder } from "./Encoder.ts"

export interface MediaType {
  readonly type: string
  readonly parameters: Readonly<Record<string, string>>
}

export const parseAccept = (accept: string): ReadonlyArray<MediaType> =>
  accept
    .split(",")
    .map((part) => {
      const [type = "", ...rest] = part.split(";").map((piece) => piece.trim())
      const parameters = Object.fromEntries(
        rest.map((one) => [one.slice(0, one.indexOf("=")).trim(), one.slice(one.indexOf("=") + 1).trim()])
      )
      return { type: type.toLowerCase(), parameters }
    })
    .filter(({ type }) => type !== "")

export const isJson = ({ type }: MediaType): boolean =>
  type === "application/json" || type === "*/*" || type === "application/*"

const accepted: ReadonlyArray<string> = ["application/json"]

interface Options {
  readonly resource: ResourceDefinition
  /** Whether the response is a list: PartialObjectMetadata has a list kind. */
  readonly collection: boolean
  readonly includeObject: string | null
  readonly now: number
}

const objectEncoders = new WeakMap<ResourceDefinition, Encoder>()

const objectEncoderOf = (resource: ResourceDefinition): Encoder => {
  const found = objectEncoders.get(resource)
  if (found !== undefined) return found
  const created = objectEncoder(resource)
  objectEncoders.set(resource, created)
  return created
}

export const negotiateEncoder = (accept: string | undefined, options: Options): Encoder | StatusError.StatusError => {
  if (accept === undefined || accept === "" || accept === "application/json") return objectEncoderOf(options.resource)
  for (const media of parseAccept(accept)) {
    if (!isJson(media)) continue
    const found = encoderOf(media.parameters, options)
    if (found !== undefined) return found
  }
  return StatusError.notAcceptable(accepted)
}

/** Undefined for a representation that the server does not have. */
const encoderOf = (
  parameters: Readonly<Record<string, string>>,
  options: Options
): Encoder | StatusError.StatusError | undefined => {
  const { as, g: group, v: version } = parameters
  if (as === undefined) return objectEncoderOf(options.resource)
  if (group !== "meta.k8s.io" || (version !== "v1" && version !== "v1beta1")) return undefined
  if (as === "Table") {
    const include = includeOf(options.includeObject)
    return StatusError.isRefusal(include) ? include : tableEncoder(options.resource, version, include, options.now)
  }
  const wanted = options.collection ? ["PartialObjectMetadataList", "PartialObjectMetadata"] : ["PartialObjectMetadata"]
  return version === "v1" && wanted.includes(as) ? metadataEncoder : undefined
}

const includeOf = (text: string | null): Include | StatusError.StatusError => {
  switch (text) {
    case null:
    case "":
    case "Metadata":
      return "Metadata"
    case "None":
    case "Object":
      return text
    default:
      return StatusError.badRequest(`unrecognized includeObject value: ${JSON.stringify(text)}`)
  }
}

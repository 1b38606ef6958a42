/**
 * ConversionReviews: converts objects to another version, all or none. Of the handler's result everything but the metadata is used; of the metadata
 * only labels and annotations, because name, namespace, uid and the rest are the same in every version. Source: apiextensions.k8s.io/v1
 * ConversionReview.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { KubeObject } from "../../kube/Meta.ts"
import { ConversionError } from "../../layers/webhook/convert.ts"
import type { Conversion } from "../../layers/Webhook.ts"
import {
  type Envelope,
  type Fields,
  type InvalidReview,
  isFields,
  newest,
  parse,
  type ReviewKind,
  textAt
} from "./review.ts"

const reviewKind: ReviewKind = { group: "apiextensions.k8s.io", kind: "ConversionReview" }

export interface Wanted {
  readonly apiVersion: string
  readonly uid: string
  /** `cache.example.com/v1`. */
  readonly version: string
  readonly objects: ReadonlyArray<KubeObject>
}

export const read = (text: string): Result.Result<Wanted, InvalidReview> =>
  Result.flatMap(parse(reviewKind, text), (envelope) => wantedOf(envelope))

const wantedOf = ({ apiVersion, request, uid }: Envelope): Result.Result<Wanted, InvalidReview> => {
  const { objects } = request
  const version = textAt(request, "desiredAPIVersion")
  const invalid = (message: string) => Result.fail({ apiVersion, uid, message })
  if (version === "") return invalid("the request has no desiredAPIVersion")
  if (!Array.isArray(objects) || !objects.every(isObject)) return invalid("the request's objects are not objects")
  return Result.succeed({ apiVersion, uid, version, objects })
}

const isObject = (value: unknown): value is KubeObject =>
  isFields(value) && isFields(value["metadata"]) && textAt(value, "kind") !== "" && textAt(value, "apiVersion") !== ""

/** In the order of the request; the first object that cannot be converted fails all. */
export const convert = <R>(
  conversions: ReadonlyArray<Conversion<R>>,
  { objects, version }: Wanted
): Effect.Effect<ReadonlyArray<KubeObject>, ConversionError, R> =>
  Effect.forEach(objects, (object) => {
    if (object.apiVersion === version) return Effect.succeed(object)
    const found = conversions.find((conversion) => isAbout(conversion, object))
    if (found === undefined) {
      return Effect.fail(new ConversionError({ message: `nobody converts ${object.kind} of ${object.apiVersion}` }))
    }
    return found.convert(object, version).pipe(
      Effect.map((converted) => restored(object, converted, version)),
      Effect.mapError(({ message }) => new ConversionError({ message: `${nameOf(object)}: ${message}` }))
    )
  })

const isAbout = ({ resource }: Conversion<unknown>, { apiVersion = "", kind }: KubeObject): boolean =>
  resource.kind === kind && apiVersion.startsWith(`${resource.group}/`)

const restored = ({ kind, metadata }: KubeObject, converted: KubeObject, version: string): KubeObject => {
  const { annotations: _annotations, labels: _labels, ...own } = metadata
  const { annotations, labels } = converted.metadata
  return {
    ...converted,
    apiVersion: version,
    ...(kind === undefined ? {} : { kind }),
    metadata: {
      ...own,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations })
    }
  }
}

const nameOf = ({ kind, metadata: { name, namespace } }: KubeObject): string =>
  `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`

export const answer = ({ apiVersion, uid }: Wanted, objects: ReadonlyArray<KubeObject>): Fields => ({
  kind: reviewKind.kind,
  apiVersion,
  response: { uid, convertedObjects: objects, result: { metadata: {}, status: "Success" } }
})

export const errorResponse = ({ apiVersion, message, uid }: InvalidReview): Fields => ({
  kind: reviewKind.kind,
  apiVersion,
  response: { uid, convertedObjects: [], result: { metadata: {}, status: "Failure", message } }
})

export const invalidReview = (message: string): InvalidReview => ({ apiVersion: newest(reviewKind), uid: "", message })

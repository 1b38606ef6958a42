/**
 * What AdmissionReviews and ConversionReviews share: the envelope with version and uid, and its validation. Reading is total: a text that is not a
 * review is an `InvalidReview`, which says what is wrong and keeps as much of the envelope as could be read. Source: admission.k8s.io,
 * apiextensions.k8s.io ConversionReview.
 */
import * as Result from "effect/Result"

/** Supported versions of reviews, the preferred first; a response has the version of its request. */
export const versions: ReadonlyArray<string> = ["v1", "v1beta1"]

export type Fields = Readonly<Record<string, unknown>>

export interface Envelope {
  /** `admission.k8s.io/v1`. */
  readonly apiVersion: string
  readonly uid: string
  readonly request: Fields
}

/** The body is not a review; it gets a response too. */
export interface InvalidReview {
  readonly apiVersion: string
  /** Empty if none could be read. */
  readonly uid: string
  readonly message: string
}

export interface ReviewKind {
  readonly group: string
  /** `AdmissionReview`. */
  readonly kind: string
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const textAt = (fields: Fields, key: string): string => {
  const value = fields[key]
  return typeof value === "string" ? value : ""
}

export const newest = ({ group }: ReviewKind): string => `${group}/${versions[0]}`

export const parse = (reviewKind: ReviewKind, text: string): Result.Result<Envelope, InvalidReview> => {
  const invalid = (message: string, apiVersion = newest(reviewKind), uid = "") =>
    Result.fail({ apiVersion, uid, message })
  if (text.trim() === "") return invalid("request body is empty")
  const read = json(text)
  if (Result.isFailure(read)) return invalid(`the body is not JSON: ${read.failure}`)
  const review = read.success
  if (!isFields(review) || textAt(review, "kind") !== reviewKind.kind)
    return invalid(`the body is not an ${reviewKind.kind}`)
  const apiVersion = textAt(review, "apiVersion")
  if (!versions.some((version) => apiVersion === `${reviewKind.group}/${version}`)) {
    return invalid(`${reviewKind.kind} in ${JSON.stringify(apiVersion.slice(0, 100))} is not understood`)
  }
  const { request } = review
  if (!isFields(request)) return invalid("the review has no request", apiVersion)
  const uid = textAt(request, "uid")
  return uid === "" ? invalid("the request has no uid", apiVersion) : Result.succeed({ apiVersion, uid, request })
}

/** Parses JSON. The failure is one short line, whatever the text is. */
export const json = (text: string): Result.Result<unknown, string> => {
  try {
    return Result.succeed(JSON.parse(text) as unknown)
  } catch (error) {
    return Result.fail((error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, " ").slice(0, 200))
  }
}

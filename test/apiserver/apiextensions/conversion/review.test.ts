import { describe } from "@effect/vitest"
/** For any response of a conversion webhook, the result is valid converted objects or an error message. */
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Review from "../../../../src/apiserver/apiextensions/conversion/conversionReview.ts"
import type { Wanted } from "../../../../src/apiserver/apiextensions/conversion/conversionReview.ts"
import { checkProperty } from "../../../support/property.ts"
/** Chooses the first value in most cases, so that one invalid member does not hide another. */
const often = <const A extends string | number, const B extends ReadonlyArray<string | number>>(
  usual: A,
  ...others: B
) => Schema.Literals([usual, ...Array.from({ length: 30 * others.length }, () => usual), ...others])

const Converted = Schema.Struct({
  apiVersion: often("g.example/v2", "g.example/v1", "", 7),
  kind: often("Widget", "Gadget", ""),
  name: often("own", "other", 7),
  uid: often("own", "other"),
  labels: Schema.Literals([
    ...(["own", "own", "own", "none", "none", "new", "new", "null", "null"] as const),
    ...(["bad key", "bad value", "number", "list"] as const)
  ]),
  finalizers: Schema.Boolean,
  shape: often("object", "no metadata", "metadata of text", "text", "null")
})

const Answer = Schema.Struct({
  reviewVersion: often("v1", "v1beta1"),
  status: often(200, 404, 500),
  text: often("", "<html>", "[]", "{", '"x"'),
  apiVersion: often("own", "apiextensions.k8s.io/v1beta1", 7),
  kind: often("ConversionReview", "Status", ""),
  uid: often("7", "8"),
  response: often("there", "absent", "list"),
  result: often("Success", "Failed", ""),
  message: Schema.Literals(["", "no"]),
  /** Number of missing (negative) or additional objects. */
  off: Schema.Literals([0, 0, 0, -1, 1]),
  objects: Schema.Array(Converted).check(Schema.isMinLength(1), Schema.isMaxLength(3))
})
type Answer = typeof Answer.Type

const originals = (answer: Answer) =>
  answer.objects.map((_, index) => ({
    kind: "Widget",
    apiVersion: "g.example/v1",
    metadata: { name: `w${index}`, namespace: "n", uid: `u${index}`, labels: { own: "1" }, generation: 3 }
  }))

const labels: Readonly<Record<(typeof Converted.Type)["labels"], unknown>> = {
  own: { own: "1" },
  none: undefined,
  new: { more: "2" },
  null: null,
  "bad key": { "not a key!": "1" },
  "bad value": { a: "not a value!" },
  number: { a: 1 },
  list: ["a"]
}

const convertedOf = (one: typeof Converted.Type, index: number): unknown => {
  if (one.shape === "text") return "text"
  if (one.shape === "null") return null
  const metadata = {
    name: one.name === "own" ? `w${index}` : one.name,
    namespace: "n",
    uid: one.uid === "own" ? `u${index}` : one.uid,
    labels: labels[one.labels],
    generation: 9,
    ...(one.finalizers ? { finalizers: ["mine"] } : {})
  }
  const { apiVersion, kind } = one
  const rest = { apiVersion, kind, spec: { replicas: index } }
  if (one.shape === "no metadata") return rest
  return { ...rest, metadata: one.shape === "metadata of text" ? "text" : metadata }
}

const replyTo = (answer: Answer) => {
  const all = answer.objects.map(convertedOf)
  const convertedObjects = answer.off < 0 ? all.slice(1) : answer.off > 0 ? [...all, all[0]] : all
  const { kind, message, result, uid } = answer
  const response = answer.response === "list" ? [] : { uid, result: { status: result, message }, convertedObjects }
  const apiVersion = answer.apiVersion === "own" ? `apiextensions.k8s.io/${answer.reviewVersion}` : answer.apiVersion
  const review = { apiVersion, kind, ...(answer.response === "absent" ? {} : { response }) }
  return { status: answer.status, body: answer.text === "" ? JSON.stringify(review) : answer.text }
}

const wantedOf = (answer: Answer): Wanted => ({
  converter: {
    id: "1",
    group: "g.example",
    kind: "Widget",
    storageVersion: "v2",
    schemas: new Map(),
    reviewVersion: answer.reviewVersion,
    address: { url: "https://hooks.example", service: undefined, ca: undefined }
  },
  to: "v2",
  objects: originals(answer).map((one) => JSON.stringify(one))
})

const isGood = ({ apiVersion, kind, labels, name, shape, uid }: typeof Converted.Type): boolean =>
  apiVersion === "g.example/v2" &&
  kind === "Widget" &&
  shape === "object" &&
  name === "own" &&
  uid === "own" &&
  ["own", "none", "new", "null"].includes(labels)

/** Whether the response is valid by the API. */
const isTaken = (answer: Answer): boolean =>
  answer.status === 200 &&
  answer.text === "" &&
  answer.kind !== "" &&
  (answer.reviewVersion === "v1beta1" ||
    (answer.apiVersion === "own" && answer.kind === "ConversionReview" && answer.uid === "7")) &&
  answer.response === "there" &&
  answer.result === "Success" &&
  answer.off === 0 &&
  answer.objects.every(isGood)

const answers = Arbitrary.schema(Answer)

const read = (answer: Answer) => Review.read(wantedOf(answer), "7", replyTo(answer))

describe("conversionReview", () => {
  checkProperty(
    "an answer is taken when it is all that it has to be, and otherwise one sentence",
    answers,
    (answer) => {
      const found = read(answer)
      return Result.isSuccess(found)
        ? isTaken(answer)
        : !isTaken(answer) &&
            /^conversion webhook for g\.example\/v1, Kind=Widget (failed|returned)/.test(found.failure)
    }
  )

  checkProperty("a webhook can change labels and annotations, no other metadata", answers, (answer) => {
    const found = read(answer)
    if (Result.isFailure(found)) return true
    return found.success.every(({ metadata, spec }: any, index) => {
      const own = { none: undefined, null: undefined, new: '{"more":"2"}', own: '{"own":"1"}' }
      const { labels, ...rest } = metadata
      const expected = own[answer.objects[index]?.labels as keyof typeof own]
      return (
        JSON.stringify(rest) ===
          JSON.stringify({ name: `w${index}`, namespace: "n", uid: `u${index}`, generation: 3 }) &&
        JSON.stringify(labels) === expected &&
        spec.replicas === index
      )
    })
  })
})

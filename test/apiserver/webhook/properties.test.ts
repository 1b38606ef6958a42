import { describe } from "@effect/vitest"
/** Properties of the pure parts of webhooks: rule matching, and decoding of arbitrary responses. */
import * as Arbitrary from "effect/Arbitrary"
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Matching from "../../../src/apiserver/webhook/matching.ts"
import * as Review from "../../../src/apiserver/webhook/review.ts"
import { checkProperty } from "../../support/property.ts"

const groups = ["", "apps"] as const
const versions = ["v1", "v2"] as const
const plurals = ["pods", "nodes"] as const
const parts = ["", "status", "scale"] as const
const operations = ["CREATE", "UPDATE", "DELETE"] as const
/** Chooses the first value in most cases, so that one invalid member does not hide another. */
const often = <const A extends string | number, const B extends ReadonlyArray<string | number>>(
  usual: A,
  ...others: B
) => Schema.Literals([usual, ...Array.from({ length: 9 * others.length }, () => usual), ...others])

const some = <const A extends ReadonlyArray<string>>(values: A) =>
  Schema.Tuple([often("*", ...values), Schema.Literals(values)])

const Case = Schema.Struct({
  rule: Schema.Struct({
    groups: some(groups),
    versions: some(versions),
    operations: some(operations),
    scope: often("*", "Cluster", "Namespaced"),
    resources: Schema.Array(
      Schema.Struct({ own: Schema.Literals(["*", ...plurals]), part: Schema.Literals(["*", ...parts]) })
    ).check(Schema.isMaxLength(3))
  }),
  asked: Schema.Struct({
    resource: Schema.Struct({
      group: Schema.Literals(groups),
      version: Schema.Literals(versions),
      plural: Schema.Literals(plurals),
      namespaced: Schema.Boolean
    }),
    subresource: Schema.Literals(parts),
    operation: Schema.Literals(operations)
  })
})
type Case = typeof Case.Type

const written = ({ own, part }: Case["rule"]["resources"][number]): string => (part === "" ? own : `${own}/${part}`)

/** All requests that a rule matches, with every star expanded. */
const requestsOf = ({ groups: gs, operations: os, resources, scope, versions: vs }: Case["rule"]): Set<string> => {
  const spread = (values: ReadonlyArray<string>, all: ReadonlyArray<string>) => (values.includes("*") ? all : values)
  const names = resources.flatMap(({ own, part }) =>
    spread([own], plurals).flatMap((plural) => spread([part], parts).map((sub) => `${plural}/${sub}`))
  )
  const scopes = spread([scope], ["Cluster", "Namespaced"])
  const all = [spread(os, operations), spread(gs, groups), spread(vs, versions), names, scopes]
  return new Set(
    all.reduce<ReadonlyArray<string>>((made, next) => made.flatMap((one) => next.map((more) => `${one} ${more}`)), [""])
  )
}

describe("Matching", () => {
  checkProperty("a rule is about what it is with every star written out", Arbitrary.schema(Case), ({ asked, rule }) => {
    const { operation, resource, subresource } = asked
    const scope = resource.namespaced ? "Namespaced" : "Cluster"
    const wanted = ` ${operation} ${resource.group} ${resource.version} ${resource.plural}/${subresource} ${scope}`
    return Matching.holds({ ...rule, resources: rule.resources.map(written) }, asked) === requestsOf(rule).has(wanted)
  })
})

const uid = "7"

const Answer = Schema.Struct({
  status: often(200, 201, 299, 300, 404, 500),
  text: often("", "<html>", "[]", "{", '"x"'),
  phase: Schema.Literals(["mutating", "validating"]),
  apiVersion: often("admission.k8s.io/v1", "admission.k8s.io/v1beta1", 7),
  kind: often("AdmissionReview", "Status", ""),
  response: Schema.NullOr(
    Schema.Struct({
      uid: often(uid, "8", 7),
      allowed: Schema.Literals([true, false, "true", 1]),
      patch: Schema.optionalKey(often(Base64.encode("[]"), "", "no base64!", 7)),
      patchType: Schema.optionalKey(often("JSONPatch", "MergePatch", "")),
      warnings: Schema.optionalKey(Schema.Array(Schema.Literals(["w", 7]))),
      status: Schema.optionalKey(Schema.Literals(["s", 7]))
    })
  )
})
type Answer = typeof Answer.Type

const outcome = ({ apiVersion, kind, response, status, text }: Answer) => ({
  _tag: "Replied" as const,
  uid,
  reply: { status, body: text === "" ? JSON.stringify({ apiVersion, kind, response }) : text }
})

const isReview = ({ apiVersion, kind, response, status, text }: Answer): boolean =>
  status < 300 &&
  text === "" &&
  apiVersion === "admission.k8s.io/v1" &&
  kind === "AdmissionReview" &&
  response?.uid === uid

const Told = Schema.Struct({
  code: Schema.Literals([0, 100, 200, 399, 400, 403, 500, 599, 600, 403.5]),
  status: Schema.Literals(["Success", "Failure", ""]),
  message: Schema.Literals(["", "no"]),
  reason: Schema.Literals(["", "Because"])
})

describe("Review", () => {
  checkProperty("only a review with the uid of the call is a verdict", Arbitrary.schema(Answer), (answer) => {
    const verdict = Review.read(outcome(answer), answer.phase)
    return Result.isFailure(verdict) ? verdict.failure !== "" : isReview(answer)
  })

  checkProperty(
    "a verdict allows when it says so, and patches when it may and has both parts",
    Arbitrary.schema(Answer),
    (answer) => {
      const verdict = Review.read(outcome(answer), answer.phase)
      const { allowed, patch, patchType } = answer.response ?? { allowed: false, patch: "", patchType: "" }
      if (Result.isFailure(verdict)) {
        return !isReview(answer) || patchType !== undefined || (typeof patch === "string" && patch !== "")
      }
      const patches = answer.phase === "mutating" && patch === Base64.encode("[]") && patchType === "JSONPatch"
      return verdict.success.allowed === (allowed === true) && verdict.success.patch === (patches ? "[]" : undefined)
    }
  )

  checkProperty("a denial never sounds like success, and names the webhook", Arbitrary.schema(Told), (told) => {
    const { code, message, status } = Review.denial("a.b.c", told)
    const own = told.message === "" ? told.reason : told.message
    const isOwn = Number.isInteger(told.code) && told.code >= 400 && told.code < 600
    const said = own === "" ? " without explanation" : `: ${own}`
    return (
      status === "Failure" &&
      code === (isOwn ? told.code : 400) &&
      message === `admission webhook "a.b.c" denied the request${said}`
    )
  })
})

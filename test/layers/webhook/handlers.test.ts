import { describe } from "@effect/vitest"
/** Properties of handlers for any object, with and without fields that the Schema knows. */
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { isDeepStrictEqual } from "node:util"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Denial from "../../../src/layers/webhook/denial.ts"
import * as Handlers from "../../../src/layers/webhook/handlers.ts"
import type { Request, Verdict } from "../../../src/layers/webhook/Request.ts"
import { checkProperty } from "../../support/property.ts"
import { json } from "../../manager/webhooks/json.ts"
import { Gadget } from "./gadget.ts"

const size = Schema.Literals([1, 2, 3, 4, 5, 5, 9, 0])
const spec = Schema.Struct({
  size: Schema.Union([size, size, size, json(0)]),
  colour: Schema.optionalKey(Schema.Literals(["red", "blue"])),
  unknown: Schema.optionalKey(json(2))
})
const object = Schema.Struct({ spec, status: Schema.optionalKey(json(1)), deleted: Schema.Boolean })

const Case = Schema.Struct({
  operation: Schema.Literals(["CREATE", "UPDATE", "UPDATE", "UPDATE", "DELETE", "CONNECT"]),
  object,
  oldObject: object,
  isSame: Schema.Boolean
})

interface Asked {
  readonly request: Request
  readonly isGood: boolean
  readonly isOldGood: boolean
}

const own = { group: "demo.example.com", version: "v2", kind: "Gadget" }

/** The options of a CONNECT request. */
const options = { group: "", version: "v1", kind: "PodExecOptions" }

const cases = Arbitrary.map(Arbitrary.schema(Case), (value): Asked => {
  const { isSame, object, oldObject, operation } = JSON.parse(JSON.stringify(value)) as typeof Case.Type
  const gadget = ({ deleted, spec, status }: typeof object): any => ({
    apiVersion: "demo.example.com/v2",
    kind: "Gadget",
    metadata: { name: "a", ...(deleted ? { deletionTimestamp: "2020-01-01T00:00:00Z" } : {}) },
    spec,
    ...(status === undefined ? {} : { status })
  })
  const before = gadget(oldObject)
  const after = isSame ? { ...gadget(object), spec: before.spec } : gadget(object)
  const writtenObjects = { object: after as KubeObject, oldObject: before as KubeObject }
  return {
    request: {
      uid: "u",
      operation,
      kind: operation === "CONNECT" ? options : own,
      name: "a",
      namespace: undefined,
      subresource: undefined,
      user: { username: "jane", uid: undefined, groups: [], extra: {} },
      dryRun: false,
      options: null,
      object: ["CREATE", "UPDATE"].includes(operation) ? writtenObjects.object : undefined,
      oldObject: ["UPDATE", "DELETE"].includes(operation) ? writtenObjects.oldObject : undefined
    },
    isGood: isGood(after),
    isOldGood: isGood(before)
  }
})

const isGood = ({ spec }: any): boolean => Number.isInteger(spec.size) && spec.size >= 1 && spec.size <= 5

const run = (effect: Effect.Effect<Verdict>): Verdict => Effect.runSync(effect)

const grey = (one: any) => Effect.succeed({ ...one, spec: { ...one.spec, colour: "grey" } })

const refusing = () => Effect.fail(Denial.deny("no"))

const isAsked = ({ isGood, isOldGood, request: { operation } }: Asked): boolean =>
  operation === "DELETE" ? isOldGood : operation !== "CONNECT" && isGood

/** The object was invalid before this write, and the write did not change its spec. */
const isOld = ({ isOldGood, request: { object, oldObject } }: Asked): boolean =>
  oldObject !== undefined &&
  !isOldGood &&
  (object?.metadata.deletionTimestamp !== undefined || isDeepStrictEqual(specOf(object), specOf(oldObject)))

const specOf = (object: any): unknown => object?.spec

describe("Handlers", () => {
  checkProperty("a default is set, and all other fields stay as they are", cases, (asked) => {
    const { object, refusal } = run(Handlers.defaulting(Gadget, grey)(asked.request))
    if (!isAsked(asked) || asked.request.operation === "DELETE") return object === undefined
    const raw = asked.request.object as any
    return refusal === undefined && isDeepStrictEqual(object, { ...raw, spec: { ...raw.spec, colour: "grey" } })
  })

  checkProperty("a field that a handler does not change stays as it is", cases, (asked) => {
    const { object } = run(Handlers.defaulting(Gadget, (one) => Effect.succeed(one))(asked.request))
    return object === undefined || isDeepStrictEqual(object, asked.request.object)
  })

  checkProperty("an object that the Schema cannot decode is denied, unless it was stored before", cases, (asked) => {
    const { operation } = asked.request
    const { refusal, warnings } = run(Handlers.validating(Gadget, () => Effect.void)(asked.request))
    const isJudged = operation === "CREATE" || operation === "UPDATE"
    const isBad = isJudged && !asked.isGood
    return (
      (refusal !== undefined) === (isBad && !isOld(asked)) &&
      warnings.length > 0 === (isBad && isOld(asked)) &&
      (refusal === undefined || (refusal.code === 422 && refusal.details?.causes?.[0]?.field === "spec.size"))
    )
  })

  checkProperty("a rule is called for all objects that can be decoded, and its failure is a denial", cases, (asked) => {
    const { refusal } = run(Handlers.validating(Gadget, refusing)(asked.request))
    return (refusal?.message === "no") === isAsked(asked)
  })

  checkProperty("a rule receives the stored object if it can be decoded", cases, (asked) => {
    let seen: unknown = "nothing"
    const check = ({ oldObject }: { readonly oldObject?: unknown }) => Effect.sync(() => void (seen = oldObject))
    run(Handlers.validating(Gadget, check)(asked.request))
    const { oldObject, operation } = asked.request
    if (!isAsked(asked)) return seen === "nothing"
    if (operation === "CREATE" || !asked.isOldGood) return seen === undefined
    return isDeepStrictEqual(seen, Result.getOrThrow(Gadget.decode(oldObject)))
  })
})

/** A patch contains the difference and nothing else. */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import { isDeepStrictEqual } from "node:util"
import type { Json } from "../../../src/apiserver/json.ts"
import { apply } from "../../../src/apiserver/endpoints/patch/jsonPatch.ts"
import * as Diff from "../../../src/manager/webhooks/diff.ts"
import { checkProperty } from "../../support/property.ts"
import { json } from "./json.ts"

/** Parsed again, because generated objects have no prototype. */
const values = Arbitrary.map(Arbitrary.schema(json(3)), (value): unknown => JSON.parse(JSON.stringify(value)))
const pairs = Arbitrary.all([values, values] as const)

/** Pointers of all equal parts of two values. */
const alike = (a: unknown, b: unknown, path = ""): ReadonlyArray<string> => {
  if (isDeepStrictEqual(a, b)) return [path]
  if (!isFields(a) || !isFields(b)) return []
  return Object.keys(a)
    .filter((key) => Object.hasOwn(b, key))
    .flatMap((key) => alike(a[key], b[key], `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`))
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The value after the patch; a StatusError if it cannot be applied. */
const applied = (value: unknown, patch: unknown): unknown => apply(value as Json, patch as Json)

describe("Diff", () => {
  checkProperty("applied to the first it gives the second", pairs, ([from, to]) =>
    isDeepStrictEqual(applied(from, Diff.diff(from, to)), to)
  )

  checkProperty("what is the same is not spoken of", pairs, ([from, to]) => {
    const paths = Diff.diff(from, to).map(({ path }) => path)
    return alike(from, to).every((same) =>
      paths.every((path) => path !== same && !path.startsWith(`${same}/`) && !same.startsWith(`${path}/`))
    )
  })

  checkProperty("of undefined fields nothing is said", values, (value) =>
    isFields(value)
      ? Diff.diff(value, { ...value, nothing: undefined }).length === 0
      : Diff.diff(value, value).length === 0
  )
})

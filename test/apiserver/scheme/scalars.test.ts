/** Times, quantities and bytes: accepted values and error messages as recorded from kube-apiserver 1.20. */
import { assert, describe, it } from "@effect/vitest"
import type { Json } from "../../../src/apiserver/json.ts"
import * as scalars from "../../../src/apiserver/scheme/scalars.ts"
import type { Scalar } from "../../../src/apiserver/scheme/types.ts"

/** Accepted values; a pair has the value and its stored form. */
const accepted: ReadonlyArray<readonly [Scalar, ReadonlyArray<Json | readonly [Json, string]>]> = [
  ["t", ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5Z", "2024-02-29T23:59:59+01:00"]],
  ["u", ["2026-01-01T00:00:00.123456Z", "2026-01-01T00:00:00.123456+01:00"]],
  [
    "q",
    [
      "1",
      "1.5",
      "1.",
      "+1",
      ".5",
      "-1",
      "1e3",
      "1E3",
      "1e+3",
      "1E",
      "1k",
      "1Ki",
      "9Ei",
      "1u",
      "1n",
      [1, "1"],
      [1.5, "1.5"],
      [" 1 ", "1"]
    ]
  ],
  ["y", ["", "YQ==", "YWJj", ["YW\nJj", "YWJj"]]],
  ["x", [80, "80", "25%"]],
  ["i", [0, -2147483648, 2147483647]]
]

const quantityPattern = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const suffix = "unable to parse quantity's suffix"
const layout = '"2006-01-02T15:04:05Z07:00"'

const refused: ReadonlyArray<readonly [Scalar, Json, string | undefined]> = [
  ["t", "yesterday", `parsing time "yesterday" as ${layout}: cannot parse "yesterday" as "2006"`],
  ["t", "2026-01-01", `parsing time "2026-01-01" as ${layout}: cannot parse "" as "T"`],
  ["t", "2026-01-01T00:00:00", `parsing time "2026-01-01T00:00:00" as ${layout}: cannot parse "" as "Z07:00"`],
  ["t", "2026-01-01T00:00:00Zx", 'parsing time "2026-01-01T00:00:00Zx": extra text: "x"'],
  ["t", "2026-13-01T00:00:00Z", 'parsing time "2026-13-01T00:00:00Z": month out of range'],
  ["t", "2026-02-29T00:00:00Z", 'parsing time "2026-02-29T00:00:00Z": day out of range'],
  ["t", "2026-01-01T25:00:00Z", 'parsing time "2026-01-01T25:00:00Z": hour out of range'],
  [
    "u",
    "2026-01-01T00:00:00Z",
    'parsing time "2026-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"'
  ],
  ["q", "", quantityPattern],
  ["q", "5GB", quantityPattern],
  ["q", "1_000", quantityPattern],
  ["q", "1..5", quantityPattern],
  ["q", true, quantityPattern],
  ["q", "1K", suffix],
  ["q", "1kk", suffix],
  ["q", "1Kim", suffix],
  ["y", "YQ", "illegal base64 data at input byte 0"],
  ["y", "%%", "illegal base64 data at input byte 0"],
  ["y", "YQ==YQ==", "illegal base64 data at input byte 4"],
  ["x", true, "json: cannot unmarshal bool into Go value of type int32"],
  ["x", 1.5, "json: cannot unmarshal number 1.5 into Go value of type int32"],
  ["i", 2147483648, undefined],
  ["b", "true", undefined],
  ["s", 5, undefined]
]

describe("scalars", () => {
  it("accept the values kube-apiserver accepts, normalized as it stores them", () => {
    for (const [scalar, values] of accepted) {
      for (const value of values) {
        const [sent, stored] = Array.isArray(value) ? (value as [Json, string]) : [value as Json, undefined]
        assert.strictEqual(scalars.accepts[scalar](sent), stored === undefined, `${scalar} ${JSON.stringify(sent)}`)
        if (stored !== undefined) assert.strictEqual(scalars.repaired(scalar, sent), stored)
      }
    }
  })

  it("reject all others, with kube-apiserver's message where the type has one", () => {
    for (const [scalar, value, words] of refused) {
      assert.isFalse(scalars.accepts[scalar](value), `${scalar} ${JSON.stringify(value)}`)
      assert.isUndefined(scalars.repaired(scalar, value))
      assert.strictEqual(scalars.complaint(scalar, value), words)
    }
  })
})

/** Conversions between types, and the parts of times. The expected values are those of cel-go, with UTC where no zone is given. */
import { assert, describe, it } from "@effect/vitest"
import { wrong } from "./evaluated.ts"

describe("a conversion", () => {
  it("between numbers and texts keeps the value or fails", () => {
    assert.deepStrictEqual(
      wrong([
        ["int('-12')", "-12"],
        ["int('1.5')", "failed: type conversion error from 'string' to 'int'"],
        ["int('9223372036854775808')", "failed: type conversion error from 'string' to 'int'"],
        ["int(1.9)", "1"],
        ["int(1e30)", "failed: integer overflow"],
        ["int(18446744073709551615u)", "failed: integer overflow"],
        ["uint(-1)", "failed: unsigned integer overflow"],
        ["uint('3')", "3u"],
        ["double('1e3')", "1000d"],
        ["double(1)", "1d"],
        ["string(1.5)", '"1.5"'],
        ["string(1u)", '"1"'],
        ["string(true)", '"true"'],
        ["string(b'ab')", '"ab"'],
        ["string(b'\\xff')", "failed: invalid UTF-8 in bytes, cannot convert to string"],
        ["bytes('ä')", "bytes 195 164"],
        ["bool('true')", "true"],
        ["bool('yes')", "failed: type conversion error from 'string' to 'bool'"],
        ["type(1) == int && type('a') == string && type(null) == null_type", "true"]
      ]),
      []
    )
  })

  it("of durations follows Go", () => {
    assert.deepStrictEqual(
      wrong([
        ["duration('1h1m1s1ms') == duration('3661.001s')", "true"],
        ["string(duration('1h1.5s'))", '"3601.5s"'],
        ["string(duration('-1ms'))", '"-0.001s"'],
        ["duration('90m').getHours()", "1"],
        ["duration('90m').getMinutes()", "90"],
        ["duration('1.5s').getSeconds()", "1"],
        ["duration('1.5s').getMilliseconds()", "500"],
        ["duration('1d')", "refused: invalid duration argument"],
        ["duration('1h') > duration('59m')", "true"]
      ]),
      []
    )
  })

  it("of times follows RFC 3339, and their parts are those of UTC", () => {
    assert.deepStrictEqual(
      wrong([
        ["string(timestamp('2024-02-29T01:02:03.5+01:00'))", '"2024-02-29T00:02:03.5Z"'],
        ["timestamp('2024-02-29T00:00:00Z') == timestamp(1709164800)", "true"],
        ["int(timestamp('1970-01-01T00:01:00Z'))", "60"],
        ["timestamp('2023-02-29T00:00:00Z')", "refused: invalid timestamp argument"],
        ["timestamp('2024-02-29')", "refused: invalid timestamp argument"],
        ["timestamp('2024-12-31T23:59:58Z').getFullYear()", "2024"],
        ["timestamp('2024-12-31T23:59:58Z').getMonth()", "11"],
        ["timestamp('2024-12-31T23:59:58Z').getDate()", "31"],
        ["timestamp('2024-12-31T23:59:58Z').getDayOfMonth()", "30"],
        ["timestamp('2024-12-31T23:59:58Z').getDayOfYear()", "365"],
        ["timestamp('2024-12-31T23:59:58Z').getDayOfWeek()", "2"],
        ["timestamp('2024-12-31T23:59:58Z').getHours()", "23"],
        ["timestamp('2024-12-31T23:59:58Z').getHours('+02:00')", "1"],
        ["timestamp('2024-06-30T23:59:58Z').getHours('Europe/Berlin')", "1"],
        ["timestamp('2024-01-01T00:00:00Z') + duration('24h') == timestamp('2024-01-02T00:00:00Z')", "true"],
        ["timestamp('2024-01-02T00:00:00Z') - timestamp('2024-01-01T00:00:00Z') == duration('24h')", "true"],
        ["timestamp('9999-12-31T23:59:59Z') + duration('1s')", "failed: timestamp overflow"]
      ]),
      []
    )
  })
})

/** The times of schedules, compared with the slow model of `reading.ts` near clock changes; and the texts that are no schedules. */
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schedule from "../../../src/kube/cron/Schedule.ts"
import * as Zone from "../../../src/kube/cron/Zone.ts"
import { checkProperty } from "../../support/property.ts"
import * as Reading from "./reading.ts"
const zone = (id: string): Zone.Zone => {
  const found = Zone.named(id)
  if (found === undefined) throw new Error(`there is no zone ${id}`)
  return found
}

const read = (text: string, id = "UTC") => Result.getOrThrow(Schedule.parse(text, zone(id)))

describe("Schedule", () => {
  checkProperty("the next time is the first matching minute of the local time", Reading.cases, (given) => {
    const found = Schedule.next(read(given.text, given.reading.zone), given.from)
    const seen = Reading.next(given.reading, given.from, given.to)
    return seen === undefined ? found === undefined || found > given.to : found === seen
  })

  checkProperty("the latest time is the last matching minute of the local time", Reading.cases, (given) => {
    const found = Schedule.latest(read(given.text, given.reading.zone), given.from, given.to)
    return found === Reading.latest(given.reading, given.from, given.to)
  })

  checkProperty("results do not depend on earlier queries", Reading.cases, ({ from, reading, text, to }) => {
    const schedule = read(text, reading.zone)
    const step = 1_234_567
    const moments = Array.from({ length: 12 }, (_, i) => from + ((i * 7) % 12) * step)
    return moments.every((moment, i) => {
      const fresh = read(text, reading.zone)
      return i % 2 === 0
        ? Schedule.next(schedule, moment) === Schedule.next(fresh, moment)
        : Schedule.latest(schedule, from, Math.max(moment, to)) ===
            Schedule.latest(fresh, from, Math.max(moment, to)) &&
            Schedule.latest(schedule, from, moment) === Schedule.latest(fresh, from, moment)
    })
  })

  checkProperty("no time lies between the latest and the next", Reading.cases, (given) => {
    const schedule = read(given.text, given.reading.zone)
    const latest = Schedule.latest(schedule, given.from, given.to)
    return Schedule.next(schedule, latest ?? given.from) === Schedule.next(schedule, given.to)
  })
})

const at = (text: string): number => Date.parse(text)

const iso = (millis: number | undefined): string | undefined =>
  millis === undefined ? undefined : new Date(millis).toISOString()

describe("a schedule", () => {
  const next = (text: string, after: string, id?: string) => iso(Schedule.next(read(text, id), at(after)))

  it("next of fields is after the given minute, never the same", () => {
    assert.strictEqual(next("*/5 * * * *", "2024-01-01T00:05:00Z"), "2024-01-01T00:10:00.000Z")
    assert.strictEqual(next("*/5 * * * *", "2024-01-01T00:04:59.999Z"), "2024-01-01T00:05:00.000Z")
    assert.strictEqual(next("30 6-16/4 * * 1-5", "2024-01-05T14:30:00Z"), "2024-01-08T06:30:00.000Z")
  })

  it("a day that most years lack is found in a later year, and a day that no month has never comes", () => {
    assert.strictEqual(next("0 0 29 2 *", "2024-02-29T00:00:00Z"), "2028-02-29T00:00:00.000Z")
    assert.isUndefined(next("0 0 29 2 *", "2096-03-01T00:00:00Z"))
    for (const never of ["0 0 30 2 *", "0 0 31 2,4,6 ?", ", * * * *"]) {
      assert.isUndefined(next(never, "2024-01-01T00:00:00Z"), never)
      assert.isUndefined(Schedule.latest(read(never), 0, at("2024-01-01T00:00:00Z")), never)
    }
    // A day of the week always exists.
    assert.strictEqual(next("0 0 30 2 1", "2024-01-01T00:00:00Z"), "2024-02-05T00:00:00.000Z")
  })

  it("a local time that a clock change skips does not occur, and one that it repeats occurs twice", () => {
    const york = "America/New_York"
    assert.strictEqual(next("30 2 * * *", "2024-03-10T00:00:00-05:00", york), "2024-03-11T06:30:00.000Z")
    assert.strictEqual(next("30 1 * * *", "2024-11-03T00:00:00-04:00", york), "2024-11-03T05:30:00.000Z")
    assert.strictEqual(next("30 1 * * *", "2024-11-03T01:30:00-04:00", york), "2024-11-03T06:30:00.000Z")
  })

  it("a named schedule is the same as its fields", () => {
    const meant = {
      "@yearly": "0 0 1 1 *",
      "@annually": "0 0 1 1 *",
      "@monthly": "0 0 1 * *",
      "@weekly": "0 0 * * 0",
      "@daily": "0 0 * * *",
      "@midnight": "0 0 * * *",
      "@hourly": "0 * * * *"
    }
    for (const [name, text] of Object.entries(meant))
      assert.strictEqual(next(name, "2024-05-17T13:14:15Z"), next(text, "2024-05-17T13:14:15Z"), name)
  })

  it("an interval counts whole seconds from its start", () => {
    assert.strictEqual(next("@every 1h30m", "2024-01-01T00:00:10Z"), "2024-01-01T01:30:10.000Z")
    assert.strictEqual(next("@every 1500ms", "2024-01-01T00:00:00.700Z"), "2024-01-01T00:00:01.000Z")
    assert.strictEqual(next("@every -3s", "2024-01-01T00:00:00Z"), "2024-01-01T00:00:01.000Z")
    const schedule = read("@every 7m")
    assert.strictEqual(Schedule.latest(schedule, 60_000, 60_000 + 7 * 60_000 * 5 + 1), 60_000 + 7 * 60_000 * 5)
    assert.isUndefined(Schedule.latest(schedule, 60_000, 60_000 + 7 * 60_000 - 1))
  })

  it("the text may name its time zone", () => {
    for (const prefix of ["TZ=Asia/Tokyo ", "CRON_TZ=Asia/Tokyo   "])
      assert.strictEqual(next(`${prefix}0 9 * * *`, "2024-01-01T00:00:00Z"), "2024-01-02T00:00:00.000Z")
  })

  const wrong: Readonly<Record<string, string>> = {
    "": "empty spec string",
    "* * * *": "expected exactly 5 fields, found 4: [* * * *]",
    "* * * * * *": "expected exactly 5 fields, found 6: [* * * * * *]",
    "60 * * * *": "end of range (60) above maximum (59): 60",
    "* 24 * * *": "end of range (24) above maximum (23): 24",
    "* * 0 * *": "beginning of range (0) below minimum (1): 0",
    "* * * 13 *": "end of range (13) above maximum (12): 13",
    "* * * * 8": "end of range (8) above maximum (7): 8",
    "5-3 * * * *": "beginning of range (5) beyond end of range (3): 5-3",
    "*/0 * * * *": "step of range should be a positive number: */0",
    "1-2-3 * * * *": "too many hyphens: 1-2-3",
    "1/2/3 * * * *": "too many slashes: 1/2/3",
    "x * * * *": 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax',
    "-5 * * * *": 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax',
    "*/x * * * *": 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax',
    "99999999999999999999 * * * *":
      'failed to parse int from 99999999999999999999: strconv.Atoi: parsing "99999999999999999999": value out of range',
    "* * * * sunday": 'failed to parse int from sunday: strconv.Atoi: parsing "sunday": invalid syntax',
    "@noon": "unrecognized descriptor: @noon",
    "@hourly ": "unrecognized descriptor: @hourly ",
    "@every": "unrecognized descriptor: @every",
    "@every soon": 'failed to parse duration @every soon: time: invalid duration "soon"',
    "@every 5": 'failed to parse duration @every 5: time: missing unit in duration "5"',
    "@every 5d": 'failed to parse duration @every 5d: time: unknown unit "d" in duration "5d"',
    "@every ": 'failed to parse duration @every : time: invalid duration ""',
    "@every 99999999h": 'failed to parse duration @every 99999999h: time: invalid duration "99999999h"',
    "TZ=Nowhere * * * * *": "provided bad location Nowhere: unknown time zone Nowhere",
    "TZ=UTC": "expected exactly 5 fields, found 0: []"
  }
  for (const [text, why] of Object.entries(wrong)) {
    it(`${JSON.stringify(text)} is not a schedule`, () => {
      assert.deepStrictEqual(Schedule.parse(text, Zone.utc), Result.fail(why))
    })
  }

  it("unusual but valid spellings are accepted", () => {
    for (const text of [
      "1,,2 * * * *",
      " 1  2 3\t4 5 ",
      "*-5 * * * *",
      "+5 * * * *",
      "@every +1.5h",
      "* * * * 5-7",
      "?/2 * ? * ?"
    ])
      assert.isTrue(Result.isSuccess(Schedule.parse(text, Zone.utc)), text)
  })
})

describe("a zone", () => {
  it("is accepted by its name in the tz database", () => {
    for (const id of ["", "UTC", "Europe/Berlin", "US/Pacific", "EST5EDT", "Etc/GMT+1", "America/Argentina/Ushuaia"])
      assert.isDefined(Zone.named(id), id)
    for (const id of [
      "Local",
      "local",
      "bad-time-zone",
      "europe/berlin",
      "PST",
      "+01:00",
      "../UTC",
      "-x",
      "/UTC",
      "UTC/"
    ])
      assert.isUndefined(Zone.named(id), id)
  })

  it("has its offsets and changes, far back too", () => {
    const berlin = zone("Europe/Berlin")
    const [summer, winter] = [at("2024-03-31T01:00:00Z"), at("2024-10-27T01:00:00Z")]
    assert.deepStrictEqual([berlin.offsetAt(summer - 1), berlin.offsetAt(summer)], [3_600_000, 7_200_000])
    assert.deepStrictEqual([berlin.until(summer - 1), berlin.until(summer)], [summer, winter])
    assert.deepStrictEqual([berlin.since(winter), berlin.since(winter - 1)], [winter, summer])
    assert.strictEqual(berlin.since(at("2024-01-15T00:00:00Z")), at("2023-10-29T01:00:00Z"))
    assert.strictEqual(zone("Africa/Monrovia").offsetAt(0), -2_670_000)
  })

  it("the next time does not depend on earlier queries", () => {
    const york = zone("America/New_York")
    for (let year = 1970; year < 2070; year++) york.offsetAt(Date.UTC(year, 6))
    assert.strictEqual(york.offsetAt(at("2024-07-01T00:00:00Z")), -14_400_000)
  })
})

/**
 * The string formats that the API server checks; it ignores all others, and so does this module. They are checks of syntax as in the server,
 * some of them looser than the standards they are named for. Source: kube-openapi strfmt, and the list of formats that a
 * CustomResourceDefinition may use.
 */
import * as Result from "effect/Result"
import * as Ip from "../ip.ts"
import * as Time from "../time.ts"

/** False only for a format that is known and not met. */
export const meets = (format: string, text: string): boolean => {
  const check = checks.get(format)
  return check === undefined || check(text)
}

const matches =
  (pattern: RegExp) =>
  (text: string): boolean =>
    pattern.test(text)

const days = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0

const isDate = (text: string): boolean => {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (match === null) return false
  const [year = 0, month = 0, day = 0] = match.slice(1).map(Number)
  const last = month === 2 && isLeap(year) ? 29 : (days[month - 1] ?? 0)
  return day >= 1 && day <= last
}

const isDateTime = (text: string): boolean => {
  const match = /^(.{10})[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-](\d\d):(\d\d))$/.exec(text)
  if (match === null || !isDate(match[1] ?? "")) return false
  const [hour = 0, minute = 0, second = 0, zoneHour = 0, zoneMinute = 0] = match.slice(2).map((one) => Number(one ?? 0))
  return hour < 24 && minute < 60 && second < 60 && zoneHour < 24 && zoneMinute < 60
}

const isIpv6 = (text: string): boolean => text.includes(":") && Ip.isIP(text)

const isCidr = (text: string): boolean => {
  const match = /^(.+)\/(0|[1-9]\d{0,2})$/.exec(text)
  if (match === null) return false
  const [, address = "", bits = ""] = match
  return Ip.isIPv4(address) ? Number(bits) <= 32 : isIpv6(address) && Number(bits) <= 128
}

const isHostname = (text: string): boolean =>
  text.length <= 255 && text.split(".").every((label) => /^[a-zA-Z0-9_]([a-zA-Z0-9_-]{0,61}[a-zA-Z0-9_])?$/.test(label))

const isUri = (text: string): boolean => /^([a-zA-Z][a-zA-Z0-9+.-]*:\S+|\/\S*)$/.test(text)

/** What Go's time.ParseDuration accepts, and the server's own units for longer times. */
const isDuration = (text: string): boolean =>
  Result.isSuccess(Time.readGoDuration(text)) ||
  /^(\d+ *(ns|us|µs|ms|s|m|h|d|w|nanos?|nanoseconds?|micros?|microseconds?|millis?|milliseconds?|secs?|seconds?|mins?|minutes?|hours?|days?|weeks?) *)+$/.test(
    text
  )

const isBase64 = (text: string): boolean =>
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)

const isUuid = (text: string): boolean =>
  /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text)

const uuid =
  (version: string) =>
  (text: string): boolean =>
    isUuid(text) && text.replaceAll("-", "")[12] === version

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

const checks: ReadonlyMap<string, (text: string) => boolean> = new Map(
  Object.entries({
    bsonobjectid: matches(/^[0-9a-fA-F]{24}$/),
    byte: isBase64,
    cidr: isCidr,
    creditcard: matches(/^[ \d-]{12,23}$/),
    date: isDate,
    "date-time": isDateTime,
    datetime: isDateTime,
    duration: isDuration,
    email: matches(/^[^\s@<>]+@[^\s@<>]+$/),
    hexcolor: matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
    hostname: isHostname,
    ipv4: Ip.isIPv4,
    ipv6: isIpv6,
    isbn: matches(/^[\d -]{9,17}[\dX]$/),
    isbn10: matches(/^[\d -]{9,12}[\dX]$/),
    isbn13: matches(/^[\d -]{13,17}$/),
    "k8s-long-name": (text: string) => text.length <= 253 && text.split(".").every((one) => label.test(one)),
    "k8s-short-name": matches(label),
    mac: matches(/^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$|^([0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4}$/),
    rgbcolor: matches(/^rgb\( *\d{1,3} *, *\d{1,3} *, *\d{1,3} *\)$/),
    ssn: matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
    uri: isUri,
    uuid: isUuid,
    uuid3: uuid("3"),
    uuid4: uuid("4"),
    uuid5: uuid("5")
  })
)

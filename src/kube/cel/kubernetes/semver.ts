/**
 * Semantic versions, `semver("1.2.3")`, and those of looser form, `semver("v1.2", true)`. Compared by precedence: what was built is ignored.
 * Source: apiserver pkg/cel/library/semverlib.go, blang/semver.
 */
import * as Result from "effect/Result"
import * as Type from "../Type.ts"
import { Failure, Opaque } from "../Value.ts"
import type { Outcome } from "../Value.ts"
import { fn, method } from "../library/define.ts"
import type { Definition } from "../library/define.ts"

class Version extends Opaque {
  readonly typeName = "kubernetes.Semver"
  /** Major, minor and patch. */
  readonly numbers: ReadonlyArray<bigint>
  /** What precedes a release: `alpha.1`. */
  readonly before: ReadonlyArray<bigint | string>

  constructor(numbers: ReadonlyArray<bigint>, before: ReadonlyArray<bigint | string>) {
    super()
    this.numbers = numbers
    this.before = before
  }

  equals(other: Opaque): boolean {
    return other instanceof Version && compareVersions(this, other) === 0n
  }
}

type Read<A> = Result.Result<A, string>

const quoted = (text: string): string => JSON.stringify(text.slice(0, 64))

const digits = /^\d*$/
const identifier = /^[\dA-Za-z-]+$/

/** A number of 64 bits without a sign. */
const unsigned = (text: string): Read<bigint> => {
  const value = text === "" ? undefined : text.length > 20 ? 2n ** 64n : BigInt(text)
  if (value === undefined) return Result.fail(`strconv.ParseUint: parsing "": invalid syntax`)
  return value < 2n ** 64n
    ? Result.succeed(value)
    : Result.fail(`strconv.ParseUint: parsing ${quoted(text)}: value out of range`)
}

const numberOf = (name: string, text: string): Read<bigint> => {
  if (!digits.test(text))
    return Result.fail(`Invalid character(s) found in ${name.toLowerCase()} number ${quoted(text)}`)
  if (/^0\d/.test(text)) return Result.fail(`${name} number must not contain leading zeroes ${quoted(text)}`)
  return unsigned(text)
}

const preReleaseOf = (text: string): Read<bigint | string> => {
  if (text === "") return Result.fail("Prerelease is empty")
  if (digits.test(text)) {
    return /^0\d/.test(text)
      ? Result.fail(`Numeric PreRelease version must not contain leading zeroes ${quoted(text)}`)
      : unsigned(text)
  }
  return identifier.test(text)
    ? Result.succeed(text)
    : Result.fail(`Invalid character(s) found in prerelease ${quoted(text)}`)
}

const problemOfBuild = (text: string): string | undefined => {
  if (text === "") return "Build meta data is empty"
  return identifier.test(text) ? undefined : `Invalid character(s) found in build meta data ${quoted(text)}`
}

/** At the first two dots; what follows belongs to the third part. */
const splitInThree = (text: string): ReadonlyArray<string> => {
  const [major = "", minor, ...rest] = text.split(".")
  return [major, ...(minor === undefined ? [] : [minor]), ...(rest.length === 0 ? [] : [rest.join(".")])]
}

/** At the first such character; undefined for the second part without one. */
const cut = (text: string, at: string): readonly [string, string | undefined] => {
  const index = text.indexOf(at)
  return index === -1 ? [text, undefined] : [text.slice(0, index), text.slice(index + 1)]
}

const parse = (text: string): Read<Version> =>
  Result.gen(function* () {
    if (text === "") return yield* Result.fail("Version string empty")
    const [major = "", minor = "", last] = splitInThree(text)
    if (last === undefined) return yield* Result.fail("No Major.Minor.Patch elements found")
    const numbers = [yield* numberOf("Major", major), yield* numberOf("Minor", minor)]
    const [release, build] = cut(last, "+")
    const [patch, before] = cut(release, "-")
    numbers.push(yield* numberOf("Patch", patch))
    const identifiers: Array<bigint | string> = []
    for (const part of before?.split(".") ?? []) identifiers.push(yield* preReleaseOf(part))
    for (const part of build?.split(".") ?? []) {
      const problem = problemOfBuild(part)
      if (problem !== undefined) return yield* Result.fail(problem)
    }
    return new Version(numbers, identifiers)
  })

/** Without a leading `v`, with the numbers that are missing, without leading zeros. */
const normalized = (text: string): Read<string> => {
  const parts = [...splitInThree(text.replace(/^v/, ""))]
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? "")) {
    return Result.fail("short version cannot contain PreRelease/Build meta data")
  }
  while (parts.length < 3) parts.push("0")
  return Result.succeed(parts.map((part) => part.replace(/^0+(?=\d)/, "")).join("."))
}

const read = (text: string, isLoose: boolean): Read<Version> =>
  isLoose ? Result.flatMap(normalized(text), parse) : parse(text)

const sign = (one: bigint | number | string, other: bigint | number | string): bigint =>
  one === other ? 0n : one < other ? -1n : 1n

/** Numbers come before texts. */
const compareIdentifiers = (one: bigint | string, other: bigint | string): bigint =>
  typeof one === typeof other ? sign(one, other) : typeof one === "bigint" ? -1n : 1n

const compareVersions = (a: Version, b: Version): bigint => {
  for (const [index, one] of a.numbers.entries()) {
    const compared = sign(one, b.numbers[index] ?? 0n)
    if (compared !== 0n) return compared
  }
  // A release comes after what precedes it.
  if (a.before.length === 0 || b.before.length === 0) return sign(b.before.length, a.before.length)
  for (const [index, one] of a.before.entries()) {
    const other = b.before[index]
    const compared = other === undefined ? 1n : compareIdentifiers(one, other)
    if (compared !== 0n) return compared
  }
  return sign(a.before.length, b.before.length)
}

const versionType = Type.opaque("kubernetes.Semver")
const { bool, int, string } = Type

const toVersion = (text: string, isLoose: boolean): Outcome =>
  Result.match(read(text, isLoose), {
    onFailure: (message): Outcome => new Failure(message),
    onSuccess: (version) => version
  })

const numbered = (name: string, index: number): Definition =>
  method(name, `semver_${name}`, [versionType], int, ({ numbers }: Version) => BigInt.asIntN(64, numbers[index] ?? 0n))

const compared = (name: string, id: string, holds: (order: bigint) => boolean): Definition =>
  method(name, id, [versionType, versionType], bool, (a: Version, b: Version) => holds(compareVersions(a, b)))

export const semver: ReadonlyArray<Definition> = [
  fn("semver", "string_to_semver", [string], versionType, (text: string) => toVersion(text, false)),
  fn("semver", "string_bool_to_semver", [string, bool], versionType, toVersion),
  fn("isSemver", "is_semver_string", [string], bool, (text: string) => Result.isSuccess(read(text, false))),
  fn("isSemver", "is_semver_string_bool", [string, bool], bool, (text: string, isLoose: boolean) =>
    Result.isSuccess(read(text, isLoose))
  ),
  compared("isGreaterThan", "semver_is_greater_than", (order) => order > 0n),
  compared("isLessThan", "semver_is_less_than", (order) => order < 0n),
  method("compareTo", "semver_compare_to", [versionType, versionType], int, compareVersions),
  numbered("major", 0),
  numbered("minor", 1),
  numbered("patch", 2)
]

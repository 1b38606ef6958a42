/** How the texts of settings are read: the codecs that several modules share. Each is total: invalid text is None. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { milli } from "../../kube/quantity.ts"
import * as Selector from "../../kube/Selector.ts"
import { parseDuration } from "../../kube/time.ts"

/** Parses a text as an `A`; the text has one format, whichever source it comes from. */
export interface Codec<out A> {
  /** What `--help` calls a value: `duration`. */
  readonly metavar: string
  /** Completes "it must be …". */
  readonly expected: string
  /** All valid texts, if they can be listed. */
  readonly choices?: readonly [string, ...Array<string>] | undefined
  /** The flag needs no value: alone it means `true`, and `--no-…` means `false`. */
  readonly isSwitch?: true | undefined
  /** None: the text is invalid. */
  readonly decode: (text: string) => Option.Option<A>
  /** Explains an invalid text, where there is more to explain than what is expected. */
  readonly explain?: ((text: string) => string | undefined) | undefined
}

/** Any text; `metavar` is its name in `--help`. */
export const text = (metavar: string): Codec<string> => ({ metavar, expected: `a ${metavar}`, decode: Option.some })

/** A secret text; declare the setting `secret` as well. */
export const redacted = (metavar: string): Codec<Redacted.Redacted> => ({
  metavar,
  expected: `a ${metavar}`,
  decode: (value) => Option.some(Redacted.make(value))
})

const yes = ["true", "t", "1", "yes", "y", "on"]
const no = ["false", "f", "0", "no", "n", "off"]

/** The spellings of Go and YAML. */
export const boolean: Codec<boolean> = {
  metavar: "boolean",
  expected: "true or false",
  isSwitch: true,
  decode: (value) => {
    const lower = value.toLowerCase()
    return yes.includes(lower) ? Option.some(true) : no.includes(lower) ? Option.some(false) : Option.none()
  }
}

/** One of some words. */
export const choice = <const Words extends readonly [string, ...Array<string>]>(
  words: Words
): Codec<Words[number]> => ({
  metavar: words.join("|"),
  expected: words.map((word) => `"${word}"`).join(" | "),
  choices: words,
  decode: (value) => Option.fromUndefinedOr(words.find((word) => word === value))
})

/** `10s`, `1m30s`, `90 seconds`; zero too, but nothing negative. */
export const duration: Codec<Duration.Duration> = {
  metavar: "duration",
  expected: "a duration like 10s, 1m30s or '90 seconds'",
  decode: parseDuration
}

/** A duration above zero: work that repeated without a pause would use the whole processor, and load the server. */
export const interval: Codec<Duration.Duration> = {
  metavar: "duration",
  expected: "a duration longer than zero, like 10s or 1m30s",
  decode: (value) => Option.filter(parseDuration(value), Duration.isPositive)
}

/** A whole number within bounds, both included, in decimal digits. */
export const integer = (bounds: {
  readonly min: number
  readonly max: number
  readonly expected: string
}): Codec<number> => ({
  metavar: "number",
  expected: bounds.expected,
  decode: (value) => {
    if (!/^-?\d{1,9}$/.test(value)) return Option.none()
    const number = Number(value)
    return number >= bounds.min && number <= bounds.max ? Option.some(number) : Option.none()
  }
})

/** A rate, which may have a fraction; -1 means no limit. */
export const rate: Codec<number> = {
  metavar: "number",
  expected: "a number above zero, or -1 for no limit",
  decode: (value) =>
    value === "-1" || (/^\d{1,6}(\.\d{1,3})?$/.test(value) && Number(value) > 0)
      ? Option.some(Number(value))
      : Option.none()
}

/** A number from zero that may have a fraction. */
export const fraction: Codec<number> = {
  metavar: "number",
  expected: "a number from 0, with a fraction if need be",
  decode: (value) => (/^\d{1,6}(\.\d{1,6})?$/.test(value) ? Option.some(Number(value)) : Option.none())
}

/** A part of a whole, from 0 to 1. */
export const share: Codec<number> = {
  ...fraction,
  expected: "a number from 0 to 1",
  decode: (value) => Option.filter(fraction.decode(value), (number) => number <= 1)
}

/** How many keys are reconciled at once: a number of at least 1. */
export const concurrency = integer({ min: 1, max: 999_999, expected: "a number of at least 1" })

/** An amount of memory as a quantity, up to a gibibyte. */
export const memory: Codec<number> = {
  metavar: "quantity",
  expected: "an amount of memory like 16Mi, at most 1Gi, or 0 for none",
  decode: (text) => {
    const bytes = milli(text)
    return bytes === undefined || bytes < 0n || bytes > 1000n * BigInt(2 ** 30)
      ? Option.none()
      : Option.some(Number(bytes / 1000n))
  }
}

/** A port; whether 0 means any free port or no server depends on the setting. */
export const port: Codec<number> = {
  ...integer({ min: 0, max: 65_535, expected: "a port from 0 to 65535" }),
  metavar: "port"
}

/** Texts separated by commas; surrounding white space and empty texts are ignored. */
export const list = (metavar = "list"): Codec<ReadonlyArray<string>> => ({
  metavar,
  expected: `a ${metavar} like a,b`,
  decode: (value) =>
    Option.some(
      value
        .split(",")
        .map((one) => one.trim())
        .filter((one) => one !== "")
    )
})

const namespaceName = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

const separated = (value: string): ReadonlyArray<string> => [
  ...new Set(
    value
      .split(",")
      .map((one) => one.trim())
      .filter((one) => one !== "")
  )
]

/** Names of namespaces separated by commas, each once. Source: a namespace's name is an RFC 1123 label. */
export const namespaces: Codec<ReadonlyArray<string>> = {
  metavar: "namespaces",
  expected: "names of namespaces like a,b",
  decode: (value) => Option.liftPredicate(separated(value), (names) => names.every((name) => namespaceName.test(name))),
  explain: (value) => {
    const wrong = separated(value).find((name) => !namespaceName.test(name))
    return `"${wrong}" cannot be the name of a namespace: those are of lower case letters, digits and dashes, at most 63`
  }
}

/** A label selector, `app=web,tier!=cache`. */
export const labels: Codec<Selector.LabelSelector> = {
  metavar: "selector",
  expected: "a label selector like app=web,tier!=cache",
  decode: (value) => Result.getSuccess(Selector.parseLabels(value))
}

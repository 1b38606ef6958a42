/** Accepts Go's spellings of flags, and explains a parser error in one line that names the flag and its values. Pure. */
import type * as CliError from "effect/cli/CliError"
import { oneLine } from "../../kube/printable.ts"
import type { Setting, Settings } from "../../layers/Setting.ts"
import { canonical } from "../setting/sources.ts"

/**
 * Normalizes arguments: `-controllers=x` becomes `--controllers=x`, as Go's flag package allows; underscores become dashes and aliases the flag's
 * name, as in Kubernetes components. A flag with a value takes the next argument, even if that begins with a dash (`--controllers -pod-count`),
 * unless it is a flag itself. `-v=4` and `-v 4` are the verbosity, `-v` alone is the version. An alias of one letter takes its value as in pflag:
 * `-o json`, `-o=json`, `-ojson`. Other single-letter flags, values, and everything after `--` stay unchanged. Source: spf13/pflag, component-base/cli/flag: WordSepNormalizeFunc.
 */
export const normalize = (argv: ReadonlyArray<string>, settings: Settings = {}): ReadonlyArray<string> => {
  const end = argv.indexOf("--")
  const known = end === -1 ? argv : argv.slice(0, end)
  const names = new Map(
    Object.values(settings).flatMap((setting) =>
      [setting.name, ...setting.aliases].map((name) => [name, setting] as const)
    )
  )
  const normal: Array<string> = []
  for (let index = 0; index < known.length; index++) {
    const argument = known[index] ?? ""
    const next = known[index + 1]
    if (argument === "-v") {
      normal.push(next !== undefined && /^\d+$/.test(next) ? "--v" : "--version")
      continue
    }
    const flag = shortIn(argument, names) ?? flagIn(argument)
    if (flag === undefined) {
      normal.push(argument)
      continue
    }
    const setting = names.get(flag.name)
    const name = `--${setting?.name ?? flag.name}`
    const takesNext = setting !== undefined && setting.codec.isSwitch !== true && flag.value === ""
    if (takesNext && next !== undefined && /^-(?:\d|[^-].)/.test(next) && !names.has(flagIn(next)?.name ?? "")) {
      normal.push(`${name}=${next}`)
      index++
    } else normal.push(name + flag.value)
  }
  return [...normal, ...argv.slice(known.length)]
}

/** Parses a flag in any spelling: its normalized name, and its value with the equals sign, if it has one. */
const flagIn = (argument: string): { readonly name: string; readonly value: string } | undefined => {
  const [, name, value = ""] = /^--?(v(?==)|[a-z][a-z_-]+)(=[^]*)?$/.exec(argument) ?? []
  return name === undefined ? undefined : { name: canonical(name), value }
}

/** Parses a flag of one letter with its value: `-o json`, `-o=json`, `-ojson`. The last only with a valid value: Go's long flags begin the same. */
const shortIn = (argument: string, names: ReadonlyMap<string, Setting<unknown>>): ReturnType<typeof flagIn> => {
  const [, name = "", value = ""] = /^-([a-z])(=?[^]*)$/.exec(argument) ?? []
  const setting = names.get(name)
  if (setting === undefined || !setting.aliases.includes(name)) return undefined
  if (value === "" || value.startsWith("=")) return { name, value }
  return setting.codec.choices?.includes(value) === true ? { name, value: `=${value}` } : undefined
}

/** The arguments without the values of secret settings. */
export const shown = (argv: ReadonlyArray<string>, settings: Settings): ReadonlyArray<string> => {
  const secret = Object.values(settings)
    .filter((setting) => setting.isSecret)
    .flatMap(({ aliases, name }) => [name].concat(aliases))
  const isSecret = (flag: string | undefined): boolean => flag !== undefined && secret.includes(canonical(flag))
  let isNext = false
  return argv.map((argument) => {
    const [, flag, value] = /^--?([^=]+)(?:=([^]*))?$/.exec(argument) ?? []
    const hidden = isNext
    isNext = isSecret(flag) && value === undefined
    if (hidden) return "<redacted>"
    return isSecret(flag) && value !== undefined
      ? argument.slice(0, argument.indexOf("=") + 1) + "<redacted>"
      : argument
  })
}

/** One line for one error of the parser. */
export const explain = (error: CliError.NonShowHelpErrors): string => {
  switch (error._tag) {
    case "UnrecognizedOption":
      return `unknown flag ${error.option}${hint(error.suggestions)}`
    case "UnknownSubcommand":
      return `there is no command "${oneLine(error.subcommand)}"${hint(error.suggestions)}`
    case "InvalidValue": {
      const expected = error.expected.replace(/^Expected:? /, "")
      return error.value === ""
        ? `--${error.option} needs a value: ${oneLine(expected)}`
        : `--${error.option} does not take "${oneLine(error.value)}": it must be ${oneLine(expected)}`
    }
    default:
      return oneLine(error.message)
  }
}

const hint = (suggestions: ReadonlyArray<string>): string =>
  suggestions.length === 0 ? "" : `: did you mean ${suggestions.join(" or ")}?`

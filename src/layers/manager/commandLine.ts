/**
 * What the command line means beyond its grammar: Go's spelling of flags is accepted, and what is wrong is told in one line
 * that names the flag and what it takes. Pure.
 */
import type * as CliError from "effect/cli/CliError"
import { canonical, type Settings } from "./setting.ts"

/** Other names of flags, each with the flag it stands for. */
export const aliasesOf = (settings: Settings): ReadonlyMap<string, string> =>
  new Map(Object.values(settings).flatMap(({ aliases, name }) => aliases.map((alias) => [alias, name] as const)))

/**
 * `-controllers=x` becomes `--controllers=x`, as Go's flag package reads it, `--concurrent_rc_syncs` gets dashes and another name its
 * flag's, as Kubernetes' own programs have it. `-v=4` and `-v 4` are the verbosity, `-v` alone is the version. Other single letters
 * and values stay what they are, and so does everything after `--`. Source: framework.md 5.1, controllers.md H.
 */
export const normalize = (
  argv: ReadonlyArray<string>,
  aliases: ReadonlyMap<string, string> = new Map()
): ReadonlyArray<string> => {
  const end = argv.indexOf("--")
  const flags = end === -1 ? argv : argv.slice(0, end)
  return [
    ...flags.map((argument, index) => {
      if (argument === "-v") return /^\d+$/.test(flags[index + 1] ?? "") ? "--v" : "--version"
      const flag = /^--?(v(?==)|[a-z][a-z_-]+)(=[^]*)?$/.exec(argument)
      if (flag === null) return argument
      const name = canonical(flag[1] ?? "")
      return `--${aliases.get(name) ?? name}${flag[2] ?? ""}`
    }),
    ...argv.slice(flags.length)
  ]
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

/** Whatever a user typed or a server said, it does not break the line. */
export const oneLine = (text: string): string => text.trim().replace(/\s*[\r\n]\s*/g, " ")

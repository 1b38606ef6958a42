/**
 * What the command line means beyond its grammar: Go's spelling of flags is accepted, and what is wrong is told in one line
 * that names the flag and what it takes. Pure.
 */
import type * as CliError from "effect/cli/CliError"

/**
 * `-controllers=x` becomes `--controllers=x`, as Go's flag package reads it, and `--concurrent_rc_syncs` gets dashes, as
 * Kubernetes' own programs have it; single letters and values stay what they are. Source: framework.md 5.1, controllers.md H.
 */
export const normalize = (argv: ReadonlyArray<string>): ReadonlyArray<string> =>
  argv.map((argument) => {
    const flag = /^--?([a-z][a-z_-]+)(=[^]*)?$/.exec(argument)
    return flag === null ? argument : `--${(flag[1] ?? "").replaceAll("_", "-")}${flag[2] ?? ""}`
  })

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

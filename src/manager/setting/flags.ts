/**
 * Settings as flags of `effect/cli`, which parses them and writes the completions. A flag only passes its text on; `sources.ts` resolves values and
 * defaults, because it knows all sources.
 */
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import * as Setting from "../../layers/Setting.ts"
import { defaultText } from "./document.ts"

type Given = Flag.Flag<Option.Option<string>>

/**
 * By the name of the setting. With the normalized arguments, only the flags that they name: making all takes longer than parsing. All, if an argument is no
 * flag of these settings: a typing error, for which a flag is suggested, `--help` or `--completions`.
 */
export const of = (settings: Setting.Settings, argv?: ReadonlyArray<string>): Readonly<Record<string, Given>> => {
  const all = Object.values(settings)
  const named = new Set(argv?.flatMap((argument) => (argument.startsWith("-") ? [argument.split("=")[0]] : [])))
  const meant = all.filter(({ name }) => named.has(`--${name}`))
  const isEach = argv === undefined || meant.length < named.size
  return Object.fromEntries((isEach ? all : meant).map((setting) => [setting.name, flag(setting)]))
}

/** The parsed flags without those that were not given. */
export const given = (parsed: Readonly<Record<string, Option.Option<string>>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(parsed).flatMap(([name, text]) => (Option.isSome(text) ? [[name, text.value]] : [])))

const flag = (setting: Setting.Setting<unknown>): Given => {
  const { choices, isSwitch, metavar } = setting.codec
  const raw: Flag.Flag<string> =
    isSwitch === true
      ? Flag.map(Flag.Boolean(setting.name), String)
      : choices === undefined
        ? Flag.String(setting.name).pipe(Flag.withMetavar(metavar))
        : Flag.Literals(setting.name, choices)
  return raw.pipe(Flag.optional, Flag.withDescription(describe(setting)))
}

/** The description with aliases, an unusual environment variable, and the default. */
export const describe = (setting: Setting.Setting<unknown>): string => {
  const usual = defaultText(setting)
  const facts = [
    ...setting.aliases.map((alias) => `also ${Setting.flagOf(alias)}`),
    ...(setting.env === undefined || setting.env === Setting.environmentName(setting.name)
      ? []
      : [`or ${setting.env}`]),
    ...(setting.variable === undefined ? [] : [`or ${setting.variable.shown}`]),
    ...(usual === undefined ? [] : [`default ${usual}`])
  ]
  return facts.length === 0 ? setting.description : `${setting.description} (${facts.join("; ")})`
}

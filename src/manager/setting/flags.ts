/**
 * Settings as flags of `effect/cli`, which does the parsing and writes the completions. A flag passes on the text that was given
 * and nothing else: what it means, and which default stands, is decided where all sources are known.
 */
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import * as Setting from "../setting.ts"

type Given = Flag.Flag<Option.Option<string>>

/** By the name of the setting. */
export const of = (settings: Setting.Settings): Readonly<Record<string, Given>> =>
  Object.fromEntries(Object.values(settings).map((setting) => [setting.name, flag(setting)]))

/** What the parser has found, without those that were not given. */
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

/** The sentence with what else there is to know: other spellings, an unusual variable, the default. */
export const describe = (setting: Setting.Setting<unknown>): string => {
  const usual = Setting.defaultText(setting)
  const facts = [
    ...setting.aliases.map((alias) => `also --${alias}`),
    ...(setting.env === undefined || setting.env === Setting.environmentName(setting.name)
      ? []
      : [`or ${setting.env}`]),
    ...(setting.variable === undefined ? [] : [`or ${setting.variable.shown}`]),
    ...(usual === undefined ? [] : [`default ${usual}`])
  ]
  return facts.length === 0 ? setting.description : `${setting.description} (${facts.join("; ")})`
}

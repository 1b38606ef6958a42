/**
 * Resolves settings: each value comes from the flag, else the environment, else the configuration file, else the default. The first error is one
 * sentence that names the setting as it was written. Pure.
 */
import * as Data from "effect/Data"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { hint } from "./nearest.ts"
import type * as Setting from "../../layers/Setting.ts"

/** A setting is invalid: the program does not start until the user changes it. */
export class SettingError extends Data.TaggedError("SettingError")<{ readonly message: string }> {}

/** The source of a value, in the order of precedence. */
export type Origin =
  | { readonly _tag: "Flag"; readonly name: string }
  | { readonly _tag: "Environment"; readonly name: string }
  | { readonly _tag: "File"; readonly name: string; readonly path: string }
  | { readonly _tag: "Default"; readonly name: string }

/** A configuration file that has been read. */
export interface File {
  readonly path: string
  /** Keys as they are written, in their order, each once. */
  readonly entries: ReadonlyArray<readonly [key: string, text: string]>
}

export interface Sources {
  /** By the name of the setting. */
  readonly flags: ReadonlyMap<string, string>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly file?: File | undefined
}

interface Said {
  readonly origin: Origin
  /** Undefined: there is no default. */
  readonly text: string | undefined
}

export interface Resolved<S extends Setting.Settings> {
  readonly values: Setting.Values<S>
  readonly origins: { readonly [K in keyof S]: Origin }
  /** The settings in force, for `/configz`, without secrets. */
  readonly effective: ReadonlyArray<{ readonly name: string; readonly text: string; readonly origin: Origin }>
}

/** The text of one setting, with its source. An empty environment variable counts as not set. */
export const said = (setting: Setting.Setting<unknown>, { env, file, flags }: Sources): Said => {
  const flag = flags.get(setting.name)
  if (flag !== undefined) return { origin: { _tag: "Flag", name: `--${setting.name}` }, text: flag }
  const variable = setting.env === undefined ? undefined : env[setting.env]
  if (setting.env !== undefined && variable !== undefined && variable !== "") {
    return { origin: { _tag: "Environment", name: setting.env }, text: variable }
  }
  const other = setting.variable === undefined ? "" : (env[setting.variable.name] ?? "")
  if (setting.variable !== undefined && other !== "") {
    return { origin: { _tag: "Environment", name: setting.variable.name }, text: setting.variable.read(other) }
  }
  const entry = file?.entries.find(([key]) => isNamed(setting, key))
  if (file !== undefined && entry !== undefined) {
    return { origin: { _tag: "File", name: entry[0], path: file.path }, text: entry[1] }
  }
  return { origin: { _tag: "Default", name: setting.name }, text: setting.default }
}

export const resolve = <S extends Setting.Settings>(
  settings: S,
  sources: Sources
): Result.Result<Resolved<S>, SettingError> => {
  const wrong = sources.file === undefined ? undefined : wrongKey(settings, sources.file)
  if (wrong !== undefined) return fail(wrong)
  const values: Record<string, unknown> = {}
  const origins: Record<string, Origin> = {}
  const effective: Array<Resolved<S>["effective"][number]> = []
  for (const [property, setting] of Object.entries(settings)) {
    const { origin, text } = said(setting, sources)
    const value = setting.read(text)
    if (Option.isNone(value)) return fail(refusal(setting, origin, text ?? ""))
    values[property] = value.value
    origins[property] = origin
    effective.push({ name: setting.name, text: shown(setting, text), origin })
  }
  // Safe: the loop has set one value for each property, read by the setting of that property.
  return Result.succeed({ values, origins, effective } as Resolved<S>)
}

const fail = (message: string) => Result.fail(new SettingError({ message }))

/** The declared form of a name: underscores become dashes, as in Kubernetes components. Source: k8s.io/component-base WordSepNormalizeFunc. */
export const canonical = (name: string): string => name.replaceAll("_", "-")

const isNamed = (setting: Setting.Setting<unknown>, key: string): boolean => {
  const name = canonical(key)
  return setting.name === name || setting.aliases.includes(name)
}

/** Finds an unknown key, or a setting under two of its names. */
const wrongKey = (settings: Setting.Settings, { entries, path }: File): string | undefined => {
  const all = Object.values(settings)
  for (const [key] of entries) {
    if (!all.some((setting) => isNamed(setting, key))) {
      return `configuration file ${path}: unknown key "${key}"${hint(
        canonical(key),
        all.map((setting) => setting.name),
        (name) => `"${name}"`
      )}`
    }
  }
  for (const setting of all) {
    const [first, second] = entries.filter(([key]) => isNamed(setting, key))
    if (first !== undefined && second !== undefined) {
      return `configuration file ${path}: "${first[0]}" and "${second[0]}" are the same setting; keep one of them`
    }
  }
  return undefined
}

const refusal = (setting: Setting.Setting<unknown>, origin: Origin, text: string): string => {
  const { choices = [], expected, explain } = setting.codec
  const where = written(origin)
  if (text === "") return `${where} needs a value: ${expected}`
  if (setting.isSecret) return `${where} does not take this value: it must be ${expected}`
  const reason = explain?.(text) ?? `it must be ${expected}${hint(text, choices, (word) => `"${word}"`)}`
  return `${where} does not take "${text}": ${reason}`
}

/** The setting as the user has written it: `--sync-period`, `CM_SYNC_PERIOD`, `"sync-period" in manager.yaml`. */
export const written = (origin: Origin): string =>
  origin._tag === "File" ? `"${origin.name}" in ${origin.path}` : origin.name

/** From 0, a flag, to 3, the default. */
export const rank = (origin: Origin): number => ranks[origin._tag]

const ranks = { Flag: 0, Environment: 1, File: 2, Default: 3 } as const

const shown = (setting: Setting.Setting<unknown>, text: string | undefined): string =>
  setting.isSecret && text !== undefined && text !== "" ? "<redacted>" : (text ?? "")

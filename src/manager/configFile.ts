/**
 * The file of `--config`: one mapping in YAML or JSON whose keys are the names of the settings. It is read once, before anything
 * is started.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Setting from "../layers/Setting.ts"
import * as Sources from "./setting/sources.ts"

/** All sources, with the file that the flag or the environment names, if any does. */
export const load = Effect.fnUntraced(function* (
  config: Setting.Setting<Option.Option<string>> | undefined,
  sources: Omit<Sources.Sources, "file">
) {
  const path = config === undefined ? undefined : Sources.said(config, sources).text
  if (config === undefined || path === undefined || path === "") return sources
  const file = yield* read(path)
  const own = file.entries.find(([key]) => key === config.name)
  return own === undefined
    ? { ...sources, file }
    : yield* fail(path, `"${config.name}" cannot name another file from here`)
})

const fail = (path: string, what: string) =>
  Effect.fail(new Sources.SettingError({ message: `configuration file ${path}: ${what}` }))

const read = Effect.fnUntraced(function* (path: string) {
  const content = yield* (yield* FileSystem.FileSystem)
    .readFileString(path)
    .pipe(
      Effect.catch(({ reason }) =>
        fail(
          path,
          reason._tag === "NotFound"
            ? "there is no such file"
            : `it cannot be read (${codeOf(reason.cause)}): check its permissions`
        )
      )
    )
  const { parseDocument } = yield* Effect.promise(() => import("yaml"))
  const document = parseDocument(content, { prettyErrors: true, logLevel: "silent" })
  const [error] = document.errors
  if (error !== undefined) {
    // The parser's own message quotes the line, which may contain a secret.
    const line = error.linePos?.[0].line
    const why = error.code === "DUPLICATE_KEY" ? "a key is there twice" : "it is not valid YAML"
    return yield* fail(path, `${why}${line === undefined ? "" : ` (line ${line})`}`)
  }
  const root: unknown = document.toJS()
  // An empty document is valid.
  if (root === null) return { path, entries: [] } satisfies Sources.File
  if (typeof root !== "object" || Array.isArray(root)) {
    return yield* fail(path, "it must be a mapping from settings to values, like leader-elect: true")
  }
  const entries: Array<readonly [string, string]> = []
  for (const [key, value] of Object.entries(root)) {
    const text = textOf(value)
    if (Option.isNone(text)) {
      return yield* fail(path, `"${key}" must have a text, a number, true or false, or a list or mapping of these`)
    }
    entries.push([key, text.value])
  }
  return { path, entries } satisfies Sources.File
})

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "unreadable"

/** The value as the text of a flag: list items are joined by commas, a mapping becomes `a=1,b=2`. None for deeper nesting and for null. */
export const textOf = (value: unknown): Option.Option<string> => {
  if (Array.isArray(value)) return joined(value.map(scalar))
  if (typeof value !== "object" || value === null) return scalar(value)
  return joined(Object.entries(value).map(([key, one]) => Option.map(scalar(one), (text) => `${key}=${text}`)))
}

const joined = (parts: ReadonlyArray<Option.Option<string>>): Option.Option<string> =>
  Option.map(Option.all(parts), (texts) => texts.join(","))

const scalar = (value: unknown): Option.Option<string> =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? Option.some(String(value))
    : Option.none()

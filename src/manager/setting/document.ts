/** The settings as Markdown tables, one for each group, between two marks, so that a script can update them in a document. Pure. */
import * as Setting from "../../layers/Setting.ts"

/** Marks around the generated text. */
export const marks = { begin: "<!-- settings: begin -->", end: "<!-- settings: end -->" } as const

/** Markdown: a heading and a table for each group that has settings. */
export const tables = (settings: Setting.Settings): string =>
  Object.entries(Setting.groups)
    .flatMap(([group, title]) => {
      const rows = Object.values(settings).filter((setting) => setting.group === group)
      return rows.length === 0 ? [] : [[`### ${title}`, "", ...heading, ...rows.map(row)].join("\n")]
    })
    .join("\n\n")

/** The document with updated tables; undefined if it has no marks. */
export const renewed = (document: string, settings: Setting.Settings): string | undefined => {
  const begin = document.indexOf(marks.begin)
  const end = document.indexOf(marks.end)
  return begin === -1 || end < begin
    ? undefined
    : `${document.slice(0, begin)}${marks.begin}\n\n${tables(settings)}\n\n${document.slice(end)}`
}

/** The default, as the documentation shows it. */
export const defaultText = (setting: Setting.Setting<unknown>): string | undefined =>
  setting.default === undefined || setting.default === "" ? undefined : setting.default

const heading = ["| Flag, key | Variable | Default | Meaning |", "|---|---|---|---|"]

const row = (setting: Setting.Setting<unknown>): string => {
  const names = [`--${setting.name}`, ...setting.aliases.map(Setting.flagOf)].map((name) => `\`${name}\``).join(", ")
  const usual = defaultText(setting)
  const words = setting.codec.choices === undefined ? "" : ` (${setting.codec.choices.join(", ")})`
  const cells = [
    names,
    [setting.env, setting.variable?.shown].flatMap((one) => (one === undefined ? [] : [`\`${one}\``])).join(", "),
    usual === undefined ? "" : `\`${usual}\``,
    setting.description + words
  ]
  return `| ${cells.map(escaped).join(" | ")} |`
}

const escaped = (cell: string): string => cell.replaceAll("|", String.raw`\|`)

/** `--help`: the flags under the headings of their settings, one line each, then the controllers and the rest. Pure. */
import type * as HelpDoc from "effect/cli/HelpDoc"
import * as Option from "effect/Option"
import * as Setting from "./setting.ts"
import { describe } from "./setting/flags.ts"

/** What is wider has its sentence further right than the others. */
const widest = 44

type Row = readonly [left: string, right: string]

/** What the command is, its usage, commands and flags, and last the rest of its description. */
export const render = (doc: HelpDoc.HelpDoc, settings: Setting.Settings): string => {
  const [summary = "", ...rest] = doc.description.split("\n\n")
  const known = Object.values(settings)
  const own = doc.flags.flatMap(({ name }) => known.find((setting) => setting.name === name) ?? [])
  const commands = (doc.subcommands ?? []).flatMap((group) => group.commands)
  const sections: ReadonlyArray<readonly [title: string, rows: ReadonlyArray<Row>]> = [
    ["Commands", commands.map(({ description, name }) => [name, description])],
    ...Object.entries(Setting.groups).map(
      ([group, title]) => [title, own.filter((setting) => setting.group === group).map(rowOf)] as const
    ),
    ["General", (doc.globalFlags ?? []).map(generalRow)]
  ]
  const shown = sections.filter(([, rows]) => rows.length > 0)
  const width = Math.max(...shown.flatMap(([, rows]) => rows.map(([left]) => left.length)).filter((n) => n <= widest))
  return [
    summary,
    `Usage: ${doc.usage}`,
    ...shown.map(([title, rows]) =>
      [`${title}:`, ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)].join("\n")
    ),
    ...rest
  ].join("\n\n")
}

const rowOf = (setting: Setting.Setting<unknown>): Row => [
  setting.codec.isSwitch === true ? `--${setting.name}` : `--${setting.name} ${setting.codec.metavar}`,
  describe(setting)
]

/** Of the library's own flags; those that take a word list the words in their type. */
const generalRow = ({ aliases, description, name, type }: HelpDoc.FlagDoc): Row => [
  [`--${name}`, ...aliases].join(", ") + (type === "boolean" ? "" : ` ${type.replace(/^<(.*)>$/, "$1")}`),
  Option.getOrElse(description, () => "").replace(/ \(choices: .*\)$/, "")
]

/** `--help`: the flags under the headings of their settings, one line each, then the controllers and the rest. Pure. */
import type * as HelpDoc from "effect/cli/HelpDoc"
import * as Option from "effect/Option"
import type { Gate } from "../../layers/Setting.ts"
import type { Entry } from "../registry.ts"
import * as Setting from "../../layers/Setting.ts"
import { describe as sentence } from "../setting/flags.ts"

/** Column of the descriptions; a longer flag shifts its description to the right. */
const widest = 44

type Row = readonly [left: string, right: string]

/** The summary of a command, its usage, subcommands and flags, and then the rest of its description. */
export const render = (doc: HelpDoc.HelpDoc, settings: Setting.Settings): string => {
  const [summary = "", ...rest] = doc.description.split("\n\n")
  const own = doc.flags.flatMap((flag) => settingOf(flag, Object.values(settings)) ?? [])
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
    ...shown.map(([title, flags]) =>
      [`${title}:`, ...flags.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)].join("\n")
    ),
    ...rest
  ].join("\n\n")
}

/** Two commands may have different settings of one name, such as the `--nodes` of the program and of `apiserver`. */
const settingOf = ({ description, name }: HelpDoc.FlagDoc, known: ReadonlyArray<Setting.Setting<unknown>>) => {
  const named = known.filter((setting) => setting.name === name)
  return named.find((setting) => sentence(setting) === Option.getOrUndefined(description)) ?? named[0]
}

const rowOf = (setting: Setting.Setting<unknown>): Row => [
  setting.codec.isSwitch === true ? `--${setting.name}` : `--${setting.name} ${setting.codec.metavar}`,
  sentence(setting)
]

/** A row for a flag of `effect/cli` itself; a choice lists its words in its type. */
const generalRow = ({ aliases, description, name, type }: HelpDoc.FlagDoc): Row => [
  [`--${name}`, ...aliases].join(", ") + (type === "boolean" ? "" : ` ${type.replace(/^<(.*)>$/, "$1")}`),
  Option.getOrElse(description, () => "").replace(/ \(choices: [^(]*\)$/, "")
]

/** The description of the program: the summary, then its controllers and feature gates. */
export const describe = (summary: string, table: ReadonlyArray<Entry<unknown>>, gates: ReadonlyArray<Gate>): string => {
  const controllers = (byDefault: Entry["byDefault"]) =>
    rows(
      table
        .filter((entry) => entry.byDefault === byDefault)
        .map(({ controller, summary }) => [controller.name, summary] as const)
    )
  const onEmbedded = controllers("embedded")
  return `${summary}

Controllers that are on by default:
${controllers("on")}

${
  onEmbedded === none
    ? ""
    : `Controllers that are on by default on the embedded cluster only; named on a real one they lead under the lease of
kube-controller-manager:
${onEmbedded}

`
}Controllers that are off by default:
${controllers("off")}

Feature gates:
${rows(gates.map(({ byDefault, name, stage, summary }) => [`${name}=${byDefault} (${stage})`, summary] as const))}

Every flag can be said by a variable too, CM_ and its name in capitals (CM_LEADER_ELECT), unless it names another, and by its
name in the file of --config. The flag goes before the variable, the variable before the file.

Exit codes: 0 stopped by a signal, 1 failed or lost the lease, 2 wrong command line or configuration.`
}

/** Printed instead of an empty list. */
const none = "  none"

const rows = (all: ReadonlyArray<Row>): string => {
  const width = Math.max(...all.map(([left]) => left.length))
  return all.length === 0 ? none : all.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`.trimEnd()).join("\n")
}

/** The setting of commands that print a result: how it is printed. */
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"

const formats = Codecs.choice(["table", "wide", "json", "yaml"])

/** How a result is printed; the names are kubectl's. */
export type Format = "table" | "wide" | "json" | "yaml"

export const settings = {
  output: Setting.optional<Format>(formats, {
    name: "output",
    aliases: ["o"],
    env: false,
    group: "command",
    description: "How to print the result: a table, a table with more columns, or a value for programs"
  })
}

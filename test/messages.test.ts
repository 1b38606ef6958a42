/** The tables of messages in docs/operations.md against the sources: the program has every message that the page quotes. */
import { assert, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"

const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => readFileSync(`src/${path}`, "utf8"))

/** The fixed parts of a quoted message: `…`, numbers and names in quotes stand for any text. */
const fixed = (message: string): ReadonlyArray<string> =>
  message
    .split(/…|\d+s\b|\d+m\b|"x"|\bx\b|[:;,]/)
    .map((part) => part.trim())
    .filter((part) => part.length >= 8)

const tables = readFileSync("docs/operations.md", "utf8")
  .split("\n\n")
  .filter((block) => block.startsWith("| Message |"))

const messages = tables.flatMap((table) =>
  table
    .split("\n")
    .slice(2)
    .flatMap((row) => Array.from((row.split(" | ")[0] ?? "").matchAll(/`([^`]+)`/g), ([, message = ""]) => message))
)

it("operations.md quotes messages that the program has", () => {
  assert.isAbove(messages.length, 25)
  const foreign = messages.filter((message) => message.startsWith("FATAL ERROR"))
  assert.lengthOf(foreign, 1)
  const missing = messages
    .filter((message) => !foreign.includes(message))
    .flatMap((message) => fixed(message).map((part) => ({ message, part })))
    .filter(({ part }) => !sources.some((source) => source.includes(part)))
  assert.deepStrictEqual(missing, [])
})

/**
 * The table of docs/controllers.md of what the loops count: every metric that is made under src/controllers with its type and meaning, and nothing else.
 * Labels are read from the sources: those of a module's metrics are those that the module puts on.
 */
import { assert, describe, it } from "@effect/vitest"
import type * as Metric from "effect/Metric"
import { readdirSync, readFileSync } from "node:fs"
import { vi } from "vitest"

interface Made {
  readonly file: string
  readonly metric: Metric.Metric<never, unknown>
}

const made = vi.hoisted((): Array<Made> => [])

vi.mock("effect/Metric", async (original) => {
  const real = await original<typeof Metric>()
  /** The module that is being evaluated: the first frame above this one that is the project's, helpers of the module included. */
  const maker = () => /\/(src\/[\w/.-]+\.ts)/.exec(new Error().stack ?? "")?.[1] ?? "nowhere"
  const noting = <A extends ReadonlyArray<never>, M extends Metric.Metric<never, unknown>>(make: (...args: A) => M) =>
    Object.assign((...args: A): M => {
      const metric = make(...args)
      made.push({ file: maker(), metric })
      return metric
    }, make)
  const names = ["counter", "gauge", "histogram", "frequency", "summary", "summaryWithTimestamp", "timer"] as const
  return { ...real, ...Object.fromEntries(names.map((name) => [name, noting(real[name] as never)])) }
})

const page = readFileSync(new URL("../../docs/controllers.md", import.meta.url), "utf8")
const [, table = ""] = /<!-- metrics: begin -->\n\n([^]*?)\n\n<!-- metrics: end -->/.exec(page) ?? []

interface Row {
  readonly name: string
  readonly type: string
  readonly labels: ReadonlyArray<string>
  readonly meaning: string
}

const rows = table
  .split("\n")
  .slice(2)
  .map((line): Row => {
    const [, name = "", type = "", labels = "", meaning = ""] = line.split("|").map((cell) => cell.trim())
    return { name: name.replaceAll("`", ""), type, labels: labels.split(", ").filter((label) => label !== ""), meaning }
  })

/** The names of the labels that a source puts on its metrics, sorted. */
const labelsIn = (source: string): ReadonlyArray<string> => {
  const records = source.matchAll(/(?:withAttributes\(\s*\w+,|const attributes =)\s*\{([^}]*)\}/g)
  const names = Array.from(records).flatMap(([, record = ""]) =>
    record.split(",").map((field) => /^\s*(\w+)/.exec(field)?.[1] ?? "")
  )
  return [...new Set(names.filter((name) => name !== ""))].toSorted()
}

const sources = readdirSync("src/controllers", { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => `src/controllers/${path.replaceAll("\\", "/")}`)

for (const file of sources) await import(new URL(`../../${file}`, import.meta.url).href)
/** The sources that make some: what was noted at run time must have come from all of these. */
const makers = sources.filter((file) =>
  /Metric\.(?:counter|gauge|histogram|frequency|summary|timer)\w*\(/.test(readFileSync(file, "utf8"))
)
const ours = made.filter(({ file }) => file.startsWith("src/controllers/"))

describe("the table of what the loops count", () => {
  it("has every metric that they make, and nothing else", () => {
    const lines = ours.map(({ metric: { description, id, type } }) => `${id} | ${type.toLowerCase()} | ${description}`)
    assert.deepStrictEqual(
      rows.map(({ meaning, name, type }) => `${name} | ${type} | ${meaning}`).toSorted(),
      lines.toSorted()
    )
    assert.sameMembers([...new Set(ours.map(({ file }) => file))], makers)
  })

  it.each([...new Set(ours.map(({ file }) => file))])("has the labels that %s puts on", (file) => {
    const names = new Set(ours.filter((one) => one.file === file).map(({ metric }) => metric.id))
    const told = new Set(rows.filter(({ name }) => names.has(name)).flatMap(({ labels }) => labels))
    assert.deepStrictEqual([...told].toSorted(), labelsIn(readFileSync(file, "utf8")))
  })
})

/**
 * The metric families of the controllers: every family made under src/controllers is declared by a controller and listed in docs/controllers.md;
 * those of kube-controller-manager have its names and labels, and those missing here are listed with the reason.
 */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { vi } from "vitest"
import { table } from "../support/controllers.ts"
import type * as MetricFamily from "../../src/streams/reconcile/metricFamily.ts"
import * as Reference from "../parity/metrics.ts"

const made = vi.hoisted((): Array<MetricFamily.Family> => [])

vi.mock("../../src/streams/reconcile/metricFamily.ts", async (original) => {
  const real = await original<typeof MetricFamily>()
  const noting =
    <A extends ReadonlyArray<never>, F extends MetricFamily.Family>(make: (...args: A) => F) =>
    (...args: A): F => {
      const family = make(...args)
      made.push(family)
      return family
    }
  const { counter, gauge, histogram } = real
  return {
    ...real,
    counter: noting(counter as never),
    gauge: noting(gauge as never),
    histogram: noting(histogram as never)
  }
})

const page = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8")

/** The rows of the table between two marks. */
const tableIn = (text: string, mark: string): ReadonlyArray<string> => {
  const [, table = ""] = new RegExp(`<!-- ${mark}: begin -->\\n\\n([^]*?)\\n\\n<!-- ${mark}: end -->`).exec(text) ?? []
  return table.split("\n").slice(2)
}

/** Several controllers share some families. */
const declared = [...new Set(table.flatMap(({ controller }) => controller.metrics ?? []))]

const ofTheReference = new Map(Reference.metrics.map((row) => [row.name, row]))

const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1)

const factsOf = ({ bounds, labels, name, type }: Pick<MetricFamily.Family, "bounds" | "labels" | "name" | "type">) => ({
  name,
  type,
  labels,
  bounds
})

/** The section of the command that replaces kube-controller-manager. */
const inPlace = Array.from(
  (/\n## In place of kube-controller-manager\n([^]*?)\n## /.exec(page("operations.md"))?.[1] ?? "").matchAll(
    /`(\w+)`/g
  ),
  ([, name = ""]) => name
)

describe("the metric families of the controllers", () => {
  it("are all declared by a controller", () => {
    const raw = readdirSync("src/controllers", { recursive: true, encoding: "utf8" }).filter(
      (path) => path.endsWith(".ts") && readFileSync(`src/controllers/${path}`, "utf8").includes('from "effect/Metric"')
    )
    assert.deepStrictEqual(raw, [])
    assert.deepStrictEqual(declared.map(({ name }) => name).toSorted(), made.map(({ name }) => name).toSorted())
  })

  it("match docs/controllers.md", () => {
    const lines = declared
      .toSorted(byName)
      .map(
        ({ description, labels, name, type }) =>
          `| \`${name}\` | ${type} | ${labels.join(", ")} | ${ofTheReference.get(name)?.stability ?? ""} | ${description} |`
      )
    assert.deepStrictEqual([...tableIn(page("controllers.md"), "metrics")], lines)
  })

  it("have the types, labels and buckets of kube-controller-manager if they have its names", () => {
    const same = declared.filter(({ name }) => ofTheReference.has(name)).toSorted(byName)
    const others = declared.filter(({ name }) => !ofTheReference.has(name) && !Reference.besides.includes(name))
    assert.deepStrictEqual(
      others,
      [],
      "a name that kube-controller-manager does not have must be in `Reference.besides`"
    )
    assert.deepStrictEqual(
      same.map(factsOf),
      same.flatMap(({ name }) => {
        const row = ofTheReference.get(name)
        return row?.absent === undefined && row !== undefined ? [factsOf(row)] : []
      })
    )
  })

  it("include each metric of kube-controller-manager, unless a reason is given", () => {
    const documented = new Set([...declared.map(({ name }) => name), ...inPlace])
    for (const line of tableIn(page("operations.md"), "metrics")) documented.add(/`(\w+)`/.exec(line)?.[1] ?? "")
    const missing = Reference.metrics.filter(({ absent, name }) => absent === undefined && !documented.has(name))
    assert.deepStrictEqual(
      missing.map(({ name }) => name),
      []
    )
    const unfounded = Reference.metrics.filter(({ absent, name }) => absent !== undefined && documented.has(name))
    assert.deepStrictEqual(unfounded, [])
  })

  it("and the missing ones are listed in docs/controllers.md, with reasons", () => {
    const rows = [
      ...Reference.metrics.map(({ absent, name }) => [name, absent] as const),
      ...Object.entries(Reference.linked).map(
        ([name, absent]) => [name.endsWith("_") ? `${name}*` : name, absent] as const
      )
    ]
    assert.deepStrictEqual([...tableIn(page("controllers.md"), "absent metrics")], linesOf(rows))
    const queues = Reference.queues.map(({ absent, name }) => [name, absent] as const)
    assert.deepStrictEqual([...tableIn(page("controllers.md"), "absent queues")], linesOf(queues))
  })
})

/** One line for each reason, in the order of the reasons. */
const linesOf = (rows: ReadonlyArray<readonly [name: string, absent: string | undefined]>): ReadonlyArray<string> => {
  const found = new Map<string, Array<string>>()
  for (const [name, why] of rows) {
    if (why !== undefined) found.set(why, [...(found.get(why) ?? []), `\`${name}\``])
  }
  return Array.from(found, ([why, names]) => `| ${names.join(", ")} | ${why} |`)
}

import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { parse, parseAllDocuments } from "yaml"
import * as Report from "../../../src/cli/output/Report.ts"
import { type Column, table } from "../../../src/cli/output/table.ts"
import { printable } from "../../../src/kube/printable.ts"
import type { Host } from "../../../src/manager/process/Host.ts"

interface Fruit {
  readonly name: string
  readonly color: string
}

const columns: ReadonlyArray<Column<Fruit>> = [
  { title: "NAME", cell: ({ name }) => name },
  { title: "COLOR", isWide: true, cell: ({ color }) => color }
]

const rows = [
  { name: "fig", color: "purple" },
  { name: "watermelon", color: "" }
]

const report: Report.Report<Fruit> = { columns, rows, value: { fruits: rows } }

/** What a terminal would obey: clearing the screen, a C1 control sequence, a new line, a reordering of the text. */
const hostile = "\u001b[2J\u009b1A\r\ntab\t\u202egnp\u0007"

describe("table", () => {
  it("is as wide as its cells and titles, without trailing blanks", () =>
    assert.strictEqual(
      table(columns, rows, { isWide: true }),
      ["NAME         COLOR", "fig          purple", "watermelon"].join("\n")
    ))

  it("has its wide columns with -o wide only, and no heading where it continues one", () => {
    assert.strictEqual(table(columns, rows), "NAME\nfig\nwatermelon")
    assert.strictEqual(table(columns, rows, { isContinued: true }), "fig\nwatermelon")
    assert.strictEqual(table(columns, []), "NAME")
  })

  it("has one line for each row, whatever its cells contain", () => {
    const text = table(columns, [{ name: hostile, color: hostile }], { isWide: true })
    assert.strictEqual(text.split("\n").length, 2)
    assert.strictEqual(printable(text), text)
    assert.notInclude(text, "\t")
  })
})

describe("a report", () => {
  it.effect("is the value in JSON and in YAML, and its text or its table otherwise", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(JSON.parse(yield* Report.render(Option.some("json"), report)), { fruits: rows })
      assert.deepStrictEqual(parse(yield* Report.render(Option.some("yaml"), report)), { fruits: rows })
      assert.strictEqual(yield* Report.render(Option.none(), report), table(columns, rows))
      assert.strictEqual(yield* Report.render(Option.none(), { ...report, text: "two" }), "two")
      assert.strictEqual(yield* Report.render(Option.some("table"), { ...report, text: "two" }), table(columns, rows))
      assert.strictEqual(yield* Report.render(Option.some("wide"), report), table(columns, rows, { isWide: true }))
    })
  )

  it.effect("has no control characters in its text", () =>
    Effect.map(Report.render(Option.none(), { ...report, text: `${hostile}\n` }), (text) => {
      assert.strictEqual(printable(text), text)
      assert.isTrue(text.endsWith("\n"))
    })
  )

  for (const format of ["json", "yaml"] as const) {
    it.effect(`in ${format} has no control characters, and keeps them in the value`, () =>
      Effect.gen(function* () {
        const value = { [hostile]: [hostile, ` ${hostile} `, "true", "a: b # c"], nothing: undefined, none: null }
        const text = yield* Report.render(Option.some(format), { ...report, value })
        assert.strictEqual(printable(text), text)
        assert.deepStrictEqual(format === "json" ? JSON.parse(text) : parse(text), JSON.parse(JSON.stringify(value)))
      })
    )
  }

  it.effect("that continues in YAML is a further document", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const host = { stdout: { write: (text: string) => said.push(text) } } as unknown as Host
      yield* Report.print(host, Option.some("yaml"), report)
      yield* Report.print(host, Option.some("yaml"), { ...report, isContinued: true })
      const documents = parseAllDocuments(said.join("")).map((one): unknown => one.toJS())
      assert.deepStrictEqual(documents, [{ fruits: rows }, { fruits: rows }])
    })
  )
})

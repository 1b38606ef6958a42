/** What is made of a report: text, JUnit XML, JSON and the data of a page. */
import { assert, describe, it } from "@effect/vitest"
import { html } from "../../../src/testing/explore/report/html.ts"
import { json } from "../../../src/testing/explore/report/json.ts"
import { junit } from "../../../src/testing/explore/report/junit.ts"
import { replayOf } from "../../../src/testing/explore/report/lines.ts"
import { text, timeline } from "../../../src/testing/explore/report/text.ts"
import { entriesOf, failure, report } from "./reports.ts"

const attack = `"'><script>alert(1)</script><!--]]>&amp;&#0;\u0000\u001b[2J\u202e\ud800\ufffe\n\t`

const attacked = report({
  name: attack,
  without: { crash: attack },
  failures: [
    {
      ...failure("crash@write#1", attack, [attack]),
      message: attack,
      details: [attack],
      where: [attack],
      writes: [attack],
      entries: [{ type: "step", at: 0, n: 1, text: attack }]
    }
  ]
})

/** The elements of a document, in order; fails where it is not well-formed. Source: XML 1.0, productions 2, 10, 14, 40 to 44. */
const elementsOf = (document: string): ReadonlyArray<string> => {
  const token =
    /<\?xml[^?]*\?>|<\/([a-z-]+)>|<([a-z-]+)((?:\s+[a-z]+="(?:[^<&"]|&(?:amp|lt|gt|quot|apos|#\d+);)*")*)\s*(\/?)>|(?:[^<&]|&(?:amp|lt|gt|quot|apos|#\d+);)+/uy
  const open: Array<string> = []
  const found: Array<string> = []
  while (token.lastIndex < document.length) {
    const at = token.lastIndex
    const match = token.exec(document)
    if (match === null) throw new Error(`not well-formed at ${JSON.stringify(document.slice(at, at + 60))}`)
    const [, closing, opening, , empty] = match
    if (closing !== undefined) assert.strictEqual(open.pop(), closing)
    if (opening === undefined) continue
    found.push(opening)
    if (empty === "") open.push(opening)
  }
  assert.deepStrictEqual(open, [])
  assert.notMatch(document, /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u)
  return found
}

describe("reports of explorations", () => {
  it("text has the coverage, what is left out and why, and each failure once", () => {
    const one = { ...failure("error@call#50", "leak", ["lost@write#2"]), entries: entriesOf(100, 50) }
    const said = text(
      report({
        seed: 7,
        coverage: [{ kind: "crash", points: 4, tried: 3 }],
        without: { handoff: "it runs alone" },
        failures: [one]
      })
    )
    for (const part of [
      "memcached: 1 failure in 41 runs, 0 of them with several perturbations; seed 7\n",
      "undisturbed: 1 step, 4 calls, 2 of them writes, 3 events, 2 reconciles\n",
      "tried: crash 3 of 4\n",
      "nowhere to try: crash-before, lost,",
      "left out: handoff, because it runs alone\n",
      "1) leak: message of leak\n",
      "the same with lost@write#2\n",
      "repeat it with: npx effect-controller-manager explore --seed 7 --replay 'memcached:error@call#50'"
    ]) {
      assert.include(said, part)
    }
    assert.notInclude(said.split("nowhere to try")[1]?.split("\n")[0], "handoff")
  })

  it("text shows the timeline around the perturbation, which is marked, and at the end", () => {
    const one = { ...failure("error@call#50", "leak"), entries: entriesOf(100, 50) }
    const lines = text(report({ failures: [one] })).split("\n")
    const numbers = lines.flatMap((line) => Array.from(line.matchAll(/  call #(\d+):/g), ([, n]) => Number(n)))
    assert.deepStrictEqual(numbers, [
      ...Array.from({ length: 21 }, (_, i) => 40 + i),
      ...Array.from({ length: 10 }, (_, i) => 91 + i)
    ])
    assert.deepStrictEqual(
      lines.filter((line) => /^ *>/.test(line)).map((line) => line.trim().replaceAll(/ +/g, " ")),
      [
        "> 49.000 s #1 read call #50: get pods default/p-50 -> 200",
        "> error: the call fails with 500 Internal Server Error"
      ]
    )
    assert.lengthOf(
      lines.filter((line) => /… (39|30) lines/.test(line)),
      2
    )
  })

  it("the timeline of a replayed run is complete", () => {
    assert.lengthOf(timeline(entriesOf(100, 50)).split("\n"), 101)
  })

  it("text has no control characters of names and messages", () => {
    assert.notMatch(text(attacked) + timeline(attacked.failures[0]?.entries ?? []), /[^\P{Cc}\t\n]|[\u202a-\u202e]/u)
  })

  it("the command to repeat a run is one word for a shell", () => {
    assert.strictEqual(
      replayOf(report({ name: "it's; rm -rf /" }), failure("crash@write#1", "a")),
      `npx effect-controller-manager explore --replay 'it'\\''s; rm -rf /:crash@write#1'`
    )
  })

  it("JUnit XML is well-formed whatever names and messages are", () => {
    const document = junit([{ file: attack, report: attacked }])
    assert.sameMembers(
      [...new Set(elementsOf(document))],
      ["testsuites", "testsuite", "testcase", "failure", "system-out"]
    )
  })

  it("JUnit XML has a test case for each rule, with the failures of the rule, and an error where nothing could be explored", () => {
    const failures = [failure("crash@write#1", "leak"), failure("lost@write#1", "other leak")]
    const document = junit([
      { file: "a.explore.ts", report: report({ failures }) },
      { file: "b.explore.ts", report: report({ name: "b", problem: "two runs differ" }) }
    ])
    const elements = elementsOf(document)
    const count = (name: string) => elements.filter((one) => one === name).length
    assert.deepStrictEqual(
      [count("testsuite"), count("testcase"), count("failure"), count("error"), count("system-out")],
      [2, 24, 1, 1, 1]
    )
    assert.include(document, '<testsuite name="memcached" tests="12" failures="1" errors="0" time="1.234">')
    assert.include(document, '<testcase classname="a.explore.ts" name="memcached: leak" time="0.000">')
    assert.include(document, '<failure type="leak" message="2 failures: message of leak">')
    assert.include(document, '<error type="problem" message="two runs differ">')
  })

  it("JSON has a version, and everything of a failure", () => {
    const one = { ...failure("error@call#2", "leak", ["lost@write#2"]), entries: entriesOf(3, 2) }
    const value = JSON.parse(json([{ file: "a.explore.ts", report: report({ failures: [one] }) }])) as {
      readonly explorations: ReadonlyArray<{ readonly failures: ReadonlyArray<Record<string, unknown>> }>
    }
    assert.containsSubset(value, { version: 1, ok: false })
    assert.hasAllKeys(value.explorations[0], [
      "name",
      "file",
      "seed",
      "problem",
      "runs",
      "combinations",
      "milliseconds",
      "undisturbed",
      "coverage",
      "without",
      "failures"
    ])
    assert.containsSubset(value.explorations[0]?.failures[0], {
      id: "error@call#2",
      rule: "leak",
      cause: "leak",
      also: ["lost@write#2"],
      replay: "npx effect-controller-manager explore --replay 'memcached:error@call#2'",
      timeline: [{ n: 1 }, { n: 2, perturbed: ["error"] }, { n: 3 }]
    })
  })

  it("the data of a page ends no element and begins no comment", () => {
    const page = 'a<script type="application/json" id="report"></script>b'
    const filled = html(page, [{ file: attack, report: attacked }])
    const [, data = ""] = /^a<script type="application\/json" id="report">([^<]*)<\/script>b$/.exec(filled) ?? []
    const view = JSON.parse(data) as { readonly explorations: ReadonlyArray<{ readonly name: string }> }
    assert.strictEqual(view.explorations[0]?.name, attack)
  })
})

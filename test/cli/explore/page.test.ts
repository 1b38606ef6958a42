/** The page of a report in Chromium, from a file: what it shows, that it loads nothing, and attacks. */
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll } from "vitest"
import { html } from "../../../src/testing/explore/report/html.ts"
import { junit } from "../../../src/testing/explore/report/junit.ts"
import type { Explored } from "../../../src/testing/explore/report/json.ts"
import { chromiumPath, launch } from "../../manager/console/page/fakeConsole.ts"
import { entriesOf, failure, report } from "../../testing/explore/reports.ts"

const attack = `<img src=x onerror="globalThis.attacked=1">"'></script><script>globalThis.attacked=1</script><!--]]>`

const attacked: Explored = {
  file: attack,
  report: report({
    name: attack,
    without: { crash: attack },
    failures: [
      {
        ...failure("error@call#1", attack),
        message: attack,
        details: [attack],
        where: [attack],
        writes: [attack],
        entries: [{ type: "step", at: 0, n: 1, text: attack, perturbed: ["jump-ahead"] }]
      }
    ]
  })
}

describe.skipIf(chromiumPath === undefined)("the page of a report (needs Debian's chromium)", () => {
  let browser: Browser
  let folder: string
  let page: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "report-page-"))
    const script =
      "const { buildReportPage } = await import('./scripts/page.mjs'); await buildReportPage(process.argv[1])"
    const root = fileURLToPath(new URL("../../..", import.meta.url))
    execFileSync(process.execPath, ["--input-type=module", "-e", script, folder], { cwd: root })
    page = readFileSync(join(folder, "report.html"), "utf8")
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const open = async (explored: ReadonlyArray<Explored>) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    const opened = await context.newPage()
    const faults: Array<string> = []
    const requests: Array<string> = []
    opened.on("pageerror", (error) => faults.push(String(error)))
    opened.on("console", (message) => faults.push(`${message.type()}: ${message.text()}`))
    opened.on("request", (request) => requests.push(request.url()))
    const path = join(folder, "opened.html")
    writeFileSync(path, html(page, explored))
    const url = pathToFileURL(path).href
    await opened.goto(url)
    await opened.waitForSelector("h1")
    return { opened, faults, others: () => requests.filter((one) => one !== url && !one.startsWith("data:")) }
  }

  it("lists the failures, and shows each with its timeline around the perturbation, without loading anything", async () => {
    const one = { ...failure("error@call#50", "leak", ["lost@write#2"]), entries: entriesOf(100, 50) }
    const { faults, opened, others } = await open([
      { file: "src/a.explore.ts", report: report({ failures: [one] }) },
      { file: "src/b.explore.ts", report: report({ name: "b", problem: "two runs of the scenario differ" }) }
    ])
    const link = opened.getByRole("navigation", { name: "Failures" }).getByRole("link")
    assert.strictEqual(await link.count(), 1)
    assert.include(await link.innerText(), "memcached: message of leak")
    await link.click()
    const article = opened.getByRole("article", { name: "message of leak" })
    const said = await article.innerText()
    for (const part of ["The same with lost@write#2", "explore --replay 'memcached:error@call#50'", "39 left out"]) {
      assert.include(said, part)
    }
    const marked = article.locator(".perturbed")
    assert.strictEqual(await marked.count(), 1)
    assert.include(await marked.innerText(), "call #50: get pods default/p-50")
    assert.include(await marked.innerText(), "the call fails with 500 Internal Server Error")
    const rows = article.getByRole("list", { name: "Timeline, oldest first" }).locator(".entry")
    assert.strictEqual(await rows.count(), 31)
    await article.getByRole("button", { name: "Whole timeline" }).click()
    assert.strictEqual(await rows.count(), 100)
    assert.include(await opened.locator("main").innerText(), "It cannot be explored: two runs of the scenario differ")
    assert.deepStrictEqual([faults, others()], [[], []])
  })

  it("says that nothing was found", async () => {
    const { faults, opened } = await open([{ file: "a.explore.ts", report: report() }])
    assert.include(await opened.locator("main").innerText(), "Nothing was found.")
    assert.deepStrictEqual(faults, [])
  })

  it("shows names and messages with markup as text", async () => {
    const { faults, opened, others } = await open([attacked])
    assert.include(await opened.locator("article").innerText(), attack)
    assert.isUndefined(await opened.evaluate("globalThis.attacked"))
    assert.strictEqual(await opened.locator("img").count(), 0)
    assert.deepStrictEqual([faults, others()], [[], []])
  })

  it("a browser's parser of XML reads the JUnit report, with the texts as they were", async () => {
    const context = await browser.newContext()
    const opened = await context.newPage()
    const read = await opened.evaluate<ReadonlyArray<string | null>>(
      `[...new DOMParser().parseFromString(${JSON.stringify(junit([attacked]))}, "application/xml").querySelectorAll("parsererror, testsuite")].map((one) => one.getAttribute("name"))`
    )
    assert.deepStrictEqual(read, [attack])
  })
})

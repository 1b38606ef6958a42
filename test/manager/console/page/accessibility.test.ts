/** An audit of each view by axe-core, in both colour schemes and two widths, and what a keyboard reaches. */
import { assert, describe, it } from "@effect/vitest"
import axe from "axe-core"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll } from "vitest"
import { chromiumPath, launch, startFakeConsole, type FakeConsole } from "./fakeConsole.ts"
import { messages, object } from "./figures.ts"
import { longObject } from "./load.ts"

/** Each view, and what it shows once it is complete. */
const views = {
  controllers: "tbody tr",
  objects: ".empty",
  "objects/deployments.apps/default/web": ".timeline",
  "objects?q=web": ".found",
  queue: "tbody tr",
  informers: "tbody tr",
  leadership: ".card",
  cluster: ".node"
} as const

interface Violation {
  readonly id: string
  readonly help: string
  readonly nodes: ReadonlyArray<{ readonly target: ReadonlyArray<string>; readonly failureSummary: string }>
}

/** The rules of axe that the page breaks, with the elements. */
const audit = async (page: Page): Promise<ReadonlyArray<string>> => {
  await page.evaluate(axe.source)
  const violations = await page.evaluate<ReadonlyArray<Violation>>("axe.run().then(({ violations }) => violations)")
  return violations.flatMap(({ help, id, nodes }) =>
    nodes.map(({ failureSummary, target }) => `${id}: ${help}: ${target.join(" ")}: ${failureSummary}`)
  )
}

describe.skipIf(chromiumPath === undefined)("the console's page is accessible (needs Debian's chromium)", () => {
  let browser: Browser
  let fake: FakeConsole

  beforeAll(async () => {
    browser = await launch()
    fake = await startFakeConsole()
    const now = Date.now()
    fake.first = messages(now)
    fake.objects.set("deployments.apps/default/web", object(now))
    fake.found = [{ resource: "deployments.apps", kind: "Deployment", key: "default/web" }]
  })
  afterAll(async () => {
    await browser?.close()
    await fake?.stop()
  })

  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [1280, 390]) {
      it(`axe finds no violation in any view at ${width} px in the ${colorScheme} scheme`, async () => {
        const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme })
        const page = await context.newPage()
        await page.goto(fake.address)
        await page.waitForSelector("#token")
        const found = (await audit(page)).map((one) => `sign in: ${one}`)
        await page.goto(fake.url)
        await page.waitForSelector("text=live")
        for (const [view, shows] of Object.entries(views)) {
          await page.evaluate(`location.hash = ${JSON.stringify(`#/${view}`)}`)
          await page.locator(shows).first().waitFor()
          if (view === "controllers") await page.getByRole("button", { name: "deployment", exact: true }).click()
          found.push(...(await audit(page)).map((one) => `${view}: ${one}`))
        }
        await page.keyboard.press("/")
        await page.keyboard.type("web")
        await page.waitForSelector("[role=option]")
        found.push(...(await audit(page)).map((one) => `search: ${one}`))
        await context.close()
        assert.deepStrictEqual(found, [])
      })
    }
  }

  it("the link to a cause moves the focus to it and shows it in the window, also a cause that was not rendered", async () => {
    const long = longObject(Date.now(), 0)
    const cause = long.timeline.find(({ id, type }) => id > 250 && type === "change")
    const at = long.timeline.findLastIndex(({ type }) => type === "reconcile")
    const newest = long.timeline[at]
    if (cause === undefined || newest?.type !== "reconcile") throw new Error("the timeline has not what the test needs")
    const timeline = long.timeline.with(at, { ...newest, causes: [cause.id], reasons: ["the cause"] })
    fake.objects.set("deployments.apps/default/long", { ...long, timeline })
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" })
    await page.goto(fake.url)
    await page.evaluate("location.hash = '#/objects/deployments.apps/default/long'")
    await page.getByRole("link", { name: "the cause" }).waitFor()
    assert.strictEqual(await page.locator(`#entry-${cause.id}`).count(), 0)
    await page.getByRole("link", { name: "the cause" }).click()
    await page.waitForSelector(`#entry-${cause.id}:focus`)
    const [top, bottom, height] = await page.evaluate<readonly [number, number, number]>(
      "(({ top, bottom }) => [top, bottom, innerHeight])(document.activeElement.getBoundingClientRect())"
    )
    assert.isAbove(top, 0)
    assert.isBelow(bottom, height)
    await page.close()
  })

  it("Tab reaches what can be used in each view in the order of the page, and shows where the focus is", async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    await page.goto(fake.url)
    await page.waitForSelector("text=live")
    for (const [view, shows] of Object.entries(views)) {
      await page.evaluate(`location.hash = ${JSON.stringify(`#/${view}`)}`)
      await page.locator(shows).first().waitFor()
      // A view that is opened has the focus on its heading.
      if (view !== "controllers") await page.waitForSelector("h1:focus")
      // From the beginning of the document.
      await page.evaluate(
        "globalThis.last = undefined, document.body.tabIndex = -1, document.body.focus(), document.body.removeAttribute('tabindex')"
      )
      const names: Array<string> = []
      const usable = await page.evaluate<number>(
        `document.querySelectorAll("a:not([tabindex='-1']), button, input, select, [tabindex='0']").length`
      )
      while (names.length < usable) {
        await page.keyboard.press("Tab")
        const [name, isLater, isShown] = await page.evaluate<readonly [string, boolean, boolean]>(`(() => {
          const [last, now] = [globalThis.last ?? document.body, document.activeElement]
          globalThis.last = now
          const { outlineStyle, outlineWidth } = getComputedStyle(now)
          const box = now.getBoundingClientRect()
          return [
            now.getAttribute("aria-label") ?? now.title + now.textContent,
            (last.compareDocumentPosition(now) & Node.DOCUMENT_POSITION_FOLLOWING) > 0,
            outlineStyle !== "none" && outlineWidth !== "0px" && box.bottom > 0 && box.top < innerHeight
          ]
        })()`)
        names.push(name)
        assert.isTrue(isLater, `${view}: ${names.join(", ")} is out of order`)
        assert.isTrue(isShown, `${view}: the focus on ${name} cannot be seen`)
      }
      assert.include(names[0], "Skip to the view", view)
      assert.include(names[1], "Search", view)
    }
    await page.close()
  })
})

/** The console's page in Chromium, with a server whose messages the test writes: what it shows, keys, attacks, and what it does without a connection. */
import { assert, describe, it } from "@effect/vitest"
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll } from "vitest"
import { chromiumPath, launch, startFakeConsole, token, type FakeConsole } from "./fakeConsole.ts"
import { controllers, messages, object, pod } from "./figures.ts"

const attack = `default/<img src=x onerror="globalThis.attacked=1;alert(1)">"'><script>globalThis.attacked=1</script>javascript:alert(1)`

/** Fields that have one of a few words. */
const words = new Set(["type", "state", "outcome", "change"])

/** The same with markup in every other text, whoever chooses it. */
const attacking = <A>(value: A, field = ""): A => {
  const changed = (): unknown => {
    if (typeof value === "string") return words.has(field) ? value : `${value}${attack}`
    if (Array.isArray(value)) return value.map((one: unknown) => attacking(one, field))
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, attacking(one as unknown, name)]))
  }
  return changed() as A
}

const views = ["controllers", "objects", "queue", "informers", "leadership", "cluster"]

/** What the page did wrong. */
interface Seen {
  readonly faults: Array<string>
}

describe.skipIf(chromiumPath === undefined)("the console's page (needs Debian's chromium)", () => {
  let browser: Browser
  let fake: FakeConsole

  beforeAll(async () => {
    browser = await launch()
    fake = await startFakeConsole()
  })
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())))
  afterAll(async () => {
    await browser?.close()
    await fake?.stop()
  })

  const open = async (options: BrowserContextOptions & { readonly url?: string } = {}): Promise<Page & Seen> => {
    const { url = fake.url, ...others } = options
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...others })
    const page = await context.newPage()
    const faults: Array<string> = []
    page.on("pageerror", (error) => faults.push(String(error)))
    page.on("dialog", (dialog) => {
      faults.push(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.on("console", (message) => {
      // Chromium reports responses that are no success; the tests of those expect them.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
        faults.push(message.text())
    })
    await page.goto(url)
    return Object.assign(page, { faults })
  }

  const reset = () => {
    const now = Date.now()
    fake.first = messages(now)
    fake.objects.clear()
    fake.objects.set("deployments.apps/default/web", object(now))
    fake.found = [
      { resource: "deployments.apps", kind: "Deployment", key: "default/web" },
      { resource: "services", kind: "Service", key: "default/web" }
    ]
    fake.refuses = undefined
    fake.requests.length = 0
  }

  const show = async (page: Page, hash: string) => {
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
  }

  /** The page's policy forbids `waitForFunction`, which evaluates its text in the page. */
  const until = (page: Page, condition: string) => expectSoon(() => page.evaluate<boolean>(`Boolean(${condition})`))

  const textOf = (page: Page, selector: string) => page.locator(selector).innerText()
  const rowOf = (page: Page, name: string) => page.locator("tbody tr", { hasText: name }).first().innerText()
  const includesAll = (text: string, ...parts: ReadonlyArray<string>) => {
    for (const part of parts) assert.include(text.replaceAll(/\s+/g, " "), part)
  }

  it("Controllers shows the state, the figures and the error of each, and what it waits for", async () => {
    reset()
    const page = await open()
    await page.waitForSelector("tbody tr")
    includesAll(await rowOf(page, "deployment"), "1 failing", "7", "1.4 ms", "38 ms", "6", "4.2 s")
    includesAll(await rowOf(page, "job"), "waiting")
    includesAll(
      await textOf(page, "[aria-labelledby=start-order]"),
      "jobs.batch is not synced",
      "no certificate is configured",
      "may not list"
    )
    const orderOf = (name: string) => page.getByRole("list", { name }).locator("li .name").allInnerTexts()
    assert.deepStrictEqual(await orderOf("Whether or not this process leads"), ["volumes"])
    assert.deepStrictEqual(await orderOf("With lease kube-system/manager"), ["deployment", "replicaset"])
    includesAll(await textOf(page, "main"), "Switched off: tokencleaner", "test-manager 1.2.3")
    fake.send(controllers(Date.now() + 1000, "default/web", 1050))
    await until(page, `document.querySelector(".figures").innerText.match(/Runs\\/s\\s+[1-9]/)`)
    await page.getByRole("button", { name: "deployment", exact: true }).click()
    includesAll(await textOf(page, ".detail"), "2 of 5 busy", "cannot update default/web: conflict", "deployments.apps")
    assert.deepStrictEqual(page.faults, [])
  })

  it("Queue lists keys that run, are ready, and fail with the last error and the next try", async () => {
    reset()
    const page = await open()
    await show(page, "#/queue")
    await page.waitForSelector("tbody tr")
    includesAll(await rowOf(page, "default/api"), "running", "runs for")
    includesAll(await rowOf(page, "default/shop"), "ready for")
    includesAll(await rowOf(page, "default/web"), "failing", "next try in", "3", "cannot update default/web: conflict")
    includesAll(await rowOf(page, "default/blog"), "failing", "1", "forbidden: default/web")
    await page.getByRole("button", { name: /^running/ }).click()
    assert.strictEqual(await page.locator("tbody tr").count(), 1)
  })

  it("Informers shows objects, sizes, relists and failures, and which sizes are not measured", async () => {
    reset()
    const page = await open()
    await show(page, "#/informers")
    await page.waitForSelector("tbody tr")
    includesAll(await rowOf(page, "deployments.apps"), "synced", "12,345", "3.3 MiB", "everywhere", "3 9")
    includesAll(await rowOf(page, "jobs.batch"), "failing", "not measured yet", "never", "4 in a row")
    includesAll(await rowOf(page, "jobs.batch"), "forbidden: default/web", "next try in")
    includesAll(await textOf(page, "main"), "3.3 MiB, the size of 1 not measured yet")
    assert.deepStrictEqual(page.faults, [])
  })

  it("Leadership shows the terms, the holder, fenced writes, and each attempt to renew in a strip and as text", async () => {
    reset()
    const page = await open()
    await show(page, "#/leadership")
    await page.waitForSelector(".card")
    includesAll(await textOf(page, "main"), "2 fenced writes")
    const card = (name: string) => page.getByRole("region", { name })
    includesAll(
      await card("kube-system/manager").innerText(),
      "another process leads",
      "Holder default/web",
      "This process host-a",
      "Terms of this process 3",
      "Changes of the holder 41",
      "cannot update default/web: timeout"
    )
    const strip = card("kube-system/manager").getByRole("img", {
      name: /58 attempts to renew the lease, 1 failed; the longest took 5\.0 s.*and failed/
    })
    assert.strictEqual(await strip.locator(".renewed").count(), 57)
    assert.strictEqual(await strip.locator(".failed").count(), 1)
    const own = card("default/other")
    includesAll(
      await own.innerText(),
      "this process leads",
      "Valid for 12 s",
      "Terms of this process 1, the present one"
    )
    assert.strictEqual(await own.locator(".renewed").count(), 1)
    includesAll(await card("Controllers without a lease").innerText(), "always runs", "job")
    const now = Date.now() + 1000
    fake.send(
      ...messages(now).flatMap((message) =>
        message.type === "leadership"
          ? [
              {
                ...message,
                fencedWrites: 3,
                groups: message.groups.map((group) => ({
                  ...group,
                  leader: null,
                  leads: false,
                  renewals: group.renewals.slice(0, -1)
                }))
              }
            ]
          : []
      )
    )
    await page.waitForSelector("text=3 fenced writes")
    includesAll(await own.innerText(), "no process leads", "has not tried to renew the lease yet")
    assert.strictEqual(await own.locator(".renewed").count(), 0)
    assert.deepStrictEqual(page.faults, [])
  })

  it("Cluster shows pods as tiles on their nodes, and a rollout until it is complete", async () => {
    reset()
    const page = await open()
    await show(page, "#/cluster")
    await page.waitForSelector(".node")
    includesAll(await textOf(page, "main"), "2 nodes, 4 pods", "1 ready", "2 starting", "1 failing")
    assert.strictEqual(await page.locator(".node", { hasText: "worker-1" }).locator(".tile").count(), 2)
    includesAll(await page.locator(".node", { hasText: "worker-2" }).innerText(), "not ready")
    includesAll(await rowOf(page, "ReplicaSet/web-1"), "1 of 3", "1 starting", "1 failing")
    const nothing = { reset: false, changed: [], removed: [] }
    const pods = {
      reset: false,
      changed: [pod("default/web-1-b", "worker-1"), pod("default/web-1-c", "worker-2")],
      removed: ["default/web"]
    }
    fake.send({ type: "cluster", at: Date.now(), nodes: nothing, pods })
    await until(page, `document.querySelector("main").innerText.includes("3 pods: 3 ready")`)
    includesAll(await rowOf(page, "ReplicaSet/web-1"), "3 of 3")
    assert.strictEqual(await page.locator(".tile.ready[data-pod]").count(), 3)
  })

  it("Object shows a change, its reconcile, and the writes and events of that, linked to their causes", async () => {
    reset()
    const page = await open()
    await show(page, "#/objects/deployments.apps/default/web")
    await page.waitForSelector(".timeline")
    includesAll(
      await textOf(page, "main"),
      "Deployment",
      "deployment error",
      "failure 3 in a row",
      "cannot update default/web: conflict",
      "409",
      "ScalingReplicaSet",
      "after 3 failures",
      "ReplicaSet default/web-1 3/3 ready",
      "Pod default/web-1-a Running",
      "and 180 more dependants",
      "Earlier entries were dropped"
    )
    assert.strictEqual(await page.getByRole("link", { name: "requeueAfter 600000 ms" }).count(), 0)
    await page.getByRole("link", { name: "Deployment default/web modified: spec.replicas" }).click()
    await until(page, `document.activeElement?.id === "entry-1"`)
    assert.deepStrictEqual(
      await page.locator(".linked").evaluateAll((all: ReadonlyArray<{ id: string }>) => all.map(({ id }) => id).sort()),
      ["entry-1", "entry-2", "entry-3", "entry-4"]
    )
    // Owners above the object, the first one at the top; dependants below it.
    assert.deepStrictEqual(
      await page
        .getByRole("treeitem")
        .evaluateAll((all: ReadonlyArray<{ ariaLevel: string; innerText: string }>) =>
          all.map(({ ariaLevel, innerText }) => `${ariaLevel} ${innerText.split(" ")[0]}`)
        ),
      ["1 Team", "2 Memcached", "3 Deployment", "4 ReplicaSet", "5 Pod", "5 and", "4 ReplicaSet"]
    )
    const widest = await page
      .locator(".tree")
      .evaluate((tree: { scrollWidth: number; clientWidth: number }) => tree.scrollWidth - tree.clientWidth)
    assert.isAtMost(widest, 0)
    assert.deepStrictEqual(page.faults, [])
  })

  it("all views work by keys alone: / searches, arrows choose, Enter opens, and arrows move in lists", async () => {
    reset()
    const page = await open()
    await page.waitForSelector("tbody tr")
    await page.keyboard.press("/")
    await page.keyboard.type("web")
    await page.waitForSelector("[role=option]")
    await page.keyboard.press("ArrowDown")
    assert.strictEqual(
      await page.getByRole("combobox", { name: /Search/ }).getAttribute("aria-activedescendant"),
      "found-0"
    )
    await page.keyboard.press("Enter")
    await page.waitForSelector(".timeline")
    await page.waitForSelector("h1:focus")
    assert.include(page.url(), "#/objects/deployments.apps/default/web")
    await page.locator("[role=treeitem][aria-current]").focus()
    await page.keyboard.press("ArrowDown")
    assert.include(String(await page.evaluate("document.activeElement.textContent")), "default/web-1")
    await page.locator("nav a").first().focus()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await page.waitForSelector("tbody tr")
    assert.include(page.url(), "#/queue")
    await page.waitForSelector("h1:focus")
    await page.locator("[data-item]").first().focus()
    await page.keyboard.press("ArrowDown")
    assert.strictEqual(await page.evaluate("document.activeElement.textContent"), "default/shop")
    await show(page, "#/controllers")
    await page.waitForSelector("h1:focus")
    await page.getByRole("button", { name: "deployment", exact: true }).focus()
    await page.keyboard.press("Enter")
    await page.waitForSelector(".detail")
  })

  it("names, scopes, messages and reasons that contain markup are shown as text in every view", async () => {
    reset()
    fake.first = messages(Date.now(), attack).map((message) => attacking(message))
    const path = ["deployments.apps", ...attack.split("/")].map(encodeURIComponent).join("/")
    fake.objects.set(path, { ...attacking(object(Date.now(), attack)), resource: "deployments.apps", key: attack })
    fake.found = [{ resource: attack, kind: attack, key: attack }]
    const page = await open()
    for (const view of [...views, `objects/${path}`, `objects?q=${encodeURIComponent(attack)}`]) {
      await show(page, `#/${view}`)
      if (view !== "objects") await until(page, `document.querySelector("main").innerText.includes("<script>")`)
      // eslint-disable-next-line no-script-url
      assert.strictEqual(await page.locator("a[href^='javascript:'], main img, main script").count(), 0, view)
    }
    await page.keyboard.press("/")
    await page.keyboard.type("<b>")
    await page.waitForSelector("[role=option]")
    assert.strictEqual(await page.evaluate("globalThis.attacked"), undefined)
    assert.deepStrictEqual(page.faults, [])
  })

  it("the token is removed from the address, is in no storage and no request's address, and is asked for when it is absent or refused", async () => {
    reset()
    const page = await open()
    await page.waitForSelector("tbody tr")
    assert.notInclude(page.url(), token)
    assert.strictEqual(await page.evaluate("localStorage.length + sessionStorage.length + document.cookie.length"), 0)
    assert.isFalse(fake.requests.some((request) => request.includes(token)))
    await page.reload()
    await page.waitForSelector("#token")
    await page.fill("#token", "wrong")
    await page.keyboard.press("Enter")
    await page.waitForSelector("[role=alert]")
    includesAll(await textOf(page, "[role=alert]"), "the token is wrong")
    await page.fill("#token", token)
    await page.keyboard.press("Enter")
    await page.waitForSelector("tbody tr")
    assert.deepStrictEqual(page.faults, [])
  })

  it("a lost stream is shown with the next try, and opened again", async () => {
    reset()
    const page = await open()
    await page.waitForSelector("text=live")
    fake.refuses = 503
    fake.endStreams()
    await page.waitForSelector("text=disconnected, next try in")
    includesAll(await rowOf(page, "deployment"), "1 failing")
    // Long enough that the page does not open it by itself first.
    await page.waitForSelector("text=/next try in [3-9]/")
    fake.refuses = undefined
    await page.getByRole("button", { name: "Try now" }).click()
    await page.waitForSelector("text=live")
    assert.strictEqual(fake.openStreams(), 1)
  })

  it("a hidden page has no stream, and opens it again when it is shown", async () => {
    reset()
    const page = await open()
    await page.waitForSelector("text=live")
    const become = (state: string) =>
      page.evaluate(
        `Object.defineProperty(document, "visibilityState", { configurable: true, value: "${state}" }); document.dispatchEvent(new Event("visibilitychange"))`
      )
    await become("hidden")
    await page.waitForSelector("text=paused")
    await expectSoon(() => fake.openStreams() === 0)
    await become("visible")
    await page.waitForSelector("text=live")
    await expectSoon(() => fake.openStreams() === 1)
    assert.deepStrictEqual(page.faults, [])
  })

  for (const [width, colorScheme] of [
    [390, "light"],
    [390, "dark"],
    [1280, "dark"]
  ] as const) {
    it(`no view scrolls sideways at ${width} px in the ${colorScheme} scheme, whatever the names`, async () => {
      reset()
      const long = `default/${"a-very-long-name.".repeat(16)}`
      fake.first = messages(Date.now(), long)
      fake.objects.set(`deployments.apps/${long}`, object(Date.now(), long))
      fake.found = [{ resource: "deployments.apps", kind: "Deployment", key: long }]
      const page = await open({ viewport: { width, height: 800 }, colorScheme })
      await page.waitForSelector("tbody tr")
      for (const view of [...views, `objects/deployments.apps/${long}`, "objects?q=a"]) {
        await show(page, `#/${view}`)
        await until(
          page,
          `location.hash === ${JSON.stringify(`#/${view}`)} && document.querySelector("main").innerText.length > 150`
        )
        const [content, window] = (await page.evaluate("[document.documentElement.scrollWidth, innerWidth]")) as [
          number,
          number
        ]
        assert.isAtMost(content, window, view)
      }
      assert.deepStrictEqual(page.faults, [])
    })
  }

  it("a screen reader finds landmarks, one heading for the view, labelled tables and a polite status", async () => {
    reset()
    const page = await open()
    await page.waitForSelector("tbody tr")
    for (const role of ["banner", "navigation", "main", "search", "contentinfo"] as const) {
      assert.isAtLeast(await page.getByRole(role).count(), role === "contentinfo" ? 0 : 1, role)
    }
    assert.strictEqual(await page.getByRole("heading", { level: 1 }).count(), 1)
    assert.strictEqual(await page.getByRole("table", { name: /Controllers/ }).count(), 1)
    await until(page, `document.querySelector("[role=status]").textContent.includes("controllers run")`)
  })
})

/** Resolves when the condition holds; the limit of the test bounds it. */
const expectSoon = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20))
}

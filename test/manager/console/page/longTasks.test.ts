/** How long the page keeps its thread busy with 20,000 pods on 200 nodes, of which 200 change every second. */
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import type { Browser } from "playwright-core"
import type { Message, Pod } from "../../../../src/manager/console/protocol.ts"
import { chromiumPath, launch, startFakeConsole, type FakeConsole } from "./fakeConsole.ts"
import { controllers, messages, pod } from "./figures.ts"

const pods = 20_000
const nodes = 200
/** As the server divides what is whole. */
const chunk = 1000
const perSecond = 200
const seconds = 8
const limit = 50

const keyOf = (at: number) => `shop/web-${at}`
const podAt = (at: number, of: Partial<Pod> = {}) =>
  pod(keyOf(at), `worker-${at % nodes}`, { owner: `ReplicaSet/web-${at % 1000}`, ...of })
const nothing = { reset: false, changed: [], removed: [] }

const cluster = (): ReadonlyArray<Message> => {
  const workers = Array.from({ length: nodes }, (_, at) => ({ name: `worker-${at}`, ready: true, schedulable: true }))
  const parts: Array<Message> = []
  for (let from = 0; from < pods; from += chunk) {
    const changed = Array.from({ length: chunk }, (_, at) => podAt(from + at))
    const reset = from === 0
    parts.push({
      type: "cluster",
      at: Date.now(),
      nodes: reset ? { reset, changed: workers, removed: [] } : nothing,
      pods: { reset, changed, removed: [] }
    })
  }
  return parts
}

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  readonly dur?: number
  readonly args: { readonly name?: string }
}

/** Milliseconds of each task of the renderers' main threads that took at least one; shorter ones would only lower the percentile. */
const tasksOf = (trace: Buffer): ReadonlyArray<number> => {
  const { traceEvents } = JSON.parse(trace.toString()) as { readonly traceEvents: ReadonlyArray<TraceEvent> }
  const threads = new Set(
    traceEvents.flatMap(({ args, name, pid, tid }) =>
      name === "thread_name" && args.name === "CrRendererMain" ? [`${pid} ${tid}`] : []
    )
  )
  return traceEvents
    .flatMap(({ dur, name, pid, tid }) =>
      name.endsWith("RunTask") && dur !== undefined && threads.has(`${pid} ${tid}`) ? [dur / 1000] : []
    )
    .filter((duration) => duration >= 1)
    .sort((a, b) => a - b)
}

const percentile = (sorted: ReadonlyArray<number>, share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0

describe.skipIf(chromiumPath === undefined)("the console's page under load (needs Debian's chromium)", () => {
  let browser: Browser
  let fake: FakeConsole

  beforeAll(async () => {
    browser = await launch()
    fake = await startFakeConsole()
  })
  afterAll(async () => {
    await browser?.close()
    await fake?.stop()
  })

  for (const view of ["cluster", "controllers"]) {
    it(`95 % of the tasks of ${view} take at most ${limit} ms with ${pods} pods and ${perSecond} changes a second`, async () => {
      fake.first = [...messages(Date.now()).filter(({ type }) => type !== "cluster"), ...cluster()]
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
      await page.addInitScript(`
        globalThis.longTasks = []
        new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((entry) => entry.duration))).observe({ entryTypes: ["longtask"] })
      `)
      await browser.startTracing(page, {
        categories: ["toplevel", "disabled-by-default-devtools.timeline", "__metadata"]
      })
      await page.goto(fake.url)
      await page.evaluate(`location.hash = "#/${view}"`)
      await page.waitForSelector(view === "cluster" ? "text=20,000 pods" : "tbody tr")
      await page.evaluate(`document.querySelector(".nodes")?.scrollIntoView()`)
      const batches = 20
      for (let batch = 0; batch < seconds * batches; batch++) {
        const now = Date.now()
        const changed = Array.from({ length: perSecond / batches }, (_, at) =>
          podAt((batch * 7919 + at * 104_729) % pods, {
            ready: batch % 2 === 0,
            phase: batch % 2 === 0 ? "Running" : "Pending"
          })
        )
        fake.send({ type: "cluster", at: now, nodes: nothing, pods: { reset: false, changed, removed: [] } })
        if (batch % batches === 0) fake.send(controllers(now, "default/web", 1000 + batch * 10))
        await new Promise((resolve) => setTimeout(resolve, 1000 / batches))
      }
      const tasks = tasksOf(await browser.stopTracing())
      const long = await page.evaluate<ReadonlyArray<number>>("longTasks")
      const tiles = await page.locator("[data-pod]").count()
      await page.close()
      const figures = `${tasks.length} tasks of 1 ms or more: median ${percentile(tasks, 0.5).toFixed(1)} ms, 95 % ${percentile(tasks, 0.95).toFixed(1)} ms, longest ${percentile(tasks, 1).toFixed(1)} ms; ${long.length} long tasks (${long.map(Math.round).join(", ")}); ${tiles} tiles`
      if (process.env["CI"] === undefined) console.log(figures)
      assert.isAbove(tasks.length, 50, figures)
      assert.isAtMost(percentile(tasks, 0.95), limit, figures)
      // Only what is in the window is rendered.
      assert.isAtMost(tiles, 6000, figures)
    })
  }
})

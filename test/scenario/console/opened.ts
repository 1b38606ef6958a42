/** The program as `npm start` runs it, with its metrics, a client of its cluster, and its console in Debian's Chromium. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { Page } from "playwright-core"
import { launch } from "../../manager/console/page/fakeConsole.ts"
import * as Process from "../../support/process.ts"
import * as Cluster from "../cluster.ts"

export const missing = "skipped: there is no chromium on PATH (Debian: apt-get install chromium)"

const at = "127.0.0.1:0"

/** The flags are added to those of the embedded cluster. */
export const opened = Effect.fnUntraced(function* (flags: ReadonlyArray<string> = []) {
  const running = yield* Process.start(["--cluster=embedded", ...flags], {
    CM_CONSOLE_BIND_ADDRESS: at,
    CM_METRICS_BIND_ADDRESS: at
  })
  const [address, origin = ""] = yield* running.says(/^(http:\/\/127\.0\.0\.1:\d+)\/console\/#token=\S+$/m)
  const browser = yield* Effect.acquireRelease(Effect.promise(launch), (one) => Effect.promise(() => one.close()))
  const faults: Array<string> = []
  /** A page of the console. All pages note what they do wrong in `faults`: errors, violations of the policy, and requests to other servers. */
  const open = Effect.promise(async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    page.on("pageerror", (error) => faults.push(String(error)))
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") faults.push(message.text())
    })
    page.on("request", (request) => {
      if (new URL(request.url()).origin !== origin && !request.url().startsWith("data:")) faults.push(request.url())
    })
    await page.goto(address)
    await page.locator("tbody tr").first().waitFor()
    return page
  })
  const [, port = ""] = yield* running.says(/message="Serving metrics" port=(\d+)/)
  const [, kubeconfig = ""] = yield* running.says(/^kubectl --kubeconfig (\S+) /m)
  return {
    running,
    open,
    faults,
    client: yield* Cluster.client(yield* Cluster.accessIn(kubeconfig)),
    metrics: Effect.promise(async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text())
  }
})

/** The sum of the series with these labels. */
export const total = (metrics: string, name: string, labels: Readonly<Record<string, string>>): number =>
  metrics
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`))
    .filter((line) => Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0)

/** Shows a view by its link, as a user does. */
export const view = (page: Page, name: string) =>
  Effect.promise(async () => {
    await page.locator("nav").getByRole("link", { name }).click()
    await page.getByRole("heading", { level: 1, name }).waitFor()
  })

/** Asks again until there is no difference; the last ones are the failure. Both sides change while they are read. */
export const agree = <E, R>(differences: Effect.Effect<ReadonlyArray<string>, E, R>) =>
  Effect.suspend(() => {
    let last: ReadonlyArray<string> = []
    const ask = Effect.map(differences, (found) => (last = found).length === 0)
    return Effect.repeat(ask, { until: (isEqual) => isEqual, schedule: Schedule.spaced("100 millis") }).pipe(
      Effect.timeoutOrElse({ duration: "40 seconds", orElse: () => Effect.die(new Error(last.join("\n"))) })
    )
  })

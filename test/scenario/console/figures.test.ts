/** The figures that the console shows in a browser, compared with the metrics of the program and with the objects of its API server. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { createServer, type AddressInfo } from "node:net"
import type { Page } from "playwright-core"
import * as Resource from "../../../src/kube/Resource.ts"
import * as Resources from "../../../src/kube/resources.ts"
import { ValidatingWebhookConfiguration } from "../../../src/manager/webhooks/certificates/publication.ts"
import { chromiumPath } from "../../manager/console/page/fakeConsole.ts"
import * as Cluster from "../cluster.ts"
import { agree, missing, opened, total, view } from "./opened.ts"

if (chromiumPath === undefined) process.stderr.write(`the figures of the console in a browser ${missing}\n`)

/** A row of a table by the titles of its columns, and the facts below it where it is opened. */
interface Row {
  readonly cells: Readonly<Record<string, string>>
  readonly facts: Readonly<Record<string, string>>
}

/** All rows of the table at one moment. */
const rowsOf = (page: Page) =>
  Effect.promise(() =>
    page.evaluate<ReadonlyArray<Row>>(`[...document.querySelectorAll("tbody tr:not(.detail)")].map((row) => ({
      cells: Object.fromEntries([...row.cells].map((cell) => [cell.dataset.title, cell.innerText.trim()])),
      facts: Object.fromEntries(
        [...(row.nextElementSibling?.matches(".detail") ? row.nextElementSibling : row).querySelectorAll("dl.facts dt")].map((term) => [
          term.innerText,
          term.nextElementSibling.innerText
        ])
      )
    }))`)
  )

const numbersIn = (text = ""): ReadonlyArray<number> =>
  (text.replaceAll(",", "").match(/\d+/g) ?? []).map((digits) => Number(digits))

/** The figures of a row of Controllers, each with the name of the metric that has it. */
const figuresOf = ({ cells, facts }: Row): ReadonlyArray<readonly [metric: string, shown: number | undefined]> => {
  const [active, workers] = numbersIn(facts["Workers"])
  const [ready] = numbersIn(facts["Queue"])
  const [runs, failed] = numbersIn(facts["Runs since the start"])
  return [
    ["controller_runtime_active_workers", active],
    ["controller_runtime_max_concurrent_reconciles", workers],
    ["workqueue_depth", ready],
    ["controller_runtime_reconcile_total", runs],
    ["controller_runtime_reconcile_errors_total", failed],
    ["controller_runtime_reconcile_errors_total", numbersIn(cells["Errors"])[0]]
  ]
}

/** Accepts connections and never responds. */
const silentServer = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer((socket) => socket.on("error", () => undefined)).listen(0, "127.0.0.1")
    await once(server, "listening")
    return server
  }),
  (server) => Effect.sync(() => void server.close())
)

/** A webhook that is asked about each new pod: the workers that create pods are busy for as long as it does not respond. */
const webhookAt = (port: number) => ({
  metadata: { name: "silent" },
  webhooks: [
    {
      name: "silent.example.test",
      clientConfig: { url: `https://127.0.0.1:${port}/` },
      rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
      failurePolicy: "Fail",
      sideEffects: "None",
      timeoutSeconds: 30,
      admissionReviewVersions: ["v1"]
    }
  ]
})

const deployment = (name: string) => ({
  metadata: { name, namespace: "default" },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name, image: "example.test/app:1" }] } }
  }
})

const isBetween = (low: number, shown: number | undefined, high: number) =>
  shown !== undefined && Math.min(low, high) <= shown && shown <= Math.max(low, high)

describe.skipIf(chromiumPath === undefined)("the figures of the console in a browser", () => {
  it.live(
    "Controllers has a row for each controller that has started, and its figures lie between two scrapes, with busy workers and keys that wait",
    () =>
      Effect.gen(function* () {
        const { client, faults, metrics, open, running } = yield* opened()
        yield* running.says(/Starting Controller.*controller=ecsbinding/)
        const page = yield* open
        const started = [...running.said().matchAll(/message="Starting Controller" controller=(\S+)/g)]
        yield* Effect.promise(async () => {
          const names = page.locator("tbody button.open")
          await names.nth(started.length - 1).waitFor()
          for (const button of await names.all()) await button.click()
        })
        // The webhook keeps the workers for half a minute.
        const server = yield* silentServer
        yield* client.create(ValidatingWebhookConfiguration, webhookAt((server.address() as AddressInfo).port))
        yield* Effect.forEach(["a", "b", "c", "d", "e", "f", "g", "h"], (name) =>
          client.create(Resources.Deployment, deployment(name))
        )
        // The page shows figures of the last second: they lie between two scrapes that follow each other when nothing has changed for so long.
        const differences = Effect.gen(function* () {
          const before = yield* metrics
          const rows = yield* rowsOf(page)
          const after = yield* metrics
          assert.sameMembers(
            rows.map(({ cells }) => cells["Controller"]),
            started.map(([, name]) => name)
          )
          const busy = rows.find(({ cells }) => cells["Controller"] === "replicaset")?.facts ?? {}
          const others = rows.flatMap((row) => {
            const controller = row.cells["Controller"] ?? ""
            return figuresOf(row).flatMap(([name, shown]) => {
              const [low, high] = [total(before, name, { controller }), total(after, name, { controller })]
              return isBetween(low, shown, high) ? [] : [`${name} of ${controller}: ${shown}, not ${low} to ${high}`]
            })
          })
          return busy["Workers"] === "5 of 5 busy" && busy["Queue"]?.startsWith("3 ready, ") === true
            ? others
            : [...others, `replicaset: ${busy["Workers"]}, ${busy["Queue"]}`]
        })
        yield* agree(differences)
        yield* view(page, "Queue")
        yield* Effect.promise(async () => {
          await page.getByRole("combobox", { name: "Controller" }).selectOption("replicaset")
          await page.getByRole("button", { name: "running 5" }).waitFor()
          await page.getByRole("button", { name: "ready 3" }).click()
          await page.locator("tbody tr", { hasText: "ready for" }).nth(2).waitFor()
        })
        assert.deepStrictEqual(faults, [])
      }).pipe(Effect.scoped)
  )

  it.live("Informers has as many objects of each kind as the API server", () =>
    Effect.gen(function* () {
      const { client, faults, metrics, open } = yield* opened()
      const page = yield* open
      yield* view(page, "Informers")
      const differences = Effect.gen(function* () {
        const rows = yield* rowsOf(page)
        const scraped = yield* metrics
        const found: Array<string> = []
        let compared = 0
        const kinds: ReadonlyArray<Resource.AnyCreatable> = Object.values(Resources)
        for (const resource of kinds) {
          if (resource.projection === "none") continue
          const kind = Resource.qualifiedName(resource)
          const own = rows.filter(({ cells }) => cells["Kind"] === kind)
          const everywhere = own.find(({ cells }) => cells["Selection"] === "everywhere")
          if (everywhere === undefined) continue
          const { items } = yield* client.list(resource)
          const [shown] = numbersIn(everywhere.cells["Objects"])
          const inAll = own.reduce((sum, { cells }) => sum + (numbersIn(cells["Objects"])[0] ?? Number.NaN), 0)
          const exported = total(scraped, "informer_objects", { kind })
          if (shown !== items.length) found.push(`${kind}: ${shown} shown, ${items.length} listed`)
          if (inAll !== exported) found.push(`${kind}: ${inAll} shown, ${exported} in the metrics`)
          if (everywhere.cells["State"] !== "synced") found.push(`${kind}: ${everywhere.cells["State"]}`)
          if (items.length > 0) compared++
        }
        // A page that has just opened shows its rows frame by frame, and informers of a new manager sync one after another.
        return compared >= 8 ? found : [...found, `only ${compared} kinds with objects are shown`]
      })
      yield* agree(differences)
      assert.deepStrictEqual(faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("Leadership names the Lease, its holder as the API server has it, and the controllers that it leads", () =>
    Effect.gen(function* () {
      const { client, faults, open } = yield* opened(["--leader-elect"])
      const { spec, metadata } = yield* Cluster.until(
        client,
        Resources.Lease,
        { namespace: "kube-system" },
        ({ metadata, spec }) => metadata.name === "kube-controller-manager" && (spec?.holderIdentity ?? "") !== ""
      )
      const page = yield* open
      yield* view(page, "Leadership")
      yield* Effect.promise(() =>
        page
          .locator(".card", { hasText: `${metadata.namespace}/${metadata.name}` })
          .filter({ hasText: spec?.holderIdentity ?? "no holder" })
          .filter({ hasText: "this process leads" })
          .filter({ hasText: "deployment, replicaset" })
          .waitFor()
      )
      assert.deepStrictEqual(faults, [])
    }).pipe(Effect.scoped)
  )
})

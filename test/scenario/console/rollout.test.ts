/** A rollout and a reconcile error of the real program, followed in the console in a browser. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Patch from "../../../src/kube/Patch.ts"
import { Deployment, Pod, ReplicaSet, ResourceQuota } from "../../../src/kube/resources.ts"
import { chromiumPath } from "../../manager/console/page/fakeConsole.ts"
import * as Cluster from "../cluster.ts"
import { agree, missing, opened, view } from "./opened.ts"

if (chromiumPath === undefined) process.stderr.write(`a rollout in the console in a browser ${missing}\n`)

const web = { namespace: "default", name: "web" }

const ofWeb = (text: string) => new RegExp(`Deployment default/web ${text}`)

describe.skipIf(chromiumPath === undefined)("the console in a browser", () => {
  it.live("shows a rollout to its end, in less than a minute after the start of the program", () =>
    Effect.gen(function* () {
      const { client, faults, open } = yield* opened()
      const isReady = ({ metadata, status }: Deployment) => metadata.name === "web" && status?.readyReplicas === 2
      const before = yield* Cluster.until(client, Deployment, { namespace: "default" }, isReady)
      const [old] = (yield* client.list(ReplicaSet, { namespace: "default" })).items
      const page = yield* open
      yield* Effect.promise(async () => {
        await page.keyboard.press("/")
        await page.keyboard.type("deployment default/web")
        await page.getByRole("option", { name: "Deployment default/web", exact: true }).waitFor()
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        await page.locator(".timeline").waitFor()
      })
      const pods = yield* open
      yield* view(pods, "Cluster")

      const [container] = before.spec?.template.spec?.containers ?? []
      const image = { containers: [{ name: container?.name, image: "example.test/web:2" }] }
      yield* client.patch(Deployment, web, Patch.strategic({ spec: { template: { spec: image } } }))

      const timeline = page.locator(".timeline > li")
      const first = timeline.filter({ has: page.getByRole("link", { name: ofWeb("modified: .*spec.template") }) })
      const create = first.locator(".entry.write", { hasText: /create\s*replicasets.apps default\/web-/ })
      yield* Effect.promise(async () => {
        // The change, the reconcile that it caused, and the write of that.
        await timeline
          .filter({ hasText: /^\S+change modified .*spec\.template/ })
          .first()
          .waitFor()
        await create.filter({ hasText: "201" }).waitFor()
      })
      const { metadata: present } = yield* Cluster.until(
        client,
        ReplicaSet,
        { namespace: "default" },
        ({ metadata, status }) => metadata.name !== old?.metadata.name && status?.readyReplicas === 2
      )
      yield* Effect.promise(async () => {
        // The change of the ReplicaSet led to a reconcile that wrote the status, and the status came back as a change.
        await timeline
          .filter({
            has: page.getByRole("link", { name: new RegExp(`ReplicaSet default/${present.name} modified: .*status`) })
          })
          .filter({ hasText: /update\s*this object, status\s*200/ })
          .first()
          .waitFor()
        const relations = page.getByRole("region", { name: "Owners and dependants" })
        await relations
          .filter({ hasText: new RegExp(`ReplicaSet\\s*default/${present.name}\\s*2/2 ready`) })
          .filter({ hasText: new RegExp(`ReplicaSet\\s*default/${old?.metadata.name}\\s*0/0 ready`) })
          .waitFor()
        await pods
          .locator("tbody tr", { hasText: `default/ReplicaSet/${present.name}` })
          .filter({ hasText: "2 of 2" })
          .waitFor()
      })
      const tiles = (owner: string | undefined) =>
        Effect.promise(() =>
          pods
            .locator(`[data-pod][title$=", of ReplicaSet/${owner}"]`)
            .evaluateAll((all: ReadonlyArray<{ title: string }>) => all.map(({ title }) => title).sort())
        )
      yield* agree(
        Effect.gen(function* () {
          const { items } = yield* client.list(Pod, { namespace: "default" })
          const expected = items
            .map(({ metadata }) => `default/${metadata.name}: ready, of ReplicaSet/${present.name}`)
            .sort()
          const [shown, left] = [yield* tiles(present.name), yield* tiles(old?.metadata.name)]
          return JSON.stringify(shown) === JSON.stringify(expected) && left.length === 0
            ? []
            : [`${shown.join()} and ${left.join()}, not ${expected.join()}`]
        })
      )
      assert.deepStrictEqual(faults, [])
    }).pipe(
      Effect.scoped,
      Effect.timeoutOrElse({
        duration: "1 minute",
        orElse: () => Effect.die("a minute after the start the rollout was not shown")
      })
    )
  )

  it.live(
    "shows a key that fails with its last error and its next try, and leads from each retry to the change that began it",
    () =>
      Effect.gen(function* () {
        const { client, faults, open } = yield* opened()
        const isReady = ({ metadata, status }: Deployment) => metadata.name === "web" && status?.readyReplicas === 2
        const ready = yield* Cluster.until(client, Deployment, { namespace: "default" }, isReady)
        yield* client.create(ResourceQuota, {
          metadata: { name: "few-pods", namespace: "default" },
          spec: { hard: { pods: "2" } }
        })
        yield* Cluster.until(
          client,
          ResourceQuota,
          { namespace: "default" },
          ({ status }) => status?.used?.["pods"] === "2"
        )
        const page = yield* open
        const more = ["more-a", "more-b"]
        for (const name of more) {
          const labels = { app: name }
          const spec = {
            ...ready.spec,
            selector: { matchLabels: labels },
            template: { ...ready.spec?.template, metadata: { labels } }
          }
          yield* client.create(Deployment, { metadata: { name, namespace: "default" }, spec })
        }
        yield* view(page, "Queue")
        const row = (name: string) => page.locator("tbody tr", { hasText: `default/${name}-` })
        yield* Effect.promise(async () => {
          for (const name of more) {
            await row(name)
              .filter({ hasText: /failing\s*next try (in|now)/ })
              .filter({ hasText: new RegExp(`pods "${name}-\\S+" is forbidden: exceeded quota: few-pods`) })
              .waitFor()
          }
          await row("more-a").getByRole("link").click()
          const runs = page.locator(".timeline > li").filter({ has: page.locator(".entry.reconcile.bad") })
          await runs.filter({ hasText: "failure 3 in a row" }).waitFor()
          const failed = runs.filter({ hasText: "failure 3 in a row" })
          await failed.locator(".entry.write.bad", { hasText: "403" }).waitFor()
          await failed
            .locator(".entry.event", { hasText: /Warning\s*FailedCreate/ })
            .first()
            .waitFor()
          // From retry to retry, to the first failure and its change.
          await failed.getByRole("link", { name: /^retry 2 after pods/ }).click()
          await page
            .locator(".entry.selected", { hasText: "failure 2 in a row" })
            .getByRole("link", { name: /^retry 1 after pods/ })
            .click()
          await page
            .locator(".entry.selected", { hasText: "failure 1 in a row" })
            .getByRole("link", { name: /^ReplicaSet default\/more-a-\S+ (created|modified)/ })
            .first()
            .click()
          await page.locator(".entry.change.selected").waitFor()
        })
        assert.deepStrictEqual(faults, [])
      }).pipe(Effect.scoped)
  )
})

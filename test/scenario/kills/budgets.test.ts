/**
 * The program is killed with SIGKILL three times while it counts many disruption budgets, and started again, while a client evicts every pod that it may. Of each
 * budget exactly one pod may be evicted, whichever process counted; in the end each status says so.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as Patch from "../../../src/kube/Patch.ts"
import { Pod, PodDisruptionBudget } from "../../../src/kube/resources.ts"
import * as Process from "../../support/process.ts"
import * as Cluster from "../cluster.ts"

const namespace = "default"
const names = Array.from({ length: 40 }, (_, i) => `b-${i}`)

const budget = (name: string) => ({
  metadata: { namespace, name },
  spec: { minAvailable: 2, selector: { matchLabels: { of: name } } }
})

const running = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] }

/** Three pods that are ready. */
const budgetOf = (client: Cluster.Client, of: string) =>
  Effect.forEach(["x", "y", "z"], (letter) => {
    const name = `${of}-${letter}`
    const spec = { terminationGracePeriodSeconds: 0, containers: [{ name: "main", image: "web:1" }] }
    return Effect.andThen(
      client.create(Pod, { metadata: { namespace, name, labels: { of } }, spec }),
      client.patch(Pod, { namespace, name, subresource: "status" }, Patch.merge({ status: running }))
    )
  })

const counted = ({ status }: PodDisruptionBudget): string =>
  [status?.currentHealthy, status?.desiredHealthy, status?.expectedPods, status?.disruptionsAllowed].join()

describe("forty budgets of three pods each, of which two must be available", () => {
  it.live("allow one eviction each and no more, although the program is killed while it counts them", () =>
    Effect.gen(function* () {
      const kubeconfig = yield* Cluster.apiserver
      const client = yield* Cluster.clientOf(kubeconfig)
      yield* Effect.forEach(names, (name) => budgetOf(client, name), { concurrency: 8 })
      const gone = new Map<string, number>()
      const evict = (name: string) => {
        const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`
        const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } }
        return client.raw({ method: "POST", path, body, context: { verb: "create", path } })
      }
      /** As soon as a budget allows something, all its pods are evicted. */
      yield* client.watch(PodDisruptionBudget, { namespace, timeoutSeconds: 300 }).pipe(
        Stream.runForEach(({ object }) => {
          const { metadata, status } = object as PodDisruptionBudget
          if ((status?.disruptionsAllowed ?? 0) === 0) return Effect.void
          const all = ["x", "y", "z"].map((letter) =>
            Effect.tap(evict(`${metadata.name}-${letter}`), () =>
              Effect.sync(() => gone.set(metadata.name, (gone.get(metadata.name) ?? 0) + 1))
            ).pipe(Effect.ignore)
          )
          return Effect.forkScoped(Effect.all(all, { concurrency: "unbounded" }))
        }),
        Effect.forkScoped
      )
      const args = ["--kubeconfig", kubeconfig, "--controllers=disruption", "--leader-elect=false"]
      const asked = { schedule: Schedule.spaced("20 millis"), times: 3000 }
      const reached = (total: number) =>
        Effect.retry(
          Effect.suspend(() => (gone.size >= total ? Effect.void : Effect.fail("not yet" as const))),
          asked
        )
      for (const [round, total] of [4, 12, 24].entries()) {
        const loop = yield* Process.start(args)
        const some = names.slice(round * 13, round * 13 + 13)
        yield* Effect.forkScoped(Effect.forEach(some, (name) => client.create(PodDisruptionBudget, budget(name))))
        yield* reached(total)
        yield* loop.kill("SIGKILL")
        yield* loop.exit
      }
      yield* client.create(PodDisruptionBudget, budget("b-39"))
      yield* Process.start(args)
      yield* reached(names.length)
      const isTold = Effect.flatMap(client.list(PodDisruptionBudget, { namespace }), ({ items }) =>
        items.every((one) => counted(one) === "2,2,2,0") ? Effect.void : Effect.fail("not yet" as const)
      )
      yield* Effect.retry(isTold, asked)
      assert.deepStrictEqual(
        [...gone].filter(([, times]) => times !== 1),
        []
      )
      assert.lengthOf((yield* client.list(Pod, { namespace })).items, 2 * names.length)
    }).pipe(Effect.scoped)
  )
})

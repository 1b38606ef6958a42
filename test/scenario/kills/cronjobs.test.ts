/**
 * The program is killed with SIGKILL three times while it creates the first runs of many CronJobs, and started again. No CronJob may have two runs, because they may
 * not overlap and none ends; in the end each has its one run and its status says so.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as Deferred from "effect/Deferred"
import { CronJob, Job } from "../../../src/kube/resources.ts"
import * as Cluster from "../cluster.ts"
import * as Process from "../../support/process.ts"

const namespace = "default"
const count = 40

const cronJob = (name: string) => ({
  metadata: { namespace, name },
  spec: {
    schedule: "@every 1s",
    concurrencyPolicy: "Forbid",
    jobTemplate: {
      spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "work:1" }] } } }
    }
  }
})

const owner = ({ metadata }: Job): string => metadata.ownerReferences?.[0]?.name ?? ""

describe("forty CronJobs whose runs may not overlap", () => {
  it.live("have one run each, although the program is killed while it creates them", () =>
    Effect.gen(function* () {
      const kubeconfig = yield* Cluster.apiserver
      const client = yield* Cluster.clientOf(kubeconfig)
      const made = new Map<string, number>()
      const gates = new Map<number, Deferred.Deferred<void>>()
      const reached = (total: number) =>
        Effect.suspend(() => {
          const gate = Deferred.makeUnsafe<void>()
          gates.set(total, gate)
          return made.size >= total ? Effect.void : Deferred.await(gate)
        })
      yield* client.watch(Job, { namespace }).pipe(
        Stream.runForEach(({ object, type }) =>
          Effect.sync(() => {
            if (type !== "ADDED") return
            const name = owner(object as Job)
            made.set(name, (made.get(name) ?? 0) + 1)
            for (const [total, gate] of gates) if (made.size >= total) Deferred.doneUnsafe(gate, Effect.void)
          })
        ),
        Effect.forkScoped
      )
      const args = ["--controllers=cronjob", "--leader-elect=false", "--concurrent-cron-job-syncs=10"]
      const start = Process.start(["--kubeconfig", kubeconfig, ...args])
      for (let i = 0; i < count; i++) yield* client.create(CronJob, cronJob(`tick-${i}`))
      for (const total of [5, 15, 30]) {
        const running = yield* start
        yield* reached(total)
        yield* running.kill("SIGKILL")
        yield* running.exit
      }
      yield* start
      yield* reached(count)
      const isTold = Effect.flatMap(client.list(CronJob, { namespace }), ({ items }) =>
        items.every(({ status }) => status?.active?.length === 1) ? Effect.void : Effect.fail("not yet")
      )
      yield* Effect.retry(isTold, { schedule: Schedule.spaced("100 millis"), times: 300 })
      assert.deepStrictEqual(
        [...made].filter(([, times]) => times !== 1),
        []
      )
      assert.lengthOf([...made], count)
    }).pipe(Effect.scoped)
  )
})

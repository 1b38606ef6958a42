/**
 * A Job with an unknown completion mode, as a newer server might store it: an event is recorded and nothing else done. Source: pkg/controller/job:
 * syncJob.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as JobLoop from "../../../src/controllers/Job.ts"
import * as Indexes from "../../../src/controllers/shared/workload/indexes.ts"
import type { Job, Pod } from "../../../src/kube/resources.ts"
import * as Store from "../../../src/streams/store/Store.ts"

const job = (completionMode: string): Job => ({
  metadata: { name: "work", namespace: "ns", uid: "u", resourceVersion: "1" },
  spec: {
    completionMode,
    selector: { matchLabels: { job: "work" } },
    template: { metadata: { labels: { job: "work" } }, spec: { restartPolicy: "Never", containers: [{ name: "a" }] } }
  }
})

/** The calls and events of one sync. */
const callsOf = Effect.fnUntraced(function* (completionMode: string) {
  const calls: Array<string> = []
  const jobs = Store.make<Job>()
  const pods = Store.make<Pod>()
  for (const index of [Indexes.byController, Indexes.orphans]) pods.addIndex(index.name, index.of)
  for (const store of [jobs, pods]) store.apply({ _tag: "Restarted" })
  jobs.apply({ _tag: "Listed", objects: [job(completionMode)] })
  for (const store of [jobs, pods]) store.apply({ _tag: "Synced", resourceVersion: "1" })
  const call = (name: string) => Effect.sync(() => calls.push(name))
  const loop = JobLoop.loopOf({
    jobs,
    pods,
    live: (one) => Effect.as(call("live"), one),
    livePods: () => Effect.as(call("live pods"), []),
    updateStatus: (one) => Effect.as(call("status"), one),
    create: (pod) => Effect.as(call("create"), { ...pod, metadata: { ...pod.metadata, name: "work-1" } } as Pod),
    remove: () => call("remove"),
    patch: (pod) => Effect.as(call("patch"), pod),
    events: {
      event: () => Effect.void,
      normal: () => Effect.void,
      warning: (_, reason, message) => Effect.asVoid(call(`${reason} ${message}`))
    },
    queue: { addWithUnsafe: () => void calls.push("requeue") }
  })
  yield* loop.reconcile({ key: "ns/work" })
  return calls
})

it.effect("a Job with an unknown completion mode gets an event, and nothing else is done", () =>
  Effect.gen(function* () {
    const event = "UnknownCompletionMode Skipped Job sync because completion mode is unknown"
    assert.deepStrictEqual(yield* callsOf("Twice"), [event])
    // The same Job with a known mode is synced.
    assert.include(yield* callsOf("NonIndexed"), "create")
  })
)

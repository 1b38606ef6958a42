/** Jobs from a user's view: run to completion, suspended, by index, failed, kept for a while, and deleted with or without their pods. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Kubectl from "../../clients/kubectl.ts"
import { shows, type Scenario } from "./harness.ts"

const job = (name: string, script: string, spec: object = {}) => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name },
  spec: {
    ...spec,
    template: {
      spec: {
        restartPolicy: "Never",
        terminationGracePeriodSeconds: 0,
        containers: [{ name: "main", image: "example.test/work:1", command: ["sh", "-c", script] }]
      }
    }
  }
})

const runs: Scenario = Effect.fnUntraced(function* (kubectl, server) {
  const { json, ok } = kubectl
  assert.strictEqual(yield* ok("create job once --image=example.test/work:1 -- sh -c true"), "job.batch/once created\n")
  yield* ok("wait --for=condition=complete job/once --timeout=120s")
  const [row] = Kubectl.table(yield* ok("get job once"))
  assert.include(row, { NAME: "once", COMPLETIONS: "1/1" })
  const pod = (yield* ok("get pods -l job-name=once -o name")).trim().replace("pod/", "")
  yield* shows(
    kubectl,
    "describe job once",
    /Pods Statuses: +0 Active.* \/ 1 Succeeded \/ 0 Failed/,
    new RegExp(`Normal +SuccessfulCreate +\\S+ +job-controller +Created pod: ${pod}\n`),
    /Normal +Completed +\S+ +job-controller +Job completed\n/
  )
  assert.notNestedProperty(yield* json(`pod ${pod}`), "metadata.finalizers")
  if (server === "present") {
    assert.include(row, { STATUS: "Complete" })
    // The command writes nothing.
    assert.strictEqual(yield* ok("logs job/once"), "")
  }
  yield* ok("delete job once")
  yield* ok("wait pods -l job-name=once --for=delete --timeout=120s")
})

const fails: Scenario = Effect.fnUntraced(function* (kubectl) {
  const { ok, send } = kubectl
  yield* send("create", job("bad", "exit 3", { backoffLimit: 0 }))
  yield* ok("wait --for=condition=failed job/bad --timeout=120s")
  yield* shows(
    kubectl,
    "describe job bad",
    /0 Succeeded \/ 1 Failed/,
    /Warning +BackoffLimitExceeded +\S+ +job-controller +Job has reached the specified backoff limit\n/
  )
})

/** A pod carries its completion index; the status lists succeeded indexes as ranges. */
const indexed: Scenario = Effect.fnUntraced(function* ({ ok, send }) {
  yield* send("create", job("parts", "exit 0", { completions: 5, parallelism: 2, completionMode: "Indexed" }))
  yield* ok("wait --for=condition=complete job/parts --timeout=120s")
  assert.strictEqual(yield* ok("get job parts -o jsonpath={.status.completedIndexes}"), "0-4")
  const column = "custom-columns=I:.metadata.labels.batch\\.kubernetes\\.io/job-completion-index"
  const indexes = yield* ok(`get pods -l job-name=parts --no-headers -o ${column}`)
  assert.sameMembers(indexes.trim().split("\n"), ["0", "1", "2", "3", "4"])
  assert.match(yield* ok("describe job parts"), /Completed Indexes: +0-4\n/)
})

const waits: Scenario = Effect.fnUntraced(function* (kubectl) {
  const { ok, run, send } = kubectl
  yield* send("create", job("later", "sleep 600", { parallelism: 2, completions: 2 }))
  yield* ok("wait job/later --for=jsonpath={.status.ready}=2 --timeout=120s")
  yield* ok(["patch", "job", "later", "-p", '{"spec":{"suspend":true}}'])
  yield* ok("wait job/later --for=condition=Suspended --timeout=120s")
  yield* ok("wait pods -l job-name=later --for=delete --timeout=120s")
  const [row] = Kubectl.table(yield* ok("get job later"))
  assert.include(row, { STATUS: "Suspended", COMPLETIONS: "0/2" })
  const active = yield* run("get job later -o jsonpath={.status.active},{.status.startTime}")
  assert.strictEqual(active.stdout, ",")
  yield* ok(["patch", "job", "later", "-p", '{"spec":{"suspend":false}}'])
  yield* ok("wait job/later --for=condition=Suspended=False --timeout=120s")
  yield* ok("wait job/later --for=jsonpath={.status.ready}=2 --timeout=120s")
  yield* ok("annotate pods -l job-name=later simulation/exit=main=0")
  yield* ok("wait job/later --for=condition=complete --timeout=120s")
  yield* shows(
    kubectl,
    "describe job later",
    /Normal +Suspended +\S+ +job-controller +Job suspended\n/,
    /Normal +Resumed +\S+ +job-controller +Job resumed\n/
  )
})

const isKeptForAWhile: Scenario = Effect.fnUntraced(function* ({ ok, send }) {
  yield* send("create", job("brief", "exit 0", { ttlSecondsAfterFinished: 1 }))
  yield* ok("wait job/brief --for=delete --timeout=120s")
  yield* ok("wait pods -l job-name=brief --for=delete --timeout=120s")
})

/** The pods of a deleted Job are not counted any more, so no finalizer holds them. */
const leavesItsPods: Scenario = Effect.fnUntraced(function* ({ ok, send }) {
  yield* send("create", job("gone", "sleep 600"))
  yield* ok("wait job/gone --for=jsonpath={.status.active}=1 --timeout=120s")
  yield* ok("delete job gone --cascade=orphan")
  const pod = (yield* ok("get pods -l job-name=gone -o name")).trim()
  yield* ok(`wait ${pod} --for=jsonpath={.status.phase}=Running --timeout=120s`)
  yield* ok(`delete ${pod} --timeout=120s`)
})

export const jobs: Scenario = Effect.fnUntraced(function* (kubectl, server) {
  const all = [runs, fails, leavesItsPods, ...(server === "present" ? [indexed, waits, isKeptForAWhile] : [])]
  yield* Effect.forEach(all, (one) => one(kubectl, server), { concurrency: "unbounded", discard: true })
})

/** The state that a page shows of a controller, from the states of the manager, its loop, its informers and its election. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import { ConfigMap, Pod } from "../../../src/kube/resources.ts"
import * as Controllers from "../../../src/manager/debug/controllers.ts"
import type { State } from "../../../src/manager/runnables/states.ts"
import type { LoopSnapshot } from "../../../src/streams/reconcile/loopSnapshot.ts"

const snapshot: LoopSnapshot = { isRunning: false, workers: 0, active: 0, running: [], failure: undefined, queues: [] }

const informer = (resource: string, synced: boolean) => ({ resource, synced }) as Controllers.Seen["informers"][number]

const seen = (over: Partial<Controllers.Seen>): Controllers.Seen => ({
  controller: { name: "worker", reads: [ConfigMap, Pod], needsLeader: true },
  snapshot,
  state: undefined,
  awaited: undefined,
  after: undefined,
  informers: [informer("configmaps", true), informer("pods", true)],
  ...over
})

const says = (over: Partial<Controllers.Seen>): string => {
  const { reason, state } = Controllers.standing(seen(over))
  return reason === undefined ? state : `${state} ${reason}`
}

const running = { snapshot: { ...snapshot, isRunning: true } }
const awaited = { lease: "kube-system/x", leader: undefined }
const unsynced = { informers: [informer("configmaps", false), informer("pods", false)] }
const of = (state: State): Partial<Controllers.Seen> => ({ state })

describe("how a controller stands", () => {
  for (const [expected, over] of [
    ["started", running],
    ["started", { ...running, ...of({ _tag: "Started" }) }],
    ["started its runs are let finish", { ...running, ...of({ _tag: "Stopping" }) }],
    ["failed it broke", { ...running, ...of({ _tag: "Failed", message: "it\nbroke" }) }],
    ["skipped the server does not serve a, b", of({ _tag: "Skipped", missing: ["a", "b"] })],
    ["waiting for the server to serve a", of({ _tag: "Waiting", missing: ["a"] })],
    ["waiting for lease kube-system/x, held by nobody", { awaited }],
    ["waiting for lease kube-system/x, held by nobody", { awaited, ...unsynced, ...of({ _tag: "Standby" }) }],
    ["waiting for lease kube-system/x, held by me", { awaited: { ...awaited, leader: "me" } }],
    ["waiting for the first sync of configmaps, pods", unsynced],
    ["waiting for the first sync of configmaps, pods", { ...unsynced, ...of({ _tag: "Started" }) }],
    ["waiting for its workers to begin", of({ _tag: "Started" })],
    ["waiting for its turn to start", of({ _tag: "Standby" })],
    ["waiting for its turn to start", {}],
    ["waiting for its turn to start, after another", { after: "another", ...of({ _tag: "Standby" }) }],
    ["waiting for its workers to begin", { after: "another", ...of({ _tag: "Started" }) }]
  ] as const) {
    it(`is: ${expected}`, () => assert.strictEqual(says(over), expected))
  }

  it("the row has the last failure with its kind and message", () => {
    const failure = { key: "a/b", at: 0, cause: Cause.die(new Error("oops")) }
    const last = (why: "error" | "terminal" | "panics" | "timeouts") =>
      Controllers.row(seen({ snapshot: { ...snapshot, failure: { ...failure, why } } })).lastError
    assert.deepStrictEqual(last("panics"), {
      message: "oops",
      kind: "defect",
      key: "a/b",
      at: "1970-01-01T00:00:00.000Z"
    })
    assert.strictEqual(last("timeouts")?.message, "it took longer than it may and was interrupted")
    const long = { ...failure, why: "error" as const, cause: Cause.fail(new Error("x".repeat(10_000))) }
    const { lastError } = Controllers.row(seen({ snapshot: { ...snapshot, failure: long } }))
    assert.isBelow(lastError?.message.length ?? 0, 2100)
    const message = "denied for Bearer kU9x3jd8fjs93, of core.PodSpec{Env: s3cret}"
    const quoting = { ...failure, why: "error" as const, cause: Cause.fail(new Error(message)) }
    const shown = Controllers.row(seen({ snapshot: { ...snapshot, failure: quoting } })).lastError?.message ?? ""
    assert.notMatch(shown, /kU9x|s3cret/)
    assert.match(shown, /^denied for Bearer/)
  })
})

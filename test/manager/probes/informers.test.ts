import { assert, describe, it } from "@effect/vitest"
import { dead, deadAfter, late, unsynced } from "../../../src/manager/probes/informers.ts"
import { informerStatus } from "../../support/informerStatus.ts"

const failure = {
  message: "list pods: forbidden",
  verb: "list",
  reason: "Forbidden",
  status: 403,
  at: 1000,
  retryIn: 500
} as const

describe("what the probes say of informers", () => {
  it("is ready if all informers with subscribers have synced", () => {
    assert.isUndefined(unsynced([], 0))
    assert.isUndefined(unsynced([informerStatus({}), informerStatus({ synced: false, subscribers: 0 })], 0))
  })

  it("names the kinds that have not synced, each with its last error", () => {
    assert.strictEqual(
      unsynced(
        [
          informerStatus({ synced: false, attempts: 3, lastError: failure }),
          informerStatus({}),
          informerStatus({ resource: "deployments.apps", synced: false, selection: { namespace: "a" } })
        ],
        0
      ),
      "pods not synced, failed 3 times in a row: list pods: forbidden; deployments.apps in namespace a not synced yet"
    )
  })

  it("names the kinds whose stores are stale while the server keeps failing", () => {
    const behind = [
      informerStatus({}),
      informerStatus({ attempts: 3, lastError: { ...failure, at: 1000, retryIn: 500 } })
    ]
    assert.strictEqual(unsynced(behind, 1001), "pods not up to date, failed 3 times in a row: list pods: forbidden")
    // The next attempt may take up to 15 s to fail. If it has not failed by then, the watch is open, with or without events.
    assert.isDefined(unsynced(behind, 1000 + 500 + 14_999))
    assert.isUndefined(unsynced(behind, 1000 + 500 + 15_000))
    assert.isUndefined(unsynced([informerStatus({ attempts: 2, lastError: failure })], 1001), "twice is no news")
    assert.isUndefined(unsynced([informerStatus({ attempts: 0, lastError: failure })], 1001), "it works again")
    assert.isUndefined(unsynced([informerStatus({ attempts: 3, lastError: failure, subscribers: 0 })], 1001))
  })

  it("lists exactly the kinds that have not synced in time, with any error", () => {
    const told = late(60_000)
    const failing = { ...failure, at: 59_000, retryIn: 30_000 }
    const informers = [
      informerStatus({ resource: "pods", synced: false, startedAt: 1000, attempts: 7, lastError: failing }),
      informerStatus({ resource: "nodes", synced: false, startedAt: 1000 }),
      informerStatus({
        resource: "leases",
        synced: false,
        startedAt: 1000,
        selection: { namespace: "a" },
        lastError: failing
      }),
      informerStatus({ resource: "secrets", synced: false, startedAt: 1001 }),
      informerStatus({ resource: "services", synced: false, startedAt: 1000, subscribers: 0 }),
      informerStatus({ resource: "configmaps", startedAt: 1000 })
    ]
    assert.isUndefined(told(informers, 60_999))
    assert.strictEqual(
      told(informers, 61_000),
      "after 1m: pods not synced, failed 7 times in a row: list pods: forbidden; nodes not synced yet; leases in namespace a not synced: list pods: forbidden"
    )
  })

  it("is alive after a recent event or try, whatever the server returns", () => {
    const now = 5_000_000
    const old = now - deadAfter - 1
    assert.isUndefined(dead([informerStatus({ lastEventAt: now }), informerStatus({})], now))
    assert.isUndefined(dead([informerStatus({ lastEventAt: old, lastError: { ...failure, at: now - 1 } })], now))
    assert.isUndefined(
      dead([informerStatus({ lastEventAt: old, lastError: { ...failure, at: old, retryIn: 2 } })], now)
    )
    assert.isUndefined(dead([informerStatus({ lastEventAt: old, subscribers: 0 })], now))
    assert.strictEqual(
      dead([informerStatus({ lastEventAt: old })], now),
      "pods: no event and no try for more than 10 minutes"
    )
    assert.isDefined(dead([informerStatus({ lastEventAt: old, lastError: { ...failure, at: 0 } })], now))
  })
})

import { assert, describe, it } from "@effect/vitest"
import type { InformerStatus } from "../../../src/layers/Cache.ts"
import { dead, deadAfter, late, unsynced } from "../../../src/manager/probes/informers.ts"

const informer = (over: Partial<InformerStatus>): InformerStatus => ({
  resource: "pods",
  id: "v1/pods",
  selection: {},
  synced: true,
  objects: 0,
  bytesUnsafe: () => 0,
  resourceVersion: undefined,
  startedAt: 0,
  attempts: 0,
  lastError: undefined,
  lastEventAt: undefined,
  defects: 0,
  listenerErrors: 0,
  lastListenerError: undefined,
  subscribers: 1,
  ...over
})

const failure = {
  message: "list pods: forbidden",
  verb: "list",
  reason: "Forbidden",
  status: 403,
  at: 1000,
  retryIn: 500
} as const

describe("what the probes say of informers", () => {
  it("ready means synced, of those that anybody uses", () => {
    assert.isUndefined(unsynced([], 0))
    assert.isUndefined(unsynced([informer({}), informer({ synced: false, subscribers: 0 })], 0))
  })

  it("names the kinds that have not synced, each with its last error", () => {
    assert.strictEqual(
      unsynced(
        [
          informer({ synced: false, attempts: 3, lastError: failure }),
          informer({}),
          informer({ resource: "deployments.apps", synced: false, selection: { namespace: "a" } })
        ],
        0
      ),
      "pods not synced, failed 3 times in a row: list pods: forbidden; deployments.apps in namespace a not synced yet"
    )
  })

  it("names the kinds that it shows as they were, while the server goes on failing", () => {
    const behind = [informer({}), informer({ attempts: 3, lastError: { ...failure, at: 1000, retryIn: 500 } })]
    assert.strictEqual(unsynced(behind, 1001), "pods not up to date, failed 3 times in a row: list pods: forbidden")
    // The next try may take its time to fail; when it has not, the watch is open, whether or not anything happens.
    assert.isDefined(unsynced(behind, 1000 + 500 + 14_999))
    assert.isUndefined(unsynced(behind, 1000 + 500 + 15_000))
    assert.isUndefined(unsynced([informer({ attempts: 2, lastError: failure })], 1001), "twice is no news")
    assert.isUndefined(unsynced([informer({ attempts: 0, lastError: failure })], 1001), "it works again")
    assert.isUndefined(unsynced([informer({ attempts: 3, lastError: failure, subscribers: 0 })], 1001))
  })

  it("lists the kinds that have not synced in time, whatever the error, and no others", () => {
    const told = late(60_000)
    const failing = { ...failure, at: 59_000, retryIn: 30_000 }
    const informers = [
      informer({ resource: "pods", synced: false, startedAt: 1000, attempts: 7, lastError: failing }),
      informer({ resource: "nodes", synced: false, startedAt: 1000 }),
      informer({
        resource: "leases",
        synced: false,
        startedAt: 1000,
        selection: { namespace: "a" },
        lastError: failing
      }),
      informer({ resource: "secrets", synced: false, startedAt: 1001 }),
      informer({ resource: "services", synced: false, startedAt: 1000, subscribers: 0 }),
      informer({ resource: "configmaps", startedAt: 1000 })
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
    assert.isUndefined(dead([informer({ lastEventAt: now }), informer({})], now))
    assert.isUndefined(dead([informer({ lastEventAt: old, lastError: { ...failure, at: now - 1 } })], now))
    assert.isUndefined(dead([informer({ lastEventAt: old, lastError: { ...failure, at: old, retryIn: 2 } })], now))
    assert.isUndefined(dead([informer({ lastEventAt: old, subscribers: 0 })], now))
    assert.strictEqual(
      dead([informer({ lastEventAt: old })], now),
      "pods: no event and no try for more than 10 minutes"
    )
    assert.isDefined(dead([informer({ lastEventAt: old, lastError: { ...failure, at: 0 } })], now))
  })
})

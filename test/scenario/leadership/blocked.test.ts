/**
 * A reconcile that blocks the event loop for longer than the lease lasts: liveness fails, the lease is lost although the thread could renew it, another
 * replica leads, and the writes of the blocked one are refused.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { full } from "../../support/runs.ts"
import * as Audit from "./audit.ts"
import * as Load from "./load.ts"
import * as Servers from "./servers.ts"
import * as Harness from "./harness.ts"

/** Milliseconds. Liveness detects that the event loop is blocked for more than ten seconds. */
const busy = full ? 30_000 : 12_000

/** The environment of a process that computes for this long when it is about to create a pod of the set `endless-…`. */
const endless = {
  NODE_OPTIONS: `--import=${new URL("endless.mjs", import.meta.url).href}`,
  BUSY: String(busy)
}

/** The status of the response; undefined when there is none within a second, as for a kubelet. */
const probe = (port: string, path: string) =>
  Effect.promise(() =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { connection: "close" },
      signal: AbortSignal.timeout(1000)
    }).then(
      ({ status }) => status,
      () => undefined
    )
  )

describe("a reconcile that blocks the event loop", () => {
  it.live(
    "ends liveness and the lease of its process, and there are never two leaders",
    () =>
      Effect.gen(function* () {
        const harness = yield* Harness.make(yield* Servers.embedded)
        const env = { ...endless, CM_HEALTH_PROBE_BIND_ADDRESS: "127.0.0.1:0" }
        const first = yield* harness.start({ env, more: ["--leader-elect-on-lost=rejoin"] })
        const [, port = ""] = yield* first.says(/Serving probes"[^\n]*port"?[=:](\d+)/)
        yield* Harness.latest(harness, 0)
        const second = yield* harness.start()
        assert.strictEqual(yield* probe(port, "/healthz"), 200)
        const model: Load.Model = new Map([
          ["other", 3],
          ["endless", 2]
        ])
        for (const [name, replicas] of model) yield* Load.deployment(harness.client, name, replicas)
        yield* first.says(/busy/)
        const began = Date.now()
        assert.isUndefined(yield* probe(port, "/healthz"))
        const { takeover, user } = yield* Harness.latest(harness, began)
        assert.strictEqual(user, second.user)
        assert.notMatch(first.said(), /free again/)
        // The thread alone renewed it, for one renew deadline.
        const { renew } = harness.times
        assert.isBelow(takeover.completed - began, renew + Harness.bound(harness.times) + Harness.allowance)
        Harness.report("event loop blocked, until another one leads", [takeover.completed - began])
        yield* first.says(/free again[^]*contending again/)
        assert.strictEqual(yield* probe(port, "/healthz"), 500)
        yield* Load.settled(harness.client, model)
        assert.deepStrictEqual(Audit.late(harness.writes(), Harness.lease), [])
      }).pipe(Effect.scoped),
    300_000
  )
})

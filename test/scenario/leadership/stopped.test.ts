/**
 * A leader whose process is stopped during its work for longer than its lease lasts, and then continues: its next writes are refused before they leave the
 * process, until it leads again. `audit.test.ts` shows that the check of the audit log finds a late write.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as envtest from "../../support/envtest.ts"
import { full } from "../../support/runs.ts"
import * as Audit from "./audit.ts"
import * as Load from "./load.ts"
import * as Servers from "./servers.ts"
import * as Harness from "./harness.ts"

/** Milliseconds: longer than the lease and the time until another replica takes it. */
const stop = full ? 20_000 : Harness.bound(Harness.times) + 500

/** Replicas of each of five sets. */
const pods = 80

/**
 * Stops a leader that has to create hundreds of pods and may create twenty in a second. The next ones wait in the rate limiter, which releases them when
 * the process continues, before anything shows it that its term is over.
 */
const stopped = Effect.fnUntraced(function* <E>(server: Effect.Effect<Servers.Server, E, Scope.Scope>) {
  const harness = yield* Harness.make(yield* server)
  const more = ["--leader-elect-on-lost=rejoin"]
  const paced = ["--kube-api-qps=20", "--kube-api-burst=20"]
  const first = yield* harness.start({ more: [...more, ...paced] })
  const { takeover } = yield* Harness.latest(harness, 0)
  const second = yield* harness.start({ more })
  const model: Load.Model = new Map()
  for (let number = 0; number < 5; number++) {
    model.set(`many-${number}`, pods)
    yield* Load.deployment(harness.client, `many-${number}`, pods)
  }
  const work = () =>
    Audit.workOf(harness.writes(), Harness.lease, { user: first.user, moment: takeover.completed }).length
  yield* Harness.until(Effect.sync(() => (work() > 40 ? true : undefined)))
  const began = Date.now()
  yield* first.kill("SIGSTOP")
  const next = yield* Harness.latest(harness, began)
  assert.strictEqual(next.user, second.user)
  assert.isBelow(next.takeover.completed - began, Harness.bound(harness.times) + Harness.allowance)
  yield* Effect.sleep(Math.max(0, began + stop - Date.now()))
  const resumed = Date.now()
  yield* first.kill("SIGCONT")
  yield* first.says(/contending again/)
  // It leads again, and finishes the rest.
  yield* second.kill("SIGTERM")
  yield* second.exit
  assert.strictEqual((yield* Harness.latest(harness, resumed)).user, first.user)
  yield* Load.settled(harness.client, model)
  return Audit.late(harness.writes(), Harness.lease)
})

const limit = 300_000

const isMissing = envtest.isMissing("leaders stopped on a real API server")

describe.concurrent("a leader that is stopped for longer than its lease, and continues", () => {
  /** One request can be between its last check and the wire when the process stops: it was already in flight. */
  const nothing = (late: ReadonlyArray<Audit.Write>) => assert.isAtMost(late.length, 1, JSON.stringify(late))

  it.live(
    "writes nothing until it leads again",
    () => Effect.scoped(Effect.map(stopped(Servers.embedded), nothing)),
    limit
  )

  it.live.skipIf(isMissing)(
    "writes nothing until it leads again, on a real API server",
    () => Effect.scoped(Effect.map(stopped(Servers.real()), nothing)),
    limit
  )
})

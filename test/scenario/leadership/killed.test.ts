/**
 * Three replicas under load, and the leader is killed with SIGKILL at random times, several times: another one leads in time, no write of the killed one
 * is accepted in the new term, and no key is lost. `SOAK=1` does it thirty times with the program's default times, and for comparison also
 * asks leaders to stop, which then release the lease.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as envtest from "../../support/envtest.ts"
import { full } from "../../support/runs.ts"
import * as Audit from "./audit.ts"
import * as Load from "./load.ts"
import * as Servers from "./servers.ts"
import * as Harness from "./harness.ts"

const rounds = full ? 30 : 3

interface Fault {
  readonly signal: "SIGKILL" | "SIGTERM"
  readonly server: string
  /** The maximum of milliseconds from the signal until another replica leads. */
  readonly bound: number
}

const again = Effect.fnUntraced(function* (server: Servers.Server, fault: Fault) {
  const harness = yield* Harness.make(server)
  // On a busy machine leaders may lose their lease by themselves; they must not end then.
  const start = harness.start({ more: ["--leader-elect-on-lost=rejoin"] })
  yield* Effect.all([start, start, start], { concurrency: "unbounded" })
  const model: Load.Model = new Map()
  const loading = yield* Effect.forkScoped(Load.changes(harness.client, model, 100))
  const [took, worked]: [Array<number>, Array<number>] = [[], []]
  for (let round = 0; round < rounds; round++) {
    yield* Harness.worked(harness, yield* Harness.latest(harness, 0))
    yield* Effect.sleep(yield* Random.nextIntBetween(0, harness.times.retry * 2))
    const { leader } = yield* Harness.latest(harness, 0)
    const signalled = Date.now()
    yield* leader.kill(fault.signal)
    const next = yield* Harness.latest(harness, signalled)
    // A leader that was asked to stop leads until its last write to the lease.
    const from = fault.signal === "SIGTERM" ? (next.before?.completed ?? signalled) : signalled
    took.push(next.takeover.completed - from)
    worked.push((yield* Harness.worked(harness, next)).completed - from)
    // Another replica starts, as a Deployment would start it.
    yield* start
  }
  yield* Fiber.interrupt(loading)
  yield* Load.settled(harness.client, model)
  Harness.report(`${fault.signal}, ${fault.server}, until another one leads`, took)
  Harness.report(`${fault.signal}, ${fault.server}, until it has written`, worked)
  assert.deepStrictEqual(Audit.late(harness.writes(), Harness.lease), [])
  for (const one of took) assert.isBelow(one, fault.bound + Harness.allowance)
})

const { retry } = Harness.times
const bounds = [
  { signal: "SIGKILL", bound: Harness.bound(Harness.times) },
  { signal: "SIGTERM", bound: 2.2 * retry }
] as const
const limit = full ? 1_800_000 : 300_000
const isMissing = envtest.isMissing("leaders that die on a real API server")

describe.concurrent.each(bounds.slice(0, full ? 2 : 1))("leaders under load that get $signal", (bound) => {
  it.live(
    "on the embedded server",
    () => Effect.scoped(Effect.flatMap(Servers.embedded, (server) => again(server, { ...bound, server: "embedded" }))),
    limit
  )

  it.live.skipIf(isMissing)(
    "on a real API server",
    () =>
      Effect.scoped(Effect.flatMap(Servers.real(), (server) => again(server, { ...bound, server: "kube-apiserver" }))),
    limit
  )
})

/**
 * Three replicas under load, and the leader killed without a word at random moments, again and again: another one leads in time, nothing
 * of the one before is accepted in its term, and no key is lost. `SOAK=1` does it thirty times with the program's own times, and
 * for comparison asks leaders to stop, who give the lease back.
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
import * as Stage from "./stage.ts"

const rounds = full ? 30 : 3

interface Fault {
  readonly signal: "SIGKILL" | "SIGTERM"
  readonly server: string
  /** Milliseconds from the signal until another one leads, at most. */
  readonly bound: number
}

const again = Effect.fnUntraced(function* (server: Servers.Server, fault: Fault) {
  const stage = yield* Stage.make(server)
  // On a machine that is too busy for them, leaders may lose their lease by themselves: they are to stay.
  const start = stage.start({ more: ["--leader-elect-on-lost=rejoin"] })
  yield* Effect.all([start, start, start], { concurrency: "unbounded" })
  const model: Load.Model = new Map()
  const loading = yield* Effect.forkScoped(Load.changes(stage.client, model, 100))
  const [took, worked]: [Array<number>, Array<number>] = [[], []]
  for (let round = 0; round < rounds; round++) {
    yield* Stage.worked(stage, yield* Stage.latest(stage, 0))
    yield* Effect.sleep(yield* Random.nextIntBetween(0, stage.times.retry * 2))
    const { leader } = yield* Stage.latest(stage, 0)
    const signalled = Date.now()
    yield* leader.kill(fault.signal)
    const next = yield* Stage.latest(stage, signalled)
    // One that was asked to stop leads until it has: from the last that it did with the lease.
    const from = fault.signal === "SIGTERM" ? (next.before?.completed ?? signalled) : signalled
    took.push(next.takeover.completed - from)
    worked.push((yield* Stage.worked(stage, next)).completed - from)
    // Somebody takes its place, as a Deployment would see to.
    yield* start
  }
  yield* Fiber.interrupt(loading)
  yield* Load.settled(stage.client, model)
  Stage.report(`${fault.signal}, ${fault.server}, until another one leads`, took)
  Stage.report(`${fault.signal}, ${fault.server}, until it has written`, worked)
  assert.deepStrictEqual(Audit.late(stage.writes(), Stage.lease), [])
  for (const one of took) assert.isBelow(one, fault.bound + Stage.allowance)
})

const { retry } = Stage.times
const bounds = [
  { signal: "SIGKILL", bound: Stage.bound(Stage.times) },
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

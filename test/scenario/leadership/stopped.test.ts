/**
 * A leader whose process is stopped in the middle of its work for longer than its lease lasts, and then goes on: what it would have written
 * next is refused before it leaves, until it leads again. The same program without its fence writes on in another's term, so the
 * audit log, and the question that is put to it, do find what they are there to find.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Bundle from "../../support/bundle.ts"
import * as envtest from "../../support/envtest.ts"
import type { Edit } from "../../support/mutant.ts"
import { full } from "../../support/runs.ts"
import * as TcpProxy from "../../support/tcpProxy.ts"
import * as Audit from "./audit.ts"
import * as Load from "./load.ts"
import * as Servers from "./servers.ts"
import * as Stage from "./stage.ts"

/** Milliseconds: longer than the lease and the time until somebody takes it. */
const stop = full ? 20_000 : Stage.bound(Stage.times) + 500

/** Of each of five sets. */
const pods = 80

/** The program of a leader who asks nobody whether it may still write. */
const unfenced: ReadonlyArray<Edit> = [
  {
    path: "layers/fence.ts",
    find: "unfenced.through((transport) => fenced(transport, term), limited(term))",
    replace: "unfenced"
  }
]

/**
 * Stops a leader that has hundreds of pods to make. Its answers are held back first and delivered while it is stopped, so that it wakes to
 * them, before any timer, and would go on with the next writes.
 */
const stopped = Effect.fnUntraced(function* (server: Servers.Server, program?: string) {
  const stage = yield* Stage.make(server)
  const wire = yield* TcpProxy.start(server.server)
  const more = ["--leader-elect-on-lost=rejoin"]
  const first = yield* stage.start({ program, more, server: wire.server })
  const { takeover } = yield* Stage.term(stage, 0)
  const second = yield* stage.start({ program, more })
  const model: Load.Model = new Map()
  for (let number = 0; number < 5; number++) {
    model.set(`many-${number}`, pods)
    yield* Load.deployment(stage.client, `many-${number}`, pods)
  }
  const work = () => Audit.workOf(stage.writes(), Stage.lease, { user: first.user, moment: takeover.completed }).length
  yield* Stage.until(Effect.sync(() => (work() > 25 ? true : undefined)))
  wire.hold({ requests: false, answers: true })
  yield* quiet(work)
  assert.isBelow(work(), 5 * pods, "there was work left when it was stopped")
  const began = Date.now()
  yield* first.kill("SIGSTOP")
  wire.hold({ requests: false, answers: false })
  const next = yield* Stage.term(stage, 1)
  assert.strictEqual(next.user, second.user)
  assert.isBelow(next.takeover.completed - began, Stage.bound(stage.times) + Stage.allowance)
  yield* Effect.sleep(Math.max(0, began + stop - Date.now()))
  const resumed = Date.now()
  yield* first.kill("SIGCONT")
  yield* first.says(/contending again/)
  const dispatched = Audit.workOf(stage.writes(), Stage.lease, { user: first.user, moment: resumed })
  // It leads again, and finishes what is left.
  yield* second.kill("SIGTERM")
  yield* Stage.term(stage, 2)
  yield* Load.settled(stage.client, model)
  return { dispatched, late: Audit.late(stage.writes(), Stage.lease) }
})

/** Waits until a number stands still. */
const quiet = Effect.fnUntraced(function* (count: () => number) {
  let before = -1
  while (count() !== before) {
    before = count()
    yield* Effect.sleep(200)
  }
})

const limit = full ? 300_000 : 120_000

describe.concurrent("a leader that is stopped for longer than its lease, and wakes", () => {
  it.live(
    "writes nothing until it leads again",
    () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* stopped(yield* Servers.embedded), { dispatched: [], late: [] })
      }).pipe(Effect.scoped),
    limit
  )

  it.live(
    "would, without its fence, write in another's term",
    () =>
      Effect.gen(function* () {
        const { dispatched, late } = yield* stopped(
          yield* Servers.embedded,
          yield* Bundle.make("src/main.ts", unfenced)
        )
        assert.isNotEmpty(dispatched)
        assert.isNotEmpty(late)
      }).pipe(Effect.scoped),
    limit
  )

  const assets = envtest.assets()
  if ("missing" in assets) process.stderr.write(`leaders stopped on a real API server skipped: ${assets.missing}\n`)
  it.live.skipIf("missing" in assets)(
    "writes nothing until it leads again, on a real API server",
    () =>
      Effect.gen(function* () {
        const server = yield* Servers.real("folder" in assets ? assets.folder : "")
        assert.deepStrictEqual(yield* stopped(server), { dispatched: [], late: [] })
      }).pipe(Effect.scoped),
    limit
  )
})

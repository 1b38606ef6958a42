/**
 * The program killed without a word in the middle of its work, again and again, and somebody else who finishes it. In the end everything is as was asked for: each
 * pod of a Job is counted once, each node has each daemon once, Services name their pods, tokens are there - and at no moment was it otherwise in what must never be.
 * `SOAK=1` does it twenty times.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as envtest from "../../support/envtest.ts"
import { full } from "../../support/runs.ts"
import * as Log from "./log.ts"
import * as Stage from "./stage.ts"
import * as Truth from "./truth.ts"
import * as Work from "./work.ts"

const rounds = full ? 20 : 3

const killed = Effect.fnUntraced(function* <E>(start: Effect.Effect<Stage.Server, E, Scope.Scope>, how: Stage.How) {
  const server = yield* start
  const stage = yield* Stage.make(server, how)
  const asked = Work.nothing()
  yield* Work.begin(stage.client, asked)
  const working = yield* Effect.forkScoped(Work.forever(stage.client, asked, stage.open))
  for (let round = 0; round < rounds; round++) yield* stage.kill
  yield* Fiber.interrupt(working)
  yield* Truth.settled(stage.client, asked, { knows: server.knows, entries: stage.entries })
  assert.isTrue(stage.isWhole(), "the record has no end")
  assert.deepStrictEqual(Log.wrong(stage.entries, server.knows), [])
}, Effect.scoped)

const isMissing = envtest.isMissing("kills on a real API server")

const limit = full ? 1_800_000 : 400_000

describe.concurrent("the loops of Jobs, daemons, Services, nodes and tokens are killed in the middle of their work", () => {
  it.live(
    "and another process that is started again finishes it",
    () => killed(Stage.embedded, "is started again"),
    limit
  )

  it.live.runIf(full)("and a standby finishes it", () => killed(Stage.embedded, "stood by"), limit)

  it.live.skipIf(isMissing)(
    "and a standby finishes it on a real API server",
    () => killed(Stage.real(), "stood by"),
    limit
  )
})

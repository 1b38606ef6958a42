/**
 * The program is killed with SIGKILL during its work, several times, and another process finishes the work. In the end the cluster is as requested: each pod of a Job
 * is counted once, each node has each daemon once, Services have their pods, tokens exist. The log shows that no invariant was broken in between.
 * `SOAK=1` does it twenty times.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as envtest from "../../support/envtest.ts"
import { full } from "../../support/runs.ts"
import * as Log from "./log.ts"
import * as Harness from "./harness.ts"
import * as Truth from "./truth.ts"
import * as Work from "./work.ts"

const rounds = full ? 20 : 3

const killed = Effect.fnUntraced(function* <E>(start: Effect.Effect<Harness.Server, E, Scope.Scope>, how: Harness.How) {
  const server = yield* start
  const harness = yield* Harness.make(server, how)
  const asked = Work.nothing()
  yield* Work.begin(harness.client, asked)
  const working = yield* Effect.forkScoped(Work.forever(harness.client, asked, harness.open))
  for (let round = 0; round < rounds; round++) yield* harness.kill
  yield* Fiber.interrupt(working)
  yield* Truth.settled(harness.client, asked, { knows: server.knows, entries: harness.entries })
  assert.isTrue(harness.isWhole(), "the log is complete")
  assert.deepStrictEqual(Log.wrong(harness.entries, server.knows), [])
}, Effect.scoped)

const isMissing = envtest.isMissing("kills on a real API server")

const limit = full ? 1_800_000 : 400_000

describe.concurrent("the loops of Jobs, daemons, Services, nodes and tokens are killed during their work", () => {
  it.live("and a restarted process finishes it", () => killed(Harness.embedded, "is started again"), limit)

  it.live.runIf(full)("and a standby finishes it", () => killed(Harness.embedded, "stood by"), limit)

  it.live.skipIf(isMissing)(
    "and a standby finishes it on a real API server",
    () => killed(Harness.real(), "stood by"),
    limit
  )
})

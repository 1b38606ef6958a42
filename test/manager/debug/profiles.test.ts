/** Profiles: the allowed requests, one at a time, and results that V8's tools can read. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as CommandLine from "../../../src/manager/process/commandLine.ts"
import type { FiberState, Profiler } from "../../../src/layers/Process.ts"
import { profiler } from "../../../src/platform/inspector.ts"
import * as Profiles from "../../../src/manager/debug/profiles.ts"
import * as Setting from "../../../src/layers/Setting.ts"
import * as Codecs from "../../../src/layers/setting/codecs.ts"
import { asked } from "./asking.ts"

/** A process without data, whose CPU profile ends when the test ends it. */
const slow = Effect.gen(function* () {
  const begun = yield* Deferred.make<number>()
  const end = yield* Deferred.make<void>()
  const profiler: Profiler = {
    cpuProfile: (seconds) =>
      Deferred.succeed(begun, seconds).pipe(Effect.andThen(Deferred.await(end)), Effect.as("profile")),
    heapSnapshot: Effect.succeed(Stream.empty),
    heapStatistics: Effect.succeed({ used: 1 }),
    fibers: Effect.succeed([])
  }
  return { begun, end, handle: Profiles.handler(profiler, ["node", "main.js", "--v=5"]) }
})

const path = (rest: string) => `/debug/pprof/${rest}`

describe("profiles", () => {
  it.effect("only one profile is taken at a time, until it has ended or its client has disconnected", () =>
    Effect.gen(function* () {
      const { begun, end, handle } = yield* slow
      const first = yield* Effect.forkChild(asked(handle, path("profile")), { startImmediately: true })
      assert.strictEqual(yield* Deferred.await(begun), 30)
      for (const busy of ["profile?seconds=1", "heap", "fibers"]) {
        assert.deepInclude(yield* asked(handle, path(busy)), { status: 409, text: "another profile is being taken\n" })
      }
      assert.strictEqual((yield* asked(handle, path("heap?stats"))).status, 200)
      yield* Fiber.interrupt(first)
      assert.strictEqual((yield* asked(handle, path("heap"))).status, 200)
      yield* Deferred.succeed(end, undefined)
      assert.deepInclude(yield* asked(handle, path("profile?seconds=300")), { status: 200, text: "profile" })
    })
  )

  it.effect("the duration is limited, and other paths are not found", () =>
    Effect.gen(function* () {
      const { begun, handle } = yield* slow
      for (const seconds of ["0", "301", "-1", "1.5", "x", "", "1e2"]) {
        assert.strictEqual((yield* asked(handle, path(`profile?seconds=${seconds}`))).status, 400, seconds)
      }
      for (const nowhere of [
        "/",
        "/debug",
        path("goroutine"),
        path("heap/x"),
        path("constructor"),
        "/debug/pprofheap/"
      ]) {
        assert.strictEqual((yield* asked(handle, nowhere)).status, 404, nowhere)
      }
      assert.strictEqual((yield* asked(handle, path("profile"), { method: "HEAD" })).status, 200)
      assert.isFalse(Deferred.isDoneUnsafe(begun))
      assert.strictEqual((yield* asked(handle, path("cmdline"))).text, "node\0main.js\0--v=5")
      for (const index of [path(""), "/debug/pprof"]) {
        assert.match((yield* asked(handle, index)).text, /^profile\?seconds=30 [^]*cmdline/)
      }
    })
  )

  it("the command line is shown without secrets, in any spelling of their flags", () => {
    const settings = {
      token: Setting.optional(Codecs.redacted("token"), {
        name: "the-token",
        aliases: ["token"],
        group: "cluster",
        description: "a token",
        secret: true
      }),
      mode: Setting.optional(Codecs.text("mode"), { name: "mode", group: "cluster", description: "a mode" })
    }
    const shown = (...argv: ReadonlyArray<string>) => CommandLine.shown(argv, settings).join(" ")
    assert.strictEqual(
      shown("node", "--the-token=hush", "--mode=x", "-token", "hush", "--mode", "y", "--the_token", "hush=1"),
      "node --the-token=<redacted> --mode=x -token <redacted> --mode y --the_token <redacted>"
    )
  })
})

describe("the process looked into", () => {
  it.live("a CPU profile has samples", () =>
    Effect.gen(function* () {
      const profile = JSON.parse(yield* profiler.cpuProfile(0.05)) as { readonly nodes: ReadonlyArray<unknown> }
      assert.isAbove(profile.nodes.length, 0)
      assert.containsAllKeys(profile, ["startTime", "endTime", "samples", "timeDeltas"])
    })
  )

  it.live("lists the fibers that have not ended, and leaves no global symbol behind", () =>
    Effect.gen(function* () {
      const before = Object.getOwnPropertySymbols(globalThis).length
      const begun = yield* Deferred.make<void>()
      const waiting = Effect.andThen(Deferred.succeed(begun, undefined), Effect.never).pipe(
        Effect.withSpan("waits for ever"),
        Effect.annotateLogs({ controller: "sleeper" })
      )
      const fiber = yield* Effect.forkChild(waiting)
      yield* Deferred.await(begun)
      const mine = (all: ReadonlyArray<FiberState>) =>
        all.filter(({ annotations }) => annotations.includes("controller=sleeper"))
      const [found] = mine(yield* profiler.fibers)
      assert.strictEqual(found?.id, fiber.id)
      assert.include(found?.calls ?? [], "waits for ever")
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(mine(yield* profiler.fibers), [])
      assert.strictEqual(Object.getOwnPropertySymbols(globalThis).length, before)
    })
  )

  it("equal fibers are one entry, the most numerous first", () => {
    const fiber = (id: number, controller: string): FiberState => ({
      id,
      annotations: [`controller=${controller}`],
      calls: ["take"]
    })
    const many = Array.from({ length: 12 }, (_, n) => fiber(n + 2, "b"))
    assert.strictEqual(
      Profiles.fiberDump([fiber(1, "a"), ...many]),
      [
        "13 fibers that have not ended",
        "12 x #2 #3 #4 #5 #6 #7 #8 #9 #10 #11 ...  controller=b\n    in take",
        "1 x #1  controller=a\n    in take",
        ""
      ].join("\n\n")
    )
  })
})

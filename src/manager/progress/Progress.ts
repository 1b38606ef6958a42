/**
 * Shows the progress of long work: a spinner and a bar on a terminal whose logs are for people, and log lines otherwise, at most one in five seconds.
 * Short work shows nothing and costs one timer at a time.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Level from "../logs/level.ts"
import { CurrentFormat } from "../logs/Logs.ts"
import { line, sentence, type State } from "./render.ts"
import type { StatusLine } from "./StatusLine.ts"

/** The status line of the terminal; undefined if there is no terminal. */
export const Screen = Context.Reference<StatusLine | undefined>("effect-controller-manager/ProgressScreen", {
  defaultValue: () => undefined
})

/** How long work takes before the bar appears. */
const patience = Duration.millis(400)

/** Between two frames of the spinner. */
const frameTime = Duration.millis(120)

/** Between two log lines, and before the first one. */
const lineTime = Duration.seconds(5)

/** Runs the work and shows its progress. `read` is called for each frame or line. */
export const during = <A, E, R, R2>(read: Effect.Effect<State, never, R2>, work: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.forkChild(shown(read)),
    () => work,
    (fiber) => Fiber.interrupt(fiber)
  )

/** Shows the progress of work elsewhere until `read` gives undefined. A last log line follows the others, if there were any. */
export const follow = <R>(read: Effect.Effect<State | undefined, never, R>) => shown(read)

const shown = Effect.fnUntraced(function* <R>(read: Effect.Effect<State | undefined, never, R>) {
  const status = yield* Screen
  const format = yield* CurrentFormat
  const level = yield* Level.Current
  yield* Effect.sleep(patience)
  // The format depends on the cluster, which is known by now.
  if (status !== undefined && format.current === "console" && level.admits("Info")) return yield* bar(status, read)
  yield* Effect.sleep(Duration.subtract(lineTime, patience))
  yield* lines(read)
})

const bar = <R>(status: StatusLine, read: Effect.Effect<State | undefined, never, R>) =>
  Effect.gen(function* () {
    for (let frame = 0; ; frame++) {
      const state = yield* read
      if (state === undefined) return
      status.show(line(state, status.style(), frame))
      yield* Effect.sleep(frameTime)
    }
  }).pipe(Effect.ensuring(Effect.sync(status.hide)))

const lines = Effect.fnUntraced(function* <R>(read: Effect.Effect<State | undefined, never, R>) {
  const since = yield* Clock.currentTimeMillis
  let last: State | undefined
  while (true) {
    const state = yield* read
    if (state === undefined) break
    last = state
    yield* Effect.logInfo(sentence(state))
    yield* Effect.sleep(lineTime)
  }
  if (last === undefined) return
  const took = Duration.format(Duration.millis((yield* Clock.currentTimeMillis) - since))
  yield* Effect.logInfo(sentence({ ...last, done: last.total, detail: `this took ${took} more` }))
})

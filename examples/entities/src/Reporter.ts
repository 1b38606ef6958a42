/** A singleton: in one of the processes it increments thirty counters every second, and prints by which process how many of them were answered. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { ShardingConfig } from "effect/cluster/ShardingConfig"
import * as Singleton from "effect/cluster/Singleton"
import { Counter } from "./Counter.ts"

const ids = Array.from({ length: 30 }, (_, index) => `counter-${index}`)

/** `127.0.0.1:34431 14, 127.0.0.1:34432 16`. */
const counted = (names: ReadonlyArray<string>): string =>
  [...new Set(names)]
    .sort()
    .map((name) => `${name} ${names.filter((other) => other === name).length}`)
    .join(", ")

export const Reporter = Singleton.make(
  "Reporter",
  Effect.gen(function* () {
    const counter = yield* Counter.client
    const { runnerAddress } = yield* ShardingConfig
    const own = Option.match(runnerAddress, { onNone: () => "", onSome: ({ host, port }) => `${host}:${port}` })
    // While a process that is dead still has its locks, messages to its counters wait.
    const report = Effect.gen(function* () {
      const increment = (id: string) => Effect.option(Effect.timeout(counter(id).Increment(), "1 second"))
      const answers = yield* Effect.forEach(ids, increment, { concurrency: "unbounded" })
      const runners = answers.map((answer) => (Option.isSome(answer) ? answer.value.runner : "none"))
      yield* Console.log(`reporter on ${own} | counters answered by: ${counted(runners)}`)
    })
    yield* Effect.repeat(report, Schedule.spaced("1 second"))
  })
)

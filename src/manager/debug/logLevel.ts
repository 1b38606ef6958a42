/**
 * `PUT /debug/flags/v`: changes what the program logs from the next line on, until it ends or is told otherwise. The body is a word
 * or a verbosity. Source: framework.md 5.2; the endpoint of Kubernetes' own programs.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Answer, type Asked, text } from "../http/exchange.ts"
import type { MinimumLevel } from "../logs/level.ts"

export const put =
  (level: MinimumLevel) =>
  ({ body }: Asked): Effect.Effect<Answer> =>
    Effect.flatMap(body, (said) => {
      if (typeof said !== "string") return Effect.succeed(said)
      const before = level.current
      const changed = level.set(said)
      if (Result.isFailure(changed)) return Effect.succeed(text(400, `${changed.failure}\n`))
      const message = `The log level was ${before} and is ${changed.success}`
      return Effect.as(Effect.logInfo(message), text(200, `${message}\n`))
    })

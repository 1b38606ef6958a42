/** Captures what is logged, as lines that begin with the name of their controller. */
import type * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"

export const logged = (): {
  readonly logger: Layer.Layer<never>
  readonly lines: (pattern: RegExp) => ReadonlyArray<string>
} => {
  const all: Array<string> = []
  const logger = Logger.layer([
    Logger.make(({ fiber, message }) => {
      const controller = fiber.getRef(References.CurrentLogAnnotations)["controller"]
      const text = Array.isArray(message) ? message.map(String).join(" ") : String(message)
      all.push(typeof controller === "string" ? `${controller}: ${text}` : text)
    })
  ])
  return { logger, lines: (pattern) => all.filter((line) => pattern.test(line)) }
}

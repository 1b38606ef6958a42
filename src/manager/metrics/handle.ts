/** The metrics server's routes: everything that is counted, and how the checks of probes went. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { type Handler, notFound } from "../http/exchange.ts"
import * as Text from "./text.ts"

/** All metrics, and those of the probes' checks. */
export const paths: ReadonlyArray<string> = ["/metrics", "/metrics/slis"]

/** Answers with the registry of whoever made it, and with that of the checks. */
export const handler = (slis: Metric.MetricRegistry): Effect.Effect<Handler> =>
  Effect.map(Effect.context(), (context): Handler => {
    const registries = [context, Context.add(context, Metric.MetricRegistry, slis)]
    return ({ path }) => {
      const registry = registries[paths.indexOf(path)]
      if (registry === undefined) return Effect.succeed(notFound)
      return Effect.map(Effect.provideContext(Text.text, registry), (body) => ({
        status: 200,
        body,
        contentType: Text.contentType
      }))
    }
  })

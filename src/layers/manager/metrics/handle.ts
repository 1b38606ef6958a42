/** The metrics server's route. Source: framework.md 2.10, 5.2. */
import * as Effect from "effect/Effect"
import { type Answer, type Handler, notFound } from "../http/exchange.ts"
import * as Text from "./text.ts"

/** Answers with the registry of whoever made it. */
export const handler: Effect.Effect<Handler> = Effect.map(Effect.context(), (context): Handler => {
  const metrics: Effect.Effect<Answer> = Effect.map(Effect.provideContext(Text.text, context), (body) => ({
    status: 200,
    body,
    contentType: Text.contentType
  }))
  return ({ path }) => (path === "/metrics" ? metrics : Effect.succeed(notFound))
})

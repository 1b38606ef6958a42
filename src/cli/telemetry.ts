/** What the program tells a collector, where there is one: around everything else, so that it hears of the end too. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Host } from "../manager/process/Host.ts"
import { Program } from "../manager/Program.ts"
import type * as Settings from "../manager/settings.ts"

export const telemetry = (host: Host, { otlpEndpoint }: Settings.Settings) =>
  Option.match(otlpEndpoint, {
    onNone: () => Layer.empty,
    onSome: (endpoint) =>
      Layer.unwrap(
        Effect.gen(function* () {
          const { name, version } = yield* Program
          const Otlp = yield* Effect.promise(() => import("../manager/telemetry/Otlp.ts"))
          return Otlp.layer({ endpoint, env: host.env, name, version })
        })
      )
  })

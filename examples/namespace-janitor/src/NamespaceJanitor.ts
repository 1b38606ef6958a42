/**
 * Deletes namespaces whose TTL has expired. The annotation `janitor.example.com/ttl` has the TTL in hours. The controller checks all
 * namespaces on a schedule, because no watch event announces that a TTL expires.
 */
import { Access, Controller, Namespace, Setting, SettingCodec } from "effect-controller-manager"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"

export const annotation = "janitor.example.com/ttl"

const hour = 3_600_000

/** When the TTL of a namespace expires, in milliseconds since 1970; undefined without a valid annotation. */
export const endOf = ({ metadata }: Namespace): number | undefined => {
  const hours = Number(metadata.annotations?.[annotation] ?? Number.NaN)
  const begin = Date.parse(metadata.creationTimestamp ?? "")
  return hours > 0 && !Number.isNaN(begin) ? begin + hours * hour : undefined
}

export const settings = {
  interval: Setting.make(SettingCodec.interval, {
    name: "janitor-interval",
    group: "tuning",
    description: "Time between two looks at all namespaces",
    default: "5m"
  })
}

export const make = (options: Setting.Values<typeof settings>) =>
  Controller.scheduled({
    name: "namespace-janitor",
    access: [Access.read(Namespace), Access.remove(Namespace), Access.record],
    schedule: Schedule.spaced(options.interval),
    run: ({ cache, client, events }) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        for (const namespace of yield* cache.list(Namespace)) {
          const { deletionTimestamp, name, uid } = namespace.metadata
          const end = endOf(namespace)
          if (end === undefined || end > now || deletionTimestamp !== undefined) continue
          yield* events.normal(
            namespace,
            "TimeIsOver",
            `${name} is deleted: its time was over ${new Date(end).toISOString()}`
          )
          // The uid excludes a namespace that was recreated under the same name.
          yield* client.delete(Namespace, { name }, { preconditions: { uid } })
        }
      })
  })

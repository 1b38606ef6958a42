/** What has been counted is remembered in memory only, and is counted again after a restart. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import * as Trigger from "../../../src/streams/store/trigger.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import type { Bug } from "../Bug.ts"

const Meter = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Meter",
  plural: "meters",
  subresources: { status: true },
  spec: Schema.Struct({ readings: Schema.Array(Schema.Int) }),
  status: Schema.Struct({ total: Schema.Int })
})

const sum = (values: ReadonlyArray<number>) => values.reduce((total, one) => total + one, 0)

const controller = (isRepaired: boolean) =>
  Controller.stateful({
    name: "meter",
    for: Meter,
    access: [Access.read(Meter), Access.patch(Meter, "status")],
    body: ({ cache, client }) => {
      const counted = new Map<string, number>()
      return Effect.succeed({
        sources: [Controller.watch(Meter, Trigger.self)],
        reconcile: ({ key, name, namespace }) =>
          Effect.gen(function* () {
            const meter = yield* cache.get(Meter, key)
            if (meter === undefined) return
            const { readings } = meter.spec
            const before = meter.status?.total ?? 0
            const total = isRepaired ? sum(readings) : before + sum(readings.slice(counted.get(key) ?? 0))
            if (total !== before) {
              yield* client.subresource("status").patch(Meter, { namespace, name }, Patch.merge({ status: { total } }))
            }
            counted.set(key, readings.length)
          })
      })
    }
  })

export const bug: Bug = {
  title: "what a controller remembers in memory is counted again after a restart",
  sources: [
    "https://github.com/sustainable-computing-io/susql-operator/issues/3",
    "https://github.com/sky-uk/cassandra-operator/pull/170"
  ],
  write: "patch meters.bugs.example.com/status",
  explore: (isRepaired) =>
    explore("counted-twice", {
      controllers: [controller(isRepaired)],
      scenario: (cluster) =>
        Effect.gen(function* () {
          yield* cluster.apply([
            {
              apiVersion: "bugs.example.com/v1",
              kind: "Meter",
              metadata: { namespace: "default", name: "a" },
              spec: { readings: [5] }
            }
          ])
          yield* cluster.advance("1 minute")
          yield* cluster.edit(Meter, { namespace: "default", name: "a" }, { spec: { readings: [5, 7] } })
        })
    })
}

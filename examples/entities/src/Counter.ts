/** An entity: for each id a counter, which is in one process at a time. Its answers say in which. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Entity from "effect/cluster/Entity"
import * as Rpc from "effect/rpc/Rpc"

const Answer = Schema.Struct({ value: Schema.Int, runner: Schema.String })

export const Counter = Entity.make("Counter", [
  Rpc.make("Increment", { success: Answer }),
  Rpc.make("Get", { success: Answer })
])

/** The value is in memory: a counter that moves begins at zero. */
export const CounterLive = Counter.toLayer(
  Effect.map(Entity.CurrentRunnerAddress, ({ host, port }) => {
    const runner = `${host}:${port}`
    let value = 0
    return Counter.of({
      Increment: () => Effect.sync(() => ({ value: ++value, runner })),
      Get: () => Effect.sync(() => ({ value, runner }))
    })
  })
)

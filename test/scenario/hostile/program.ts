/**
 * A program of a library user: one controller of config maps, under an elected leader. Its reconcile does what the map's `mood` says: its
 * work, or a failure such as a hang. It prints `run <name>` for each run. For the scenarios of `hostileReconcile.test.ts`; not an
 * example.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import { parseArgs } from "node:util"
import { Access, ConfigMap, Controller, Patch } from "../../../src/index.ts"
import { Election, Manager } from "../../../src/internals.ts"
import * as ProgramServices from "../programServices.ts"

const { values } = parseArgs({
  options: {
    kubeconfig: { type: "string", default: "" },
    identity: { type: "string", default: "" },
    timeout: { type: "string", default: "300000" },
    backoff: { type: "string", default: "5" }
  }
})

class Refused extends Data.TaggedError("Refused")<{ readonly message: string }> {}

/** Allocates until there is no memory left. */
const allocate = (): never => {
  const kept: Array<ReadonlyArray<number>> = []
  while (true) kept.push(Array.from({ length: 1000 }, (_, index) => kept.length + index))
}

/** What happens before the work on a map with such a mood. */
const moods: Readonly<Record<string, () => Effect.Effect<void, Refused>>> = {
  throw: () => {
    throw new Error("thrown by a reconcile")
  },
  fail: () => Effect.fail(new Refused({ message: "not today" })),
  hang: () => Effect.never,
  allocate: () => Effect.sync(allocate)
}

/** Copies `data.wanted` to an annotation. */
const copier = Controller.make({
  name: "copier",
  for: ConfigMap,
  access: [Access.patch(ConfigMap)],
  timeout: Number(values.timeout),
  backoff: { base: Number(values.backoff), max: "10 seconds" },
  reconcile: ({ key, name, namespace }, { cache, client }) =>
    Effect.gen(function* () {
      const map = yield* cache.get(ConfigMap, key)
      if (map === undefined) return
      process.stderr.write(`run ${name}\n`)
      const mood = moods[map.data?.["mood"] ?? ""]
      if (mood !== undefined) yield* mood()
      const wanted = map.data?.["wanted"] ?? ""
      if (map.metadata.annotations?.["copied"] === wanted) return
      yield* client.patch(
        ConfigMap,
        { namespace, name },
        Patch.merge({ metadata: { annotations: { copied: wanted } } })
      )
    })
})

const leadership = Election.layer({
  namespace: "default",
  name: "copier",
  identity: values.identity,
  leaseDuration: "4 seconds",
  renewDeadline: "3 seconds",
  retryPeriod: "400 millis"
})

await Manager.run({ controllers: [copier] }).pipe(
  Effect.provide(Layer.provideMerge(leadership, ProgramServices.over(values.kubeconfig))),
  Effect.provideService(References.MinimumLogLevel, "Info"),
  Effect.runPromise
)

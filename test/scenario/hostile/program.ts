/**
 * A program of a library user: one controller of config maps, under an elected leader, whose reconcile does what the
 * map's `mood` says: its work, or something that no reconcile should. Says `run <name>` for each run. For the scenarios of
 * `hostileReconcile.test.ts`; it is not an example.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import { parseArgs } from "node:util"
import {
  Access,
  Cache,
  ConfigMap,
  Controller,
  Election,
  Endpoint,
  KubeClient,
  Manager,
  Patch,
  Recorder,
  Supervisor
} from "../../../src/index.ts"
import { HttpTransport, KubeConfig } from "../../../src/node.ts"

const { values } = parseArgs({
  options: {
    kubeconfig: { type: "string", default: "" },
    identity: { type: "string", default: "" },
    timeout: { type: "string", default: "300000" },
    backoff: { type: "string", default: "5" }
  }
})

class Refused extends Data.TaggedError("Refused")<{ readonly message: string }> {}

/** Until there is no memory left. */
const hoard = (): never => {
  const kept: Array<ReadonlyArray<number>> = []
  while (true) kept.push(Array.from({ length: 1000 }, (_, index) => kept.length + index))
}

/** What a map with such a mood gets, before it is worked on. */
const moods: Readonly<Record<string, () => Effect.Effect<void, Refused>>> = {
  throw: () => {
    throw new Error("thrown by a reconcile")
  },
  fail: () => Effect.fail(new Refused({ message: "not today" })),
  hang: () => Effect.never,
  allocate: () => Effect.sync(hoard)
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

const endpoint = Layer.effect(Endpoint, KubeConfig.load({ mode: "kubeconfig", path: values.kubeconfig, env: {} }))
const services = Recorder.layer.pipe(
  Layer.provideMerge(Cache.layer()),
  Layer.provideMerge(KubeClient.layer),
  Layer.provideMerge(HttpTransport.layer),
  Layer.provideMerge(Supervisor.layer),
  Layer.provide(endpoint)
)
const leadership = Election.layer({
  namespace: "default",
  name: "copier",
  identity: values.identity,
  leaseDuration: "4 seconds",
  renewDeadline: "3 seconds",
  retryPeriod: "400 millis"
})

await Manager.run({ controllers: [copier] }).pipe(
  Effect.provide(Layer.provideMerge(leadership, services)),
  Effect.provideService(References.MinimumLogLevel, "Info"),
  Effect.runPromise
)

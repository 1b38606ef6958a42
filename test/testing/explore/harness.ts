/** A controller with two writes, a scenario for it, and its runs. */
import * as Effect from "effect/Effect"
import * as Access from "../../../src/kube/Access.ts"
import * as Key from "../../../src/kube/Key.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Trigger from "../../../src/streams/store/trigger.ts"
import { ConfigMap, Secret } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import type { Cluster } from "../../../src/testing/explore/Exploration.ts"
import { parseCase } from "../../../src/testing/explore/perturbation.ts"
import type * as Record from "../../../src/testing/explore/record.ts"
import { run } from "../../../src/testing/explore/run.ts"

/** Creates a Secret for each ConfigMap with data, then annotates the ConfigMap. */
export const copier = Controller.make({
  name: "copier",
  for: ConfigMap,
  watches: [Controller.watch(Secret, Trigger.self)],
  access: [Access.create(Secret), Access.patch(ConfigMap)],
  reconcileObject: (map, { cache, client }) =>
    Effect.gen(function* () {
      const { name, namespace = "" } = map.metadata
      if ((yield* cache.get(Secret, Key.of(map))) === undefined) {
        yield* client
          .create(Secret, { metadata: { namespace, name } })
          .pipe(Effect.catchReason("ApiError", "AlreadyExists", () => Effect.void))
      }
      if (map.metadata.annotations?.["copied"] !== "true") {
        yield* client.patch(
          ConfigMap,
          { namespace, name },
          Patch.merge({ metadata: { annotations: { copied: "true" } } })
        )
      }
    })
})

export const map = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name } })

export const scenario = (cluster: Cluster) =>
  Effect.gen(function* () {
    yield* cluster.apply([map("a")])
    yield* cluster.advance("1 minute")
    yield* cluster.apply([map("b")])
  })

export const declared = { name: "copier", options: { controllers: [copier], scenario } }

export const outcomeOf = (id: string) => run(declared, parseCase(id), { seed: 1 })

/** The calls after the first lists, as `1 create secrets default/a: 201`, with the number of the process. */
export const callsOf = (entries: ReadonlyArray<Record.Entry>): ReadonlyArray<string> =>
  entries.flatMap((entry) =>
    entry.type === "call" && entry.verb !== "list"
      ? [`${entry.process} ${entry.verb} ${entry.resource} ${entry.key}: ${entry.outcome}`]
      : []
  )

/**
 * Continuous work for a leader, and a model of the expected result: Deployments are created and scaled at random, at a rate. A leader under this load
 * writes all the time. In the end every Deployment has exactly its pods, otherwise a key was lost.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Patch from "../../../src/kube/Patch.ts"
import { Deployment, Pod, ReplicaSet } from "../../../src/kube/resources.ts"
import type { Client } from "../cluster.ts"

const namespace = "default"

/** Milliseconds: many times what is needed. */
const timeout = 60_000

/** Replicas by the name of a Deployment. */
export type Model = Map<string, number>

export const deploymentOf = (name: string, replicas: number, namespace: string) => ({
  metadata: { namespace, name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: "main", image: "example.org/none" }] }
    }
  }
})

export const deployment = (client: Client, name: string, replicas: number) =>
  client.create(Deployment, deploymentOf(name, replicas, namespace))

/** One change after another, as long as it runs; the model has what the server accepted. */
export const changes = (client: Client, model: Model, every: number): Effect.Effect<never> =>
  Effect.forever(
    Effect.gen(function* () {
      const name = `load-${yield* Random.nextIntBetween(0, 24)}`
      const replicas = yield* Random.nextIntBetween(0, 6)
      const present = model.has(name)
      const patch = Patch.merge({ spec: { replicas } })
      yield* present ? client.patch(Deployment, { namespace, name }, patch) : deployment(client, name, replicas)
      model.set(name, replicas)
    }).pipe(Effect.uninterruptible, Effect.orDie, Effect.andThen(Effect.sleep(every)))
  )

/** Waits until the cluster equals the model; fails with the differences after the limit. */
export const settled = Effect.fnUntraced(function* (client: Client, model: Model) {
  const end = Date.now() + timeout
  let lines = yield* difference(client, model)
  while (lines.length > 0 && Date.now() < end) {
    yield* Effect.sleep(100)
    lines = yield* difference(client, model)
  }
  assert.deepStrictEqual(lines, [], "no key was lost")
})

/** The differences between the cluster and the model. */
const difference = Effect.fnUntraced(function* (client: Client, model: Model) {
  const [deployments, sets, pods] = yield* Effect.all([
    client.list(Deployment, { namespace }),
    client.list(ReplicaSet, { namespace }),
    client.list(Pod, { namespace })
  ])
  const ownerOf = ({ metadata }: { readonly metadata: Pod["metadata"] }) =>
    metadata.ownerReferences?.[0]?.name ?? "none"
  const deploymentOf = new Map(sets.items.map((set) => [set.metadata.name, ownerOf(set)]))
  const counted = new Map<string, number>()
  for (const pod of pods.items) {
    if (pod.metadata.deletionTimestamp !== undefined) continue
    const name = deploymentOf.get(ownerOf(pod)) ?? "none"
    counted.set(name, (counted.get(name) ?? 0) + 1)
  }
  const found = deployments.items.map(({ metadata, spec, status }) => {
    const seen = status?.observedGeneration === metadata.generation ? (status?.replicas ?? 0) : "unseen"
    return `${metadata.name} wants ${spec?.replicas} has ${counted.get(metadata.name) ?? 0} says ${seen}`
  })
  const wanted = [...model].map(([name, replicas]) => `${name} wants ${replicas} has ${replicas} says ${replicas}`)
  const strays = counted.has("none") ? [`${counted.get("none")} pods without an owner`] : []
  return [
    ...found.filter((line) => !wanted.includes(line)),
    ...wanted.filter((line) => !found.includes(line)),
    ...strays
  ]
})

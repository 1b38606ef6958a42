/** Deployments of a benchmark: created, waited for and deleted with their dependents. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Deployment, Pod } from "../../src/kube/resources.ts"
import type { KubeClient } from "../../src/layers/KubeClient.ts"

export type Client = KubeClient["Service"]

export interface Fleet {
  readonly namespace: string
  readonly names: ReadonlyArray<string>
  /** Of each. */
  readonly replicas: number
}

export const fleet = (namespace: string, deployments: number, replicas: number): Fleet => ({
  namespace,
  names: Array.from({ length: deployments }, (_, index) => `load-${index}`),
  replicas
})

const podSpec = (image = 1) => ({ containers: [{ name: "main", image: `example.test/main:${image}` }] })

export const template = (name: string, image?: number) => ({
  metadata: { labels: { app: "load", of: name } },
  spec: podSpec(image)
})

/** Does something to each, eight at a time. */
export const forEach = (
  { names }: Fleet,
  work: (name: string) => Effect.Effect<unknown, unknown>
): Effect.Effect<void, unknown> => Effect.forEach(names, work, { concurrency: 8, discard: true })

export const create = (client: Client, fleet: Fleet) =>
  forEach(fleet, (name) =>
    client.create(Deployment, {
      metadata: { namespace: fleet.namespace, name },
      spec: { replicas: fleet.replicas, selector: { matchLabels: { of: name } }, template: template(name) }
    })
  )

export const remove = (client: Client, fleet: Fleet) =>
  forEach(fleet, (name) =>
    client.delete(Deployment, { namespace: fleet.namespace, name }, { propagationPolicy: "Background" })
  )

/** All replicas have the present template. */
export const isUpdated = ({ metadata, spec, status }: Deployment): boolean =>
  status?.observedGeneration === metadata.generation &&
  status?.replicas === spec?.replicas &&
  status?.updatedReplicas === spec?.replicas

/** And all of them are available. */
export const isAvailable = (deployment: Deployment): boolean =>
  isUpdated(deployment) && deployment.status?.availableReplicas === deployment.spec?.replicas

/** Does this, and then waits until it holds of all. */
export const until = (
  client: Client,
  { names, namespace }: Fleet,
  holds: (deployment: Deployment) => boolean,
  work: Effect.Effect<void, unknown>
) =>
  Effect.gen(function* () {
    yield* work
    const left = new Set(names)
    yield* client.watch(Deployment, { namespace, timeoutSeconds: 900 }).pipe(
      Stream.takeUntil(({ object }) => {
        const deployment = object as Deployment
        if (holds(deployment)) left.delete(deployment.metadata.name)
        return left.size === 0
      }),
      Stream.runDrain
    )
  })

/** Does this, and waits until so many pods were created or deleted. */
export const pods = (
  client: Client,
  { names, namespace, replicas }: Fleet,
  event: "ADDED" | "DELETED",
  work: Effect.Effect<void, unknown>
) =>
  Effect.gen(function* () {
    const { metadata } = yield* client.list(Pod, { namespace, limit: 1 })
    let left = names.length * replicas
    const options = { namespace, resourceVersion: metadata.resourceVersion ?? "", timeoutSeconds: 900 }
    const changed = client.watch(Pod, options).pipe(
      Stream.takeUntil(({ type }) => type === event && --left === 0),
      Stream.runDrain
    )
    yield* Effect.all([changed, work], { concurrency: "unbounded" })
  })

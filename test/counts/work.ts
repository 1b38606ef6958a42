/** Fixed pieces of work for the loops, which a client does in virtual time: the same in each run, byte for byte. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { ApiError } from "../../src/kube/ApiError.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { Deployment, Job, Lease, Namespace, Node, Pod, Service } from "../../src/kube/resources.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Heartbeat from "../../src/simulation/heartbeat.ts"
import * as Machine from "../../src/simulation/Machine.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { withClient } from "../support/cluster.ts"

export type Work = Effect.Effect<void, ApiError, ClusterTest | KubeClient>

const namespace = "load"
const container = (image: string) => ({ containers: [{ name: "main", image: `example.test/main:${image}` }] })

const deployment = (name: string, replicas: number) => ({
  metadata: { namespace, name },
  spec: {
    replicas,
    selector: { matchLabels: { of: name } },
    template: { metadata: { labels: { of: name } }, spec: container("1") }
  }
})

/** An address for each pod that became ready, of the same length. */
let addresses = 0
const ready = () => {
  const podIP = `10.${100 + Math.floor(addresses / 100)}.100.${100 + (addresses++ % 100)}`
  return { phase: "Running", podIP, conditions: [{ type: "Ready", status: "True" }] }
}
const succeeded = () => ({ phase: "Succeeded" })

/** Gives each pending pod a status, second for second, until there is none. */
const finishPods = (statusOf: () => object): Work =>
  Effect.gen(function* () {
    const { advance } = yield* ClusterTest
    const client = yield* KubeClient
    while (true) {
      yield* advance("1 second")
      const { items } = yield* client.list(Pod, { namespace })
      const pending = items.filter(({ status }) => status?.phase === "Pending")
      if (pending.length === 0) return
      yield* Effect.forEach(pending, ({ metadata: { name } }) =>
        client.patch(Pod, { namespace, name, subresource: "status" }, Patch.merge({ status: statusOf() }))
      )
    }
  })

const advance = (time: Duration.Input): Work => Effect.flatMap(ClusterTest, (cluster) => cluster.advance(time))

/** Whatever follows, except for what is periodic, has happened by then. */
const soon = advance("10 seconds")

const background = { propagationPolicy: "Background" } as const
const machines = Array.from({ length: 10 }, (_, index) => Machine.make(`worker-${index}`, index + 1, "worker"))

/** Every machine reports each ten seconds for a minute: its lease each time, its status once. */
const heartbeats: Work = Effect.gen(function* () {
  const { advance } = yield* ClusterTest
  const client = yield* KubeClient
  for (let round = 25; round <= 30; round++) {
    const { items } = yield* client.list(Node)
    const known = new Map(items.map((node) => [node.metadata.name, node]))
    yield* Effect.forEach(machines, (machine) => Heartbeat.beat(client, machine, known.get(machine.name), round))
    yield* advance("10 seconds")
  }
})

/** What is measured, in order; each begins where the one before it has ended. */
export const pieces: ReadonlyArray<readonly [title: string, work: Work]> = [
  [
    "a namespace is created",
    withClient((client) => client.create(Namespace, { metadata: { name: namespace } })).pipe(Effect.andThen(soon))
  ],
  [
    "a Deployment of 40 is created",
    withClient((client) => client.create(Deployment, deployment("web", 40))).pipe(Effect.andThen(finishPods(ready)))
  ],
  [
    "it gets a Service",
    withClient((client) =>
      client.create(Service, {
        metadata: { namespace, name: "web" },
        spec: { selector: { of: "web" }, ports: [{ port: 80 }] }
      })
    ).pipe(Effect.andThen(soon))
  ],
  [
    "it gets another image, 25 % at a time",
    withClient((client) =>
      client.patch(
        Deployment,
        { namespace, name: "web" },
        Patch.strategic({ spec: { template: { spec: container("2") } } })
      )
    ).pipe(Effect.andThen(finishPods(ready)))
  ],
  [
    "its Service is deleted",
    withClient((client) => client.delete(Service, { namespace, name: "web" })).pipe(Effect.andThen(soon))
  ],
  [
    "it is deleted, with its dependents",
    withClient((client) => client.delete(Deployment, { namespace, name: "web" }, background)).pipe(Effect.andThen(soon))
  ],
  [
    "a Job of 20, 10 at a time",
    withClient((client) =>
      client.create(Job, {
        metadata: { namespace, name: "once" },
        spec: {
          completions: 20,
          parallelism: 10,
          template: { spec: { ...container("1"), restartPolicy: "Never" } }
        }
      })
    ).pipe(Effect.andThen(finishPods(succeeded)))
  ],
  [
    "it is deleted, with its pods",
    withClient((client) => client.delete(Job, { namespace, name: "once" }, background)).pipe(Effect.andThen(soon))
  ],
  [
    "10 nodes are registered",
    withClient((client) => Effect.forEach(machines, (machine) => Heartbeat.register(client, machine))).pipe(
      Effect.andThen(heartbeats)
    )
  ],
  ["10 nodes send heartbeats for a minute", heartbeats],
  [
    "the nodes are deleted",
    withClient((client) =>
      Effect.forEach(machines, ({ name }) =>
        Effect.andThen(client.delete(Node, { name }), client.delete(Lease, { namespace: Machine.leaseNamespace, name }))
      )
    ).pipe(Effect.andThen(soon))
  ],
  [
    "the namespace is deleted",
    withClient((client) => client.delete(Namespace, { name: namespace })).pipe(Effect.andThen(soon))
  ]
]

const empty = Array.from({ length: 100 }, (_, index) => deployment(`empty-${index}`, 0))

/** Between two resyncs of an informer. */
export const resyncPeriod = "1 minute"

/** Objects that change no more, before they are resynced. */
export const prepareResyncs: Work = withClient((client) =>
  Effect.andThen(
    client.create(Namespace, { metadata: { name: namespace } }),
    Effect.forEach(empty, (one) => client.create(Deployment, one), { discard: true })
  )
)

/** Five of each of the informers. */
export const resyncs: Work = advance("310 seconds")

/** The differences between the cluster and the requested state, read from the server; empty when all loops have done their work. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as PodFacts from "../../../src/kube/pod.ts"
import { DaemonSet, Endpoints, EndpointSlice, Job, Node, Pod, Secret } from "../../../src/kube/resources.ts"
import { full } from "../../support/runs.ts"
import type { Client } from "../cluster.ts"
import * as Log from "./log.ts"
import * as Work from "./work.ts"

export interface Knows extends Log.Knows {
  /** Whether the server has `discovery.k8s.io/v1`. */
  readonly slices: boolean
}

/** Milliseconds: many times what is needed. */
const timeout = full ? 300_000 : 150_000

/** Waits until there is no difference; fails with the differences after the limit. */
export const settled = Effect.fnUntraced(function* (
  client: Client,
  asked: Work.Asked,
  seen: { readonly knows: Knows; readonly entries: ReadonlyArray<Log.Entry> }
) {
  const end = Date.now() + timeout
  const look = Effect.map(
    Effect.all([
      jobs(client, asked, seen),
      daemons(client, asked),
      addresses(client, asked, seen.knows),
      tokens(client, asked),
      nodes(client)
    ]),
    (all) => all.flat()
  )
  let lines = yield* look
  while (lines.length > 0 && Date.now() < end) {
    yield* Effect.sleep(200)
    lines = yield* look
  }
  assert.deepStrictEqual(lines, [], "as requested")
})

const { namespace } = Work

const jobs = Effect.fnUntraced(function* (
  client: Client,
  asked: Work.Asked,
  { entries, knows }: { readonly knows: Knows; readonly entries: ReadonlyArray<Log.Entry> }
) {
  const { items } = yield* client.list(Job, { namespace })
  const pods = yield* client.list(Pod, { namespace })
  const ends = Log.ends(entries)
  const found = items.flatMap(({ metadata: { name, uid = "" }, status }) => {
    const wanted = asked.jobs.get(name) ?? 0
    const ended = ends.get(uid) ?? { Succeeded: new Set(), Failed: new Set() }
    const { conditions = [], failed = 0, succeeded = 0 } = status ?? {}
    const isOver = conditions.some(({ type }) => type === (wanted === 0 ? "Failed" : "Complete"))
    // A server that does not store uncountedTerminatedPods loses the count of some pods: see docs/controllers.md.
    const isCounted = knows.uncounted
      ? succeeded === ended.Succeeded.size && succeeded === wanted && failed === ended.Failed.size
      : succeeded <= ended.Succeeded.size && failed <= ended.Failed.size
    const truth = `${ended.Succeeded.size} succeeded of ${wanted}, and ${ended.Failed.size} failed`
    return unless(isOver && isCounted, `Job ${name}: ${truth}; it says ${JSON.stringify(status)}`)
  })
  const held = pods.items.filter(({ metadata }) => (metadata.finalizers ?? []).length > 0)
  return [
    found,
    unless(items.length === asked.jobs.size, `${items.length} Jobs of ${asked.jobs.size}`),
    held.map(({ metadata }) => `${metadata.name} is held`)
  ].flat()
})

const unless = (isSo: boolean, line: string): ReadonlyArray<string> => (isSo ? [] : [line])

const mayRun = ({ metadata, spec }: Node): boolean =>
  metadata.labels?.["kubernetes.io/os"] === "linux" &&
  !(spec?.taints ?? []).some(({ effect }) => effect === "NoSchedule")

const daemons = Effect.fnUntraced(function* (client: Client, asked: Work.Asked) {
  const { items: nodes } = yield* client.list(Node)
  const eligible = nodes.filter(mayRun).map(({ metadata }) => metadata.name)
  const { items: sets } = yield* client.list(DaemonSet, { namespace })
  const { items: pods } = yield* client.list(Pod, { namespace })
  return sets.flatMap(({ metadata: { generation, name }, status }) => {
    const own = pods.filter((pod) => pod.metadata.labels?.["daemon"] === name)
    const image = asked.daemons.get(name)
    const running = own.filter((pod) => pod.spec?.containers[0]?.image === image && PodFacts.isReady(pod))
    const isThere = sorted(running.map(Log.nodeOf)) === sorted(eligible) && own.length === running.length
    const isTold = status?.observedGeneration === generation && status?.numberAvailable === eligible.length
    return [
      unless(isThere, `${name} has ${own.length} pods, and runs ${image} on ${sorted(running.map(Log.nodeOf))}`),
      unless(isTold, `${name} says ${JSON.stringify(status)}`)
    ].flat()
  })
})

const addresses = Effect.fnUntraced(function* (client: Client, asked: Work.Asked, knows: Knows) {
  const { items: pods } = yield* client.list(Pod, { namespace })
  const { items: all } = yield* client.list(Endpoints, { namespace })
  const slices = knows.slices ? (yield* client.list(EndpointSlice, { namespace })).items : []
  return [...asked.services].flatMap((service) => {
    const behind = pods.filter((pod) => pod.metadata.labels?.["of"] === service && PodFacts.isReady(pod))
    const count = [...asked.pods.values()].filter((one) => one === service).length
    const wanted = sorted(behind.map(({ status }) => status?.podIP ?? ""))
    const named = all
      .filter(({ metadata }) => metadata.name === service)
      .flatMap(({ subsets = [] }) => subsets.flatMap((one) => one.addresses ?? []))
    const parts = slices
      .filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === service)
      .map(({ endpoints }) => (endpoints ?? []).flatMap((one) => one.addresses))
    return [
      unless(behind.length === count, `${behind.length} of ${count} pods of ${service} are ready`),
      unless(sorted(named.map(({ ip }) => ip)) === wanted, `Endpoints ${service} are not ${wanted}`),
      unless(!knows.slices || sorted(parts.flat()) === wanted, `slices of ${service} are not ${wanted}`),
      unless(!parts.some((one) => one.length > maxEndpoints), `a slice of ${service} is too full`)
    ].flat()
  })
})

/** Small, so that there are several slices. */
export const maxEndpoints = 3

const sorted = (addresses: ReadonlyArray<string>): string => addresses.toSorted().join()

const tokens = Effect.fnUntraced(function* (client: Client, asked: Work.Asked) {
  const { items } = yield* client.list(Secret, { namespace })
  const filled = new Set(items.filter(({ data }) => data?.["token"] !== undefined).map(({ metadata }) => metadata.name))
  return [
    ...[...asked.secrets.keys()].filter((name) => !filled.has(name)).map((name) => `${name} is empty`),
    ...items.filter(({ metadata }) => asked.gone.has(metadata.name)).map(({ metadata }) => `${metadata.name} is left`)
  ]
})

/** One node has never sent a heartbeat, and no other node was ever marked unreachable. */
const nodes = Effect.fnUntraced(function* (client: Client) {
  const { items } = yield* client.list(Node)
  const lost = items.filter(({ spec }) =>
    spec?.taints?.some(({ effect, key }) => key === "node.kubernetes.io/unreachable" && effect === "NoExecute")
  )
  const names = lost.map(({ metadata }) => metadata.name).join()
  return names === "mute" ? [] : [`${names} are lost`]
})

/**
 * Replicas that lead one after another: each has a gateway of its own to one API server, so that the server's side shows which one wrote, and
 * in which order.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Lease } from "../../src/kube/resources.ts"
import * as Gateway from "../support/gateway.ts"
import * as Process from "../support/process.ts"
import * as Cluster from "./cluster.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

/** Long enough for a busy machine, short enough to wait for. */
const flags = [
  "--leader-elect",
  "--leader-elect-lease-duration=4s",
  "--leader-elect-renew-deadline=3s",
  "--leader-elect-retry-period=400ms",
  "--pod-count-interval=200ms"
]
export const target = { namespace: "kube-system", name: "effect-controller-manager" }

export interface Replica extends Process.Running {
  readonly number: number
  readonly gateway: Gateway.Gateway
}

export interface Written {
  readonly replica: number
  readonly line: string
}

/** Replicas that work on a node and two pods. */
export const replicas = Effect.fnUntraced(function* (
  upstream: Gateway.Upstream,
  count: number,
  {
    env = {},
    more = []
  }: { readonly env?: Readonly<Record<string, string>>; readonly more?: ReadonlyArray<string> } = {}
) {
  const client = yield* Cluster.client(upstream)
  yield* Cluster.addNode(client)
  for (const name of ["a", "b"]) yield* Cluster.addPod(client, name)
  const written: Array<Written> = []
  const start = Effect.fnUntraced(function* (number: number) {
    const gateway = yield* Gateway.start(upstream, (line) => {
      if (!line.startsWith("GET ")) written.push({ replica: number, line })
    })
    const kubeconfig = yield* Kubeconfigs.write({ ...gateway })
    const running = yield* Process.start(["--kubeconfig", kubeconfig, ...flags, ...more], env)
    return { ...running, number, gateway } satisfies Replica
  })
  const all = yield* Effect.forEach(
    Array.from({ length: count }, (_, number) => number),
    start,
    { concurrency: "unbounded" }
  )
  return { client, written, all, start }
})

export const isLease = ({ line }: Written) => line.includes("/leases")
export const isLabel = ({ line }: Written) => line.startsWith("PATCH /api/v1/nodes/")

/** Which replica wrote labels, one entry for each change of writer. */
export const spells = (written: ReadonlyArray<Written>) =>
  written
    .filter(isLabel)
    .map(({ replica }) => replica)
    .filter((replica, index, all) => replica !== all[index - 1])

/** Waits until a holder other than `before` holds the lease and has labelled the node with the count. */
export const nextLeader = Effect.fnUntraced(function* (
  { all, client, written }: Effect.Success<ReturnType<typeof replicas>>,
  before: string,
  count: number
) {
  const began = performance.now()
  const lease = yield* Cluster.until(client, Lease, { namespace: target.namespace }, ({ metadata, spec }) => {
    const holder = spec?.holderIdentity ?? ""
    return metadata.name === target.name && holder !== "" && holder !== before
  })
  const took = performance.now() - began
  yield* Cluster.labelled(client, count)
  const leader = all[written.findLast(isLabel)?.replica ?? -1]
  if (leader === undefined) throw new Error("no replica has written")
  const [, identity = ""] = yield* leader.says(/leading: (\S+) holds lease/)
  assert.strictEqual(identity, lease.spec?.holderIdentity)
  return { leader, identity, took }
})

/** Only leaders write, apart from what all replicas try with the lease. */
export const onlyWrote = (written: ReadonlyArray<Written>, leaders: ReadonlyArray<Replica>) => {
  const writers = new Set(written.filter((one) => !isLease(one)).map(({ replica }) => replica))
  assert.sameMembers(
    [...writers],
    leaders.map(({ number }) => number)
  )
}

export const lastLine = (text: string) => text.trimEnd().split("\n").at(-1)

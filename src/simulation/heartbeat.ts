/**
 * The heartbeat of a machine: it registers its node, renews its lease and reports its status. Ordinary API calls; the kubelet decides when
 * to make them. Source: kubelet nodestatus and lease.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ApiError from "../kube/ApiError.ts"
import * as Patch from "../kube/Patch.ts"
import { Lease, Node } from "../kube/resources.ts"
import type { KubeClient } from "../layers/KubeClient.ts"
import * as Machine from "./Machine.ts"

type Client = KubeClient["Service"]

/** Milliseconds between renewals: a quarter of the lease's 40 s. */
export const interval = 10_000

/** Lease renewals between two reports of an unchanged status. Source: kubelet nodeStatusReportFrequency, 5 minutes. */
const reportEvery = 30

/**
 * Creates the node, or takes over an existing one, and reports it ready. If the server has tainted the new node as not ready (the
 * TaintNodesByCondition admission), the taint is removed: that is a node controller's task, but the machine is ready from the start, and
 * there may be no such controller.
 */
export const register = Effect.fnUntraced(function* (client: Client, machine: Machine.Machine) {
  const target = { name: machine.name }
  const created = yield* client.create(Node, Machine.registration(machine)).pipe(
    Effect.catchIf(
      (error) => ApiError.hasReason(error, "AlreadyExists"),
      () => Effect.void
    )
  )
  const before = created ?? (yield* client.get(Node, target))
  const node = yield* report(client, machine, before)
  const taints = node.spec?.taints ?? []
  const kept = taints.filter(({ key }) => key !== "node.kubernetes.io/not-ready")
  if (created === undefined || kept.length === taints.length) return node
  const metadata = { resourceVersion: node.metadata.resourceVersion }
  return yield* client.patch(Node, target, Patch.merge({ metadata, spec: { taints: kept.length === 0 ? null : kept } }))
})

const report = Effect.fnUntraced(function* (client: Client, machine: Machine.Machine, before: Node | undefined) {
  const now = yield* Clock.currentTimeMillis
  const status = Machine.status(machine, before, now)
  return yield* client.patch(Node, { name: machine.name, subresource: "status" }, Patch.merge({ status }))
})

/** One heartbeat: registers a missing node, reports its status when that is due, and renews its lease. */
export const beat = Effect.fnUntraced(function* (
  client: Client,
  machine: Machine.Machine,
  known: Node | undefined,
  round: number
) {
  const isSame = known !== undefined && isReady(known) && round % reportEvery !== 0
  const node = isSame ? known : yield* reported(client, machine, known)
  const lease = Machine.lease(machine, node, yield* Clock.currentTimeMillis)
  const target = { namespace: Machine.leaseNamespace, name: machine.name }
  yield* client.patch(Lease, target, Patch.merge({ spec: lease.spec })).pipe(
    Effect.catchIf(
      (error) => ApiError.hasReason(error, "NotFound"),
      () => client.create(Lease, lease)
    )
  )
})

const reported = (client: Client, machine: Machine.Machine, known: Node | undefined) =>
  known === undefined
    ? register(client, machine)
    : Effect.catchIf(
        report(client, machine, known),
        (error) => ApiError.hasReason(error, "NotFound"),
        () => register(client, machine)
      )

const isReady = (node: Node): boolean =>
  node.status?.conditions?.some(({ status, type }) => type === "Ready" && status === "True") === true

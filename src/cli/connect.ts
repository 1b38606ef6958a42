/** The cluster, and the controllers that are to run on it. Where it is the embedded one, the program asks it as it would in an installation. */
import * as Effect from "effect/Effect"
import * as Clusters from "../manager/cluster/clusters.ts"
import { kindsOf } from "../manager/crds/report.ts"
import type { Host } from "../manager/process/Host.ts"
import { rolesOf } from "../manager/manifests/roles.ts"
import * as Permissions from "../manager/permissions.ts"
import { Program } from "../manager/Program.ts"
import * as Roster from "../manager/roster.ts"
import type { Resolved, Selection, Table } from "./selection.ts"
import { wanted } from "./wanted.ts"

/** `as`: what a user does by hand on a cluster of others is done as the administrator of the embedded one. */
export const connect = Effect.fnUntraced(function* (
  host: Host,
  resolved: Resolved,
  table: Table,
  as: "program" | "administrator"
) {
  const { controllers } = resolved.values
  const embedded = yield* Effect.fromResult(Roster.select(table, controllers, { embedded: true }))
  const there = embedded.chosen.map((entry) => entry.controller)
  const cluster = yield* Clusters.connect(resolved, host.env, {
    serviceAccounts: there.some(({ name }) => name === "serviceaccount"),
    resourceQuotas: there.some(({ name }) => name === "resourcequota"),
    kinds: kindsOf(there),
    account: as === "administrator" ? undefined : yield* installed(resolved, embedded)
  })
  return { cluster, selection: yield* Effect.fromResult(Roster.select(table, controllers, cluster)) }
})

/**
 * The account and the roles that `manifests` prints. What is namespaced is granted everywhere: in a namespace that is not there yet there can
 * be no role.
 */
const installed = Effect.fnUntraced(function* (resolved: Resolved, selection: Selection) {
  const { name } = yield* Program
  const { namespaces, ...needs } = yield* wanted(resolved, { embedded: true, namespace }, selection)
  const anywhere = namespaces !== undefined && "labels" in namespaces ? namespaces : []
  const permissions = Permissions.needed({ ...needs, namespaces: anywhere })
  return {
    name,
    roles: [
      ...rolesOf(name, { name, namespace, permissions }, {}),
      ...Permissions.accounts(needs.controllers).flatMap((account) =>
        rolesOf(`${name}-${account.name}`, { ...account, namespace }, {})
      )
    ]
  } satisfies Clusters.Account
})

/** Of every account of the program. */
const namespace = "kube-system"

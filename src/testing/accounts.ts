/**
 * The accounts of a cluster test under RBAC, as in an installation whose controllers have their own credentials: one of the program, which
 * reads and records events for all, and one of each controller, each with exactly the roles that `manifests` prints for it. Roles are
 * written without the transport, so that no fault affects them and no rule counts them.
 */
import * as Effect from "effect/Effect"
import { ServiceAccount } from "../kube/resources.ts"
import type { Descriptor } from "../layers/Controller.ts"
import type { User } from "../apiserver/Api.ts"
import type { ApiServer } from "../apiserver/ApiServer.ts"
import type { Manifest } from "../manager/manifests/Installation.ts"
import { pathOf, rolesOf } from "../manager/manifests/roles.ts"
import * as Permissions from "../manager/permissions.ts"

interface Account {
  readonly namespace: string
  readonly name: string
}

/** The account of the program in an installation. */
const program: Account = { namespace: "effect-controller-manager", name: "effect-controller-manager" }

/** The account of one controller. */
const accountOf = (controller: string): Account => ({ namespace: "kube-system", name: controller })

const userOf = ({ name, namespace }: Account): User => ({
  name: `system:serviceaccount:${namespace}:${name}`,
  groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"]
})

/** The user that reads and records events for all controllers. */
export const programUser: User = userOf(program)

export interface Options {
  /** Whether each controller has its own account, or all share the program's. Default: `each`. */
  readonly accounts?: "one" | "each" | undefined
  /** The only namespaces in which namespaced kinds are reconciled; they have to exist when a controller is run. */
  readonly namespaces?: Permissions.Wanted["namespaces"]
  /** Changes the roles before they are written, so that a test can remove rights. */
  readonly roles?: ((printed: ReadonlyArray<Manifest>) => ReadonlyArray<Manifest>) | undefined
}

/** Returns a function that writes the roles of a controller and returns its user. */
export const make = (
  server: ApiServer["Service"],
  { accounts = "each", namespaces, roles = (printed) => printed }: Options
) => {
  const holders = new Map<string, Permissions.Holder>()
  const granted = (account: Account, name: string, permissions: ReadonlyArray<Permissions.Permission>) =>
    rolesOf(name, { ...account, permissions }, {})
  /** Without the permission to create tokens: the API server takes the user of a request as it is. */
  const isAsked = ({ resource, verb }: Permissions.Permission): boolean =>
    accounts === "one" || resource !== ServiceAccount.plural || verb !== "create"
  return (controller: Pick<Descriptor<unknown>, "name" | "access">): Effect.Effect<User> =>
    Effect.gen(function* () {
      const { access, name: who } = controller
      const holder = { who, access, account: accounts === "one" ? undefined : who }
      holders.set(who, holder)
      const all = Permissions.needed({ controllers: [...holders.values()], leases: [], namespaces })
      const own = holder.account === undefined ? program : accountOf(holder.account)
      const printed = [
        ...granted(program, program.name, all.filter(isAsked)),
        ...(own === program ? [] : granted(own, `${program.name}-${who}`, Permissions.delegated(holder, namespaces)))
      ]
      yield* Effect.forEach(roles(printed), (role) => write(server, role), { discard: true })
      return userOf(own)
    })
}

const administrator: User = { name: "system:admin", groups: ["system:masters", "system:authenticated"] }

const write = (server: ApiServer["Service"], role: Manifest): Effect.Effect<void> => {
  const { name } = role.metadata
  const request = {
    method: "PATCH",
    path: `${pathOf(role)}/${encodeURIComponent(name)}`,
    query: new URLSearchParams({ fieldManager: "cluster-test", force: "true" }),
    headers: { "content-type": "application/apply-patch+yaml" },
    body: JSON.stringify(role),
    user: administrator
  }
  return Effect.flatMap(server.handle(request), (answer) =>
    answer._tag === "Answer" && answer.status < 300
      ? Effect.void
      : Effect.die(new Error(`cannot write ${role.kind} ${name}: ${answer._tag === "Answer" ? answer.body : ""}`))
  )
}

/**
 * The accounts of a cluster test under RBAC, as an installation has them whose controllers have credentials of their own: one of the
 * program, which reads and records for all, and one of each controller, each with the roles that `manifests` prints for it and no
 * others. Roles are written past the transport, so that no fault meets them and no script counts them.
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

/** Where the program itself would be installed. */
const program: Account = { namespace: "effect-controller-manager", name: "effect-controller-manager" }

/** Of the account that a controller has for itself. */
const accountOf = (controller: string): Account => ({ namespace: "kube-system", name: controller })

const userOf = ({ name, namespace }: Account): User => ({
  name: `system:serviceaccount:${namespace}:${name}`,
  groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"]
})

/** Who reads and records for all controllers. */
export const programUser: User = userOf(program)

export interface Options {
  /** Whether all controllers work as the program, or each has an account for itself; `each` unless said otherwise. */
  readonly accounts?: "one" | "each" | undefined
  /** The only namespaces that namespaced kinds are worked on in; they must be there when a controller is run. */
  readonly namespaces?: Permissions.Wanted["namespaces"]
  /** Changes the roles before they are written: what a test takes out of them is missed. */
  readonly roles?: ((printed: ReadonlyArray<Manifest>) => ReadonlyArray<Manifest>) | undefined
}

/** Gives a controller the rights that it declares, and says who it is. */
export const make = (
  server: ApiServer["Service"],
  { accounts = "each", namespaces, roles = (printed) => printed }: Options
) => {
  const holders = new Map<string, Permissions.Holder>()
  const granted = (account: Account, name: string, permissions: ReadonlyArray<Permissions.Permission>) =>
    rolesOf(name, { ...account, permissions }, {})
  /** No tokens: accounts are taken from the request as they are. */
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

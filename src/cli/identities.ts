/**
 * The identity of each controller: the program's own, with the controller's name in the User-Agent, or a service account. Connections stay open for
 * as long as the scope, so that successive terms of a process share them.
 */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as HttpTransport from "../platform/HttpTransport.ts"
import type { Client } from "../layers/KubeClient.ts"
import type * as Clusters from "./cluster/clusters.ts"
import * as Accounts from "../manager/identity/accounts.ts"
import * as Transports from "./cluster/transports.ts"
import type * as Manager from "../manager/Manager.ts"
import { Program } from "../manager/Program.ts"
import type * as Registry from "../manager/registry.ts"
import type * as Settings from "../manager/settings.ts"
import type { Transport } from "../layers/Transport.ts"
import type { Selection } from "./selection.ts"
import * as Limits from "./limits.ts"
import { between } from "./services.ts"

/**
 * The service account of a controller in `kube-system`, if accounts are enabled. A controller with `startFirst` has none and uses the program's
 * identity.
 */
export const accountOf = (
  { accountCredentials }: Pick<Settings.Settings, "accountCredentials">,
  { account, controller }: Registry.Entry<unknown>
): string | undefined =>
  !accountCredentials || controller.startFirst === true ? undefined : (account ?? controller.name)

export const identities = Effect.fnUntraced(function* (
  settings: Settings.Settings,
  cluster: Clusters.Connected,
  { chosen }: Selection
) {
  const program = yield* Program
  const agent = `${program.name}/${program.version}`
  const scope = yield* Effect.scope
  const sharing = yield* Limits.Sharing
  const entries = new Map(chosen.map((entry) => [entry.controller.name, entry]))
  const known = new Map<string, Transport["Service"]>()

  const asAccount = Effect.fnUntraced(function* (account: string, client: Client) {
    const found = known.get(account)
    if (found !== undefined) return found
    const endpoint = yield* Accounts.endpoint(cluster.address, client, account)
    const transport = yield* Scope.provide(HttpTransport.make(endpoint), scope)
    const pace = yield* Limits.ofClient(settings, cluster.server)
    const made = between(settings, program, pace)(transport)
    known.set(account, made)
    return made
  })

  const identify: Manager.Identify = ({ name }, client) =>
    Effect.gen(function* () {
      const entry = entries.get(name)
      const account = entry === undefined ? undefined : accountOf(settings, entry)
      const own = account === undefined ? undefined : yield* asAccount(account, client)
      const pace = yield* Limits.ofClient(settings, cluster.server, entry?.clientLimits)
      return client.through((shared) => {
        const transport = Transports.withUserAgent(own ?? shared, `${agent} ${name}`)
        return sharing === "one" ? transport : Transports.withPace(transport, pace)
      })
    })
  return identify
})

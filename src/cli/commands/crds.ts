/** The commands `crds print`, `crds install` and `crds diff`, for the custom kinds that controllers declare. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as Crd from "../../kube/crd/Crd.ts"
import type * as Resource from "../../kube/Resource.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import * as Definitions from "../../manager/crds/Definitions.ts"
import * as Report from "../../manager/crds/report.ts"
import { own } from "../../manager/manifests/settings.ts"
import type { Host } from "../../manager/process/Host.ts"
import * as Registry from "../../manager/registry.ts"
import type * as SettingSources from "../../manager/setting/sources.ts"
import * as Settings from "../../manager/settings.ts"
import * as Files from "../output/files.ts"
import { connect } from "../connect.ts"
import { type Resolved, type Table, tableOf } from "../selection.ts"

/** The definitions in the cluster differ from the declared ones; the output names the differences. */
export class Different extends Data.TaggedError("Different")<{ readonly message: string }> {}

/** Settings of the output. */
export const printSettings = { ...Settings.common, out: own.out }

type Kinds = ReadonlyArray<Resource.AnyCustom>

/**
 * The kinds of the chosen controllers. This includes controllers that run on a real cluster only if they are named: their definitions are wanted
 * unless the user excludes them.
 */
const kindsOf = (table: Table, { values }: { readonly values: Pick<Resolved["values"], "controllers"> }) =>
  Effect.map(Effect.fromResult(Registry.select(table, values.controllers, { embedded: true })), ({ chosen }) =>
    Report.kindsOf(chosen.map(({ controller }) => controller))
  )

/** No cluster is contacted. */
export const print = Effect.fnUntraced(function* (host: Host, resolved: SettingSources.Resolved<typeof printSettings>) {
  return yield* printKinds(host, resolved.values.out, yield* kindsOf(yield* tableOf(resolved), resolved))
})

export const install = (host: Host, resolved: Resolved) =>
  inCluster(host, resolved, (kinds) => installKinds(host, kinds))

export const diff = (host: Host, resolved: Resolved) => inCluster(host, resolved, (kinds) => diffKinds(host, kinds))

const inCluster = <E>(host: Host, resolved: Resolved, work: (kinds: Kinds) => Effect.Effect<void, E, KubeClient>) =>
  Effect.gen(function* () {
    const table = yield* tableOf(resolved)
    const kinds = yield* kindsOf(table, resolved)
    const { cluster } = yield* connect(host, resolved, table, "administrator")
    yield* Effect.provide(work(kinds), Layer.provide(KubeClient.layer, cluster.transport))
  }).pipe(Effect.scoped)

export const printKinds = Effect.fnUntraced(function* (host: Host, out: Option.Option<string>, kinds: Kinds) {
  if (kinds.length === 0) return void host.stdout.write(`# ${Report.none}\n`)
  const documents = yield* Effect.forEach(kinds, (kind) => Effect.fromResult(Crd.make(kind)))
  const files = documents.map((one) => ({ name: `${one.metadata.name}.yaml`, documents: [one] }))
  return yield* Files.write(host, out, { documents, files })
})

export const installKinds = (host: Host, kinds: Kinds) =>
  Effect.map(Definitions.install(kinds), (all) => void host.stdout.write(`${Report.installed(all)}\n`))

export const diffKinds = Effect.fnUntraced(function* (host: Host, kinds: Kinds) {
  const all = yield* Definitions.diff(kinds)
  host.stdout.write(`${Report.compared(all)}\n`)
  const message = Report.verdict(all)
  if (message !== undefined) return yield* new Different({ message })
})

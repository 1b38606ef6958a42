/** The commands `crds print`, `crds install` and `crds diff`, for the custom kinds that controllers declare. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Crd from "../../kube/crd/Crd.ts"
import type * as Resource from "../../kube/Resource.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import * as Definitions from "../../manager/crds/Definitions.ts"
import * as CrdReport from "../../manager/crds/report.ts"
import { own } from "../../manager/manifests/settings.ts"
import type { Host } from "../../manager/process/Host.ts"
import * as Progress from "../../manager/progress/Progress.ts"
import type { State } from "../../manager/progress/render.ts"
import { Program } from "../../manager/Program.ts"
import * as Registry from "../../manager/registry.ts"
import * as SettingSources from "../../manager/setting/sources.ts"
import * as Settings from "../../manager/settings.ts"
import * as OutputSettings from "../../manager/settings/output.ts"
import * as Files from "../output/files.ts"
import { connect } from "../connect.ts"
import * as Report from "../output/Report.ts"
import type { Column } from "../output/table.ts"
import { type Resolved, type Table, tableOf } from "../selection.ts"
import { limitedTransport } from "../services.ts"

/** The definitions in the cluster differ from the declared ones; the output names the differences. */
export class Different extends Data.TaggedError("Different")<{ readonly message: string }> {}

/** Settings of `crds print`. */
export const printSettings = { ...Settings.common, out: own.out, ...OutputSettings.settings }

type Printing = Resolved<typeof OutputSettings.settings>

type Format = Printing["values"]["output"]

type Kinds = ReadonlyArray<Resource.AnyCustom>

/**
 * The kinds of the chosen controllers, and those without a controller. This includes controllers that run on a real cluster only if they are named: their definitions are wanted
 * unless the user excludes them.
 */
export const kindsOf = (table: Table, { values }: { readonly values: Pick<Resolved["values"], "controllers"> }) =>
  Effect.gen(function* () {
    const { chosen } = yield* Effect.fromResult(Registry.select(table, values.controllers, { embedded: true }))
    return CrdReport.kindsOf(
      chosen.map(({ controller }) => controller),
      (yield* Program).kinds
    )
  })

/** No cluster is contacted. */
export const print = Effect.fnUntraced(function* (host: Host, resolved: SettingSources.Resolved<typeof printSettings>) {
  const { out, output } = resolved.values
  return yield* printKinds(host, out, yield* kindsOf(yield* tableOf(resolved), resolved), output)
})

export const install = (host: Host, resolved: Printing) =>
  inCluster(host, resolved, (kinds) => installKinds(host, kinds, resolved.values.output, resolved.values.dryRun))

export const diff = (host: Host, resolved: Printing) =>
  inCluster(host, resolved, (kinds) => diffKinds(host, kinds, resolved.values.output))

const inCluster = <E>(host: Host, resolved: Resolved, work: (kinds: Kinds) => Effect.Effect<void, E, KubeClient>) =>
  Effect.gen(function* () {
    const table = yield* tableOf(resolved)
    const kinds = yield* kindsOf(table, resolved)
    const { cluster } = yield* connect(host, resolved, table, "administrator")
    const transport = Layer.provide(limitedTransport(resolved.values, cluster.server), cluster.transport)
    yield* Effect.provide(work(kinds), Layer.provide(KubeClient.layer, transport))
  }).pipe(Effect.scoped)

/** Without a format, documents of YAML, or a file of YAML for each. */
export const printKinds = Effect.fnUntraced(function* (
  host: Host,
  out: Option.Option<string>,
  kinds: Kinds,
  format: Format = Option.none()
) {
  const isTable = Option.contains(format, "table") || Option.contains(format, "wide")
  if (Option.isSome(out) && Option.isSome(format)) {
    return yield* new SettingSources.SettingError({
      message: `--${own.out.name} writes files of YAML: leave it out or leave --${OutputSettings.settings.output.name} out`
    })
  }
  if (kinds.length === 0 && Option.isNone(format)) return void host.stdout.write(`# ${CrdReport.none}\n`)
  const documents = yield* Effect.forEach(kinds, (kind) => Effect.fromResult(Crd.make(kind)))
  if (isTable || Option.contains(format, "json")) {
    const value = { apiVersion: "v1", kind: "List", metadata: {}, items: documents }
    return yield* Report.print(host, format, { columns: definitionColumns, rows: documents, value })
  }
  const files = documents.map((one) => ({ name: `${one.metadata.name}.yaml`, documents: [one] }))
  return yield* Files.write(host, out, { documents, files })
})

const definitionColumns: ReadonlyArray<Column<Crd.CustomResourceDefinition>> = [
  { title: "NAME", cell: ({ metadata }) => metadata.name },
  { title: "KIND", cell: ({ spec }) => spec.names.kind },
  { title: "SCOPE", cell: ({ spec }) => spec.scope },
  { title: "VERSIONS", cell: ({ spec }) => spec.versions.map(({ name }) => name).join(",") },
  { title: "GROUP", isWide: true, cell: ({ spec }) => spec.group },
  { title: "SHORT NAMES", isWide: true, cell: ({ spec }) => (spec.names.shortNames ?? []).join(",") }
]

/** In a dry run the client's writes are dry runs too. */
export const installKinds = Effect.fnUntraced(function* (
  host: Host,
  kinds: Kinds,
  format: Format = Option.none(),
  isDryRun = false
) {
  let state: State = { verb: "Installed", done: 0, total: kinds.length, unit: "definitions", detail: "" }
  const onNext = (name: string, done: number) => void (state = { ...state, done, detail: `waiting for ${name}` })
  const all = yield* Progress.during(
    Effect.sync(() => state),
    Definitions.install(kinds, { onNext, isDryRun })
  )
  return yield* Report.print(host, format, {
    columns: installedColumns(isDryRun),
    rows: all,
    value: {
      ...(isDryRun ? { dryRun: true } : {}),
      definitions: all.map(({ name, outcome }) => ({ name, outcome }))
    },
    text: CrdReport.installed(all, isDryRun)
  })
})

const installedColumns = (isDryRun: boolean): ReadonlyArray<Column<Definitions.Installed>> => [
  { title: "NAME", cell: ({ name }) => name },
  { title: "OUTCOME", cell: (one) => CrdReport.outcome(one, isDryRun) }
]

export const diffKinds = Effect.fnUntraced(function* (host: Host, kinds: Kinds, format: Format = Option.none()) {
  const all = yield* Definitions.diff(kinds)
  yield* Report.print(host, format, {
    columns: comparisonColumns,
    rows: all,
    value: { definitions: all.map(valueOf) },
    text: CrdReport.compared(all)
  })
  const message = CrdReport.verdict(all)
  if (message !== undefined) return yield* new Different({ message })
})

const stateOf = ({ differences, isNew }: Definitions.Comparison): string =>
  isNew ? "new" : differences.length > 0 ? "different" : "same"

/** A value that does not exist is null. */
const valueOf = (one: Definitions.Comparison) => ({
  name: one.name,
  state: stateOf(one),
  differences: one.differences.map(({ from = null, path, to = null }) => ({ path, from, to })),
  objects: one.broken.map(({ dropped, object, refused }) => ({ object, refused, dropped }))
})

const comparisonColumns: ReadonlyArray<Column<Definitions.Comparison>> = [
  { title: "NAME", cell: ({ name }) => name },
  { title: "STATE", cell: stateOf },
  { title: "DIFFERENCES", cell: ({ differences }) => String(differences.length) },
  { title: "OBJECTS", cell: ({ broken }) => String(broken.length) },
  { title: "PATHS", isWide: true, cell: ({ differences }) => differences.map(({ path }) => path).join(",") }
]

/**
 * `crds migrate`: has the objects of custom kinds stored in the storage version, one definition after the other, and prints what became of each. A
 * process that is stopped before the end exits with code 1, also by a signal: a Job must not count as complete then.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { count } from "../../manager/progress/render.ts"
import { oneLine } from "../../kube/printable.ts"
import * as Resource from "../../kube/Resource.ts"
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import { CustomResourceDefinition } from "../../manager/crds/Definitions.ts"
import * as Checkpoint from "../../manager/crds/migration/checkpoint.ts"
import * as Migration from "../../manager/crds/migration/Migration.ts"
import type { Host } from "../../manager/process/Host.ts"
import { Verdict } from "../../manager/process/orderlyStop.ts"
import * as Progress from "../../manager/progress/Progress.ts"
import type { State } from "../../manager/progress/render.ts"
import * as SettingSources from "../../manager/setting/sources.ts"
import * as OutputSettings from "../../manager/settings/output.ts"
import { connect } from "../connect.ts"
import * as Report from "../output/Report.ts"
import type { Column } from "../output/table.ts"
import { type Resolved, tableOf } from "../selection.ts"
import { limitedTransport } from "../services.ts"
import { kindsOf } from "./crds.ts"

export const settings = {
  ...OutputSettings.settings,
  all: Setting.make(Codecs.boolean, {
    name: "all",
    env: false,
    group: "command",
    description: "Every definition of the cluster whose status names other versions than the storage version",
    default: "false"
  }),
  pageSize: Setting.make(Codecs.integer({ min: 1, max: 10_000, expected: "a number from 1 to 10,000" }), {
    name: "page-size",
    env: false,
    group: "command",
    description: "Objects that are read at a time",
    default: "500"
  })
}

/** Objects may still be stored in another version; the output names the definitions, and the objects that were refused. */
export class Incomplete extends Data.TaggedError("Incomplete")<{ readonly message: string }> {}

/** `named`: names of definitions. None: those of the chosen controllers. */
export const migrate = (host: Host, resolved: Resolved<typeof settings>, named: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { values } = resolved
    if (values.all && named.length > 0) {
      const message = "--all means every definition: leave it out, or leave the names out"
      return yield* new SettingSources.SettingError({ message })
    }
    const table = yield* tableOf(resolved)
    const declared = (yield* kindsOf(table, resolved)).map((kind) => Resource.qualifiedName(kind))
    const { cluster } = yield* connect(host, resolved, table, "administrator")
    const verdict = yield* Verdict
    verdict.code = 1
    yield* Effect.gen(function* () {
      const names = values.all ? yield* pending : named.length > 0 ? yield* known(named) : declared
      const { dryRun: isDryRun, pageSize } = values
      const checkpoints = isDryRun ? undefined : yield* Checkpoint.make(cluster.namespace)
      let state: State = { verb: "Migrated", done: 0, total: 0, unit: "objects", detail: "" }
      const all = yield* Progress.during(
        Effect.sync(() => state),
        Effect.forEach(names, (name) => {
          const onProgress = (done: number, total: number) => void (state = { ...state, done, total, detail: name })
          return Migration.migrate(name, { pageSize, checkpoints, onProgress })
        })
      )
      yield* Report.print(host, values.output, report(all, isDryRun))
      const message = verdictOf(all)
      if (message !== undefined) return yield* new Incomplete({ message })
    }).pipe(
      Effect.provide(
        KubeClient.layer.pipe(Layer.provide(limitedTransport(values, cluster.server)), Layer.provide(cluster.transport))
      )
    )
    verdict.code = 0
  }).pipe(Effect.scoped)

const pending = Effect.gen(function* () {
  const { items } = yield* Migration.patiently((yield* KubeClient).list(CustomResourceDefinition))
  return items.filter(Migration.isPending).map(({ metadata }) => metadata.name)
})

/** A name is that of a definition: nothing is written while one of them is unknown. */
const known = Effect.fnUntraced(function* (named: ReadonlyArray<string>) {
  const { items } = yield* Migration.patiently(
    (yield* KubeClient).list(Resource.metadataOnly(CustomResourceDefinition))
  )
  const there = new Set(items.map(({ metadata }) => metadata.name))
  const missing = named.filter((name) => !there.has(name))
  if (missing.length === 0) return [...new Set(named)]
  const names = missing.map((name) => `"${name}"`).join(", ")
  return yield* new Incomplete({
    message: `the cluster has no CustomResourceDefinition ${names}: give a name as "kubectl get crds" prints it, like widgets.example.com`
  })
})

/** The fields of the value are documented in `docs/operations.md`. */
export const report = (
  all: ReadonlyArray<Migration.Migrated>,
  isDryRun: boolean
): Report.Report<Migration.Migrated> => ({
  columns,
  rows: all,
  value: { dryRun: isDryRun, definitions: all.map(valueOf) },
  text: all.length === 0 ? "no definition to migrate" : all.map((one) => sentence(one, isDryRun)).join("\n")
})

const valueOf = (one: Migration.Migrated) => ({
  name: one.name,
  outcome: one.outcome,
  storageVersion: one.storageVersion ?? null,
  storedVersions: one.storedVersions,
  removedVersions: one.removed,
  resumed: one.isResumed,
  objects: one.objects,
  rewritten: one.rewritten,
  deleted: one.deleted,
  refusals: one.refusals,
  refused: one.refused.map(({ object, reason }) => ({ object, reason }))
})

const columns: ReadonlyArray<Column<Migration.Migrated>> = [
  { title: "NAME", cell: ({ name }) => name },
  { title: "OUTCOME", cell: ({ outcome }) => outcome },
  { title: "STORAGE", cell: ({ storageVersion = "<none>" }) => storageVersion },
  { title: "REMOVED", cell: ({ removed }) => removed.join(",") || "<none>" },
  { title: "OBJECTS", cell: ({ objects }) => String(objects) },
  { title: "REFUSED", cell: ({ refusals }) => String(refusals) },
  { title: "REWRITTEN", isWide: true, cell: ({ rewritten }) => String(rewritten) },
  { title: "DELETED", isWide: true, cell: ({ deleted }) => String(deleted) },
  { title: "RESUMED", isWide: true, cell: ({ isResumed }) => (isResumed ? "yes" : "no") }
]

const sentence = (one: Migration.Migrated, isDryRun: boolean): string => {
  const { name, objects, removed, rewritten, storageVersion = "" } = one
  const versions = removed.join(", ")
  const counts = `${count(objects)} ${one.isResumed ? "more " : ""}objects`
  switch (one.outcome) {
    case "absent":
      return `${name} is not in the cluster`
    case "current":
      return `${name} is stored in ${storageVersion} only`
    case "migrated":
      return isDryRun
        ? `${name}: the server would accept all ${counts}, and ${versions} would be removed from status.storedVersions`
        : `${name}: ${counts} are stored in ${storageVersion}${one.isResumed ? "" : `, of which ${count(rewritten)} were written again`}; ${versions} is removed from status.storedVersions`
    case "changed":
      return `${name} was changed meanwhile: ${one.storedVersions.join(", ")} stay in status.storedVersions; run the command again`
    case "refused":
      return [
        `${name}: ${isDryRun ? "the server would refuse" : "the server refused"} ${count(one.refusals)} of ${counts}, so status.storedVersions stays`,
        ...one.refused.map(({ object, reason }) => `! ${oneLine(`${object}: ${reason}`)}`),
        ...(one.refusals > one.refused.length ? [`! and ${count(one.refusals - one.refused.length)} more`] : [])
      ].join("\n")
  }
}

/** One sentence if objects may be stored in another version still; undefined otherwise. */
const verdictOf = (all: ReadonlyArray<Migration.Migrated>): string | undefined => {
  const open = all.filter(({ outcome }) => outcome === "refused" || outcome === "changed")
  return open.length === 0 ? undefined : `${open.length} of ${all.length} definitions are not migrated`
}

/** `check`: whether the program could run against a cluster. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Discovery } from "../../layers/Discovery.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import * as Check from "../../manager/check/Check.ts"
import type { Host } from "../../manager/process/Host.ts"
import type * as OutputSettings from "../../manager/settings/output.ts"
import { connect, wanted } from "../connect.ts"
import * as Report from "../output/Report.ts"
import type { Column } from "../output/table.ts"
import { type Resolved, tableOf } from "../selection.ts"

/** The controllers could not work; the table has the reasons. */
class CheckFailed extends Data.TaggedError("CheckFailed")<{ readonly message: string }> {}

/** Uses the same settings and the same cluster as `run`, and only reads. */
export const check = (host: Host, resolved: Resolved<typeof OutputSettings.settings>) =>
  Effect.gen(function* () {
    const table = yield* tableOf(resolved)
    const { cluster, selection } = yield* connect(host, resolved, table, "program")
    const findings = yield* Check.run({
      server: cluster.server,
      ...(yield* wanted(resolved, cluster, selection))
    }).pipe(
      Effect.provide(Discovery.layer.pipe(Layer.provideMerge(KubeClient.layer), Layer.provideMerge(cluster.transport)))
    )
    yield* Report.print(host, resolved.values.output, report(cluster.server, findings))
    const message = verdict(findings)
    if (message !== undefined) return yield* new CheckFailed({ message })
  }).pipe(Effect.scoped)

const columns: ReadonlyArray<Column<Check.Finding>> = [
  { title: "CHECK", cell: ({ check }) => check },
  { title: "RESULT", cell: ({ isOk }) => (isOk ? "ok" : "FAILED") },
  { title: "SUBJECT", cell: ({ subject }) => subject },
  { title: "DETAIL", cell: ({ detail }) => detail },
  { title: "NEEDED BY", isWide: true, cell: ({ neededBy }) => neededBy.join(",") }
]

/** One row for each finding. The fields of the value are documented in `docs/operations.md`. */
export const report = (server: string, findings: ReadonlyArray<Check.Finding>): Report.Report<Check.Finding> => ({
  columns,
  rows: findings,
  value: {
    ok: failed(findings) === 0,
    server,
    checks: findings.map(({ check, detail, isOk, neededBy, subject }) => ({
      check,
      ok: isOk,
      subject,
      detail,
      neededBy
    }))
  }
})

const failed = (findings: ReadonlyArray<Check.Finding>): number => findings.filter((one) => !one.isOk).length

/** `2 of 14 checks failed`, or undefined when none did. */
export const verdict = (findings: ReadonlyArray<Check.Finding>): string | undefined =>
  failed(findings) === 0 ? undefined : `${failed(findings)} of ${findings.length} checks failed`

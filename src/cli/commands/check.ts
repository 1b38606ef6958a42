/** `check`: whether the program could run against a cluster. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Discovery } from "../../layers/Discovery.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import * as Check from "../../manager/check/Check.ts"
import { oneLine } from "../../kube/printable.ts"
import type { Host } from "../../manager/process/Host.ts"
import { connect, wanted } from "../connect.ts"
import { type Resolved, tableOf } from "../selection.ts"

/** The controllers could not work; the table has the reasons. */
class CheckFailed extends Data.TaggedError("CheckFailed")<{ readonly message: string }> {}

/** Uses the same settings and the same cluster as `run`, and only reads. */
export const check = (host: Host, resolved: Resolved) =>
  Effect.gen(function* () {
    const table = yield* tableOf(resolved)
    const { cluster, selection } = yield* connect(host, resolved, table, "program")
    const findings = yield* Check.run({
      server: cluster.server,
      ...(yield* wanted(resolved, cluster, selection))
    }).pipe(
      Effect.provide(Discovery.layer.pipe(Layer.provideMerge(KubeClient.layer), Layer.provideMerge(cluster.transport)))
    )
    host.stdout.write(`${render(findings)}\n`)
    const message = verdict(findings)
    if (message !== undefined) return yield* new CheckFailed({ message })
  }).pipe(Effect.scoped)

const heading = ["CHECK", "RESULT", "SUBJECT", "DETAIL"] as const

/** One row for each finding, in columns. */
export const render = (findings: ReadonlyArray<Check.Finding>): string => {
  const rows = [
    heading,
    ...findings.map((one) => [one.check, one.isOk ? "ok" : "FAILED", oneLine(one.subject), oneLine(one.detail)])
  ]
  const widths = heading.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("   ")
        .trimEnd()
    )
    .join("\n")
}

/** `2 of 14 checks failed`, or undefined when none did. */
export const verdict = (findings: ReadonlyArray<Check.Finding>): string | undefined => {
  const failed = findings.filter((one) => !one.isOk).length
  return failed === 0 ? undefined : `${failed} of ${findings.length} checks failed`
}

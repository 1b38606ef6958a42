/** The command that asks whether the program could run. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Discovery } from "../layers/Discovery.ts"
import { KubeClient } from "../layers/KubeClient.ts"
import * as Check from "../manager/check/Check.ts"
import * as CheckTable from "../manager/check/table.ts"
import type { Host } from "../manager/process/Host.ts"
import { connect } from "./connect.ts"
import { type Resolved, tableOf } from "./selection.ts"
import { wanted } from "./wanted.ts"

/** The controllers could not work as things are; the table has said why. */
class CheckFailed extends Data.TaggedError("CheckFailed")<{ readonly message: string }> {}

/** The same settings and the same cluster as `run`, but only questions. */
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
    host.stdout.write(`${CheckTable.render(findings)}\n`)
    const verdict = CheckTable.verdict(findings)
    if (verdict !== undefined) return yield* new CheckFailed({ message: verdict })
  }).pipe(Effect.scoped)

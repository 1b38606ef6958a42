/** `leases`: the Leases under which the chosen controllers lead, and which process holds each of them. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { humanDuration } from "../../kube/humanDuration.ts"
import * as Resources from "../../kube/resources.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import { isLed } from "../../layers/Shards.ts"
import type { Host } from "../../manager/process/Host.ts"
import type * as OutputSettings from "../../manager/settings/output.ts"
import { connect } from "../connect.ts"
import { leasesOf, type Lease } from "../leases.ts"
import * as Report from "../output/Report.ts"
import type { Column } from "../output/table.ts"
import { ledBy, type Resolved, tableOf } from "../selection.ts"

/** A group of controllers and its Lease in the cluster. */
export interface Row {
  /** `own`: the controllers of the program; `core`: those of kube-controller-manager. */
  readonly group: "own" | "core"
  readonly lease: Lease
  /** Those that work only while they lead. */
  readonly controllers: ReadonlyArray<string>
  /** Undefined: there is none, or the group takes part in no election. */
  readonly found: Resources.Lease | undefined
}

/** Only reads. */
export const leases = (host: Host, resolved: Resolved<typeof OutputSettings.settings>) =>
  Effect.gen(function* () {
    const table = yield* tableOf(resolved)
    const { cluster, selection } = yield* connect(host, resolved, table, "administrator")
    const all = leasesOf(resolved.values, cluster)
    const rowOf = Effect.fnUntraced(function* (group: Row["group"]) {
      const led = ledBy(selection, group === "own" ? undefined : "core").filter((one) =>
        isLed(one, resolved.values.sharding)
      )
      const lease = all[group]
      const found = lease.isElected ? yield* find(lease) : undefined
      return { group, lease, controllers: led.map(({ name }) => name), found } satisfies Row
    })
    const rows = yield* Effect.forEach(["own", "core"] as const, rowOf).pipe(
      Effect.provide(Layer.provide(KubeClient.layer, cluster.transport))
    )
    yield* Report.print(host, resolved.values.output, report(rows, yield* Clock.currentTimeMillis))
  }).pipe(Effect.scoped)

const find = ({ name, namespace }: Lease) =>
  Effect.flatMap(KubeClient, (client) =>
    client.get(Resources.Lease, { namespace, name }).pipe(
      Effect.map((lease): Resources.Lease | undefined => lease),
      Effect.catchIf(
        ({ reason }) => reason._tag === "NotFound",
        () => Effect.succeed(undefined)
      )
    )
  )

/** `now`: wall clock, milliseconds. The fields of the value are documented in `docs/operations.md`. */
export const report = (rows: ReadonlyArray<Row>, now: number): Report.Report<Row> => ({
  columns: columnsAt(now),
  rows,
  value: {
    leases: rows.map((row) => ({
      group: row.group,
      namespace: row.lease.namespace,
      name: row.lease.name,
      state: stateOf(row, now),
      holder: row.found?.spec?.holderIdentity ?? "",
      acquireTime: timeOf(row.found?.spec?.acquireTime),
      renewTime: timeOf(row.found?.spec?.renewTime),
      leaseDurationSeconds: row.found?.spec?.leaseDurationSeconds ?? null,
      transitions: row.found?.spec?.leaseTransitions ?? null,
      controllers: row.controllers
    }))
  }
})

type State = "not elected" | "missing" | "free" | "held" | "expired"

/**
 * `expired` compares the time that the holder wrote with the clock of this machine. Candidates do not rely on it: they observe how long the record
 * stays unchanged.
 */
const stateOf = ({ found, lease }: Row, now: number): State => {
  if (!lease.isElected) return "not elected"
  if (found === undefined) return "missing"
  const { holderIdentity = "", leaseDurationSeconds = 0, renewTime } = found.spec ?? {}
  if (holderIdentity === "") return "free"
  const until = Date.parse(timeOf(renewTime) ?? "") + leaseDurationSeconds * 1000
  return until < now ? "expired" : "held"
}

const timeOf = (time: unknown): string | null => (typeof time === "string" ? time : null)

const none = "<none>"

const columnsAt = (now: number): ReadonlyArray<Column<Row>> => {
  const ago = (time: unknown) =>
    Option.match(Option.fromNullishOr(timeOf(time)), {
      onNone: () => none,
      onSome: (text) => (Number.isNaN(Date.parse(text)) ? "<unknown>" : humanDuration(now - Date.parse(text)))
    })
  return [
    { title: "GROUP", cell: ({ group }) => group },
    { title: "LEASE", cell: ({ lease }) => `${lease.namespace}/${lease.name}` },
    { title: "STATE", cell: (row) => stateOf(row, now) },
    { title: "HOLDER", cell: ({ found }) => found?.spec?.holderIdentity || none },
    { title: "RENEWED", cell: ({ found }) => ago(found?.spec?.renewTime) },
    { title: "ACQUIRED", isWide: true, cell: ({ found }) => ago(found?.spec?.acquireTime) },
    { title: "DURATION", isWide: true, cell: ({ found }) => durationOf(found?.spec?.leaseDurationSeconds) },
    { title: "TRANSITIONS", isWide: true, cell: ({ found }) => String(found?.spec?.leaseTransitions ?? none) },
    { title: "CONTROLLERS", isWide: true, cell: ({ controllers }) => controllers.join(",") || none }
  ]
}

const durationOf = (seconds: number | undefined): string => (seconds === undefined ? none : `${seconds}s`)

/** Informers: what is cached of each kind, and whether its watch is healthy. */
import type { Informer } from "../../protocol.ts"
import { formatAge, formatBytes, formatCount, formatDue } from "../parts/format.ts"
import { useModel } from "../parts/hooks.ts"
import { Status } from "../parts/Status.tsx"
import { Table, type Column } from "../parts/Table.tsx"

const StateOf = ({ informer }: { readonly informer: Informer }) => {
  if (informer.failuresInARow > 0) return <Status tone="bad">failing</Status>
  return informer.synced ? <Status tone="ok">synced</Status> : <Status tone="busy">syncing</Status>
}

const rank = ({ failuresInARow, synced }: Informer): number => (failuresInARow > 0 ? 0 : synced ? 2 : 1)

export const Informers = () => {
  const model = useModel("informers", "clock")
  const { informers } = model
  if (informers === undefined) return <p class="empty">Waiting for the first figures of the informers.</p>
  const now = model.now()
  const objects = informers.reduce((sum, { objects }) => sum + objects, 0)
  const bytes = informers.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)
  const unmeasured = informers.filter(({ bytes }) => bytes === null).length
  const synced = informers.filter(({ synced }) => synced).length
  const columns: ReadonlyArray<Column<Informer>> = [
    {
      title: "Kind",
      kind: "name",
      order: (a, b) => (a.kind < b.kind ? -1 : 1),
      cell: ({ kind }) => (
        <span data-item tabIndex={0}>
          {kind}
        </span>
      )
    },
    { title: "Selection", cell: ({ scope }) => scope },
    {
      title: "State",
      kind: "state",
      order: (a, b) => rank(a) - rank(b),
      cell: (informer) => <StateOf informer={informer} />
    },
    {
      title: "Objects",
      kind: "number",
      order: (a, b) => a.objects - b.objects,
      cell: ({ objects }) => formatCount(objects)
    },
    {
      title: "Size",
      kind: "number",
      order: (a, b) => (a.bytes ?? -1) - (b.bytes ?? -1),
      cell: ({ bytes }) => (bytes === null ? <span class="muted">not measured yet</span> : formatBytes(bytes))
    },
    {
      title: "Last event",
      kind: "number",
      order: (a, b) => (a.lastEventAt ?? 0) - (b.lastEventAt ?? 0),
      cell: ({ lastEventAt }) => formatAge(now, lastEventAt)
    },
    {
      title: "Readers",
      kind: "number",
      order: (a, b) => a.subscribers - b.subscribers,
      cell: ({ subscribers }) => formatCount(subscribers)
    },
    {
      title: "Relists",
      kind: "number",
      order: (a, b) => a.relists - b.relists,
      cell: ({ relists }) => formatCount(relists)
    },
    {
      title: "Failures",
      kind: "number",
      order: (a, b) => a.failures - b.failures,
      cell: ({ failures }) => formatCount(failures)
    },
    {
      title: "Last error",
      cell: ({ failuresInARow, lastError }) =>
        lastError === null ? null : (
          <>
            <span class={failuresInARow > 0 ? "error" : undefined}>{lastError.message}</span>{" "}
            <span class="muted">
              {formatAge(now, lastError.at)}
              {failuresInARow > 0 && `, ${formatCount(failuresInARow)} in a row`}
              {failuresInARow > 0 &&
                lastError.retryIn !== null &&
                `, next try ${formatDue(now, lastError.at + lastError.retryIn)}`}
            </span>
          </>
        )
    }
  ]
  return (
    <>
      <p class="muted lead">
        {synced} of {informers.length} synced, {formatCount(objects)} objects, {formatBytes(bytes)}
        {unmeasured > 0 && `, the size of ${unmeasured} not measured yet`}. Relists and failures are counted since the
        informer started.
      </p>
      <Table
        label="Informers"
        columns={columns}
        rows={informers}
        keyOf={({ kind, scope }) => `${kind} ${scope}`}
        empty="No informer runs. Informers start with the controllers that read their kinds."
      />
    </>
  )
}

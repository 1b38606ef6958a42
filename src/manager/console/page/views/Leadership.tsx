/** Leadership: who holds each lease, for how long it is valid, and its renewals in five minutes. */
import type { LeaderGroup } from "../../protocol.ts"
import { groupId } from "../model/Model.ts"
import { window, type Sample } from "../model/Samples.ts"
import { formatDuration, plural } from "../parts/format.ts"
import { useModel } from "../parts/hooks.ts"
import { Status } from "../parts/Status.tsx"

const width = 600
const height = 36

/** A renewal is where the lease became valid for longer. */
const renewalsOf = (samples: ReadonlyArray<Sample>): ReadonlyArray<Sample> =>
  samples.filter(({ value }, at) => value > (samples[at - 1]?.value ?? Infinity))

const Strip = ({ now, samples }: { readonly samples: ReadonlyArray<Sample>; readonly now: number }) => {
  const renewals = renewalsOf(samples)
  const last = renewals.at(-1)
  const most = samples.reduce((most, { value }) => Math.max(most, value), 1)
  const x = (at: number) => (Math.max(0, 1 - (now - at) / window) * width).toFixed(1)
  const y = (value: number) => (height - 8 - (value / most) * (height - 12)).toFixed(1)
  const label = `${plural(renewals.length, "renewal")} seen in five minutes${last === undefined ? "" : `, the last ${formatDuration(now - last.at)} ago`}`
  return (
    <figure class="strip">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
        <path class="axis" d={`M0 ${height - 8}H${width}`} />
        <polyline points={samples.map(({ at, value }) => `${x(at)},${y(value)}`).join(" ")} />
        {renewals.map(({ at }) => (
          <path key={at} class="renewal" d={`M${x(at)} ${height - 8}v6`} />
        ))}
      </svg>
      <figcaption class="muted">{label}. The line is the time for which the lease is still valid.</figcaption>
    </figure>
  )
}

const Group = ({
  group,
  now,
  samples
}: {
  readonly group: LeaderGroup
  readonly now: number
  readonly samples: ReadonlyArray<Sample>
}) => (
  <section class="card" aria-label={group.lease ?? "Controllers without a lease"}>
    <header>
      <h2 class="name">{group.lease ?? "Without a lease"}</h2>
      {group.lease === null ? (
        <Status tone="ok">always runs</Status>
      ) : group.leads ? (
        <Status tone="ok">this process leads</Status>
      ) : (
        <Status tone="off">another process leads</Status>
      )}
    </header>
    {group.lease !== null && (
      <>
        <dl class="facts">
          <dt>Holder</dt>
          <dd class="name">{group.leader ?? "no process holds the lease"}</dd>
          <dt>This process</dt>
          <dd class="name">{group.identity ?? "–"}</dd>
          <dt>Valid for</dt>
          <dd>{group.validFor === null ? "–" : formatDuration(group.validFor)}</dd>
        </dl>
        <Strip samples={samples} now={now} />
      </>
    )}
    <p>
      <span class="muted">{plural(group.controllers.length, "controller")}: </span>
      <span class="name">{group.controllers.join(", ")}</span>
    </p>
  </section>
)

export const Leadership = () => {
  const model = useModel("leadership", "clock")
  const { groups } = model
  if (groups === undefined) return <p class="empty">Waiting for the state of the election.</p>
  if (groups.length === 0) {
    return (
      <p class="empty">
        No controllers take part in an election. With --leader-elect several processes share a Lease, and one of them
        runs the controllers.
      </p>
    )
  }
  return (
    <div class="cards">
      {groups.map((group) => (
        <Group
          key={groupId(group)}
          group={group}
          now={model.now()}
          samples={model.leases.get(groupId(group))?.all ?? []}
        />
      ))}
    </div>
  )
}

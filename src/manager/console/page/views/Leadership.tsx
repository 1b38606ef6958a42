/** Leadership: the terms of this process, who holds each lease, the last renewals, and writes that were refused because the lease was not valid. */
import type { LeaderGroup, Renewal } from "../../protocol.ts"
import { groupId } from "../model/Model.ts"
import { formatAge, formatCount, formatDuration, formatTime, plural } from "../parts/format.ts"
import { useModel } from "../parts/hooks.ts"
import { Status } from "../parts/Status.tsx"

const width = 600
/** Renewed: up from the axis, as high as it was long compared with the longest. Failed: down from it. */
const axis = 34
const height = 48

/** The strip shows at least one minute, and at most five. */
const [shortest, longest] = [60_000, 5 * 60_000]

const textOf = (renewals: ReadonlyArray<Renewal>, now: number): string => {
  const last = renewals.at(-1)
  if (last === undefined) return "This process has not tried to renew the lease yet."
  const failed = renewals.filter(({ isRenewed }) => !isRenewed).length
  const most = renewals.reduce((most, { took }) => Math.max(most, took), 0)
  const result = last.isRenewed ? `took ${formatDuration(last.took)}` : "failed"
  return `${plural(renewals.length, "attempt")} to renew the lease, ${formatCount(failed)} failed; the longest took ${formatDuration(most)}. The last one was ${formatAge(now, last.at)} and ${result}.`
}

const Strip = ({ now, renewals }: { readonly renewals: ReadonlyArray<Renewal>; readonly now: number }) => {
  const from = Math.min(now - shortest, Math.max(renewals[0]?.at ?? now, now - longest))
  const shown = renewals.filter(({ at }) => at >= from)
  const most = shown.reduce((most, { isRenewed, took }) => (isRenewed ? Math.max(most, took) : most), 1)
  const x = (at: number) => (Math.min(1, (at - from) / (now - from)) * (width - 4) + 2).toFixed(1)
  const label = textOf(renewals, now)
  return (
    <figure class="strip">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
        <path d={`M0 ${axis}H${width}`} />
        {shown.map(({ at, isRenewed, took }) => (
          <path
            key={at}
            class={isRenewed ? "renewed" : "failed"}
            d={`M${x(at)} ${axis}V${isRenewed ? (axis - 4 - (took / most) * (axis - 6)).toFixed(1) : height}`}
          >
            <title>{`${formatTime(at)} ${isRenewed ? "renewed" : "failed"} after ${formatDuration(took)}`}</title>
          </path>
        ))}
      </svg>
      <figcaption class="muted">
        <span aria-hidden="true">{label} </span>
        {shown.length > 0 &&
          `From ${formatTime(from)}; a line up is a renewal, the higher the longer it took; a line down is a failure.`}
      </figcaption>
    </figure>
  )
}

const StateOf = ({ group }: { readonly group: LeaderGroup }) => {
  if (group.lease === null) return <Status tone="ok">always runs</Status>
  if (group.leads) return <Status tone="ok">this process leads</Status>
  return group.leader === null ? (
    <Status tone="warn">no process leads</Status>
  ) : (
    <Status tone="off">another process leads</Status>
  )
}

const Facts = ({ group, now }: { readonly group: LeaderGroup; readonly now: number }) => (
  <dl class="facts">
    <dt>Holder</dt>
    <dd class="name">{group.leader ?? "no process holds the lease"}</dd>
    <dt>This process</dt>
    <dd class="name">{group.identity ?? "–"}</dd>
    <dt>Valid for</dt>
    <dd>{group.validFor === null ? "–" : formatDuration(group.validFor)}</dd>
    <dt>Terms of this process</dt>
    <dd>
      {formatCount(group.terms)}
      {group.since !== null && `, the present one since ${formatTime(group.since)}, ${formatAge(now, group.since)}`}
    </dd>
    <dt>Changes of the holder</dt>
    <dd>{group.transitions === null ? "not known" : `${formatCount(group.transitions)}, as the Lease counts them`}</dd>
    {group.lastError !== null && (
      <>
        <dt>Last failed renewal</dt>
        <dd>
          <span class={group.leads ? undefined : "error"}>{group.lastError.message}</span>{" "}
          <span class="muted">{formatAge(now, group.lastError.at)}</span>
        </dd>
      </>
    )}
  </dl>
)

const Group = ({ group, now }: { readonly group: LeaderGroup; readonly now: number }) => (
  <section class="card" aria-label={group.lease ?? "Controllers without a lease"}>
    <header>
      <h2 class="name">{group.lease ?? "Without a lease"}</h2>
      <StateOf group={group} />
    </header>
    {group.lease !== null && (
      <>
        <Facts group={group} now={now} />
        <Strip renewals={group.renewals} now={now} />
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
  const { fencedWrites, groups } = model
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
    <>
      <p class="lead muted">
        <span class={fencedWrites > 0 ? "error" : undefined}>{plural(fencedWrites, "fenced write")}</span> since the
        start: refused or given up, because this process was not certain to lead.
      </p>
      <div class="cards">
        {groups.map((group) => (
          <Group key={groupId(group)} group={group} now={model.now()} />
        ))}
      </div>
    </>
  )
}

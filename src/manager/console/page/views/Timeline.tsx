/** The timeline of an object: changes, the reconciles that they led to, and the writes and events of those. */
import type { ComponentChildren } from "preact"
import { useEffect, useMemo, useState } from "preact/hooks"
import type { ObjectView, TimelineEntry } from "../../protocol.ts"
import { hrefOfObject } from "../model/route.ts"
import { formatCount, formatDue, formatDuration, formatTime } from "../parts/format.ts"
import { EntryRow } from "../parts/EntryRow.tsx"
import { Status, type Tone } from "../parts/Status.tsx"
import { chainOf, stepsOf } from "./chain.ts"

type Entry<Type extends TimelineEntry["type"]> = Extract<TimelineEntry, { readonly type: Type }>

const outcomes: Readonly<Record<Entry<"reconcile">["outcome"], Tone>> = {
  running: "busy",
  done: "ok",
  requeue: "ok",
  error: "bad",
  "terminal error": "bad",
  defect: "bad",
  timeout: "bad",
  "gave up": "bad",
  interrupted: "off"
}

const idOf = (id: number) => `entry-${id}`

interface Context {
  readonly now: number
  /** The object of the page: an entry of another one names it. */
  readonly object: ObjectView
  readonly known: ReadonlySet<number>
  readonly show: (id: number) => void
}

/** What led to an entry, as a link to it while it is kept. */
const Cause = ({
  children,
  context,
  id
}: {
  readonly id: number | null | undefined
  readonly context: Context
  readonly children: ComponentChildren
}) =>
  id !== undefined && id !== null && context.known.has(id) ? (
    <a
      class="cause"
      href={`#${idOf(id)}`}
      onClick={(event) => {
        event.preventDefault()
        context.show(id)
      }}
    >
      {children}
    </a>
  ) : (
    <span class="cause">{children}</span>
  )

const Other = ({
  context: { object },
  entry
}: {
  readonly context: Context
  readonly entry: { readonly resource: string; readonly key: string }
}) =>
  entry.resource === object.resource && entry.key === object.key ? null : entry.key.endsWith("*") ? (
    // A collection, or an object that got no name.
    <span class="name">
      {entry.resource} {entry.key}
    </span>
  ) : (
    <a class="name" href={hrefOfObject(entry.resource, entry.key)}>
      {entry.resource} {entry.key}
    </a>
  )

const Change = ({ context, entry }: { readonly entry: Entry<"change">; readonly context: Context }) => (
  <>
    <span class="verb">{entry.change}</span> <Other context={context} entry={entry} />
    {entry.paths.length > 0 && <code>{entry.paths.join(", ")}</code>}
    <span class="muted"> resourceVersion {entry.resourceVersion}</span>
  </>
)

const Reconcile = ({ context, entry }: { readonly entry: Entry<"reconcile">; readonly context: Context }) => (
  <>
    <span class="verb">{entry.controller}</span> <Status tone={outcomes[entry.outcome]}>{entry.outcome}</Status>
    <span class="muted">
      {" "}
      {entry.duration === null ? "runs" : `took ${formatDuration(entry.duration)}`}, waited{" "}
      {formatDuration(entry.waited)}
      {entry.attempt !== undefined && entry.attempt > 0 && `, failure ${entry.attempt} in a row`}
    </span>
    {entry.reasons.length > 0 && (
      <ul class="reasons" aria-label="Reasons">
        {entry.reasons.map((reason, at) => (
          <li key={at}>
            <span class="muted">because of </span>
            <Cause id={entry.causes[at]} context={context}>
              {reason}
            </Cause>
          </li>
        ))}
      </ul>
    )}
    {entry.error !== undefined && <p class="error">{entry.error}</p>}
    {entry.due !== undefined && (
      <p class="muted">
        due again {entry.due > context.now ? formatDue(context.now, entry.due) : `at ${formatTime(entry.due)}`}
      </p>
    )}
  </>
)

interface WriteProps {
  readonly entry: Entry<"write">
  readonly context: Context
  /** The reconcile that made it. */
  readonly run: TimelineEntry | undefined
}

const Write = ({ context, entry, run }: WriteProps) => (
  <>
    <span class="verb">{entry.verb}</span>{" "}
    <span class="name">
      {entry.resource === context.object.resource && entry.key === context.object.key ? (
        "this object"
      ) : (
        <Other context={context} entry={entry} />
      )}
      {entry.subresource !== undefined && `, ${entry.subresource}`}
    </span>{" "}
    <Status tone={entry.status !== null && entry.status < 400 ? "ok" : "bad"}>{entry.status ?? "no response"}</Status>
    <span class="muted"> {formatDuration(entry.duration)}</span>
    {entry.error !== undefined && !(run?.type === "reconcile" && run.error === entry.error) && (
      <p class="error">{entry.error}</p>
    )}
  </>
)

const Event = ({ context, entry }: { readonly entry: Entry<"event">; readonly context: Context }) => (
  <>
    <Status tone={entry.kind === "Warning" ? "warn" : "ok"}>{entry.kind}</Status>{" "}
    <span class="verb">{entry.reason}</span> <Other context={context} entry={entry} />{" "}
    <span class="message">{entry.message}</span>
  </>
)

const titles: Readonly<Record<TimelineEntry["type"], string>> = {
  change: "change",
  reconcile: "reconcile",
  write: "write",
  event: "event"
}

const toneOf = (entry: TimelineEntry): Tone => {
  switch (entry.type) {
    case "change":
      return "off"
    case "reconcile":
      return outcomes[entry.outcome]
    case "write":
      return entry.status !== null && entry.status < 400 ? "ok" : "bad"
    case "event":
      return entry.kind === "Warning" ? "warn" : "ok"
    default:
      return "off"
  }
}

const bodyOf = (entry: TimelineEntry, context: Context, run: TimelineEntry | undefined) => {
  switch (entry.type) {
    case "change":
      return <Change entry={entry} context={context} />
    case "reconcile":
      return <Reconcile entry={entry} context={context} />
    case "write":
      return <Write entry={entry} context={context} run={run} />
    case "event":
      return <Event entry={entry} context={context} />
    default:
      return null
  }
}

/** So many steps are shown at first, and added by a click. */
const page = 50
/** So many steps are added in one frame, so that each frame is short. */
const portion = 10

export const Timeline = ({ now, object }: { readonly object: ObjectView; readonly now: number }) => {
  const { timeline } = object
  const [selected, setSelected] = useState<number>()
  const [limit, setLimit] = useState(page)
  const [shown, setShown] = useState(portion)
  useEffect(() => {
    if (shown >= limit) return undefined
    const frame = requestAnimationFrame(() => setShown(Math.min(limit, shown + portion)))
    return () => cancelAnimationFrame(frame)
  }, [shown, limit])
  const steps = useMemo(() => stepsOf(timeline), [timeline])
  const chain = useMemo(() => (selected === undefined ? undefined : chainOf(timeline, selected)), [timeline, selected])
  const known = useMemo(() => new Set(timeline.map(({ id }) => id)), [timeline])
  const show = (id: number) => {
    setSelected(id)
    const at = steps.findIndex(({ entry, results }) => entry.id === id || results.some((result) => result.id === id))
    if (at >= shown) {
      setLimit(at + page)
      setShown(at + page)
    }
    // After the render that may show it.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        const element = document.getElementById(idOf(id))
        const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches
        element?.scrollIntoView({ block: "center", behavior: isStill ? "auto" : "smooth" })
        element?.focus({ preventScroll: true })
      })
    )
  }
  const context: Context = { now, object, known, show }
  const classOf = (entry: TimelineEntry) =>
    `${entry.type}${selected === entry.id ? " selected" : ""}${chain?.has(entry.id) === true ? " linked" : ""}`
  const item = (entry: TimelineEntry, results: ReadonlyArray<TimelineEntry>, run?: TimelineEntry) => (
    <li key={entry.id}>
      <EntryRow
        id={idOf(entry.id)}
        kind={classOf(entry)}
        tone={toneOf(entry)}
        time={<time dateTime={isoOf(entry.at)}>{formatTime(entry.at)}</time>}
      >
        <button
          type="button"
          class="type"
          aria-pressed={selected === entry.id}
          title="Highlight its causes and effects"
          onClick={() => setSelected(selected === entry.id ? undefined : entry.id)}
        >
          {titles[entry.type]}
        </button>{" "}
        {bodyOf(entry, context, run)}
      </EntryRow>
      {results.length > 0 && <ol class="results">{results.map((result) => item(result, [], entry))}</ol>}
    </li>
  )
  if (timeline.length === 0) {
    return (
      <p class="empty">
        {object.truncated
          ? "What happened to the object was dropped, because the memory for timelines was full."
          : "Nothing has happened to the object since the program began. Change it, and its reconciles appear here."}
      </p>
    )
  }
  return (
    <>
      <ol class="timeline" aria-label="Timeline, newest first">
        {steps.slice(0, shown).map(({ entry, results }) => item(entry, results))}
      </ol>
      {steps.length > limit && (
        <button type="button" class="more" onClick={() => setLimit(limit + page)}>
          Show {Math.min(page, steps.length - limit)} earlier
        </button>
      )}
      {object.truncated && (
        <p class="muted">
          Earlier entries were dropped: the last {formatCount(timeline.length)} are shown, and the memory for timelines
          is limited.
        </p>
      )}
    </>
  )
}

const isoOf = (at: number): string | undefined => {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

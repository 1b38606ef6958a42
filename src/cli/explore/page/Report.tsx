/** What explorations have found: the list of failures, then each with its timeline. */
import { useState } from "preact/hooks"
import { EntryRow } from "../../../manager/console/page/parts/EntryRow.tsx"
import { plural } from "../../../manager/console/page/parts/format.ts"
import { Status, type Tone } from "../../../manager/console/page/parts/Status.tsx"
import { excerpt } from "../../../testing/explore/report/excerpt.ts"
import type { ExplorationView, FailureView, ReportView } from "../../../testing/explore/report/html.ts"
import type { Line } from "../../../testing/explore/report/lines.ts"

const idOf = (exploration: number, failure: number) => `failure-${exploration + 1}-${failure + 1}`

export const Report = ({ report: { explorations } }: { readonly report: ReportView }) => (
  <>
    <h1>Explorations</h1>
    <Overview explorations={explorations} />
    {explorations.map((one, at) => (
      <Exploration key={one.name} exploration={one} at={at} />
    ))}
  </>
)

const Overview = ({ explorations }: { readonly explorations: ReadonlyArray<ExplorationView> }) => {
  const failures = explorations.flatMap(({ failures: own, name }, exploration) =>
    own.map(({ id, message, rule }, at) => ({ name, id, message, rule, href: `#${idOf(exploration, at)}` }))
  )
  if (failures.length === 0) {
    return explorations.every(({ problem }) => problem === null) ? <p class="empty">Nothing was found.</p> : null
  }
  return (
    <nav aria-label="Failures" class="lead">
      <ul>
        {failures.map(({ href, id, message, name, rule }) => (
          <li key={href}>
            <a href={href}>
              <span>
                <Status tone="bad">{rule}</Status> {name}: {message}
              </span>
              <code>{id === "" ? "undisturbed" : id}</code>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

const Exploration = ({ at, exploration }: { readonly exploration: ExplorationView; readonly at: number }) => {
  const { failures, file, name, problem, summary } = exploration
  return (
    <section aria-label={name}>
      <h2>
        {name} <span class="muted">{file}</span>
      </h2>
      {problem !== null && <p class="notice error">It cannot be explored: {problem}</p>}
      {problem === null && <p class="summary">{summary}</p>}
      {failures.map((failure, i) => (
        <Failure key={failure.id + failure.message} id={idOf(at, i)} failure={failure} />
      ))}
    </section>
  )
}

/** More names of perturbations do not help a reader. */
const mostNamed = 20

const Failure = ({ failure, id }: { readonly failure: FailureView; readonly id: string }) => {
  const { also, details, lines, message, replay, rule, where, writes } = failure
  return (
    <article class="failure" id={id} aria-label={message}>
      <p>
        <Status tone="bad">{rule}</Status> {message}
      </p>
      <ul>
        {where.length === 0 && <li>without any perturbation</li>}
        {where.map((one) => (
          <li key={one}>at {one}</li>
        ))}
        {[...details, ...writes].map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
      {also.length > 0 && (
        <p class="muted">
          The same with {also.slice(0, mostNamed).join(", ")}
          {also.length > mostNamed && `, and ${also.length - mostNamed} more`}
        </p>
      )}
      <p>
        Repeat it with <code>{replay}</code>
      </p>
      <Moments lines={lines} />
    </article>
  )
}

/** The timeline, oldest first: what surrounds the perturbations and the end, or all of it. */
const Moments = ({ lines }: { readonly lines: ReadonlyArray<Line> }) => {
  const [isWhole, setWhole] = useState(false)
  const parts = isWhole ? lines : excerpt(lines)
  return (
    <>
      {parts.length < lines.length || isWhole ? (
        <button type="button" aria-pressed={isWhole} onClick={() => setWhole(!isWhole)}>
          Whole timeline, {plural(lines.length, "entry").replace("entrys", "entries")}
        </button>
      ) : null}
      <ol class="timeline moments" aria-label="Timeline, oldest first">
        {parts.map((part, i) => (
          <li key={i}>
            {"skipped" in part ? <p class="skipped">… {part.skipped} left out</p> : <Moment line={part} />}
          </li>
        ))}
      </ol>
    </>
  )
}

const toneOf = ({ isBad, outcome, type }: Line): Tone => {
  if (isBad) return "bad"
  if (type === "process") return "warn"
  return outcome === "" ? "off" : "ok"
}

const Moment = ({ line }: { readonly line: Line }) => {
  const { at, outcome, perturbed, process, text, type } = line
  const tone = toneOf(line)
  return (
    <EntryRow
      kind={perturbed.length > 0 ? "perturbed" : ""}
      tone={tone}
      time={<time dateTime={`PT${at / 1000}S`}>{(at / 1000).toFixed(3)} s</time>}
    >
      <span class="kind">{type}</span>
      <span class="process" title={process === undefined ? undefined : `process ${process}`}>
        {process === undefined ? "" : `#${process}`}
      </span>
      <span class="name">{text}</span> {outcome !== "" && <Status tone={tone}>{outcome}</Status>}
      {perturbed.map((one) => (
        <p key={one} class="perturbation">
          {one}
        </p>
      ))}
    </EntryRow>
  )
}

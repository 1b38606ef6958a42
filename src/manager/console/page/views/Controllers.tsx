/** Controllers: what each does now and did in the last five minutes, and the order in which they start. */
import { Fragment } from "preact"
import { useState } from "preact/hooks"
import type { Controller, Informer, LeaderGroup } from "../../protocol.ts"
import { depthOf, type Model } from "../model/Model.ts"
import { hrefOfKey } from "../model/route.ts"
import { formatAge, formatCount, formatDuration, formatRate, plural } from "../parts/format.ts"
import { useFrameByFrame, useModel } from "../parts/hooks.ts"
import { Sparkline } from "../parts/Sparkline.tsx"
import { Status, type Tone } from "../parts/Status.tsx"
import { Table, type Column } from "../parts/Table.tsx"

const tones: Readonly<Record<Controller["state"], Tone>> = {
  started: "ok",
  waiting: "busy",
  skipped: "off",
  failed: "bad"
}

/** A controller that runs and has failing keys needs attention as well. */
const toneOf = ({ queue, state }: Controller): Tone =>
  state === "started" && queue.failing > 0 ? "warn" : tones[state]

/** The kinds that the controller reads and whose informers have not synced. */
const missing = ({ reads }: Controller, informers: ReadonlyArray<Informer>): ReadonlyArray<string> =>
  reads.filter((kind) => informers.some((informer) => informer.kind === kind && !informer.synced))

const Detail = ({ controller, model }: { readonly controller: Controller; readonly model: Model }) => {
  const samples = model.samples.get(controller.name)
  const now = model.now()
  const { lastError } = controller
  return (
    <div class="columns">
      <dl class="facts">
        <dt>Workers</dt>
        <dd>
          {controller.active} of {controller.workers} busy
        </dd>
        <dt>Queue</dt>
        <dd>
          {controller.queue.ready} ready, {controller.queue.delayed} delayed, {controller.queue.processing} running,{" "}
          {controller.queue.failing} failing
        </dd>
        <dt>Runs since the start</dt>
        <dd>
          {formatCount(controller.runs)}, of which {formatCount(controller.failures)} failed
        </dd>
        <dt>Reads</dt>
        <dd>{controller.reads.length === 0 ? "no informers" : controller.reads.join(", ")}</dd>
        {controller.reason !== undefined && (
          <>
            <dt>{controller.state === "waiting" ? "Waits for" : "Reason"}</dt>
            <dd>{controller.reason}</dd>
          </>
        )}
        {lastError !== null && (
          <>
            <dt>Last error</dt>
            <dd>
              <span class="error">{lastError.message}</span>{" "}
              <span class="muted">
                {lastError.key !== undefined && <a href={hrefOfKey(controller, lastError.key)}>{lastError.key}</a>}{" "}
                {formatAge(now, lastError.at)}
              </span>
            </dd>
          </>
        )}
      </dl>
      {samples !== undefined && (
        <dl class="charts">
          <dt>Runs/s</dt>
          <dd>
            <Sparkline samples={samples.rate.all} now={now} />
          </dd>
          <dt>Errors/s</dt>
          <dd>
            <Sparkline samples={samples.errors.all} now={now} tone="bad" />
          </dd>
          <dt>Keys in the queue</dt>
          <dd>
            <Sparkline samples={samples.depth.all} now={now} />
          </dd>
        </dl>
      )}
    </div>
  )
}

const Figure = (props: {
  readonly title: string
  readonly value: string
  readonly note?: string
  readonly samples?: Parameters<typeof Sparkline>[0]["samples"]
  readonly now: number
  readonly tone?: "plain" | "bad"
}) => (
  <div class="figure">
    <dt>{props.title}</dt>
    <dd>
      <strong>{props.value}</strong> {props.note !== undefined && <span class="muted">{props.note}</span>}
      {props.samples !== undefined && <Sparkline samples={props.samples} now={props.now} tone={props.tone} />}
    </dd>
  </div>
)

const Figures = ({
  controllers,
  model
}: {
  readonly controllers: ReadonlyArray<Controller>
  readonly model: Model
}) => {
  const now = model.now()
  const { depth, errors, rate } = model.total
  const started = controllers.filter(({ state }) => state === "started").length
  const oldest = controllers.reduce<number | null>(
    (most, { oldest }) => (oldest === null ? most : Math.max(most ?? 0, oldest)),
    null
  )
  const failing = controllers.reduce((sum, { queue }) => sum + queue.failing, 0)
  return (
    <dl class="figures">
      <Figure title="Controllers" value={`${started}`} note={`of ${controllers.length} run`} now={now} />
      <Figure title="Runs/s" value={formatRate(rate.last ?? 0)} samples={rate.all} now={now} />
      <Figure title="Errors/s" value={formatRate(errors.last ?? 0)} samples={errors.all} now={now} tone="bad" />
      <Figure
        title="Keys in queues"
        value={formatCount(depth.last ?? 0)}
        note={`${formatCount(failing)} failing`}
        samples={depth.all}
        now={now}
      />
      <Figure title="Oldest ready key" value={formatDuration(oldest)} now={now} />
    </dl>
  )
}

/** The controllers of each group that leads together, and those that need no leader: each of these starts its controllers one after another. */
const sequencesOf = (
  controllers: ReadonlyArray<Controller>,
  groups: ReadonlyArray<LeaderGroup>
): ReadonlyArray<{ readonly title: string; readonly members: ReadonlyArray<Controller> }> => {
  const led = new Set(groups.flatMap(({ controllers }) => controllers))
  return [
    { title: "Whether or not this process leads", members: controllers.filter(({ name }) => !led.has(name)) },
    ...groups.map((group) => ({
      title: group.lease === null ? "Without an election" : `With lease ${group.lease}`,
      members: controllers.filter(({ name }) => group.controllers.includes(name))
    }))
  ].filter(({ members }) => members.length > 0)
}

const StartOrder = (props: {
  readonly controllers: ReadonlyArray<Controller>
  readonly disabled: ReadonlyArray<string>
  readonly informers: ReadonlyArray<Informer>
  readonly groups: ReadonlyArray<LeaderGroup>
}) => {
  const count = useFrameByFrame(props.controllers.length)
  return (
    <section aria-labelledby="start-order">
      <h2 id="start-order">Start order</h2>
      <p class="muted">Controllers of one list start one after another; lists start independently.</p>
      {sequencesOf(props.controllers.slice(0, count), props.groups).map(({ members, title }, _, { length }) => (
        <Fragment key={members[0]?.name}>
          {length > 1 && <h3 class="name">{title}</h3>}
          <ol class="order" aria-label={length > 1 ? title : "Start order"}>
            {members.map((controller) => {
              const kinds = missing(controller, props.informers)
              return (
                <li key={controller.name}>
                  <span class="name">{controller.name}</span>
                  <Status tone={tones[controller.state]}>{controller.state}</Status>
                  <span class="muted">
                    {controller.reason ?? (kinds.length > 0 && `reads ${kinds.join(", ")}, not synced`)}
                  </span>
                </li>
              )
            })}
          </ol>
        </Fragment>
      ))}
      {props.disabled.length > 0 && (
        <p class="muted">
          Switched off: <span class="name">{props.disabled.join(", ")}</span>
        </p>
      )}
    </section>
  )
}

export const Controllers = () => {
  const model = useModel("controllers", "informers", "leadership", "clock")
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const { controllers, disabled, groups = [], informers = [] } = model
  if (controllers === undefined) return <p class="empty">Waiting for the first figures of the controllers.</p>
  const now = model.now()
  const toggle = (name: string) => {
    const next = new Set(opened)
    if (!next.delete(name)) next.add(name)
    setOpened(next)
  }
  /** Of the last runs: a controller that does nothing has no newer ones. */
  const latencyOf = ({ name }: Controller, which: "p50" | "p99") => model.samples.get(name)?.latency[which] ?? null
  const rateOf = ({ name }: Controller) => model.samples.get(name)?.rate.last ?? 0
  const columns: ReadonlyArray<Column<Controller>> = [
    {
      title: "Controller",
      kind: "name",
      order: (a, b) => (a.name < b.name ? -1 : 1),
      cell: ({ name }) => (
        <button type="button" class="open" data-item aria-expanded={opened.has(name)} onClick={() => toggle(name)}>
          {name}
        </button>
      )
    },
    {
      title: "State",
      kind: "state",
      order: (a, b) => (a.state < b.state ? -1 : 1),
      cell: (controller) => (
        <Status tone={toneOf(controller)}>
          {controller.state === "started" && controller.queue.failing > 0
            ? `${formatCount(controller.queue.failing)} failing`
            : controller.state}
        </Status>
      )
    },
    { title: "Runs/s", kind: "number", order: (a, b) => rateOf(a) - rateOf(b), cell: (one) => formatRate(rateOf(one)) },
    {
      title: "Five minutes",
      kind: "chart",
      cell: ({ name }) => <Sparkline samples={model.samples.get(name)?.rate.all ?? []} now={now} />
    },
    {
      title: "Errors",
      kind: "number",
      order: (a, b) => a.failures - b.failures,
      cell: ({ failures }) => <span class={failures > 0 ? "error" : "muted"}>{formatCount(failures)}</span>
    },
    {
      title: "p50",
      kind: "number",
      order: (a, b) => (latencyOf(a, "p50") ?? -1) - (latencyOf(b, "p50") ?? -1),
      cell: (one) => formatDuration(latencyOf(one, "p50"))
    },
    {
      title: "p99",
      kind: "number",
      order: (a, b) => (latencyOf(a, "p99") ?? -1) - (latencyOf(b, "p99") ?? -1),
      cell: (one) => formatDuration(latencyOf(one, "p99"))
    },
    {
      title: "Queue",
      kind: "number",
      order: (a, b) => depthOf(a) - depthOf(b),
      cell: (one) => formatCount(depthOf(one))
    },
    {
      title: "Oldest",
      kind: "number",
      order: (a, b) => (a.oldest ?? -1) - (b.oldest ?? -1),
      cell: ({ oldest }) => formatDuration(oldest)
    }
  ]
  return (
    <>
      <Figures controllers={controllers} model={model} />
      <Table
        label={`Controllers, ${plural(controllers.length, "row")}`}
        columns={columns}
        rows={controllers}
        keyOf={({ name }) => name}
        empty="No controller is switched on. The option --controllers names those that run."
        detail={(controller) =>
          opened.has(controller.name) ? <Detail controller={controller} model={model} /> : undefined
        }
      />
      <StartOrder controllers={controllers} disabled={disabled} informers={informers} groups={groups} />
    </>
  )
}

/** The first keys of the queues: what runs, what is ready, and what is delayed or failing with its next try. */
import { useState } from "preact/hooks"
import type { Controller, QueuedKey } from "../../protocol.ts"
import { hrefOfKey } from "../model/route.ts"
import { formatAge, formatCount, formatDue, formatDuration } from "../parts/format.ts"
import { useModel } from "../parts/hooks.ts"
import { Status, type Tone } from "../parts/Status.tsx"
import { Table, type Column } from "../parts/Table.tsx"

type State = QueuedKey["state"] | "failing"

interface Row {
  readonly controller: Controller
  readonly key: QueuedKey
  readonly state: State
}

const tones: Readonly<Record<State, Tone>> = { running: "busy", ready: "ok", delayed: "off", failing: "bad" }
const states: ReadonlyArray<State> = ["running", "ready", "delayed", "failing"]

const stateOf = (key: QueuedKey): State => (key.state === "delayed" && key.failures > 0 ? "failing" : key.state)

/** Milliseconds until the key is tried; negative for how long it has waited or run. */
const leftOf = ({ key }: Row, now: number): number => (key.state === "delayed" ? key.due : key.since) - now

const failuresOf = ({ key }: Row): number => (key.state === "delayed" ? key.failures : 0)

const When = ({ now, row: { key } }: { readonly row: Row; readonly now: number }) => {
  switch (key.state) {
    case "running":
      return <>runs for {formatDuration(now - key.since)}</>
    case "ready":
      return <>ready for {formatDuration(now - key.since)}</>
    case "delayed":
      return (
        <>
          {key.failures > 0 ? "next try" : "due"} {formatDue(now, key.due)}
        </>
      )
    default:
      return null
  }
}

/** The last error of a controller has the whole message and its time; of other keys the beginning is known. */
const Error = ({ now, row: { controller, key, state } }: { readonly row: Row; readonly now: number }) => {
  const error = controller.lastError
  if (state !== "failing") return null
  if (error === null || error.key !== key.key) {
    return key.state === "delayed" && key.error !== undefined ? <span class="error">{key.error}</span> : null
  }
  return (
    <>
      <span class="error">{error.message}</span> <span class="muted">{formatAge(now, error.at)}</span>
    </>
  )
}

export const Queue = () => {
  const model = useModel("controllers", "clock")
  const [only, setOnly] = useState<State | "all">("all")
  const [name, setName] = useState("")
  const { controllers } = model
  if (controllers === undefined) return <p class="empty">Waiting for the first figures of the queues.</p>
  const now = model.now()
  const all: ReadonlyArray<Row> = controllers
    .filter((controller) => name === "" || controller.name === name)
    .flatMap((controller) => controller.keys.map((key) => ({ controller, key, state: stateOf(key) })))
  const rows = all.filter(({ state }) => only === "all" || state === only)
  const inQueues = controllers.reduce((sum, { queue }) => sum + queue.ready + queue.delayed + queue.processing, 0)
  const columns: ReadonlyArray<Column<Row>> = [
    {
      title: "Key",
      kind: "name",
      order: (a, b) => (a.key.key < b.key.key ? -1 : 1),
      cell: ({ controller, key }) => (
        <a data-item href={hrefOfKey(controller, key.key)}>
          {key.key}
        </a>
      )
    },
    {
      title: "Controller",
      order: (a, b) => (a.controller.name < b.controller.name ? -1 : 1),
      cell: (row) => <span class="controller">{row.controller.name}</span>
    },
    { title: "State", kind: "state", cell: ({ state }) => <Status tone={tones[state]}>{state}</Status> },
    {
      title: "When",
      kind: "number",
      order: (a, b) => leftOf(a, now) - leftOf(b, now),
      cell: (row) => <When row={row} now={now} />
    },
    {
      title: "Failures",
      kind: "number",
      order: (a, b) => failuresOf(a) - failuresOf(b),
      cell: (row) => formatCount(failuresOf(row))
    },
    { title: "Last error", cell: (row) => <Error row={row} now={now} /> }
  ]
  return (
    <>
      <div class="toolbar">
        <div class="choices" role="group" aria-label="State of the keys">
          {(["all", ...states] as const).map((state) => (
            <button key={state} type="button" aria-pressed={only === state} onClick={() => setOnly(state)}>
              {state}{" "}
              <span class="muted">
                {state === "all" ? all.length : all.filter((row) => row.state === state).length}
              </span>
            </button>
          ))}
        </div>
        <label>
          Controller{" "}
          <select value={name} onChange={({ currentTarget }) => setName(currentTarget.value)}>
            <option value="">all</option>
            {controllers.map((controller) => (
              <option key={controller.name} value={controller.name}>
                {controller.name}
              </option>
            ))}
          </select>
        </label>
        <p class="muted">{formatCount(inQueues)} keys in all queues; the first of each are listed.</p>
      </div>
      <Table
        label="Keys"
        columns={columns}
        rows={rows}
        keyOf={({ controller, key }) => `${controller.name} ${key.key}`}
        empty={
          all.length === 0
            ? "All queues are empty: everything is reconciled. A key comes here when an object changes or a retry is due."
            : "No key has this state. Choose another state above."
        }
      />
    </>
  )
}

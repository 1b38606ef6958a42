/**
 * Nodes with their pods as tiles, and the workloads whose pods change. Only rows in the window are rendered, and a row only when one of its pods
 * has changed; so 20,000 pods cost what fits on the screen.
 */
import { Component } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import type { Pod } from "../../protocol.ts"
import {
  byName,
  podStates,
  stateOf,
  totalOf,
  type Cluster as Pods,
  type Counts,
  type NodeRow,
  type Workload
} from "../model/Cluster.ts"
import { hrefOfObject } from "../model/route.ts"
import { formatAge, formatCount, plural } from "../parts/format.ts"
import { useModel } from "../parts/hooks.ts"
import { Status } from "../parts/Status.tsx"
import { Table, type Column } from "../parts/Table.tsx"

/** As in the style sheet: the size of a tile with its gap, the padding of a row, and the width of the row's name. */
const tile = 16
const padding = 14
const nameWidth = 220
/** Below this width of the list the name is above the tiles. */
const narrow = 560
const nameHeight = 22

const textOf = (counts: Counts): string =>
  podStates
    .filter((state) => counts[state] > 0)
    .map((state) => `${formatCount(counts[state])} ${state}`)
    .join(", ") || "no pods"

const titleOf = (pod: Pod): string =>
  `${pod.key}: ${stateOf(pod)}${pod.reason === null ? "" : ` (${pod.reason})`}${pod.owner === null ? "" : `, of ${pod.owner}`}`

class Tiles extends Component<{ readonly row: NodeRow; readonly version: number }> {
  override shouldComponentUpdate(next: { readonly row: NodeRow; readonly version: number }): boolean {
    return next.row !== this.props.row || next.version !== this.props.version
  }

  override render() {
    const { row } = this.props
    return (
      <ul class="tiles" aria-label={`Pods of ${row.name === "" ? "no node" : row.name}`}>
        {[...row.pods.values()]
          .sort((a, b) => (a.key < b.key ? -1 : 1))
          .map((pod, at) => (
            <li key={pod.key}>
              <a
                class={`tile ${stateOf(pod)}`}
                data-pod
                tabIndex={at === 0 ? 0 : -1}
                href={hrefOfObject("pods", pod.key)}
                // It is the name of the link as well.
                title={titleOf(pod)}
              />
            </li>
          ))}
      </ul>
    )
  }
}

const NodeState = ({ row }: { readonly row: NodeRow }) => {
  if (row.name === "") return <Status tone="busy">not scheduled</Status>
  if (row.node === undefined) return <Status tone="bad">no such node</Status>
  if (!row.node.ready) return <Status tone="bad">not ready</Status>
  return row.node.schedulable ? <Status tone="ok">ready</Status> : <Status tone="warn">cordoned</Status>
}

/** The arrow keys move among the pods of a node, and to the first pods of the nodes above and below. */
const onKey = (event: KeyboardEvent) => {
  const { key, target } = event
  if (!(target instanceof HTMLElement) || !target.matches("[data-pod]")) return
  const sideways =
    key === "ArrowRight" ? "nextElementSibling" : key === "ArrowLeft" ? "previousElementSibling" : undefined
  const upOrDown = key === "ArrowDown" ? "nextElementSibling" : key === "ArrowUp" ? "previousElementSibling" : undefined
  const next =
    sideways === undefined
      ? upOrDown === undefined
        ? undefined
        : target.closest("[data-node]")?.[upOrDown]?.querySelector("[data-pod]")
      : target.parentElement?.[sideways]?.querySelector("[data-pod]")
  if (!(next instanceof HTMLElement)) return
  event.preventDefault()
  next.focus()
}

interface Part {
  readonly top: number
  readonly bottom: number
  readonly width: number
}

/** Pixels of the list that one frame adds, and those that are rendered above and below the window. */
const portion = 100
const margin = 200

/** The part of the list that is in the window, with a margin, and the list's width. It grows frame by frame, so that each is short. */
const useVisiblePart = (list: { readonly current: HTMLElement | null }): Part => {
  const [part, setPart] = useState<Part>({ top: 0, bottom: portion, width: 900 })
  useEffect(() => {
    let isScheduled = false
    let last = part
    const measure = () => {
      isScheduled = false
      const box = list.current?.getBoundingClientRect()
      if (box === undefined) return
      // In steps, so that few pixels of scrolling render nothing.
      const step = (value: number) => Math.floor(value / margin) * margin
      const top = step(-box.top - margin)
      const end = step(-box.top + innerHeight + 2 * margin)
      const from = last.bottom < top || last.top > end ? top : last.bottom
      const next = { top, bottom: Math.min(end, from + portion), width: Math.floor(box.width) }
      if (last.top !== next.top || last.bottom !== next.bottom || last.width !== next.width) {
        last = next
        setPart(next)
      }
      if (next.bottom < end) schedule()
    }
    const schedule = () => {
      if (isScheduled) return
      isScheduled = true
      requestAnimationFrame(measure)
    }
    const observer = new ResizeObserver(schedule)
    if (list.current !== null) observer.observe(list.current)
    observer.observe(document.body)
    addEventListener("scroll", schedule, { passive: true })
    measure()
    return () => {
      observer.disconnect()
      removeEventListener("scroll", schedule)
    }
  }, [])
  return part
}

const Nodes = ({ cluster }: { readonly cluster: Pods }) => {
  const list = useRef<HTMLDivElement>(null)
  const part = useVisiblePart(list)
  const isNarrow = part.width < narrow
  const perLine = Math.max(1, Math.floor((part.width - (isNarrow ? 0 : nameWidth)) / tile))
  const heightOf = ({ pods }: NodeRow) =>
    padding + (isNarrow ? nameHeight : 0) + Math.max(1, Math.ceil(pods.size / perLine)) * tile
  const visible: Array<NodeRow> = []
  let before = 0
  let height = 0
  for (const row of cluster.order) {
    const own = heightOf(row)
    if (height + own < part.top) before = height + own
    else if (height <= part.bottom) visible.push(row)
    height += own
  }
  return (
    <div class="nodes" role="list" aria-label="Nodes" ref={list} style={{ height: `${height}px` }} onKeyDown={onKey}>
      <div role="presentation" class="spacer" style={{ height: `${before}px` }} />
      {visible.map((row) => (
        <div role="listitem" class="node" data-node key={row.name} style={{ height: `${heightOf(row)}px` }}>
          <div class="about">
            <span class="name" title={row.name}>
              {row.name === "" ? "no node" : row.name}
            </span>
            <NodeState row={row} />
            <span class="hidden">{textOf(row.counts)}</span>
          </div>
          <Tiles row={row} version={row.version} />
        </div>
      ))}
    </div>
  )
}

/** A workload is listed while its pods change or are not all well. */
const recent = 60_000
const mostWorkloads = 8

const isUnwell = ({ counts }: Workload) => counts.starting + counts.failing + counts.deleting > 0

/** The latest changes first. */
const changing = (workloads: Iterable<Workload>, now: number): ReadonlyArray<Workload> => {
  const found: Array<Workload> = []
  for (const workload of workloads) if (isUnwell(workload) || now - workload.changedAt < recent) found.push(workload)
  return found.sort((a, b) => b.changedAt - a.changedAt || byName(a.id, b.id))
}

const Bar = ({ counts }: { readonly counts: Counts }) => {
  const total = Math.max(1, totalOf(counts))
  let from = 0
  return (
    <svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      {podStates.map((state) => {
        const width = (counts[state] / total) * 100
        const x = from
        from += width
        return width === 0 ? null : <rect key={state} class={state} x={x} y="0" width={width} height="8" />
      })}
    </svg>
  )
}

const Rollouts = ({ cluster, now }: { readonly cluster: Pods; readonly now: number }) => {
  const workloads = changing(cluster.workloads.values(), now)
  const columns: ReadonlyArray<Column<Workload>> = [
    {
      title: "Workload",
      kind: "name",
      cell: ({ namespace, owner }) => <span data-item tabIndex={0}>{`${namespace}/${owner}`}</span>
    },
    { title: "Pods", kind: "chart", cell: ({ counts }) => <Bar counts={counts} /> },
    {
      title: "Ready",
      kind: "number",
      cell: ({ counts }) => `${formatCount(counts.ready + counts.succeeded)} of ${formatCount(totalOf(counts))}`
    },
    { title: "State", cell: ({ counts }) => textOf(counts) },
    { title: "Changed", kind: "number", cell: ({ changedAt }) => (changedAt === 0 ? "–" : formatAge(now, changedAt)) }
  ]
  return (
    <section aria-labelledby="rollouts">
      <h2 id="rollouts">Rollouts</h2>
      <Table
        label="Workloads that change"
        columns={columns}
        rows={workloads.slice(0, mostWorkloads)}
        keyOf={({ id }) => id}
        empty="Nothing changes at the moment. Change a Deployment, with kubectl scale or kubectl set image, and its pods are shown here."
      />
      {workloads.length > mostWorkloads && (
        <p class="muted note">
          {plural(workloads.length - mostWorkloads, "further workload")} changed within a minute or{" "}
          {workloads.length - mostWorkloads === 1 ? "is" : "are"} not ready.
        </p>
      )}
    </section>
  )
}

export const Cluster = () => {
  const model = useModel("cluster", "clock", "hello")
  const { cluster, program } = model
  if (program !== undefined && !program.isEmbedded && cluster === undefined) {
    return (
      <p class="empty">
        The nodes and pods of the embedded cluster are shown here. This program uses the cluster at {program.server}.
      </p>
    )
  }
  if (cluster === undefined) return <p class="empty">Waiting for the nodes and pods.</p>
  return (
    <>
      <p class="lead muted">
        {plural(cluster.nodeCount, "node")}, {plural(cluster.podCount, "pod")}: {textOf(cluster.counts)}.
      </p>
      <ul class="legend" aria-label="Tiles">
        {podStates.map((state) => (
          <li key={state}>
            <span class={`tile ${state}`} aria-hidden="true" /> {state}
          </li>
        ))}
      </ul>
      <Rollouts cluster={cluster} now={model.now()} />
      <section aria-labelledby="nodes">
        <h2 id="nodes">Nodes</h2>
        {cluster.rows.size === 0 ? (
          <p class="empty">There are no nodes. The option --nodes of the embedded cluster makes some.</p>
        ) : (
          <Nodes cluster={cluster} />
        )}
      </section>
    </>
  )
}

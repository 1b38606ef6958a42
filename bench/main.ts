/**
 * Runs the suites that the command line names (all without names), prints a table and, as the last line, the same as JSON. The exit code is 1 if a
 * figure misses its limit. With `RECORD=1` the figures of each suite are also written to `bench/results`, of which `npm run charts` makes `docs/performance.md`.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { cpus } from "node:os"
import type { Figure } from "./figure.ts"

const suites: Record<string, () => Promise<{ readonly run: () => Promise<Array<Figure>> }>> = {
  queue: () => import("./queue.ts"),
  watch: () => import("./watch.ts"),
  sync: () => import("./sync.ts"),
  apiserver: () => import("./apiserver.ts"),
  cpu: () => import("./cpu.ts"),
  start: () => import("./start.ts"),
  coldStart: () => import("./coldStart.ts"),
  memory: () => import("./memory.ts"),
  nodes: () => import("./nodes.ts"),
  workloads: () => import("./workloads.ts"),
  fleets: () => import("./fleets.ts"),
  rollout: () => import("./rollout.ts"),
  gc: () => import("./loops/gc.ts"),
  services: () => import("./loops/services.ts"),
  jobs: () => import("./loops/jobs.ts"),
  daemons: () => import("./loops/daemons.ts"),
  budgets: () => import("./loops/budgets.ts"),
  schedules: () => import("./loops/schedules.ts"),
  quotas: () => import("./loops/quotas.ts"),
  replicas: () => import("./loops/replicas.ts"),
  autoscalers: () => import("./loops/autoscalers.ts"),
  mirrored: () => import("./loops/mirrored.ts"),
  idle: () => import("./loops/idle.ts"),
  console: () => import("./console.ts"),
  sharding: () => import("./sharding.ts"),
  watches: () => import("./watches.ts"),
  scale: () => import("./scale.ts"),
  large: () => import("./large.ts"),
  explore: () => import("./explore.ts")
}

const show = (value: number): string => value.toLocaleString("en", { maximumFractionDigits: 2 })

const print = (figures: ReadonlyArray<Figure>): void => {
  const rows = figures.map((f) => [
    f.ok ? "ok" : "MISS",
    f.at === undefined ? f.name : `${f.name}, ${show(f.at)}`,
    `${show(f.value)} ${f.unit}`,
    `bar ${f.bar}`,
    f.floor === undefined ? "" : `floor ${show(f.floor)}`,
    f.ratio === undefined ? "" : `× ${show(f.ratio)}`,
    f.before === undefined || Number.isNaN(f.before) ? "" : `before ${show(f.before)}`
  ])
  const widths = [0, 1, 2, 3, 4, 5, 6].map((column) => Math.max(...rows.map((row) => row[column]!.length)))
  for (const row of rows)
    console.log(
      row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join("  ")
        .trimEnd()
    )
}

const record = (suite: string, found: ReadonlyArray<Figure>): void => {
  const on = { measured: new Date().toISOString().slice(0, 10), node: process.version, processors: cpus().length }
  mkdirSync("bench/results", { recursive: true })
  writeFileSync(`bench/results/${suite}.json`, `${JSON.stringify({ ...on, figures: found }, undefined, 2)}\n`)
}

const names = process.argv.slice(2)
const unknown = names.filter((name) => !(name in suites))
if (unknown.length > 0) {
  console.error(`unknown suite ${unknown.join(", ")}; known: ${Object.keys(suites).join(", ")}`)
  process.exit(2)
}
const figures: Array<Figure> = []
for (const name of names.length > 0 ? names : Object.keys(suites)) {
  const suite = await suites[name]!()
  const found = await suite.run()
  figures.push(...found)
  if (process.env["RECORD"] !== undefined) record(name, found)
}
print(figures)
console.log(JSON.stringify(figures))
process.exitCode = figures.every((figure) => figure.ok) ? 0 : 1

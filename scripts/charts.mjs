/**
 * `npm run charts`: draws the curves of `docs/performance.md` and fills its table, both from the results that `RECORD=1 npm run bench` has written to
 * `bench/results`. A goal for which nothing was recorded stays in the table without a figure. `--check` changes nothing, and fails if something would change.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { main, root } from "./run.mjs"

const isCheck = process.argv.includes("--check")
const results = join(root, "bench/results")
const read = (file) => JSON.parse(readFileSync(join(results, file), "utf8"))

const number = (value) => value.toLocaleString("en", { maximumFractionDigits: value >= 100 ? 0 : value >= 10 ? 1 : 2 })

const write = (path, text) => {
  const file = join(root, path)
  if (existsSync(file) && readFileSync(file, "utf8") === text) return
  if (isCheck) throw new Error(`${path} is not up to date: npm run charts`)
  mkdirSync(join(file, ".."), { recursive: true })
  writeFileSync(file, text)
}

/** Readable on light and on dark pages, because the background is that of the page. */
const colors = ["#2f81f7", "#d1742f", "#3fa45b"]
const gray = "#848d97"
const [width, height] = [720, 320]
const frame = { left: 64, right: 24, top: 44, bottom: 52 }

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

const label = (x, y, anchor, content, fill = gray) =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" fill="${fill}">${escaped(content)}</text>`

/** A step of 1, 2 or 5 times a power of ten, so that there are about five. */
const stepOf = (most) => {
  const raw = most / 5
  const power = 10 ** Math.floor(Math.log10(raw))
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= raw)
}

/** Lines over a logarithmic axis of pods. `lines`: each with a name and its points. */
const chart = ({ lines, title, unit }) => {
  const points = lines.flatMap((line) => line.points)
  const xs = points.map(({ at }) => Math.log10(at))
  const [least, most] = [Math.min(...xs), Math.max(...xs)]
  const highest = Math.max(...points.map(({ value }) => value))
  const step = stepOf(highest)
  const top = Math.ceil(highest / step) * step
  const x = (at) => frame.left + ((Math.log10(at) - least) / (most - least || 1)) * (width - frame.left - frame.right)
  const y = (value) => height - frame.bottom - (value / top) * (height - frame.top - frame.bottom)
  const parts = [label(frame.left, 22, "start", `${title}, ${unit}`)]
  for (let value = 0; value <= top + step / 2; value += step) {
    const at = y(value).toFixed(1)
    parts.push(
      `<path d="M${frame.left} ${at}H${width - frame.right}" stroke="${gray}" stroke-opacity="0.3"/>`,
      label(frame.left - 8, y(value) + 4, "end", number(value))
    )
  }
  for (const at of new Set(points.map((point) => point.at)))
    parts.push(label(x(at), height - frame.bottom + 20, "middle", number(at / 1000)))
  parts.push(label((frame.left + width - frame.right) / 2, height - 10, "middle", "thousand pods"))
  for (const [i, line] of lines.entries()) {
    const color = colors[i % colors.length]
    const path = line.points.map(
      (point, j) => `${j === 0 ? "M" : "L"}${x(point.at).toFixed(1)} ${y(point.value).toFixed(1)}`
    )
    parts.push(`<path d="${path.join("")}" fill="none" stroke="${color}" stroke-width="2"/>`)
    for (const point of line.points)
      parts.push(
        `<circle cx="${x(point.at).toFixed(1)}" cy="${y(point.value).toFixed(1)}" r="3.5" fill="${color}"><title>${number(point.at)} pods: ${number(point.value)} ${escaped(unit)}</title></circle>`
      )
    if (lines.length > 1)
      parts.push(label(width - frame.right - 60 * (lines.length - 1 - i), 22, "end", line.name, color))
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}" font-family="system-ui, sans-serif" font-size="13">\n${parts.join("\n")}\n</svg>\n`
}

const curve = ({ figures }, name) =>
  figures
    .filter((figure) => figure.at !== undefined && new RegExp(name).test(figure.name))
    .map(({ at, value }) => ({ at, value }))

const charts = (large) => ({
  cpu: {
    title: "CPU of a change of a pod",
    unit: "ms",
    lines: [{ name: "", points: curve(large, "processor for each$") }]
  },
  memory: { title: "Resident memory", unit: "MiB", lines: [{ name: "", points: curve(large, "^resident memory$") }] },
  latency: {
    title: "From the change of a pod to the write that counts it",
    unit: "ms",
    lines: ["p50", "p99"].map((name) => ({ name, points: curve(large, `, ${name}$`) }))
  }
})

/** In place of a goal, for what is only compared. */
const none = "–"

/** What was measured for a goal, beside its lower bound, and with which Node. */
const cellsOf = ({ figure: name, goal, suite }) => {
  if (suite === undefined || !existsSync(join(results, `${suite}.json`))) return ["not recorded yet", "", ""]
  const { figures, node } = read(`${suite}.json`)
  const found = figures.find((figure) => figure.at === undefined && new RegExp(name).test(figure.name))
  return found === undefined ? ["not recorded yet", "", ""] : [...measured(found, goal), node.slice(1)]
}

const measured = ({ floor, ok, ratio, unit, value }, goal) => {
  // What JSON has instead of infinity.
  const beside = floor === undefined ? "" : `; lower bound ${number(floor)}`
  if (value === null) return [`not reached${beside}`, "no"]
  const met = goal === none ? none : ok ? "yes" : "no"
  if ((!goal.includes("×") && goal !== none) || ratio === undefined) return [`${number(value)} ${unit}${beside}`, met]
  return [`${number(ratio)} ×: ${number(value)} over ${number(floor)} ${unit}`, met]
}

const table = () =>
  [
    ["Work", "Goal", "Measured", "Met", "Node"],
    ["---", "---", "---", "---", "---"],
    ...read("goals.json").map((goal) => [goal.work, goal.goal].concat(cellsOf(goal)))
  ]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n")

const begin = "<!-- goals, from bench/results -->"
const end = "<!-- end of goals -->"

await main(() => {
  const page = readFileSync(join(root, "docs/performance.md"), "utf8")
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from === -1 || to < from) throw new Error("docs/performance.md has no place for the goals")
  write("docs/performance.md", `${page.slice(0, from)}${begin}\n\n${table()}\n\n${page.slice(to)}`)
  for (const [name, drawn] of Object.entries(charts(read("large.json"))))
    write(`docs/performance/${name}.svg`, chart(drawn))
})

/** Reads Grafana dashboards, and the queries in them: which metrics they select, and which labels they use. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type * as Exposition from "./exposition.ts"

export interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly fieldConfig?: {
    readonly defaults: {
      readonly unit: string
      readonly thresholds: { readonly steps: ReadonlyArray<{ readonly value: number | null }> }
    }
  }
  readonly targets?: ReadonlyArray<{ readonly refId: string; readonly expr: string; readonly legendFormat: string }>
}

export interface Dashboard {
  readonly uid: string
  readonly title: string
  readonly schemaVersion: number
  readonly templating: {
    readonly list: ReadonlyArray<{ readonly name: string; readonly type: string; readonly definition?: string }>
  }
  readonly panels: ReadonlyArray<Panel>
}

export interface Asked {
  readonly panel: string
  readonly expr: string
  readonly legend: string
}

export const queriesOf = ({ panels, title }: Dashboard): ReadonlyArray<Asked> =>
  panels.flatMap((panel) =>
    (panel.targets ?? []).map(({ expr, legendFormat }) => ({
      panel: `${title}: ${panel.title}`,
      expr,
      legend: legendFormat
    }))
  )

/** As Grafana sends a query when everything is chosen. */
export const filledIn = (expr: string): string =>
  expr.replaceAll("$__rate_interval", "5m").replaceAll(/\$(namespace|job|controller|instance)\b/g, ".*")

/** The series that a query selects, each with the labels of its matchers, and the labels that it groups by. */
export const usesOf = (expr: string) => ({
  series: Array.from(expr.matchAll(/([a-zA-Z_:][\w:]*)\{([^}]*)\}/g), ([, metric = "", matchers = ""]) => ({
    metric,
    labels: Array.from(matchers.matchAll(/(\w+)\s*[=!]~?"/g), ([, label = ""]) => label)
  })),
  grouped: Array.from(expr.matchAll(/\bby \(([^)]*)\)/g), ([, labels = ""]) => labels.split(", ")).flat()
})

/** Added by Prometheus when it scrapes. */
const ofTheScrape = new Set(["namespace", "job", "instance"])

/** What a query uses and the scraped families do not have. */
export const unknownIn = (
  { expr, legend, panel }: Asked,
  families: ReadonlyMap<string, Pick<Exposition.Family, "labels" | "type">>
): ReadonlyArray<string> => {
  const { grouped, series } = usesOf(expr)
  const found = series.map(({ labels, metric }) => {
    const histogram = families.get(metric.replace(/_(bucket|sum|count)$/, ""))
    const family = families.get(metric) ?? (histogram?.type === "histogram" ? histogram : undefined)
    const own = [...(family?.labels ?? []), ...(metric.endsWith("_bucket") ? ["le"] : [])]
    const missing = labels.filter((label) => !ofTheScrape.has(label) && !own.includes(label))
    return { metric, own, family, missing }
  })
  const everywhere = new Set(found.flatMap(({ own }) => own))
  const legendLabels = Array.from(legend.matchAll(/\{\{(\w+)\}\}/g), ([, label = ""]) => label)
  return [
    ...(series.length === 0 ? [`${panel}: selects nothing: ${expr}`] : []),
    ...found.filter(({ family }) => family === undefined).map(({ metric }) => `${panel}: no metric ${metric}`),
    ...found.flatMap(({ metric, missing }) => missing.map((label) => `${panel}: ${metric} has no label ${label}`)),
    ...grouped
      .filter((label) => !ofTheScrape.has(label) && !everywhere.has(label))
      .map((label) => `${panel}: groups by ${label}, which no metric has`),
    ...legendLabels
      .filter((label) => !grouped.includes(label))
      .map((label) => `${panel}: the legend names ${label}, which the result does not have`)
  ]
}

/** Runs `promtool` with a file, and returns its output if it fails. */
const failing = (command: ReadonlyArray<string>, text: string): string | undefined => {
  const folder = mkdtempSync(join(tmpdir(), "promtool-"))
  const path = join(folder, "rules.yaml")
  writeFileSync(path, text)
  const { status, stderr, stdout } = spawnSync("promtool", [...command, path], { encoding: "utf8", cwd: folder })
  rmSync(folder, { recursive: true, force: true })
  return status === 0 ? undefined : `${stdout}${stderr}`
}

/** The errors of `promtool check rules` about the queries, as recording rules; undefined if there are none. */
export const unparsable = (queries: ReadonlyArray<Asked>): string | undefined => {
  const rules = queries.map(({ expr }, index) => ({ record: `query:${index}`, expr: filledIn(expr) }))
  return failing(["check", "rules"], JSON.stringify({ groups: [{ name: "dashboards", rules }] }))
}

/**
 * The errors of `promtool test rules`, which evaluates each query over the series of a scrape, repeated for ten minutes: counters increase
 * by one in every scrape, gauges stay. Each query must return at least one series.
 */
export const withoutData = (queries: ReadonlyArray<Asked>, scrape: string): string | undefined => {
  const counters = new Set<string>()
  const series: Array<{ readonly series: string; readonly values: string }> = []
  for (const line of scrape.split("\n")) {
    const [, name = "", type = ""] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? []
    if (type === "counter") counters.add(name)
    if (type === "histogram") for (const part of ["bucket", "sum", "count"]) counters.add(`${name}_${part}`)
    if (line === "" || line.startsWith("#")) continue
    const [, metric = "", labels = "", value = ""] = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    const scraped = `namespace="default",job="manager",instance="one"${labels === "" ? "" : `,${labels}`}`
    const number = Number(value)
    series.push({
      series: `${metric}{${scraped}}`,
      values: counters.has(metric) ? `${number}+1x20` : `${number}x20`
    })
  }
  const tests = queries.map(({ expr }) => ({
    expr: `sgn(count(${filledIn(expr)}))`,
    eval_time: "10m",
    exp_samples: [{ labels: "{}", value: 1 }]
  }))
  return failing(
    ["test", "rules"],
    JSON.stringify({
      evaluation_interval: "30s",
      tests: [{ interval: "30s", input_series: series, promql_expr_test: tests }]
    })
  )
}

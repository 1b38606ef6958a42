/**
 * A dashboard of Grafana as rows of panels, and its JSON. A panel has queries of Prometheus, a unit, a description and thresholds; the layout, the
 * ids and the variables follow from it. The JSON depends on nothing but the dashboard, so that a new version of it is a small difference of
 * texts. Pure. Source: Grafana's dashboard JSON model, schema version 42.
 */
import * as Hash from "../../kube/hash.ts"

export interface Dashboard {
  /** The name of its file, without the ending. */
  readonly file: string
  readonly title: string
  readonly description: string
  /** The name of the program: the dashboards of a program link to each other. */
  readonly program: string
  readonly variables: ReadonlyArray<Variable>
  readonly rows: ReadonlyArray<Row>
}

/** A choice above the panels, of the values that a label has; all are chosen at first. */
export interface Variable {
  /** The name of the label too. */
  readonly name: string
  /** The metric that has the label, with a selector of the variables before it. */
  readonly from: string
}

export interface Row {
  readonly title: string
  readonly panels: ReadonlyArray<Panel>
}

export interface Query {
  readonly expr: string
  /** `{{controller}}` stands for the value of a label. */
  readonly legend: string
}

export interface Panel {
  readonly type: "timeseries" | "stat" | "state-timeline"
  readonly title: string
  readonly description: string
  readonly unit: Unit
  readonly queries: ReadonlyArray<Query>
  /** Values from which on the panel shows a color; below the first it is green. */
  readonly thresholds?: ReadonlyArray<{ readonly from: number; readonly color: "green" | "orange" | "red" }> | undefined
  /** The color below the first threshold. Default: green. */
  readonly base?: "red" | undefined
  /** Texts for values. */
  readonly texts?: Readonly<Record<string, string>> | undefined
}

/** Units of Grafana; `ops` is a number per second. */
export type Unit = "short" | "ops" | "s" | "bytes" | "Bps" | "percentunit"

/** Columns of Grafana's grid. */
const columns = 24
const panelsInRow = 3
const panelHeight = 8

/** Grafana accepts up to 40 characters in a uid. */
const uidLength = 40

/** The same for every version of a dashboard, so that an import replaces the one before. */
export const uidOf = ({ file, program }: Pick<Dashboard, "file" | "program">): string => {
  const uid = `${program}-${file}`
  return uid.length <= uidLength ? uid : `${uid.slice(0, uidLength - 11)}-${Hash.template(uid)}`
}

const prometheus = { type: "prometheus", uid: "${datasource}" }

export const json = (dashboard: Dashboard): object => ({
  uid: uidOf(dashboard),
  title: dashboard.title,
  description: dashboard.description,
  tags: ["kubernetes", "controllers", dashboard.program],
  schemaVersion: 42,
  version: 1,
  editable: true,
  graphTooltip: 1,
  refresh: "30s",
  time: { from: "now-1h", to: "now" },
  timezone: "",
  fiscalYearStartMonth: 0,
  weekStart: "",
  annotations: { list: [] },
  links: [
    {
      type: "dashboards",
      title: dashboard.program,
      tags: [dashboard.program],
      asDropdown: false,
      includeVars: true,
      keepTime: true,
      targetBlank: false,
      icon: "external link",
      tooltip: "",
      url: ""
    }
  ],
  templating: { list: [datasource, ...dashboard.variables.map(variable)] },
  panels: panels(dashboard.rows)
})

const datasource = {
  name: "datasource",
  label: "Data source",
  type: "datasource",
  query: "prometheus",
  regex: "",
  refresh: 1,
  hide: 0,
  includeAll: false,
  multi: false,
  options: [],
  current: {}
}

const variable = ({ from, name }: Variable) => {
  const query = `label_values(${from}, ${name})`
  return {
    name,
    label: `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    type: "query",
    datasource: prometheus,
    definition: query,
    query: { query, refId: "Variable", qryType: 1 },
    regex: "",
    refresh: 2,
    sort: 1,
    hide: 0,
    includeAll: true,
    // Also matches series without the label: not every scrape adds a namespace.
    allValue: ".*",
    multi: true,
    options: [],
    current: { selected: true, text: ["All"], value: ["$__all"] }
  }
}

/** Rows one below the other, each with its panels side by side. */
const panels = (rows: ReadonlyArray<Row>): ReadonlyArray<object> => {
  const out: Array<object> = []
  let y = 0
  for (const row of rows) {
    out.push({
      id: out.length + 1,
      type: "row",
      title: row.title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: columns, h: 1 }
    })
    y += 1
    const width = columns / panelsInRow
    for (const [index, one] of row.panels.entries()) {
      const gridPos = {
        x: (index % panelsInRow) * width,
        y: y + Math.floor(index / panelsInRow) * panelHeight,
        w: width,
        h: panelHeight
      }
      out.push({ id: out.length + 1, ...panel(one), gridPos })
    }
    y += Math.ceil(row.panels.length / panelsInRow) * panelHeight
  }
  return out
}

const panel = ({ base, description, queries, texts, thresholds = [], title, type, unit }: Panel) => ({
  type,
  title,
  description,
  datasource: prometheus,
  targets: queries.map(({ expr, legend }, index) => ({
    refId: String.fromCharCode(65 + index),
    datasource: prometheus,
    editorMode: "code",
    expr,
    legendFormat: legend,
    range: true
  })),
  fieldConfig: {
    defaults: {
      unit,
      min: 0,
      color: { mode: type === "timeseries" ? "palette-classic" : "thresholds" },
      thresholds: {
        mode: "absolute",
        steps: [
          { color: base ?? "green", value: null },
          ...thresholds.map(({ color, from }) => ({ color, value: from }))
        ]
      },
      mappings:
        texts === undefined
          ? []
          : [
              {
                type: "value",
                options: Object.fromEntries(
                  Object.entries(texts).map(([value, text], index) => [value, { text, index }])
                )
              }
            ],
      custom: type === "timeseries" ? timeseriesStyle(thresholds.length > 0) : {}
    },
    overrides: []
  },
  options: options[type]
})

/** A panel that shows values over time. */
export const timeseries = (one: Omit<Panel, "type">): Panel => ({ type: "timeseries", ...one })

/** The threshold is a dashed line, so that a value near it is seen before it is reached. */
const timeseriesStyle = (hasThresholds: boolean) => ({
  drawStyle: "line",
  lineWidth: 1,
  fillOpacity: 10,
  showPoints: "never",
  spanNulls: false,
  thresholdsStyle: { mode: hasThresholds ? "dashed" : "off" }
})

const reduce = { calcs: ["lastNotNull"], fields: "", values: false }

const options = {
  timeseries: {
    legend: { displayMode: "list", placement: "bottom", showLegend: true, calcs: [] },
    tooltip: { mode: "multi", sort: "desc" }
  },
  stat: { reduceOptions: reduce, colorMode: "value", graphMode: "area", textMode: "auto", justifyMode: "auto" },
  "state-timeline": {
    legend: { displayMode: "list", placement: "bottom", showLegend: true },
    tooltip: { mode: "single", sort: "none" },
    showValue: "auto",
    mergeValues: true
  }
} as const

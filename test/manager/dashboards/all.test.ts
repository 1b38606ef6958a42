/** The dashboards of a program: valid for Grafana, with the metrics of its own controllers, and those in deploy/dashboards are up to date. */
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { readdirSync, readFileSync } from "node:fs"
import * as Dashboards from "../../../src/manager/dashboards/all.ts"
import * as Registry from "../../../src/manager/registry.ts"
import * as MetricFamily from "../../../src/streams/reconcile/metricFamily.ts"
import { table } from "../../support/controllers.ts"
import * as Read from "../../support/dashboards.ts"
import * as Promtool from "../../support/promtool.ts"

const parsed = (files: ReadonlyArray<Dashboards.File>): ReadonlyArray<Read.Dashboard> =>
  files.map(({ text }) => JSON.parse(text) as Read.Dashboard)

const program = "effect-controller-manager"
// Loops of a cloud run only with its provider.
const { chosen } = Result.getOrThrow(
  Registry.select(
    table.filter(({ controller }) => controller.cloud !== true),
    ["*"],
    { embedded: true }
  )
)
const files = Dashboards.files(
  Dashboards.all(
    program,
    chosen.map(({ controller }) => controller)
  )
)
const boards = parsed(files)

const made = [
  MetricFamily.counter("teams_made_total", "Teams that were made", ["tier"]),
  MetricFamily.gauge("team_size", "Members of the largest team"),
  MetricFamily.histogram("team_age_seconds", "Age of teams", [1, 10], ["tier"])
]

describe("dashboards", () => {
  it("in deploy/dashboards are those that the command writes", () => {
    const folder = "deploy/dashboards"
    const present = readdirSync(folder).map((name) => ({ name, text: readFileSync(`${folder}/${name}`, "utf8") }))
    assert.deepStrictEqual(
      present.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      files.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      "run: npm run build && node dist/main.js dashboards --out deploy/dashboards"
    )
  })

  it("have uids that Grafana accepts and that differ between programs and dashboards", () => {
    const long = "a".repeat(50)
    const uids = [program, long, `${long.slice(1)}b`].flatMap((name) =>
      parsed(Dashboards.files(Dashboards.all(name, []))).map(({ uid }) => uid)
    )
    assert.strictEqual(new Set(uids).size, 6)
    for (const uid of uids) assert.match(uid, /^[\w-]{1,40}$/)
  })

  it("choose the data source, the namespace and the job", () => {
    for (const { schemaVersion, templating } of boards) {
      assert.strictEqual(schemaVersion, 42)
      const names = templating.list.map(({ name }) => name)
      assert.deepStrictEqual(names.slice(0, 3), ["datasource", "namespace", "job"])
    }
  })

  it("have panels with an id, a description and a unit, none of which overlap", () => {
    for (const { panels, title } of boards) {
      assert.deepStrictEqual(
        panels.map(({ id }) => id),
        panels.map((_, index) => index + 1)
      )
      const cells = new Set<string>()
      for (const { description = "", fieldConfig, gridPos, targets = [], title: of, type } of panels) {
        for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
          for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
            assert.isFalse(cells.has(`${x} ${y}`), `${title}: ${of} overlaps another panel`)
            cells.add(`${x} ${y}`)
          }
        }
        assert.isAtMost(gridPos.x + gridPos.w, 24)
        if (type === "row") continue
        assert.notStrictEqual(description, "", `${title}: ${of}`)
        assert.isString(fieldConfig?.defaults.unit)
        assert.strictEqual(fieldConfig?.defaults.thresholds.steps[0]?.value, null)
        assert.isAbove(targets.length, 0)
      }
    }
  })

  it("have a panel for each metric of docs/operations.md, with few exceptions", () => {
    const operations = readFileSync("docs/operations.md", "utf8")
    const documented = Array.from(
      operations.matchAll(/^\| `([a-z_]+)` \| (?:counter|gauge|histogram) \|/gm),
      ([, name]) => name
    )
    assert.isAbove(documented.length, 40)
    const shown = new Set(
      boards
        .flatMap(Read.queriesOf)
        .flatMap(({ expr }) => Read.usesOf(expr).series)
        .flatMap(({ metric }) => [metric, metric.replace(/_(bucket|sum)$/, "")])
    )
    assert.deepStrictEqual(
      documented.filter((name) => !shown.has(name ?? "")),
      ["kubernetes_feature_enabled", "process_virtual_memory_bytes", "process_virtual_memory_max_bytes"]
    )
  })

  it("show the metrics that the controllers of a program declare, each once, by type", () => {
    const [, , own] = parsed(
      Dashboards.files(
        Dashboards.all("my-operator", [
          { name: "team", metrics: made },
          { name: "other", metrics: made.slice(0, 1) },
          { name: "plain" }
        ])
      )
    )
    assert.strictEqual(own?.title, "my-operator / Metrics of the controllers")
    assert.deepStrictEqual(
      own?.panels.map(({ description, fieldConfig, title, type }) => [
        type,
        title,
        description,
        fieldConfig?.defaults.unit
      ]),
      [
        ["row", "team", undefined, undefined],
        ["timeseries", "teams_made_total", "Teams that were made", "ops"],
        ["timeseries", "team_size", "Members of the largest team", "short"],
        ["timeseries", "team_age_seconds", "Age of teams", "s"]
      ]
    )
    const families = new Map(made.map((one) => [one.name, one]))
    const wrong = { panel: "", legend: "{{tier}}", expr: `sum by (color) (rate(teams_made_total{size="1"}[5m]))` }
    assert.lengthOf(Read.unknownIn(wrong, new Map(made.map((one) => [one.name, one]))), 3)
    assert.deepStrictEqual(
      (own === undefined ? [] : Read.queriesOf(own)).flatMap((query) => Read.unknownIn(query, families)),
      []
    )
  })

  it("name a metric as the metrics server does, whatever its name is", () => {
    const hostile = MetricFamily.counter(`9 a"}__b{$job`, `"</script>`, [])
    const [, , own] = parsed(Dashboards.files(Dashboards.all("p", [{ name: "c", metrics: [hostile] }])))
    assert.deepStrictEqual(
      own === undefined
        ? []
        : Read.queriesOf(own).map(({ expr }) => Read.usesOf(expr).series.map(({ metric }) => metric)),
      [["_9_a_b_job"]]
    )
  })

  it("are also a ConfigMap for the sidecar of Grafana", () => {
    const all = Dashboards.all("my-operator", [])
    assert.deepInclude(Dashboards.configMap(all, { name: "my-operator", namespace: "monitoring" }), {
      kind: "ConfigMap",
      metadata: {
        name: "my-operator-dashboards",
        namespace: "monitoring",
        labels: {
          "app.kubernetes.io/name": "my-operator",
          "app.kubernetes.io/component": "controller-manager",
          grafana_dashboard: "1"
        }
      }
    })
  })

  it.skipIf(Promtool.missing !== undefined)(
    "have queries that Prometheus parses, and a query without data is found",
    () => {
      assert.strictEqual(Read.unparsable(boards.flatMap(Read.queriesOf)), undefined)
      const broken = { panel: "", legend: "", expr: "sum by (rate(" }
      assert.isDefined(Read.unparsable([broken]))
      const scrape = '# TYPE a_total counter\na_total{b="c"} 1\n'
      const asked = (expr: string) => [{ panel: "", legend: "", expr }]
      assert.isUndefined(Read.withoutData(asked(`sum(rate(a_total{b="c"}[$__rate_interval]))`), scrape))
      assert.isDefined(Read.withoutData(asked("other_total{}"), scrape))
    }
  )
})

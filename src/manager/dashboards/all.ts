/**
 * The dashboards of a program: of its controllers, of its replicas, of shards, and of the metrics that its controllers declare. As files, or in a ConfigMap
 * that the sidecar of Grafana's Helm chart loads. Pure.
 */
import type { Family } from "../../streams/reconcile/metricFamily.ts"
import * as Installation from "../manifests/Installation.ts"
import { controllers } from "./controllers.ts"
import * as Dashboard from "./Dashboard.ts"
import { manager } from "./manager.ts"
import * as Queries from "./queries.ts"
import * as Shards from "./shards.ts"

/** A controller, as far as its metrics matter. */
export interface Measured {
  readonly name: string
  readonly metrics?: ReadonlyArray<Family> | undefined
  readonly sharded?: boolean | undefined
}

/** The first two exist always, that of shards where a controller is divided, and the last where a controller declares metrics. */
export const all = (program: string, measured: ReadonlyArray<Measured>): ReadonlyArray<Dashboard.Dashboard> => {
  const own = metrics(program, measured)
  const shards = measured.some(({ sharded }) => sharded === true) ? [Shards.board(program)] : []
  return [controllers(program), manager(program), ...shards, ...(own.rows.length === 0 ? [] : [own])]
}

/** A row for each controller. A family that several controllers share is in the row of the first. */
const metrics = (program: string, measured: ReadonlyArray<Measured>): Dashboard.Dashboard => {
  const seen = new Set<string>()
  const rows = measured.flatMap(({ metrics: families = [], name }) => {
    const own = families.filter((family) => !seen.has(family.name))
    for (const family of own) seen.add(family.name)
    return own.length === 0 ? [] : [{ title: name, panels: own.map(Queries.panelOf) }]
  })
  return {
    file: "metrics",
    title: `${program} / Metrics of the controllers`,
    description: "The metrics that the controllers declare, a row for each controller.",
    program,
    variables: Queries.variables,
    rows
  }
}

/** A text in a file. */
export interface File {
  readonly name: string
  readonly text: string
}

/** Grafana keeps the dashboards of all programs in one folder, so the name of the program is in the name of the file. */
const fileName = ({ file, program }: Dashboard.Dashboard): string => `${program}-${file}.json`

export const files = (dashboards: ReadonlyArray<Dashboard.Dashboard>): ReadonlyArray<File> =>
  dashboards.map((one) => ({ name: fileName(one), text: `${JSON.stringify(Dashboard.json(one), undefined, 2)}\n` }))

/** For the sidecar, which looks for this label. */
export const configMap = (
  dashboards: ReadonlyArray<Dashboard.Dashboard>,
  { name, namespace }: { readonly name: string; readonly namespace: string }
): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: {
    name: `${name}-dashboards`,
    namespace,
    labels: { ...Installation.labels({ name }), grafana_dashboard: "1" }
  },
  data: Object.fromEntries(dashboards.map((one) => [fileName(one), JSON.stringify(Dashboard.json(one))]))
})

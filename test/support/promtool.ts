/** `promtool` of Debian's `prometheus` package parses metrics as a server would, and reports problems. */
import { spawnSync } from "node:child_process"
import * as Reference from "../parity/metrics.ts"
import * as Process from "./process.ts"

/** The reason why it cannot run; undefined when it can. */
export const missing: string | undefined = Process.has("promtool")
  ? undefined
  : "promtool is not installed (Debian: apt-get install prometheus)"

/** Metrics with the names of kube-controller-manager. */
const given = new Set(Reference.metrics.map(({ name }) => name))

/** Its problems, without those that it also reports about kube-controller-manager, and without missing help texts of Effect Cluster. */
export const complaints = (metrics: string): string => {
  const { status, stderr, stdout } = spawnSync("promtool", ["check", "metrics"], { input: metrics, encoding: "utf8" })
  if (status === 0) return ""
  const lines = `${stdout}${stderr}`
    .split("\n")
    .filter((line) => !/^$|^effect_cluster_\w+ no help text$/.test(line) && !given.has(line.split(" ")[0] ?? ""))
  return lines.length === 0 ? "" : `exit ${status}: ${lines.join("\n")}`
}

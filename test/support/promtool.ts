/** Debian's `prometheus` package has `promtool`, which reads metrics as a server would and complains of what it should not take. */
import { spawnSync } from "node:child_process"
import * as Reference from "../parity/metrics.ts"
import * as Process from "./process.ts"

/** Why it cannot be asked; undefined when it can. */
export const missing: string | undefined = Process.has("promtool")
  ? undefined
  : "promtool is not installed (Debian: apt-get install prometheus)"

/** Named as they are by kube-controller-manager. */
const given = new Set(Reference.metrics.map(({ name }) => name))

/** Its complaints, without those that it has of kube-controller-manager too. */
export const complaints = (metrics: string): string => {
  const { status, stderr, stdout } = spawnSync("promtool", ["check", "metrics"], { input: metrics, encoding: "utf8" })
  if (status === 0) return ""
  const lines = `${stdout}${stderr}`.split("\n").filter((line) => line !== "" && !given.has(line.split(" ")[0] ?? ""))
  return lines.length === 0 ? "" : `exit ${status}: ${lines.join("\n")}`
}

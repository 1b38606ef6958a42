/** Debian's `prometheus` package has `promtool`, which reads metrics as a server would and complains of what it should not take. */
import { spawnSync } from "node:child_process"
import * as Process from "./process.ts"

/** Why it cannot be asked; undefined when it can. */
export const missing: string | undefined = Process.has("promtool")
  ? undefined
  : "promtool is not installed (Debian: apt-get install prometheus)"

/** What it complains of; empty when it does not. */
export const complaints = (metrics: string): string => {
  const { status, stderr, stdout } = spawnSync("promtool", ["check", "metrics"], { input: metrics, encoding: "utf8" })
  return status === 0 ? "" : `exit ${status}: ${stdout}${stderr}`
}

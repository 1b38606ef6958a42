/**
 * The body of a probe's response, as `kubectl get --raw /readyz?verbose` shows it. Pure. The reason of a failure is shown with
 * `?verbose` and below a check's own path only. Source: controller-runtime: pkg/healthz.
 */
import { oneLine } from "../../kube/printable.ts"

/** The result of one check: undefined when it passed. */
export interface Result {
  readonly name: string
  readonly failure: string | undefined
  /** A remark about a check that passed. */
  readonly remark?: string | undefined
}

export interface Options {
  /** `readyz`: for the last line of a verbose response. */
  readonly probe: string
  readonly verbose: boolean
  readonly exclude: ReadonlyArray<string>
}

export interface Verdict {
  readonly healthy: boolean
  readonly text: string
}

/** The result of all checks of a probe. Without checks the result is a passed `ping`. */
export const overall = (results: ReadonlyArray<Result>, { exclude, probe, verbose }: Options): Verdict => {
  const all = results.length === 0 ? [{ name: "ping", failure: undefined }] : results
  const isExcluded = ({ name }: Result) => exclude.includes(name)
  const healthy = all.every((result) => isExcluded(result) || result.failure === undefined)
  if (healthy && !verbose) return { healthy, text: "ok" }
  const unknown = exclude.filter((name) => !all.some((result) => result.name === name))
  const lines = [
    ...all.map((result) => (isExcluded(result) ? `[+]${result.name} excluded: ok` : lineOf(result, verbose))),
    ...(unknown.length === 0
      ? []
      : [`warn: some health checks cannot be excluded: no matches for ${unknown.map(quoted).join(",")}`]),
    `${probe} check ${healthy ? "passed" : "failed"}`
  ]
  return { healthy, text: `${lines.join("\n")}\n` }
}

/** One check by its name. */
export const single = ({ failure }: Result): Verdict =>
  failure === undefined
    ? { healthy: true, text: "ok" }
    : { healthy: false, text: `internal server error: ${oneLine(failure)}\n` }

const lineOf = ({ failure, name, remark }: Result, verbose: boolean): string => {
  if (failure === undefined) return `[+]${name} ok${remark === undefined || !verbose ? "" : `, but ${oneLine(remark)}`}`
  return `[-]${name} failed: ${verbose ? oneLine(failure) : "reason withheld"}`
}

const quoted = (text: string): string => JSON.stringify(text)

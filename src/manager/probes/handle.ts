/**
 * The probe server's routes: `/healthz` and `/livez` run the liveness checks, `/readyz` the readiness checks; a path below runs one check by its
 * name. A trailing slash is ignored. Source: controller-runtime's healthz handler.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Check, Health, Probe } from "../../layers/Health.ts"
import { type HttpRequest, type Handler, notFound, text } from "../../layers/http/handler.ts"
import * as ProbeResponse from "./response.ts"

const routes: Readonly<Record<string, Probe>> = { healthz: "liveness", livez: "liveness", readyz: "readiness" }

/** Called with the result of each check when a whole probe is requested; excluded checks are left out. */
export type Observe = (probe: string, result: ProbeResponse.Result) => Effect.Effect<void>

export const handler =
  (health: Health, observe: Observe = () => Effect.void): Handler =>
  (request) => {
    const [, name = "", check, ...deeper] = request.path.replace(/\/$/, "").split("/")
    const probe = Object.hasOwn(routes, name) ? routes[name] : undefined
    if (probe === undefined || deeper.length > 0) return Effect.succeed(notFound)
    return Effect.flatMap(health.checks(probe), (checks) =>
      check === undefined ? all(name, checks, request, observe) : one(check, checks)
    )
  }

const all = (probe: string, checks: ReadonlyArray<Check>, { query }: HttpRequest, observe: Observe) => {
  const exclude = query.getAll("exclude")
  const judge = (check: Check): Effect.Effect<ProbeResponse.Result> =>
    exclude.includes(check.name)
      ? Effect.succeed({ name: check.name, failure: undefined })
      : Effect.tap(ask(check), (result) => observe(probe, result))
  return Effect.andThen(
    unknown(exclude, checks),
    Effect.map(Effect.forEach(checks, judge), (results) =>
      toHttp(ProbeResponse.overall(results, { probe, verbose: query.has("verbose"), exclude }))
    )
  )
}

/** Logged, because a short response has no room for the warning and a misspelt check would go unnoticed. */
const unknown = (exclude: ReadonlyArray<string>, checks: ReadonlyArray<Check>): Effect.Effect<void> => {
  const names = exclude.filter((name) => !checks.some((check) => check.name === name))
  return names.length === 0
    ? Effect.void
    : Effect.logDebug("A probe excludes unknown checks").pipe(
        Effect.annotateLogs({ exclude: names.join(",").slice(0, 200) })
      )
}

const passed = Effect.succeed(undefined)

const one = (name: string, checks: ReadonlyArray<Check>) => {
  const found = checks.find((check) => check.name === name) ?? (name === "ping" ? ping(checks) : undefined)
  return found === undefined
    ? Effect.succeed(notFound)
    : Effect.map(ask(found), (result) => toHttp(ProbeResponse.single(result)))
}

/** Without other checks there is `ping`, which passes. */
const ping = (checks: ReadonlyArray<Check>): Check | undefined =>
  checks.length === 0 ? { name: "ping", run: passed } : undefined

/** A check that fails with a defect has failed. */
const ask = ({ name, remark = passed, run }: Check): Effect.Effect<ProbeResponse.Result> =>
  Effect.catchCause(
    Effect.zipWith(run, remark, (failure, said) => ({ name, failure, remark: said })),
    (cause) => Effect.succeed({ name, failure: `the check itself failed: ${String(Cause.squash(cause))}` })
  )

const toHttp = (verdict: ProbeResponse.Verdict) => text(verdict.healthy ? 200 : 500, verdict.text)

const last = Metric.gauge("kubernetes_healthcheck", {
  description: "How the last check went, by check and probe: 1 is passed, 0 is failed"
})
const total = Metric.counter("kubernetes_healthchecks_total", {
  description: "Checks, by check, probe and how they went",
  incremental: true
})

/**
 * The results of checks, in a registry of their own that can be scraped more often. A check counts when a whole probe is requested, as kubelets do.
 * Source: k8s.io/component-base/metrics/prometheus/slis.
 */
export interface Slis {
  readonly observe: Observe
  readonly registry: Metric.MetricRegistry
}

/** `about`: registers further metrics of the process in the same registry. */
export const slis = Effect.fnUntraced(function* (about: Effect.Effect<void>) {
  const registry: Metric.MetricRegistry = new Map()
  const inRegistry = Effect.provideService(Metric.MetricRegistry, registry)
  yield* inRegistry(about)
  const observe: Observe = (type, { failure, name }) => {
    const status = failure === undefined ? "success" : "error"
    return Effect.andThen(
      Metric.update(Metric.withAttributes(last, { name, type }), failure === undefined ? 1 : 0),
      Metric.update(Metric.withAttributes(total, { name, status, type }), 1)
    ).pipe(inRegistry)
  }
  return { observe, registry } satisfies Slis
})

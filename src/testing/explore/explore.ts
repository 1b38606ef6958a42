/**
 * Finds what a controller does wrong when a process ends at the wrong moment, a response is lost, a cache lags or a user edits an object. It records an
 * undisturbed run of a scenario, then repeats it with each perturbation that the record admits, and compares what remains at the end.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Declared, Options } from "./Exploration.ts"
import { version } from "../../version.ts"
import { type Handle, handle } from "./handle.ts"
import { text } from "./report/text.ts"
import * as Run from "./run.ts"
import { declaredIn, searchGenerated, type Settings } from "./scenarios.ts"
import { type Report, search } from "./search.ts"

/** An exploration has found failures, or could not explore. The message is the report. */
export class ExplorationFailed extends Data.TaggedError("ExplorationFailed")<{
  /** What was found. */
  readonly report: Report
}> {
  override get message(): string {
    return text(this.report)
  }
}

/** A declared exploration, ready to run. A file `*.explore.ts` exports it for the command `explore`. */
export interface Exploration extends Declared {
  /** Runs it, and returns what it has found. Never fails. */
  readonly run: (settings?: Settings) => Effect.Effect<Report>
  /** Runs it, and fails if something was found: for a test. */
  readonly check: (settings?: Settings) => Effect.Effect<Report, ExplorationFailed>
  /** @internal */
  readonly [handle]: Handle
}

/**
 * Declares an exploration.
 *
 * @example
 * ```ts
 * const Labeller = Controller.make({
 *   name: "labeller",
 *   for: Namespace,
 *   access: [Access.patch(Namespace)],
 *   reconcileObject: ({ metadata: { labels, name } }, { client }) =>
 *     labels?.["hello"] === "world"
 *       ? Effect.void
 *       : Effect.asVoid(client.patch(Namespace, { name }, Patch.merge({ metadata: { labels: { hello: "world" } } })))
 * })
 * const labeller = explore("labeller", {
 *   controllers: [Labeller],
 *   scenario: (cluster) => cluster.apply("{ apiVersion: v1, kind: Namespace, metadata: { name: shop } }")
 * })
 * const { failures } = await Effect.runPromise(labeller.check())
 * assert.deepEqual(failures, [])
 * ```
 */
export const explore = <R = never>(name: string, options: Options<R>): Exploration => {
  const declared: Declared = { name, options }
  const run: Exploration["run"] = (settings) =>
    options.scenario === undefined ? searchGenerated(declared, settings) : search(declared, settings)
  return {
    ...declared,
    run,
    check: (settings) =>
      Effect.flatMap(run(settings), (report) =>
        report.problem === undefined && report.failures.length === 0
          ? Effect.succeed(report)
          : Effect.fail(new ExplorationFailed({ report }))
      ),
    [handle]: {
      version,
      name,
      search: (settings) => Effect.runPromise(run(settings)),
      record: (one, seed, scenario) =>
        Effect.flatMap(
          scenario === undefined ? Effect.succeed(declared) : declaredIn(declared, scenario, seed),
          (found) =>
            found === undefined ? Effect.undefined : Effect.map(Run.run(found, one, { seed }), ({ entries }) => entries)
        ).pipe(Effect.runPromise)
    }
  }
}

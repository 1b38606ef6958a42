/**
 * Loads the files with explorations, shares each exploration among threads, and joins what they report. An exploration is always cut into the same
 * shares, so that the report does not depend on the number of threads.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { relative, resolve, sep } from "node:path"
import * as Progress from "../../manager/progress/Progress.ts"
import type { Entry } from "../../testing/explore/record.ts"
import {
  type Case,
  idOf,
  InvalidCase,
  kinds,
  parseCase,
  type Perturbation
} from "../../testing/explore/perturbation.ts"
import type { Explored } from "../../testing/explore/report/json.ts"
import { merge, type Merged } from "../../testing/explore/report/merge.ts"
import type { Report } from "../../testing/explore/search.ts"
import * as Monotonic from "../../streams/monotonic.ts"
import { version } from "../../version.ts"
import { type File, find, InvalidExplorations, loaderFor } from "./files.ts"
import { Tracker } from "./Tracker.ts"
import * as Threads from "./threads.ts"

/** A thread of the command ended, or an exploration threw. */
export class ExploreFailed extends Data.TaggedError("ExploreFailed")<{ readonly message: string }> {}

export interface Options {
  /** The folder of the project. */
  readonly project: string
  /** Names of explorations, or paths of files; empty: all. */
  readonly wanted: ReadonlyArray<string>
  readonly seed: number
  readonly jobs: number
  readonly budget: Option.Option<Duration.Duration>
  readonly thread: Omit<Threads.Options, "loader">
}

/** An exploration, and the file that declares it. */
interface Found {
  readonly name: string
  readonly file: File
}

/** Into how many shares each exploration is cut. Each repeats the undisturbed run, so more of them would cost more than they gain. */
const shares = 8

/** Everything that the chosen explorations find, in the order of the files. */
export const explore = Effect.fnUntraced(function* (options: Options) {
  const { budget, jobs, seed } = options
  const { found, loader, thread } = yield* load(options)
  const units = found.flatMap((one) => Array.from({ length: shares }, (_, index) => ({ one, index })))
  const now = Monotonic.millis(yield* Clock.Clock)
  const deadline = now() + Option.match(budget, { onNone: () => Infinity, onSome: Duration.toMillis })
  const reports = new Map<Found, Array<Report>>(found.map((one) => [one, []]))
  const progress = new Tracker(found.length)
  let next = 0
  const work = Effect.fnUntraced(function* (own: Threads.Thread) {
    for (let unit = units[next]; unit !== undefined; unit = units[next]) {
      const left = units.length - next++
      const { index, one } = unit
      // What is left of the time, shared equally among what is left to do.
      const share = Math.min(1, jobs / left)
      const millis = deadline === Infinity ? undefined : Math.max(0, (deadline - now()) * share)
      const settings = {
        seed,
        share: { index, of: shares },
        budget: millis,
        combinations: millis === undefined ? 0 : Infinity
      }
      const report = yield* asked(
        one,
        own.ask({ _tag: "Search", file: one.file.url, name: one.name, settings }, (at) => progress.note(index, at))
      )
      reports.get(one)?.push(report)
    }
  })
  const others = Array.from({ length: Math.min(jobs, units.length) - 1 }, () =>
    Effect.flatMap(Threads.start({ ...options.thread, loader }), work)
  )
  yield* Progress.during(
    Effect.sync(() => progress.state()),
    Effect.all([work(thread), ...others], { concurrency: "unbounded", discard: true })
  )
  return found.flatMap((one): ReadonlyArray<Explored> => {
    const [first, ...rest] = reports.get(one) ?? []
    return first === undefined ? [] : [{ file: one.file.path, report: merge([first, ...rest]) }]
  })
}, Effect.scoped)

/** One run, and its record, whether it fails or not. */
export const replay = Effect.fnUntraced(function* (options: Options, id: string) {
  const at = id.lastIndexOf(":")
  if (at === -1) {
    const message = `--replay takes the name of an exploration and perturbations, as in memcached:crash@write#7, not ${JSON.stringify(id)}`
    return yield* new InvalidExplorations({ message })
  }
  const wanted = yield* Effect.fromResult(caseOf(id.slice(at + 1)))
  const whole = id.slice(0, at)
  const { found, thread } = yield* load(options)
  // A generated scenario is named after its exploration: `memcached/spec.size`.
  const one = found.find(({ name }) => name === whole) ?? found.find(({ name }) => whole.startsWith(`${name}/`))
  if (one === undefined) return yield* unknown(whole, found)
  const scenario = one.name === whole ? undefined : whole.slice(one.name.length + 1)
  const { seed } = options
  const question = { file: one.file.url, name: one.name }
  const entries = yield* asked(one, thread.ask({ _tag: "Record", ...question, case: wanted, seed, scenario }))
  if (entries === undefined) {
    return yield* new InvalidExplorations({
      message: `${one.name} has no generated scenario ${JSON.stringify(scenario)}`
    })
  }
  const missing = wanted.perturbations.find((perturbation) => !entries.some((entry) => isAt(perturbation, entry)))
  if (missing !== undefined) {
    const message = `the run of ${one.name} has no point for --replay ${JSON.stringify(id)}: there is no ${idOf(missing)}`
    return yield* new InvalidExplorations({ message })
  }
  const settings = { seed, budget: undefined, replay: wanted, scenario }
  const report: Merged = yield* asked(one, thread.ask({ _tag: "Search", ...question, settings }))
  return { entries, explored: { file: one.file.path, report } }
}, Effect.scoped)

const caseOf = (text: string): Result.Result<Case, InvalidExplorations> =>
  Result.try({
    try: () => parseCase(text),
    catch: (cause) => new InvalidExplorations({ message: cause instanceof InvalidCase ? cause.message : String(cause) })
  })

/** Whether the perturbation took effect at that entry. */
const isAt = ({ at, kind }: Perturbation, entry: Entry): boolean => {
  if (entry.perturbed?.includes(kind) !== true) return false
  return (kinds[kind].at === "write" && entry.type === "call" ? entry.write : "n" in entry ? entry.n : undefined) === at
}

/** Finds and loads the files; the thread that has loaded them is returned, for the first share of the work. */
const load = Effect.fnUntraced(function* ({ project, thread: start, wanted }: Options) {
  const all = yield* find(project)
  if (all.length === 0) {
    return yield* new InvalidExplorations({ message: `${project} has no files *.explore.ts, .mts, .js or .mjs` })
  }
  const paths = new Set(all.filter(({ path }) => wanted.some((one) => isPathOf(one, path, project))))
  const names = wanted.filter((one) => !all.some(({ path }) => isPathOf(one, path, project)))
  const files = names.length === 0 && paths.size > 0 ? [...paths] : all
  const loader = yield* loaderFor(project, files)
  const thread = yield* Threads.start({ ...start, loader })
  const found = (yield* Effect.forEach(files, (file) => declaredIn(thread, file))).flat()
  const twice = found.find(({ name }, i) => found.findIndex((other) => other.name === name) !== i)
  if (twice !== undefined) {
    const [first, second] = found.filter(({ name }) => name === twice.name)
    const where =
      first?.file === second?.file ? `${twice.file.path} twice` : `${first?.file.path} and ${second?.file.path}`
    return yield* new InvalidExplorations({
      message: `the exploration ${JSON.stringify(twice.name)} is declared in ${where}: names must differ`
    })
  }
  const absent = names.find((one) => found.every(({ name }) => name !== one))
  if (absent !== undefined) return yield* unknown(absent, found)
  const chosen = found.filter(({ file, name }) => wanted.length === 0 || paths.has(file) || names.includes(name))
  return { found: chosen, loader, thread }
})

const isPathOf = (given: string, path: string, project: string): boolean =>
  given === path || relative(project, resolve(given)).replaceAll(sep, "/") === path

const unknown = (name: string, found: ReadonlyArray<Found>) =>
  Effect.fail(
    new InvalidExplorations({
      message: `there is no exploration or file ${JSON.stringify(name)}: the explorations are ${found.map((one) => one.name).join(", ")}`
    })
  )

const declaredIn = Effect.fnUntraced(function* (thread: Threads.Thread, file: File) {
  const declared = yield* Effect.mapError(
    thread.ask({ _tag: "Load", file: file.url }),
    ({ message }) => new InvalidExplorations({ message: `cannot load ${file.path}: ${message}` })
  )
  if (declared.length === 0) {
    return yield* new InvalidExplorations({
      message: `${file.path} exports no exploration: no export is a value of explore(...)`
    })
  }
  const other = declared.find((one) => one.version !== version)
  if (other !== undefined) {
    return yield* new InvalidExplorations({
      message: `${file.path} imports effect-controller-manager ${other.version}, and this command is of ${version}: run the one of the project`
    })
  }
  return declared.map(({ name }): Found => ({ name, file }))
})

const asked = <A>({ file, name }: Found, answer: Effect.Effect<A, Threads.ThreadFailed>) =>
  Effect.mapError(answer, ({ message }) => new ExploreFailed({ message: `${file.path}: ${name}: ${message}` }))

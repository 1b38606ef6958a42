/** `explore`: runs the explorations of a project's files `*.explore.ts`, and reports what they find. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { readFile } from "node:fs/promises"
import { availableParallelism } from "node:os"
import { basename, dirname, resolve } from "node:path"
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"
import type { Host } from "../../manager/process/Host.ts"
import * as Flags from "../../manager/setting/flags.ts"
import * as Sources from "../../manager/setting/sources.ts"
import { html } from "../../testing/explore/report/html.ts"
import { type Explored, json } from "../../testing/explore/report/json.ts"
import { junit } from "../../testing/explore/report/junit.ts"
import { text, timeline } from "../../testing/explore/report/text.ts"
import * as Files from "../output/files.ts"
import * as Run from "./run.ts"

/** Something was found: the report has it. */
export class FailuresFound extends Data.TaggedError("FailuresFound")<{ readonly message: string }> {}

const declared = { env: false, group: "command" } as const

const file = (name: string, description: string) =>
  Setting.optional(Codecs.text("file"), { ...declared, name, description })

const atLeastOne = (expected: string) => Codecs.integer({ min: 1, max: 999_999_999, expected })

/** Settings of the command itself. */
export const settings = {
  project: Setting.make(Codecs.text("folder"), {
    ...declared,
    name: "project",
    description: "The folder of the project",
    default: "."
  }),
  budget: Setting.optional(Codecs.interval, {
    ...declared,
    name: "budget",
    description:
      "Time for all explorations together: none begins a run later, and what is left after all single perturbations is used for pairs and triples; default is no limit, and none of these"
  }),
  seed: Setting.make(atLeastOne("a number of at least 1"), {
    ...declared,
    name: "seed",
    description: "Names, uids and the choice of pairs and triples follow from it",
    default: "1"
  }),
  jobs: Setting.optional(Codecs.concurrency, {
    ...declared,
    name: "jobs",
    description: "Threads that explore; default is one less than there are cores, and at least one"
  }),
  replay: Setting.optional(Codecs.text("name:perturbations"), {
    ...declared,
    name: "replay",
    description: "Only this run, with its whole timeline: memcached:crash@write#7"
  }),
  html: file("html", "Also write the report to this file as one HTML page"),
  junit: file("junit", "Also write the report to this file as JUnit XML"),
  json: file("json", "Also write the report to this file as JSON")
}

export const summary =
  "Runs the explorations of a project's files *.explore.ts: controllers in virtual time, with a fault at each point of a run; exits with code 1 if something was found"

/** `entry`: the file to start a thread of the program from, beside which the page of reports is. */
export const command = (host: Host, entry: URL) =>
  Command.make(
    "explore",
    {
      wanted: Argument.variadic(
        Argument.String("name|file").pipe(
          Argument.withDescription("Names of explorations, or files that declare them; default is all of the project")
        )
      ),
      flags: Flags.of(settings)
    },
    Effect.fnUntraced(function* ({ flags, wanted }) {
      const sources = { flags: Flags.given(flags), env: {} }
      const { values } = yield* Effect.fromResult(Sources.resolve(settings, sources))
      const options: Run.Options = {
        project: resolve(values.project),
        wanted,
        seed: values.seed,
        jobs: Option.getOrElse(values.jobs, () => Math.max(1, availableParallelism() - 1)),
        budget: values.budget,
        thread: { entry, stderr: host.stderr }
      }
      if (Option.isSome(values.replay)) {
        const { entries, explored } = yield* Run.replay(options, values.replay.value)
        host.stdout.write(`${timeline(entries)}\n\n`)
        return yield* report(host, entry, values, [explored])
      }
      return yield* report(host, entry, values, yield* Run.explore(options))
    })
  ).pipe(Command.withDescription(summary))

const report = Effect.fnUntraced(function* (
  host: Host,
  entry: URL,
  values: Setting.Values<typeof settings>,
  explored: ReadonlyArray<Explored>
) {
  host.stdout.write(`${explored.map((one) => text(one.report)).join("\n\n")}\n`)
  const write = (path: Option.Option<string>, content: Effect.Effect<string>) =>
    Option.match(path, {
      onNone: () => Effect.void,
      onSome: (chosen) =>
        Effect.flatMap(content, (body) =>
          Files.writeTexts(host, dirname(chosen), [{ name: basename(chosen), text: body }])
        )
    })
  yield* write(
    values.json,
    Effect.sync(() => json(explored))
  )
  yield* write(
    values.junit,
    Effect.sync(() => junit(explored))
  )
  yield* write(
    values.html,
    Effect.map(
      Effect.promise(() => readFile(new URL("explore/report.html", entry), "utf8")),
      (page) => html(page, explored)
    )
  )
  const message = verdict(explored)
  if (message !== undefined) return yield* new FailuresFound({ message })
})

/** What ends the command with exit code 1. */
const verdict = (explored: ReadonlyArray<Explored>): string | undefined => {
  const problems = explored.filter(({ report: { problem } }) => problem !== undefined).length
  const failures = explored.reduce((total, one) => total + one.report.failures.length, 0)
  const found = [
    ...(failures === 0 ? [] : [`${failures} ${failures === 1 ? "failure was" : "failures were"} found`]),
    ...(problems === 0 ? [] : [`${problems} of ${explored.length} explorations cannot be explored`])
  ]
  return found.length === 0 ? undefined : found.join(", and ")
}

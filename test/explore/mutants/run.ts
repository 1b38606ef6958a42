/** Explores one mutant, or the original, without and with the check of its user, and prints what was found as one line of JSON. */
import * as Effect from "effect/Effect"
import { enumerate } from "../../../src/testing/explore/enumerate.ts"
import type { Options } from "../../../src/testing/explore/Exploration.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { finalState } from "../../../src/testing/explore/finalState.ts"
import * as Judge from "../../../src/testing/explore/judge.ts"
import { idOf, kinds, type Perturbation } from "../../../src/testing/explore/perturbation.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { run } from "../../../src/testing/explore/run.ts"
import type { Subject } from "./Subject.ts"

/** What is found first, and by which perturbation; none in the undisturbed run. */
interface Found {
  readonly what: string
  readonly by: string
}

/** The values that parts of the original have had, as `[file, start, end, value]`. */
const seen = new Map<string, readonly [string, number, number, string]>()
Object.assign(globalThis, {
  report: (file: string, start: number, end: number, value: unknown) => {
    const one = [file, start, end, typeof value === "boolean" ? String(value) : "other"] as const
    seen.set(one.join(), one)
    return value
  }
})

/** Only each of so many perturbations is tried. */
const every = Number(process.argv[2])

const all = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, "not asked for"]))

/** What an exploration finds in the undisturbed run, without any perturbation. */
const undisturbedOf = Effect.fnUntraced(function* (options: Options) {
  const { failures, problem } = yield* explore("mutant", { ...options, without: all }).run()
  const [first] = failures
  const what = problem ?? (first === undefined ? undefined : `${first.rule}: ${first.message}`)
  return what === undefined ? undefined : ({ what, by: "" } satisfies Found)
})

const isCustom = ({ for: kind }: Subject["controller"]): boolean => kind !== undefined && Resource.isCustom(kind)

/** What operations that follow from the Schemas show, without any perturbation. */
const generatedOf = (options: Options) => undisturbedOf({ ...options, scenario: undefined })

/** Both explorations have the same runs, so each run is judged twice; they end when both have found something. */
const explored = Effect.fnUntraced(function* ({ controller, converged, ...others }: Subject) {
  const options = { ...others, controllers: [controller] }
  const withCheck = { ...options, converged }
  let alone = yield* undisturbedOf(options)
  let checked = yield* undisturbedOf(withCheck)
  const once = (perturbations: ReadonlyArray<Perturbation>, isReference = false) =>
    run({ name: "mutant", options: withCheck }, { perturbations }, { seed: 1, isReference })
  const undisturbed = yield* once([])
  const reference = Judge.referenceOf(undisturbed, undefined)
  let runs = 0
  for (const [i, one] of enumerate(undisturbed.entries, new Set()).entries()) {
    if (i % every !== 0) continue
    if (alone !== undefined && checked !== undefined) break
    const outcome = yield* once([one])
    runs++
    const own = one.kind === "delete" ? Judge.referenceOf(yield* once([one], true), undefined) : reference
    const judged = (hasOwnCheck: boolean): Found | undefined => {
      const [first] = Judge.judge(outcome, own, { comparable: undefined, hasOwnCheck })
      return first === undefined ? undefined : { what: `${first.rule}: ${first.message}`, by: idOf(one) }
    }
    alone ??= judged(false)
    checked ??= judged(true)
  }
  const generated = isCustom(controller) ? yield* generatedOf({ ...others, controllers: [controller] }) : undefined
  const { runs: reconciles, writes } = reference
  const final = [...finalState(undisturbed.objects, undefined)].map(([key, one]) => `${key} ${JSON.stringify(one)}`)
  return { alone, checked, generated, runs, writes, reconciles, final, seen: [...seen.values()] }
})

export const main = (subject: Subject): Promise<void> =>
  Effect.runPromise(
    Effect.map(explored(subject), (result) => {
      process.stdout.write(`${JSON.stringify(result)}\n`)
    })
  )

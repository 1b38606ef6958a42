/**
 * Feature gates: optional behaviour with a name, a stage and a default. The gates are data; `--feature-gates` sets them once, at the start. Source:
 * k8s.io/component-base/featuregate.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Gate } from "../layers/Setting.ts"
import type { Codec } from "../layers/setting/codecs.ts"
import * as Codecs from "../layers/setting/codecs.ts"
import { hint } from "./setting/nearest.ts"

/** Every gate of the registry, on or off. */
export type Gates = ReadonlyMap<string, boolean>

/** Sets all gates of a stage that are not set by name. */
const allOf = { AllAlpha: "ALPHA", AllBeta: "BETA" } as const

const isAll = (name: string): name is keyof typeof allOf => Object.hasOwn(allOf, name)

/** Applies `A=true,B=false` to the defaults. A failure is the rest of a sentence about what is wrong. */
export const parse = (registry: ReadonlyArray<Gate>, text: string): Result.Result<Gates, string> => {
  const named = new Map<string, boolean>()
  for (const part of text.split(",").map((one) => one.trim())) {
    if (part === "") continue
    const [name = "", ...rest] = part.split("=")
    const value = Codecs.boolean.decode(rest.join("="))
    if (Option.isNone(value)) return Result.fail(`"${part}" must be Name=true or Name=false`)
    const gate = registry.find((one) => one.name === name)
    if (gate === undefined && !isAll(name)) return Result.fail(unknown(registry, name))
    if (gate?.isLocked === true && value.value !== gate.byDefault) {
      return Result.fail(`${name} is ${gate.stage} and cannot be set to ${value.value} any more`)
    }
    if (named.has(name) && named.get(name) !== value.value) return Result.fail(`${name} is both true and false`)
    named.set(name, value.value)
  }
  return Result.succeed(new Map(registry.map((gate) => [gate.name, named.get(gate.name) ?? byStage(named, gate)])))
}

const byStage = (named: ReadonlyMap<string, boolean>, gate: Gate): boolean => {
  const all = Object.entries(allOf).find(([, stage]) => stage === gate.stage)?.[0]
  const wanted = all === undefined || gate.isLocked === true ? undefined : named.get(all)
  return wanted ?? gate.byDefault
}

const unknown = (registry: ReadonlyArray<Gate>, name: string): string => {
  const names = [...registry.map((gate) => gate.name), ...Object.keys(allOf)]
  return `there is no feature gate "${name}"${hint(name, names) || `; there are: ${names.join(", ")}`}`
}

export const codec = (registry: ReadonlyArray<Gate>): Codec<Gates> => ({
  metavar: "list",
  expected: "a list like Name=true,Other=false",
  decode: (text) => Result.getSuccess(parse(registry, text)),
  explain: (text) => Option.getOrUndefined(Result.getFailure(parse(registry, text)))
})

const enabled = Metric.gauge("kubernetes_feature_enabled", {
  description: "Feature gates, by name and stage: 1 is on, 0 is off"
})

/** The metric has an empty stage for GA gates. */
const stageOf = ({ stage }: Gate): string => (stage === "GA" ? "" : stage)

/** One series a gate, set once at the start. Source: k8s.io/component-base/metrics/prometheus/feature. */
export const publish = (registry: ReadonlyArray<Gate>, gates: Gates): Effect.Effect<void> =>
  Effect.forEach(
    registry,
    (gate) =>
      Metric.update(
        Metric.withAttributes(enabled, { name: gate.name, stage: stageOf(gate) }),
        gates.get(gate.name) === true ? 1 : 0
      ),
    { discard: true }
  )

import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Bounds from "../../../../src/controllers/deployment/plan/bounds.ts"
import type * as Snapshot from "../../../../src/controllers/deployment/snapshot.ts"
import * as Rolling from "../../../../src/controllers/deployment/plan/rolling.ts"
import { checkProperty, int, oneOf } from "../../../support/property.ts"
import { deployment, replicaSet } from "../objects.ts"

/**
 * A model of a rollout: sets with a size, existing and available pods, and reports that lag. A set removes unavailable
 * pods first, as the ReplicaSet controller does.
 */
interface Model {
  readonly name: string
  /** Desired pods. */
  size: number
  /** Available pods. */
  available: number
  /** Available pods as last reported. */
  reported: number
}

const scene = Arbitrary.all({
  replicas: int(1, 12),
  surge: int(0, 4),
  unavailable: int(0, 4),
  old: Arbitrary.array(Arbitrary.all({ size: int(0, 6), sick: int(0, 2) }), { minLength: 1, maxLength: 3 }),
  current: int(0, 4),
  /** After each sync a pod of the set becomes available, or a set reports. */
  events: Arbitrary.array(Arbitrary.all({ what: oneOf("ready", "report", "report"), which: int(0, 3) }), {
    maxLength: 60
  })
})

type Scene = typeof scene extends Arbitrary.Arbitrary<infer A> ? A : never

const of = ({ replicas, surge, unavailable }: Scene) => deployment({ replicas, surge, unavailable })

const begin = ({ current, old }: Scene): ReadonlyArray<Model> => [
  ...old.map(({ sick, size }, i) => {
    const available = Math.max(0, size - sick)
    return { name: `old-${i}`, size, available, reported: available }
  }),
  { name: "new", size: current, available: 0, reported: 0 }
]

const setsOf = (models: ReadonlyArray<Model>): Snapshot.Sets => {
  const all = models.map(({ name, reported, size }, i) => replicaSet({ name, created: i, size, available: reported }))
  return { current: all.at(-1), old: all.slice(0, -1) }
}

const sum = (models: ReadonlyArray<Model>, of: (model: Model) => number): number =>
  models.reduce((a, b) => a + of(b), 0)

const resize = (models: ReadonlyArray<Model>, name: string, size: number): void => {
  for (const model of models) {
    if (model.name !== name) continue
    model.size = size
    model.available = Math.min(model.available, size)
  }
}

/** One sync; false if it had nothing to do. */
const sync = (facts: Scene, models: ReadonlyArray<Model>): boolean => {
  const sets = setsOf(models)
  const growth = Rolling.grow(of(facts), sets)
  const steps = growth === undefined ? Rolling.shrink(of(facts), sets) : [growth]
  for (const { set, size } of steps) resize(models, set.metadata.name, size)
  return steps.length > 0
}

const happen = (models: ReadonlyArray<Model>, { what, which }: Scene["events"][number]): void => {
  const model = models[which % models.length]
  if (model === undefined) return
  if (what === "ready") model.available = Math.min(model.size, model.available + 1)
  else model.reported = model.available
}

/** Reported available pods that no decision removes. */
const known = ({ reported, size }: Model): number => Math.min(reported, size)

/**
 * Before each sync the existing pods and those reported as available, after it the existing ones and those that are
 * available.
 */
const run = (facts: Scene) => {
  const models = begin(facts)
  const trace = facts.events.map((event) => {
    const before = { total: sum(models, ({ size }) => size), known: sum(models, known) }
    sync(facts, models)
    const after = { total: sum(models, ({ size }) => size), available: sum(models, ({ available }) => available) }
    happen(models, event)
    return { before, after }
  })
  return { models, trace }
}

describe("Rolling", () => {
  checkProperty("once within maxSurge, never exceeds it", scene, (facts) => {
    const { maxTotal } = Bounds.of(of(facts))
    const { trace } = run(facts)
    return trace.every(({ after, before }) => after.total <= Math.max(maxTotal, before.total))
  })

  checkProperty("no step removes a needed pod of those reported as available", scene, (facts) => {
    const { minAvailable } = Bounds.of(of(facts))
    const { trace } = run(facts)
    return trace.every(({ after, before }) => after.available >= Math.min(minAvailable, before.known))
  })

  checkProperty("ends with the new set alone, once pods become available and sets report", scene, (facts) => {
    const { models } = run(facts)
    for (let round = 0; round < 60; round++) {
      sync(facts, models)
      for (const model of models) {
        model.available = model.size
        model.reported = model.available
      }
    }
    return models.every(({ name, size }) => size === (name === "new" ? facts.replicas : 0))
  })

  checkProperty("removes unhealthy pods first, oldest set first; then the rest, oldest set first", scene, (facts) => {
    const models = begin(facts)
    const sets = setsOf(models)
    const steps = Rolling.shrink(of(facts), sets).map(({ set, size }) => ({ name: set.metadata.name, size }))
    const expected: Array<{ name: string; size: number }> = []
    const bounds = Bounds.of(of(facts))
    const old = models.slice(0, -1)
    let most = sum(models, ({ size }) => size) - bounds.minAvailable - facts.current
    if (most <= 0) return steps.length === 0
    for (const model of old) {
      const sick = Math.min(most, model.size - model.available)
      if (sick <= 0) continue
      most -= sick
      model.size -= sick
      expected.push({ name: model.name, size: model.size })
    }
    let spare = sum(models, ({ available }) => available) - bounds.minAvailable
    for (const model of old) {
      const taken = Math.min(spare, model.size)
      if (taken <= 0) continue
      spare -= taken
      expected.push({ name: model.name, size: model.size - taken })
    }
    return JSON.stringify(steps) === JSON.stringify(expected)
  })
})

describe("a rolling step", () => {
  it("does nothing without a new set", () => {
    assert.isUndefined(Rolling.grow(deployment(), { current: undefined, old: [] }))
  })

  it("shrinks the old sets by the surplus while there is no new set", () => {
    const old = replicaSet({ name: "old", size: 5, available: 5 })
    const steps = Rolling.shrink(deployment({ replicas: 3 }), { current: undefined, old: [old] })
    assert.deepStrictEqual(steps, [{ set: old, size: 3, force: false }])
  })
})

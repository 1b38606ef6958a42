import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Annotations from "../../../../src/controllers/deployment/annotations.ts"
import * as ReplicaSets from "../../../../src/controllers/deployment/replicaSets.ts"
import * as Scaling from "../../../../src/controllers/deployment/plan/scaling.ts"
import { checkProperty, int, oneOf } from "../../../support/property.ts"
import { deployment, replicaSet, type SetFacts } from "../objects.ts"

/** A rollout that was scaled: sizes of its sets, and their annotations from the last scaling. */
const scene = Arbitrary.all({
  replicas: int(0, 40),
  surge: int(0, 10),
  statusReplicas: int(0, 40),
  sets: Arbitrary.array(
    Arbitrary.all({ size: int(1, 20), created: int(0, 5), max: oneOf(-1, 0, 1, 5, 8, 13, 20, 40, 60) }),
    { minLength: 2, maxLength: 6 }
  )
})

type Scene = typeof scene extends Arbitrary.Arbitrary<infer A> ? A : never

const of = ({ replicas, sets, statusReplicas, surge }: Scene) => ({
  deployment: deployment({ replicas, surge, status: { replicas: statusReplicas } }),
  sets: {
    current: undefined,
    old: sets
      .map(({ created, max, size }, i) =>
        replicaSet({ name: `web-${i}`, created, size, max: max < 0 ? undefined : max })
      )
      .sort(ReplicaSets.byAge)
  }
})

const sizes = (given: Scene) => {
  const { deployment, sets } = of(given)
  return Scaling.plan(deployment, sets).map(({ set, size }) => ({ name: set.metadata.name, size }))
}

const total = (scene: Scene): number => scene.sets.reduce((sum, { size }) => sum + size, 0)

const allowed = ({ replicas, surge }: Scene): number => (replicas > 0 ? replicas + surge : 0)

/** Upstream's formula in integers; it may move a set against the direction, which the controller does not. */
const formula = (scene: Scene): ReadonlyArray<{ readonly name: string; readonly size: number }> => {
  const toAdd = allowed(scene) - total(scene)
  const sorted = scene.sets
    .map((set, i) => ({ ...set, name: `web-${i}` }))
    .sort((a, b) => {
      const age = a.created - b.created || (a.name < b.name ? -1 : 1)
      // Where there is nothing to distribute, the sets stay in the order of FindActiveOrLatest: newest first.
      return toAdd === 0 ? -age : b.size - a.size || (toAdd > 0 ? -age : age)
    })
  let added = 0
  const out = sorted.map(({ max, name, size }) => {
    const whole = max > 0 ? max : scene.statusReplicas
    const product = size * (scene.replicas + scene.surge)
    const kept = whole === 0 ? size : Math.trunc((2 * product + whole) / (2 * whole))
    const fraction = scene.replicas === 0 ? -size : kept - size
    const share = toAdd === 0 ? 0 : toAdd > 0 ? Math.min(fraction, toAdd - added) : Math.max(fraction, toAdd - added)
    added += share
    return { name, size: size + share }
  })
  return out.map(({ name, size }, i) => ({ name, size: i === 0 ? Math.max(0, size + toAdd - added) : size }))
}

const sizeBefore = (scene: Scene, name: string): number => scene.sets[Number(name.slice(4))]?.size ?? NaN

const againstDirection = (scene: Scene, { name, size }: { readonly name: string; readonly size: number }): boolean =>
  (size - sizeBefore(scene, name)) * (allowed(scene) - total(scene)) < 0

const sum = (all: ReadonlyArray<{ readonly size: number }>): number => all.reduce((sum, { size }) => sum + size, 0)

describe("Scaling", () => {
  checkProperty("the sum is exact", scene, (given) => sum(sizes(given)) === allowed(given))

  checkProperty("no set moves against the direction, and none below zero", scene, (given) =>
    sizes(given).every((one) => one.size >= 0 && !againstDirection(given, one))
  )

  checkProperty("equals upstream's formula, wherever that is exact and moves nothing backwards", scene, (given) => {
    const expected = formula(given)
    const isSound = sum(expected) === allowed(given) && !expected.some((one) => againstDirection(given, one))
    return !isSound || JSON.stringify(sizes(given)) === JSON.stringify(expected)
  })

  checkProperty("every set is written, with the annotations of the new size", scene, (given) => {
    const { deployment, sets } = of(given)
    const steps = Scaling.plan(deployment, sets)
    return (
      steps.length === given.sets.length &&
      steps.every((step) => {
        const written = Scaling.resized(deployment, step) ?? step.set
        return (
          step.force &&
          written.spec?.replicas === step.size &&
          Annotations.count(written, Annotations.desiredReplicas) === given.replicas &&
          Annotations.count(written, Annotations.maxReplicas) === given.replicas + given.surge
        )
      })
    )
  })

  checkProperty(
    "is due exactly while an active set was scaled for another number",
    Arbitrary.all({
      replicas: int(0, 2),
      sets: Arbitrary.array(Arbitrary.all([int(0, 1), int(-1, 2)]), { maxLength: 3 })
    }),
    ({ replicas, sets }) =>
      Scaling.isDue(deployment({ replicas }), {
        current: undefined,
        old: sets.map(([size, desired]) => replicaSet({ size, desired: desired < 0 ? undefined : desired }))
      }) === sets.some(([size, desired]) => size > 0 && desired >= 0 && desired !== replicas)
  )
})

const plan = (replicas: number, current: SetFacts | undefined, ...old: ReadonlyArray<SetFacts>) =>
  Scaling.plan(deployment({ replicas, surge: 3, unavailable: 2 }), {
    current: current === undefined ? undefined : replicaSet({ name: "new", created: 9, ...current }),
    old: old.map((facts, i) => replicaSet({ name: `old-${i}`, created: i, ...facts }))
  }).map(({ force, set, size }) => `${set.metadata.name} ${size}${force ? "!" : ""}`)

describe("the scaled sets", () => {
  it("a stuck rollout of 8 old and 5 new pods, scaled from 10 to 30, becomes 20 and 13", () => {
    assert.deepStrictEqual(plan(30, { size: 5, max: 13 }, { size: 8, max: 13 }), ["old-0 20!", "new 13!"])
  })

  it("the only active set; without one the new set, without that the newest", () => {
    assert.deepStrictEqual(plan(5, { size: 0 }, { size: 2 }), ["old-0 5"])
    assert.deepStrictEqual(plan(5, { size: 0 }, { size: 0 }, { size: 0 }), ["new 5"])
    assert.deepStrictEqual(plan(5, undefined, { size: 0 }, { size: 0 }), ["old-1 5"])
    assert.deepStrictEqual(plan(5, undefined), [])
  })

  it("are the old ones, newest first, down to zero when the new one is saturated", () => {
    const full = { size: 5, desired: 5, available: 5 }
    assert.deepStrictEqual(plan(5, full, { size: 2 }, { size: 0 }, { size: 1 }), ["old-2 0", "old-0 0"])
    for (const lacking of [{ available: 4 }, { desired: 4 }, { desired: undefined }]) {
      assert.notInclude(plan(5, { ...full, ...lacking }, { size: 2, max: 8 }), "old-0 0")
    }
  })

  it("are the newest, or the new one, when none has replicas", () => {
    const old = [0, 1, 2].map((created) => replicaSet({ name: `old-${created}`, created }))
    const sizes = (current: (typeof old)[number] | undefined) =>
      Scaling.plan(deployment({ replicas: 2 }), { current, old }).map(({ set, size }) => `${set.metadata.name} ${size}`)
    assert.deepStrictEqual(sizes(undefined), ["old-2 2"])
    assert.deepStrictEqual(sizes(replicaSet({ name: "new" })), ["new 2"])
  })

  it("are none with the strategy Recreate", () => {
    const sets = { current: replicaSet({ name: "new", size: 2 }), old: [replicaSet({ size: 2 })] }
    assert.deepStrictEqual(Scaling.plan(deployment({ replicas: 9, strategy: "Recreate" }), sets), [])
  })

  it("are not written if the size is the same, unless forced; with current annotations not even then", () => {
    const set = replicaSet({ size: 3, desired: 2, max: 4 })
    assert.isUndefined(Scaling.resized(deployment(), { set, size: 3, force: false }))
    assert.strictEqual(Scaling.resized(deployment(), { set, size: 3, force: true })?.spec?.replicas, 3)
    const marked = replicaSet({ size: 3, desired: 3, max: 4 })
    assert.isUndefined(Scaling.resized(deployment(), { set: marked, size: 3, force: true }))
    for (const [set, force] of [
      [replicaSet({ size: 2 }), false],
      [replicaSet({ size: 2, desired: 3, max: 4 }), true]
    ] as const) {
      const written = Scaling.resized(deployment(), { set, size: 5, force })
      assert.strictEqual(written?.spec?.replicas, 5)
      assert.deepInclude(written?.metadata.annotations, {
        [Annotations.desiredReplicas]: "3",
        [Annotations.maxReplicas]: "4"
      })
    }
  })
})

describe("the annotations of replicas", () => {
  const noted = (text: string) => replicaSet({ size: 1, annotations: { [Annotations.desiredReplicas]: text } })
  for (const text of ["+3", "-1", "2147483648", "99999999999999999999", "3.0", "0x3", "", " 3", "1_0"])
    it(`do not count if they are no unsigned int32: ${JSON.stringify(text)}`, () => {
      assert.isUndefined(Annotations.count(noted(text), Annotations.desiredReplicas))
      assert.isFalse(Scaling.isDue(deployment({ replicas: 5 }), { current: noted(text), old: [] }))
    })
  for (const [text, number] of [
    ["0", 0],
    ["007", 7],
    ["2147483647", 2147483647]
  ] as const)
    it(`count: ${text}`, () => assert.strictEqual(Annotations.count(noted(text), Annotations.desiredReplicas), number))
  it("may have a sign where they mark the new set as saturated", () => {
    const full = { size: 5, available: 5, annotations: { [Annotations.desiredReplicas]: "+5" } }
    assert.deepStrictEqual(plan(5, full, { size: 2 }), ["old-0 0"])
  })
})

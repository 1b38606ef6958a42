/** The trigger time is that of the earliest change since the last sync. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as TriggerTime from "../../../../src/controllers/shared/services/triggerTime.ts"
import { checkProperty, int } from "../../../support/property.ts"
import { podFacts, podsOf, seconds, service } from "./objects.ts"

const web = service({
  selector: "web",
  ports: "number",
  ip: "10.96.0.1",
  families: "4",
  publishes: false,
  labels: "none",
  traffic: "none"
})
const created = (at: number) => ({ ...web, metadata: { ...web.metadata, creationTimestamp: seconds(at) } })

const scene = Arbitrary.all({
  first: Arbitrary.array(podFacts, { maxLength: 4 }),
  later: Arbitrary.array(podFacts, { maxLength: 4 }),
  created: int(0, 3),
  again: int(0, 3)
})

type Scene = typeof scene extends Arbitrary.Arbitrary<infer A> ? A : never

const timesOf = (pods: Scene["first"]) => new Map(pods.map(({ id, since }) => [id, since]))

describe("TriggerTime", () => {
  checkProperty(
    "the trigger time of a new Service is its creation",
    scene,
    (given) => TriggerTime.step(undefined, created(given.created), podsOf(given.first)).time === seconds(given.created)
  )

  checkProperty("the trigger time is the earliest change since the last sync", scene, (given) => {
    const { state } = TriggerTime.step(undefined, created(given.created), podsOf(given.first))
    const known = timesOf(given.first)
    const fresh = [...timesOf(given.later)]
      .filter(([id, since]) => since > (known.get(id) ?? -1))
      .map(([, since]) => since)
    const all = given.again > given.created ? [...fresh, given.again] : fresh
    const expected = all.length === 0 ? undefined : seconds(Math.min(...all))
    return TriggerTime.step(state, created(given.again), podsOf(given.later)).time === expected
  })

  checkProperty("a change is the trigger of one sync only", scene, (given) => {
    const { state } = TriggerTime.step(undefined, created(given.created), podsOf(given.first))
    return TriggerTime.step(state, created(given.created), podsOf(given.first)).time === undefined
  })
})

describe("the annotation", () => {
  it("replaces an older one, and is removed without a trigger time", () => {
    const before = { a: "b", [TriggerTime.annotation]: seconds(1) }
    assert.deepStrictEqual(TriggerTime.annotate(before, seconds(2)), { a: "b", [TriggerTime.annotation]: seconds(2) })
    assert.deepStrictEqual(TriggerTime.annotate(before, undefined), { a: "b" })
    assert.deepStrictEqual(TriggerTime.annotate(undefined, undefined), {})
  })

  it("is absent if no time can be parsed", () => {
    const { creationTimestamp: _, ...metadata } = web.metadata
    assert.isUndefined(TriggerTime.step(undefined, { ...web, metadata }, []).time)
  })
})

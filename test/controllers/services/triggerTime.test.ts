/** The trigger time is the earliest of what changed since the last sync. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as TriggerTime from "../../../src/controllers/services/triggerTime.ts"
import { int, law, prove } from "../../support/laws.ts"
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

prove<typeof TriggerTime>({
  path: "controllers/services/triggerTime.ts",
  module: TriggerTime,
  laws: [
    law(
      "of a Service seen for the first time it is its creation",
      scene,
      (module, given) =>
        module.step(undefined, created(given.created), podsOf(given.first)).time === seconds(given.created)
    ),
    law("later it is the earliest of the changes that came after what was known", scene, (module, given) => {
      const { state } = module.step(undefined, created(given.created), podsOf(given.first))
      const known = timesOf(given.first)
      const fresh = [...timesOf(given.later)]
        .filter(([id, since]) => since > (known.get(id) ?? -1))
        .map(([, since]) => since)
      const all = given.again > given.created ? [...fresh, given.again] : fresh
      const expected = all.length === 0 ? undefined : seconds(Math.min(...all))
      return module.step(state, created(given.again), podsOf(given.later)).time === expected
    }),
    law("nothing triggers twice", scene, (module, given) => {
      const { state } = module.step(undefined, created(given.created), podsOf(given.first))
      return module.step(state, created(given.created), podsOf(given.first)).time === undefined
    })
  ],
  mutants: [
    {
      title: "the first sync has no time",
      find: "last === undefined || created > last.service",
      replace: "last !== undefined && created > last.service"
    },
    {
      title: "pods count in the first sync",
      find: "if (last !== undefined && time > (last.pods",
      replace: "if (time > (last?.pods"
    },
    {
      title: "the latest change counts",
      find: "earliest = Math.min(earliest, time)",
      replace: "earliest = earliest === Infinity ? time : Math.max(earliest, time)"
    },
    {
      title: "pods are not remembered",
      find: "times.set(pod.metadata.name, time)",
      replace: "times.get(pod.metadata.name)"
    },
    {
      title: "a new Service of the name does not count",
      find: "last === undefined || created > last.service",
      replace: "last === undefined"
    }
  ]
})

describe("the annotation", () => {
  it("takes the place of an older one, and goes with it", () => {
    const before = { a: "b", [TriggerTime.annotation]: seconds(1) }
    assert.deepStrictEqual(TriggerTime.annotate(before, seconds(2)), { a: "b", [TriggerTime.annotation]: seconds(2) })
    assert.deepStrictEqual(TriggerTime.annotate(before, undefined), { a: "b" })
    assert.deepStrictEqual(TriggerTime.annotate(undefined, undefined), {})
  })

  it("is not there where nothing has a readable time", () => {
    const { creationTimestamp: _, ...metadata } = web.metadata
    assert.isUndefined(TriggerTime.step(undefined, { ...web, metadata }, []).time)
  })
})

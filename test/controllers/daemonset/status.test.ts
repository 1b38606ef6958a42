import { describe } from "@effect/vitest"
/** The counts of a DaemonSet's status. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Status from "../../../src/controllers/daemonset/status.ts"
import { checkProperty, type ValueOf } from "../../support/property.ts"
import { hash, inOrder, isAvailable, SnapshotFacts, snapshotOf, snapshots } from "./plan/objects.ts"
const counted = Arbitrary.schema(Schema.Struct({ snapshot: SnapshotFacts, isManaged: Schema.Boolean }))

const Small = Schema.UndefinedOr(Schema.Literals([0, 1]))

/** Any status that a server may hold. */
const Before = Schema.UndefinedOr(
  Schema.Struct({
    numberReady: Schema.Literals([0, 1]),
    numberAvailable: Small,
    observedGeneration: Small,
    collisionCount: Small,
    hasConditions: Schema.Boolean
  })
)

const written = Arbitrary.schema(
  Schema.Struct({
    before: Before,
    ready: Schema.Literals([0, 1]),
    available: Schema.Literals([0, 1]),
    generation: Small
  })
)

type Written = ValueOf<typeof written>

const zeros = {
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  updatedNumberScheduled: 0,
  numberUnavailable: 0
}

const given = <A>(key: string, value: A | undefined): object => (value === undefined ? {} : { [key]: value })

const beforeOf = ({ before }: Written): Status.Status | undefined =>
  before === undefined
    ? undefined
    : {
        currentNumberScheduled: 0,
        numberMisscheduled: 0,
        desiredNumberScheduled: 0,
        numberReady: before.numberReady,
        ...given("numberAvailable", before.numberAvailable),
        ...given("observedGeneration", before.observedGeneration),
        ...given("collisionCount", before.collisionCount),
        ...(before.hasConditions ? { conditions: [{ type: "Own", status: "True" }] } : {})
      }

const countsOf = ({ available, generation, ready }: Written): Status.Counts => ({
  ...zeros,
  numberReady: ready,
  numberAvailable: available,
  ...given("observedGeneration", generation)
})

describe("Status", () => {
  checkProperty("counts nodes, by the preferred pod of each", counted, ({ isManaged, snapshot }) => {
    const { places, set } = snapshot
    const nodes = places.filter(({ verdict }) => verdict !== "gone")
    const welcome = nodes.filter(({ verdict }) => verdict === "welcome")
    const firsts = (some: typeof nodes) => some.flatMap(({ pods }) => inOrder(pods)[0] ?? [])
    const first = firsts(welcome)
    const available = first.filter((pod) => isAvailable(set, pod)).length
    const expected = {
      currentNumberScheduled: first.length,
      numberMisscheduled: firsts(nodes.filter((place) => !welcome.includes(place))).length,
      desiredNumberScheduled: welcome.length,
      numberReady: first.filter(({ ready }) => ready !== undefined).length,
      updatedNumberScheduled: first.filter(({ revision }) => revision === hash).length,
      numberAvailable: available,
      numberUnavailable: welcome.length - available,
      ...(isManaged ? { observedGeneration: 7 } : {})
    }
    return JSON.stringify(Status.count(snapshotOf(snapshot), isManaged)) === JSON.stringify(expected)
  })

  checkProperty("is rechecked when a ready pod becomes available, and not before", snapshots, (snapshot) => {
    const { places, set } = snapshot
    const left = places
      .flatMap(({ pods }) => inOrder(pods))
      .flatMap(({ ready }) => (ready === undefined || ready >= set.minReady ? [] : (set.minReady - ready) * 1000))
    return Status.recheck(snapshotOf(snapshot)) === (left.length === 0 ? undefined : Math.min(...left))
  })

  checkProperty("is written only if a count differs, and keeps all other fields", written, (one) => {
    const before = beforeOf(one)
    const after = Status.status(before, countsOf(one))
    const isSame =
      one.before !== undefined &&
      one.before.numberReady === one.ready &&
      (one.before.numberAvailable ?? 0) === one.available &&
      (one.generation === undefined || (one.before.observedGeneration ?? 0) === one.generation)
    if (isSame) return after === before
    return (
      after !== before &&
      after.numberReady === one.ready &&
      after.numberAvailable === one.available &&
      after.observedGeneration === (one.generation ?? one.before?.observedGeneration) &&
      after.collisionCount === one.before?.collisionCount &&
      (after.conditions?.length === 1) === (one.before?.hasConditions === true)
    )
  })
})

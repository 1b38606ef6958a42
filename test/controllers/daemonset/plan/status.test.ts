/** The counts of a DaemonSet's status: spec E.8. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Status from "../../../../src/controllers/daemonset/plan/status.ts"
import { law, prove, type ValueOf } from "../../../support/laws.ts"
import { hash, inOrder, isAvailable, LookFacts, lookOf, looks } from "./objects.ts"

type Module = typeof Status

const counted = Arbitrary.schema(Schema.Struct({ look: LookFacts, isManaged: Schema.Boolean }))

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

prove<Module>({
  path: "controllers/daemonset/plan/status.ts",
  module: Status,
  laws: [
    law("counts nodes, of each the first pod", counted, ({ count }, { isManaged, look }) => {
      const { places, set } = look
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
      return JSON.stringify(count(lookOf(look), isManaged)) === JSON.stringify(expected)
    }),
    law(
      "is looked at again when the first pod has been ready for long enough, and not before",
      looks,
      ({ recheck }, look) => {
        const { places, set } = look
        const left = places
          .flatMap(({ pods }) => inOrder(pods))
          .flatMap(({ ready }) => (ready === undefined || ready >= set.minReady ? [] : (set.minReady - ready) * 1000))
        return recheck(lookOf(look)) === (left.length === 0 ? undefined : Math.min(...left))
      }
    ),
    law("news are written, and nothing else; what others said stays", written, ({ withCounts }, one) => {
      const before = beforeOf(one)
      const after = withCounts(before, countsOf(one))
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
  ],
  mutants: [
    {
      title: "nodes that are gone count",
      find: "if (!exists || pod === undefined) continue",
      replace: "if (pod === undefined) continue"
    },
    { title: "the last pod counts", find: "const [pod] = pods", replace: "const pod = pods.at(-1)" },
    { title: "nobody is misplaced", find: "misscheduled++", replace: "" },
    {
      title: "misplaced ones count as placed",
      find: "      continue\n    }\n    current++",
      replace: "    }\n    current++"
    },
    { title: "everybody is ready", find: "if (PodFacts.isReady(pod)) ready++", replace: "ready++" },
    {
      title: "who is ready is available",
      find: "if (Look.isAvailable(look, pod)) available++",
      replace: "if (PodFacts.isReady(pod)) available++"
    },
    { title: "everybody is updated", find: "if (Look.isUpdated(look, pod)) updated++", replace: "updated++" },
    { title: "unavailable are those that are there", find: "look.desired - available", replace: "current - available" },
    {
      title: "a generation is observed although nothing was done",
      find: "isManaged && generation",
      replace: "generation"
    },
    { title: "no news is written", find: "return isSame ? before : next", replace: "return next" },
    {
      title: "a number that is missing is news",
      find: "(before[field] ?? 0) === (next[field] ?? 0)",
      replace: "before[field] === next[field]"
    },
    { title: "what others said is lost", find: "{ ...before, ...counts }", replace: "{ ...counts }" },
    {
      title: "the generation is no news",
      find: '"numberUnavailable",\n  "observedGeneration"',
      replace: '"numberUnavailable"'
    },
    {
      title: "comes back for nothing",
      find: "if (seconds <= 0) return undefined",
      replace: "if (seconds <= 0) return 1"
    },
    {
      title: "comes back for the last",
      find: "PodFacts.nextAvailability(pods, seconds, now)",
      replace: "PodFacts.nextAvailability(pods.slice(-1), seconds, now)"
    }
  ]
})

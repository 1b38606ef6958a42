import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Status from "../../../src/controllers/namespace/status.ts"
import type { Remains } from "../../../src/controllers/namespace/remains.ts"
import type * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap, Deployment, type Namespace, Pod } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import { runs } from "../../support/runs.ts"

type Condition = NonNullable<NonNullable<Namespace["status"]>["conditions"]>[number]

const next = (before: ReadonlyArray<Condition>, report: Status.Report, now: number) =>
  Status.status({ conditions: [...before] }, report, now)?.conditions

const noFailures: Status.Report = { discovery: undefined, failures: [], remains: [] }

const left = (resource: Resource.Any, count: number, finalizers: Readonly<Record<string, number>> = {}): Remains => ({
  resource,
  count,
  finalizers: new Map(Object.entries(finalizers)),
  estimate: 0,
  failure: undefined
})

const types = [
  "NamespaceDeletionDiscoveryFailure",
  "NamespaceDeletionGroupVersionParsingFailure",
  "NamespaceDeletionContentFailure",
  "NamespaceContentRemaining",
  "NamespaceFinalizersRemaining"
]

/** Type, status, reason and message of all five conditions. */
const conditionsOf = (report: Status.Report): ReadonlyArray<ReadonlyArray<string | undefined>> =>
  (next([], report, 0) ?? []).map(({ message, reason, status, type }) => [type, status, reason, message])

const Reported = Schema.Struct({
  discovery: Schema.Boolean,
  failures: Schema.Array(Schema.Literals(["a", "b"])).check(Schema.isMaxLength(2)),
  pods: Schema.Literals([0, 1, 2]),
  held: Schema.Literals([0, 1, 2])
})

const histories = Arbitrary.all({
  reports: Arbitrary.array(Arbitrary.schema(Reported), { minLength: 1, maxLength: 6 }),
  foreign: Arbitrary.schema(Schema.Literals([0, 1, 3]))
})

interface History {
  readonly reports: ReadonlyArray<typeof Reported.Type>
  /** The number of deletion conditions before one of another writer. */
  readonly foreign: number
}

const reportOf = ({ discovery, failures, held, pods }: typeof Reported.Type): Status.Report => ({
  discovery: discovery ? "no answer" : undefined,
  failures,
  remains: [left(Pod, pods), left(ConfigMap, held, held === 0 ? {} : { x: held })]
})

const foreign: Condition = { type: "Foreign", status: "True", lastTransitionTime: "2000-01-01T00:00:00Z" }

const check = ({ foreign: at, reports }: History): void => {
  const first = (next([], noFailures, 0) ?? []).slice(0, at)
  let before: ReadonlyArray<Condition> = [...first, foreign]
  for (const [i, one] of reports.entries()) {
    const now = (i + 1) * 1000
    const report = reportOf(one)
    const changed = next(before, report, now)
    const after = changed ?? before
    assert.strictEqual(after[at], foreign, "somebody else's condition moved or changed")
    const own = after.filter((condition) => condition !== foreign)
    assert.deepStrictEqual(
      own.map(({ type }) => type),
      types
    )
    assert.deepStrictEqual(
      own.map(({ status }) => status),
      [one.discovery, false, one.failures.length > 0, one.pods + one.held > 0, one.held > 0].map((isTrue) =>
        isTrue ? "True" : "False"
      )
    )
    // The new conditions depend on the report alone, not on the former conditions.
    assert.deepStrictEqual(
      own.map(({ message, reason, status, type }) => [type, status, reason, message]),
      conditionsOf(report)
    )
    for (const condition of own) {
      const old = before.find(({ type }) => type === condition.type)
      const since = old?.status === condition.status ? old.lastTransitionTime : Time.format(now)
      assert.strictEqual(condition.lastTransitionTime, since, condition.type)
    }
    if (changed !== undefined) assert.notDeepEqual(changed, before, "written although nothing is new")
    assert.isUndefined(next(after, report, now + 500), "news twice")
    before = after
  }
}

describe("the conditions of a namespace that is being deleted", () => {
  it.effect.prop(
    "follow the report, are written once, and keep their transition times and places, as do other conditions",
    { history: histories },
    ({ history }) => Effect.sync(() => check(history)),
    { arbitrary: { runs: runs(200) } }
  )

  it("are all False without a failure", () => {
    assert.deepStrictEqual(conditionsOf(noFailures), [
      ["NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered", "All resources successfully discovered"],
      [
        "NamespaceDeletionGroupVersionParsingFailure",
        "False",
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed"
      ],
      [
        "NamespaceDeletionContentFailure",
        "False",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization"
      ],
      ["NamespaceContentRemaining", "False", "ContentRemoved", "All content successfully removed"],
      ["NamespaceFinalizersRemaining", "False", "ContentHasNoFinalizers", "All content-preserving finalizers finished"]
    ])
  })

  it("are True for the failures, with sorted messages", () => {
    const report: Status.Report = {
      discovery: "Discovery failed",
      failures: ["second", "first"],
      remains: [left(Pod, 1, { "x.io/f": 1 }), left(Deployment, 2, { "x.io/f": 1, "a.io/g": 2 }), left(ConfigMap, 0)]
    }
    assert.deepStrictEqual(
      conditionsOf(report).filter(([type]) => type !== "NamespaceDeletionGroupVersionParsingFailure"),
      [
        ["NamespaceDeletionDiscoveryFailure", "True", "DiscoveryFailed", "Discovery failed"],
        [
          "NamespaceDeletionContentFailure",
          "True",
          "ContentDeletionFailed",
          "Failed to delete all resource types, 2 remaining: first, second"
        ],
        [
          "NamespaceContentRemaining",
          "True",
          "SomeResourcesRemain",
          "Some resources are remaining: deployments.apps has 2 resource instances, pods. has 1 resource instances"
        ],
        [
          "NamespaceFinalizersRemaining",
          "True",
          "SomeFinalizersRemain",
          "Some content in the namespace has finalizers remaining: a.io/g in 2 resource instances, x.io/f in 2 resource instances"
        ]
      ]
    )
  })
})

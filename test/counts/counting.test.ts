/** One more of anything that is counted changes the numbers that count it, and no others. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Access from "../../src/kube/Access.ts"
import * as Patch from "../../src/kube/Patch.ts"
import { ConfigMap } from "../../src/kube/resources.ts"
import * as Expectations from "../../src/controllers/shared/workload/expectations.ts"
import * as Controller from "../../src/layers/Controller.ts"
import type { KubeClient } from "../../src/layers/KubeClient.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { withClient } from "../support/cluster.ts"
import * as Counting from "./counting.ts"

const namespace = "default"
const patched = (value: string) =>
  withClient((client) =>
    client.patch(ConfigMap, { namespace, name: "one" }, Patch.merge({ metadata: { annotations: { value } } }))
  )

const getObject = withClient((client) => client.get(ConfigMap, { namespace, name: "one" }))

/** The counts of a controller that patches an object once, and whatever else is given. */
const counts = (given: {
  readonly value?: string
  readonly isTraced?: boolean
  readonly reconcile?: Effect.Effect<unknown, unknown, KubeClient>
  readonly work?: Effect.Effect<unknown, unknown, KubeClient>
}) =>
  Effect.gen(function* () {
    const { isTraced = false, reconcile = Effect.void, value = "1", work = Effect.void } = given
    const controller = Controller.make({
      name: "probe",
      for: ConfigMap,
      access: [Access.read(ConfigMap)],
      reconcile: ({ key }) =>
        key === `${namespace}/one` ? Effect.asVoid(Effect.andThen(patched(value), reconcile)) : Effect.void
    })
    const counting = yield* Counting.make([controller], { isTraced })
    yield* counting.start
    const create = withClient((client) => client.create(ConfigMap, { metadata: { namespace, name: "one" } }))
    const { counts } = yield* counting.counted(Effect.asVoid(Effect.andThen(create, work)))
    return new Map([...counts, ...(yield* counting.held)])
  }).pipe(Effect.scoped, Effect.provide([ClusterTest.layer(), Logger.layer([])]))

type Given = Parameters<typeof counts>[0]

const differences = (given: Given) =>
  Effect.gen(function* () {
    const before = yield* counts({})
    const after = yield* counts(given)
    return Object.fromEntries(
      [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
        const difference = (after.get(name) ?? 0) - (before.get(name) ?? 0)
        return difference === 0 ? [] : [[name, difference]]
      })
    )
  })

const makeObject = withClient((client) => client.create(ConfigMap, { metadata: { namespace, name: "two" } }))

/** What the cases keep in memory. */
const kept: Array<unknown> = []
const keepEntry = Effect.sync(() => {
  const expectations = Expectations.make()
  expectations.expectCreations(`${namespace}/one`, 1, 0)
  kept.push(expectations)
})

/** The object is reconciled twice, because the first patch changes it. */
const cases: ReadonlyArray<readonly [title: string, given: Given, expected: Readonly<Record<string, number>>]> = [
  ["nothing", {}, {}],
  [
    "a request",
    { reconcile: getObject },
    { "requests: get configmaps": 2, "requests: all": 2, "bytes of bodies received": 450, "fibers started": 2 }
  ],
  ["a byte", { value: "12" }, { "bytes of bodies sent": 2, "bytes of bodies received": 3 }],
  ["a fiber", { reconcile: Effect.forkChild(Effect.void) }, { "fibers started": 2 }],
  ["a fiber that stays", { reconcile: Effect.forkDetach(Effect.never) }, { "fibers started": 2, "fibers alive": 2 }],
  [
    "a timer",
    { reconcile: Effect.forkDetach(Effect.sleep("1 hour")) },
    { "fibers started": 2, "fibers alive": 2, timers: 2 }
  ],
  ["a span without a tracer", { reconcile: Effect.withSpan(Effect.void, "one") }, { "spans without a tracer": 2 }],
  [
    "a span",
    { isTraced: true, reconcile: Effect.withSpan(Effect.void, "one") },
    {
      "spans: one": 2,
      // Those that every traced controller has.
      "spans: watch event": 2,
      "spans: queue wait": 2,
      "spans: reconcile probe": 2,
      "spans: patch configmaps": 2
    }
  ],
  [
    "an object in the cache",
    { work: makeObject },
    {
      "bytes of bodies received": 223,
      "reconciles: probe": 1,
      "fibers started": 1,
      "objects in the cache: configmaps": 1,
      "entries of maps and sets: streams/store/Index.ts": 1,
      "entries of maps and sets: streams/store/Store.ts": 1
    }
  ],
  [
    "an entry of a map",
    { reconcile: keepEntry },
    { "entries of maps and sets: controllers/shared/workload/expectations.ts": 2 }
  ]
]

describe("the counts of a controller", () => {
  for (const [title, given, expected] of cases) {
    it.effect(`differ by what it does: ${title} in each reconcile`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* differences(given), expected)
        kept.length = 0
      })
    )
  }
})

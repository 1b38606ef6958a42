import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as Store from "../../src/streams/Store.ts"
import * as Watch from "../../src/streams/watch.ts"
import { operations, plan } from "../streams/arbitraries.ts"
import * as StoreModel from "../streams/storeModel.ts"
import * as WatchModel from "../streams/watchModel.ts"
import { loadThrough, type Mutation } from "../support/mutant.ts"

const storeHolds = (module: typeof Store) =>
  Arbitrary.checkEffect(operations, (value) => StoreModel.check(module, value) === undefined, {
    runs: 300,
    maxShrinks: 0
  })

const watchHolds = (watch: typeof Watch.watch) =>
  Arbitrary.checkEffect(
    plan,
    (value) =>
      Effect.map(WatchModel.check({ watch, make: Store.make }, value), (wrong) => wrong === undefined).pipe(
        Effect.provide(TestClock.layer())
      ),
    { runs: 200, maxShrinks: 0, seed: 1 }
  )

const storeMutants: ReadonlyArray<readonly [path: string, mutation: Mutation]> = [
  [
    "streams/objectTable.ts",
    {
      title: "a relist forgets deletions",
      find: `      indexes.delete(key)
      deltas.push({ _tag: "Deleted", object, stateUnknown: true })`,
      replace: `      indexes.delete(key)`
    }
  ],
  [
    "streams/objectTable.ts",
    {
      title: "a relist leaves the index of what is gone",
      find: `      indexes.delete(key)
      deltas.push({ _tag: "Deleted", object, stateUnknown: true })`,
      replace: `      deltas.push({ _tag: "Deleted", object, stateUnknown: true })`
    }
  ],
  [
    "streams/objectTable.ts",
    {
      title: "the swap is not atomic",
      find: `collect(next, "ADDED", object)`,
      replace: `table.applyEvent({ type: "ADDED", object }, []), collect(next, "ADDED", object)`
    }
  ],
  [
    "streams/objectTable.ts",
    {
      title: "an unfinished list is not dropped",
      find: `        next = new Map()
        return none`,
      replace: `        next ??= new Map()
        return none`
    }
  ],
  [
    "streams/objectTable.ts",
    {
      title: "duplicates are told again",
      find: `} else if (isNews(object, previous)) {
      put`,
      replace: `} else {
      put`
    }
  ],
  [
    "streams/objectTable.ts",
    {
      title: "a recreated object is an update",
      find: `previous.metadata.uid === object.metadata.uid) {`,
      replace: `previous !== object) {`
    }
  ],
  [
    "streams/objectTable.ts",
    {
      title: "the index is not updated when labels change",
      find: `    objects.set(key, freeze ? deepFreeze(object) : object)
    indexes.set(key, object)`,
      replace: `    if (!objects.has(key)) indexes.set(key, object)
    objects.set(key, freeze ? deepFreeze(object) : object)`
    }
  ],
  [
    "streams/objectTable.ts",
    {
      title: "deletions during a streaming list are lost",
      find: `if (previous !== undefined && !isOlder(object, previous)) into.delete(key)`,
      replace: `return`
    }
  ]
]

const watchMutants: ReadonlyArray<readonly [path: string, mutation: Mutation]> = [
  [
    "streams/watchMachine.ts",
    {
      title: "a backoff that never resets",
      find: `moment.now - state.quietFrom >= timing.quiet ? 1 : state.attempt + 1`,
      replace: `state.attempt + 1`
    }
  ],
  [
    "streams/watchMachine.ts",
    {
      title: "no backoff",
      find: `const backoff = (attempt: number, random: number): number => exponential(attempt - 1) * (1 + random)`,
      replace: `const backoff = (attempt: number, random: number): number => Math.min(attempt, 1 + random)`
    }
  ],
  [
    "streams/watchMachine.ts",
    {
      title: "short watches cost nothing",
      find: `moment.now - since < timing.shortLived`,
      replace: `error !== undefined`
    }
  ],
  [
    "streams/watchRead.ts",
    {
      title: "resumes behind an event that could not be read",
      find: `    if (event.type === "BOOKMARK") {
      version = found`,
      replace: `    version = found
    if (event.type === "BOOKMARK") {`
    }
  ],
  [
    "streams/watchMachine.ts",
    {
      title: "a relist does not ask for news",
      find: `return expired(settings, state, state.version ?? "", error, moment)`,
      replace: `return wait(state, { _tag: "Resume" }, error, moment)`
    }
  ],
  [
    "streams/watchMachine.ts",
    {
      title: "the version of a list is forgotten",
      find: `resume({ ...state, version, tooLarge: 0 }, moment)`,
      replace: `resume({ ...state, version: state.version ?? version, tooLarge: 0 }, moment)`
    }
  ],
  [
    "streams/watch.ts",
    {
      title: "silence is endless",
      find: `Effect.timeoutOption(connection, idleTimeout)`,
      replace: `Effect.timeoutOption(connection, Duration.infinity)`
    }
  ],
  [
    "streams/watch.ts",
    {
      title: "connections are not closed",
      find: `closed === undefined ? Effect.void`,
      replace: `closed !== undefined ? Effect.void`
    }
  ]
]

describe("mutants of the store", () => {
  it.effect("the original holds", () =>
    Effect.map(storeHolds(Store), (result) => assert.strictEqual(result._tag, "Passed"))
  )
  for (const [path, mutation] of storeMutants) {
    it.effect(mutation.title, () =>
      Effect.gen(function* () {
        const mutant = yield* Effect.promise(() => loadThrough<typeof Store>("streams/Store.ts", path, mutation))
        assert.strictEqual((yield* storeHolds(mutant))._tag, "Falsified")
      })
    )
  }
})

describe("mutants of the watch", () => {
  it.effect("the original holds", () =>
    Effect.map(watchHolds(Watch.watch), (result) => assert.strictEqual(result._tag, "Passed"))
  )
  for (const [path, mutation] of watchMutants) {
    it.effect(mutation.title, () =>
      Effect.gen(function* () {
        const mutant = yield* Effect.promise(() => loadThrough<typeof Watch>("streams/watch.ts", path, mutation))
        assert.strictEqual((yield* watchHolds(mutant.watch))._tag, "Falsified")
      })
    )
  }
})

/**
 * A scenario: controllers, or another part of the program, and a user, on a cluster with RBAC and under exactly the roles that
 * `manifests` prints for them. It can run with other roles. The outcome says which grants there were, which were used and what was denied.
 */
import { assert } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import type { Entry } from "../../src/apiserver/audit/AuditLog.ts"
import { ClusterTest, type Options, type Provides } from "../../src/testing/ClusterTest.ts"
import { Event } from "../../src/kube/resources.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import type { Manifest } from "../../src/manager/manifests/Installation.ts"
import * as Audit from "../support/audit.ts"
import * as Grants from "./grants.ts"

export type Roles = (printed: ReadonlyArray<Manifest>) => ReadonlyArray<Manifest>

export interface Observer {
  /** The roles to write in place of those that are printed. */
  readonly roles: Roles
  readonly onEntry: (entry: Entry) => void
}

export interface Scenario {
  readonly title: string
  /** Dies if the scenario does not reach the state that it asserts. */
  readonly run: (observer: Observer) => Effect.Effect<void, unknown, Scope.Scope>
}

/** The server checks permissions that are optional elsewhere too. */
const strict = { ownerReferencesPermission: true }

/** A scenario of controllers, in virtual time. */
const scenarioOf = (
  title: string,
  options: Options,
  body: Effect.Effect<void, unknown, Provides | Scope.Scope>
): Scenario => ({
  title,
  run: ({ onEntry, roles }) =>
    Effect.provide(
      body,
      ClusterTest.layer({ ...options, authorization: "RBAC", admission: strict, roles, audit: { onEntry } })
    )
})

/** Controllers list before they watch, as on a server without streaming lists. */
export const listing = { cache: { streamingList: "never" } } as const

/** Asserts that an event was counted up, which takes the permission to patch events. */
export const assertCountedEvent = (isMeant: (event: Event) => boolean = () => true) =>
  Effect.gen(function* () {
    yield* (yield* Recorder).drained
    const events = (yield* (yield* ClusterTest).snapshot(Event)).filter(isMeant)
    assert.isAbove(Math.max(...events.map(({ count }) => count ?? 1)), 1)
  })

/** Two scenarios: with one account for all controllers, and with one account for each. */
export const make = (...[title, options, body]: Parameters<typeof scenarioOf>): ReadonlyArray<Scenario> => [
  scenarioOf(`${title} (one account)`, { ...options, accounts: "one" }, body),
  scenarioOf(`${title} (accounts of their own)`, options, body)
]

/** The same, and a third one whose controllers watch only this namespace. */
export const makeIn = (
  namespace: string,
  ...[title, options, body]: Parameters<typeof scenarioOf>
): ReadonlyArray<Scenario> => [
  ...make(title, options, body),
  scenarioOf(
    `${title} (one namespace)`,
    { ...options, accounts: "one", cache: { ...options.cache, namespaces: [namespace] } },
    body
  )
]

export interface Outcome {
  readonly granted: ReadonlyArray<Grants.Grant>
  /** Grants as text (`Grants.describe`). */
  readonly used: ReadonlySet<string>
  readonly denied: ReadonlyArray<string>
}

const observe = (change: Roles, onDenied: () => void) => {
  let granted: ReadonlyArray<Grants.Grant> = []
  const used = new Set<string>()
  const denied: Array<string> = []
  const observer: Observer = {
    roles: (printed) => {
      const changed = change(printed)
      // Later manifests of a role replace earlier ones.
      const latest = new Map([...granted, ...Grants.of(changed)].map((one) => [Grants.describe(one), one]))
      granted = [...latest.values()]
      return changed
    },
    onEntry: (entry) => {
      for (const grant of Grants.usedBy(entry, granted)) used.add(Grants.describe(grant))
      if (!Audit.isDenied(entry)) return
      denied.push(Audit.line(entry))
      onDenied()
    }
  }
  return { observer, outcome: (): Outcome => ({ granted, used, denied }) }
}

/** Runs the scenario with the printed roles, or with changed ones. */
export const run = (scenario: Scenario, change: Roles = (printed) => printed): Effect.Effect<Outcome, unknown> =>
  Effect.suspend(() => {
    const { observer, outcome } = observe(change, () => {})
    return Effect.map(withOwnClock(scenario.run(observer)), outcome)
  })

/** Whether the scenario fails or a request is denied; it stops at the first denied request. */
export const breaks = (scenario: Scenario, change: Roles): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const refused = yield* Deferred.make<void>()
    const { observer, outcome } = observe(change, () => Deferred.doneUnsafe(refused, Effect.void))
    const ended = yield* Effect.exit(withOwnClock(Effect.raceFirst(scenario.run(observer), Deferred.await(refused))))
    return ended._tag === "Failure" || outcome().denied.length > 0
  })

/** With a clock of its own, so that earlier scenarios of a test do not matter. */
const withOwnClock = <A>(scenario: Effect.Effect<A, unknown, Scope.Scope>): Effect.Effect<A, unknown> =>
  scenario.pipe(Effect.scoped, Effect.provide(Layer.fresh(TestClock.layer())))

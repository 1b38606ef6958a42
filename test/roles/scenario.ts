/**
 * A scenario: some controllers, or another part of the program, and a user, on a cluster with RBAC and under exactly the roles that are
 * printed for them. It can run with other roles, and reports afterwards what was granted, what of it was used and what was denied.
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
  /** Dies when what the user wants does not come about. */
  readonly run: (observer: Observer) => Effect.Effect<void, unknown, Scope.Scope>
}

/** Every right that a server may ask for is asked for. */
const strict = { ownerReferencesPermission: true }

/** A scenario of controllers, in virtual time. */
const once = (
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

/** For controllers that list before they watch, as on a server that does not stream its first list. */
export const listing = { cache: { streamingList: "never" } } as const

/** An event that was recorded again, by a patch: the only user of that right. */
export const countsEvents = (isMeant: (event: Event) => boolean = () => true) =>
  Effect.gen(function* () {
    yield* (yield* Recorder).drained
    const events = (yield* (yield* ClusterTest).snapshot(Event)).filter(isMeant)
    assert.isAbove(Math.max(...events.map(({ count }) => count ?? 1)), 1)
  })

/** With one account for all controllers, and with one for each. */
export const make = (...[title, options, body]: Parameters<typeof once>): ReadonlyArray<Scenario> => [
  once(`${title} (one account)`, { ...options, accounts: "one" }, body),
  once(`${title} (accounts of their own)`, options, body)
]

/** The same, and once more where that namespace is the only one that is worked in. */
export const makeIn = (
  namespace: string,
  ...[title, options, body]: Parameters<typeof once>
): ReadonlyArray<Scenario> => [
  ...make(title, options, body),
  once(
    `${title} (one namespace)`,
    { ...options, accounts: "one", cache: { ...options.cache, namespaces: [namespace] } },
    body
  )
]

export interface Outcome {
  readonly granted: ReadonlyArray<Grants.Grant>
  /** By what it says. */
  readonly used: ReadonlySet<string>
  readonly denied: ReadonlyArray<string>
}

const listening = (change: Roles, onDenied: () => void) => {
  let granted: ReadonlyArray<Grants.Grant> = []
  const used = new Set<string>()
  const denied: Array<string> = []
  const observer: Observer = {
    roles: (printed) => {
      const changed = change(printed)
      // Later printings of a role take the place of earlier ones; those of others stay.
      const latest = new Map([...granted, ...Grants.of(changed)].map((one) => [Grants.say(one), one]))
      granted = [...latest.values()]
      return changed
    },
    onEntry: (entry) => {
      for (const grant of Grants.usedBy(entry, granted)) used.add(Grants.say(grant))
      if (!Audit.isDenied(entry)) return
      denied.push(Audit.line(entry))
      onDenied()
    }
  }
  return { observer, outcome: (): Outcome => ({ granted, used, denied }) }
}

/** Runs it to its end, with the printed roles or with what is made of them. */
export const run = (scenario: Scenario, change: Roles = (printed) => printed): Effect.Effect<Outcome, unknown> =>
  Effect.suspend(() => {
    const { observer, outcome } = listening(change, () => {})
    return Effect.map(alone(scenario.run(observer)), outcome)
  })

/** Whether it fails, or anything is denied in it: then it goes no further. */
export const breaks = (scenario: Scenario, change: Roles): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const refused = yield* Deferred.make<void>()
    const { observer, outcome } = listening(change, () => Deferred.doneUnsafe(refused, Effect.void))
    const ended = yield* Effect.exit(alone(Effect.raceFirst(scenario.run(observer), Deferred.await(refused))))
    return ended._tag === "Failure" || outcome().denied.length > 0
  })

/** In a time of its own: what comes before it in a test does not count. */
const alone = <A>(scenario: Effect.Effect<A, unknown, Scope.Scope>): Effect.Effect<A, unknown> =>
  scenario.pipe(Effect.scoped, Effect.provide(Layer.fresh(TestClock.layer())))

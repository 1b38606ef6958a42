/** Runs a whole manager in virtual time: its services, its failure, and a leadership that the test grants and takes away. */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import { TestClock } from "effect/testing"
import { Leadership, LeaderLost, type Term, noTerms } from "../../../src/layers/Leadership.ts"
import * as Cluster from "../../support/cluster.ts"
import * as Switches from "../../support/switches.ts"

/** A cluster whose kinds can be switched off, and a leadership that always leads. */
export const layer = Layer.merge(Switches.layer, Leadership.layerAlways)

/** Lets time pass, and all work finish before and after. */
export const pass = (time: Duration.Input) =>
  Cluster.settle.pipe(Effect.andThen(TestClock.adjust(time)), Effect.andThen(Cluster.settle))

/** The message with which a manager ends. */
export const messageOf = (fiber: Fiber.Fiber<never, { readonly message: string }>) =>
  Effect.map(Fiber.await(fiber), (exit) =>
    Exit.isFailure(exit) ? (Cause.squash(exit.cause) as Error).message : "no failure"
  )

/** A leadership whose terms are granted by `acquire`. */
export const leadershipOf = (acquire: Leadership["Service"]["acquire"]) =>
  Leadership.of({
    identity: "me",
    lease: { namespace: "kube-system", name: "test" },
    acquire,
    leader: Effect.succeed(undefined),
    provenFor: Effect.succeed(undefined),
    terms: Effect.succeed(noTerms),
    leaderChanges: undefined as never
  })

export const stolen = new LeaderLost({ reason: "Stolen", message: "another one leads" })

/** A leadership with one term after another: `lead` begins a term and returns the effect that ends it. */
export const successiveTerms = Effect.map(Queue.unbounded<Term>(), (grants) => ({
  leadership: leadershipOf(Queue.take(grants)),
  lead: Effect.gen(function* () {
    const lost = yield* Deferred.make<LeaderLost>()
    yield* Queue.offer(grants, { lost: Deferred.await(lost), isValidUnsafe: () => !Deferred.isDoneUnsafe(lost) })
    yield* Cluster.settle
    return Deferred.succeed(lost, stolen)
  })
}))

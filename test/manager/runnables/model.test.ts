/**
 * Random registries and random operation sequences: kinds and rights come and go while leadership is acquired and lost. When idle, exactly the
 * controllers run whose kinds are served, each once, started in order; once everything is served and allowed, all of them reconcile.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import { TestClock } from "effect/testing"
import * as Access from "../../../src/kube/Access.ts"
import type * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap, Namespace, Secret, ServiceAccount } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import * as Health from "../../../src/layers/Health.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { Leadership, LeaderLost, type Term, noTerms } from "../../../src/layers/Leadership.ts"
import * as Manager from "../../../src/manager/Manager.ts"
import * as Cluster from "../../support/cluster.ts"
import { runs } from "../../support/runs.ts"
import * as Switches from "../../support/switches.ts"

const kinds: ReadonlyArray<Resource.Any> = [ConfigMap, Secret, ServiceAccount]

const index = Schema.Literals([0, 1, 2])
const operation = Schema.Union([
  Schema.Struct({
    _tag: Schema.Literal("Switch"),
    kind: index,
    mode: Schema.Literals(["served", "absent", "forbidden"])
  }),
  Schema.Struct({ _tag: Schema.Literals(["Lead", "Lose"]) })
])

const sequence = Schema.Struct({
  registry: Schema.Array(
    Schema.Struct({ reads: index, requires: Schema.UndefinedOr(index), everywhere: Schema.Boolean })
  ).check(Schema.isMinLength(1), Schema.isMaxLength(4)),
  warm: Schema.Boolean,
  operations: Schema.Array(operation).check(Schema.isMaxLength(6))
})
type Sequence = typeof sequence.Type
type Member = Sequence["registry"][number]

const pass = (time: `${number} seconds`) =>
  Cluster.settle.pipe(Effect.andThen(TestClock.adjust(time)), Effect.andThen(Cluster.settle))

/** Leadership that the operations acquire and lose. */
const contested = Effect.map(Queue.unbounded<Term>(), (grants) => {
  let lost: Deferred.Deferred<LeaderLost> | undefined
  return {
    isLeading: () => lost !== undefined,
    lead: Effect.suspend(() => {
      if (lost !== undefined) return Effect.void
      const mine = Deferred.makeUnsafe<LeaderLost>()
      lost = mine
      return Queue.offer(grants, { lost: Deferred.await(mine), isValidUnsafe: () => !Deferred.isDoneUnsafe(mine) })
    }),
    lose: Effect.suspend(() => {
      const mine = lost
      lost = undefined
      return mine === undefined
        ? Effect.void
        : Deferred.succeed(mine, new LeaderLost({ reason: "Stolen", message: "another one leads" }))
    }),
    service: Leadership.of({
      identity: "me",
      lease: undefined,
      acquire: Queue.take(grants),
      leader: Effect.succeed(undefined),
      provenFor: Effect.succeed(undefined),
      terms: Effect.succeed(noTerms),
      leaderChanges: undefined as never
    })
  }
})

/** The first violation of a sequence; undefined if there is none. */
const violationOf = ({ operations, registry, warm }: Sequence) =>
  Effect.gen(function* () {
    const { set } = yield* Switches.Switches
    const client = yield* KubeClient
    yield* client.create(Namespace, { metadata: { name: "mine" } })
    for (const kind of kinds) yield* client.create(kind, { metadata: { name: "one", namespace: "mine" } })
    /** Names, in the order of their starts. */
    const running: Array<string> = []
    const started: Array<string> = []
    const worked = new Set<string>()
    const wrong: Array<string> = []
    const controllers = registry.map((member, at) => {
      const name = `c${at}`
      const controller = Controller.make({
        name,
        for: kinds[member.reads] ?? ConfigMap,
        needsLeader: !member.everywhere,
        access: [Access.read(kinds[member.reads] ?? ConfigMap)],
        ...(member.requires === undefined ? {} : { requires: [kinds[member.requires] ?? ConfigMap] }),
        reconcile: () =>
          Effect.sync(() => {
            if (!running.includes(name)) wrong.push(`${name} reconciles and does not run`)
            worked.add(name)
          })
      })
      const watched = Layer.effectDiscard(
        Effect.acquireRelease(
          Effect.sync(() => {
            if (running.includes(name)) wrong.push(`${name} started twice`)
            running.push(name)
            started.push(name)
          }),
          () =>
            Effect.sync(() => {
              running.splice(running.indexOf(name), 1)
              worked.delete(name)
            })
        )
      )
      return { ...controller, layer: Layer.provideMerge(controller.layer, watched) }
    })
    const leadership = yield* contested
    const fiber = yield* Effect.forkChild(
      Effect.provideService(
        Manager.run({ controllers, warm, onLost: "rejoin", syncTimeout: "30 seconds" }),
        Leadership,
        leadership.service
      )
    )
    yield* pass("1 seconds")
    const modes: Array<Switches.Mode> = kinds.map(() => "served")
    const isServed = ({ reads, requires }: Member) =>
      modes[reads] !== "absent" && (requires === undefined || modes[requires] !== "absent")
    const shouldRun = (member: Member) => isServed(member) && (member.everywhere || leadership.isLeading())
    const check = (when: string) => {
      const expected = registry.flatMap((member, at) => (shouldRun(member) ? [`c${at}`] : []))
      const now = running.toSorted()
      if (now.join() !== expected.join()) wrong.push(`${when}: ${now.join()} run instead of ${expected.join()}`)
      // The controllers of a group that start together do so in their order.
      for (const everywhere of [true, false]) {
        const group = started.filter((name) => registry[Number(name.slice(1))]?.everywhere === everywhere)
        if (group.join() !== group.toSorted().join()) wrong.push(`${when}: started in the order ${group.join()}`)
      }
      started.length = 0
    }
    check("at the start")
    for (const one of [...operations, ...recovery]) {
      if (one._tag === "Switch") {
        modes[one.kind] = one.mode
        yield* set(kinds[one.kind] ?? ConfigMap, one.mode)
      } else yield* one._tag === "Lead" ? leadership.lead : leadership.lose
      yield* pass("40 seconds")
      check(JSON.stringify(one))
    }
    yield* pass("120 seconds")
    const idle = controllers.map(({ name }) => name).filter((name) => !worked.has(name))
    if (idle.length > 0) wrong.push(`${idle.join()} do not reconcile at the end`)
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) wrong.push(`the manager has ended: ${Exit.isFailure(exit) ? String(exit.cause) : ""}`)
    yield* Fiber.interrupt(fiber)
    if (running.length > 0) wrong.push(`${running.join()} still run after the manager has ended`)
    return wrong[0]
  }).pipe(
    Effect.provideService(Health.Health, Health.makeUnsafe()),
    Effect.provide(Layer.fresh(Switches.layer)),
    Effect.scoped,
    Effect.provide(TestClock.layer())
  )

/** At the end all kinds are served, and the manager leads. */
const recovery: Sequence["operations"] = [
  { _tag: "Switch", kind: 0, mode: "served" },
  { _tag: "Switch", kind: 1, mode: "served" },
  { _tag: "Switch", kind: 2, mode: "served" },
  { _tag: "Lead" }
]

describe("a registry", () => {
  it.effect(
    "runs exactly the controllers whose kinds are served and whose group leads, in order, each once",
    () =>
      Effect.map(
        Arbitrary.checkEffect(
          Arbitrary.schema(sequence),
          (value) => Effect.map(violationOf(value), (wrong) => wrong === undefined),
          { runs: runs(25) }
        ),
        (result) => assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
      ),
    120_000
  )
})

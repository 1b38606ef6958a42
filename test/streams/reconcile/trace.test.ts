/**
 * The spans of a loop, recorded by a tracer of the test: every run is linked to each trigger that was merged into it, and no trigger is lost
 * or linked twice, whatever the runs do and however they are interrupted.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Tracer from "effect/Tracer"
import type { Cause } from "../../../src/streams/reconcile/cause.ts"
import * as KeyedQueue from "../../../src/streams/queue/KeyedQueue.ts"
import * as Reconcile from "../../../src/streams/reconcile/Reconcile.ts"
import * as Trace from "../../../src/streams/reconcile/trace.ts"
import { recorder, type Recorded } from "../../support/recorder.ts"
import { runs } from "../../support/runs.ts"

const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const Plan = Schema.Struct({
  concurrency: Schema.Literals([1, 3]),
  steps: Schema.Array(
    Schema.Struct({
      do: Schema.Literals(["event", "event", "burst", "wait", "restart"]),
      n: int(0, 3),
      millis: int(0, 30)
    })
  ),
  behaviours: Schema.NonEmptyArray(Schema.Literals(["done", "sleep", "fail", "after", "terminal", "die"])),
  /** Whether runs are parked once before they begin, like those that wait for their own writes. */
  parks: Schema.Boolean
})
type Plan = typeof Plan.Type

const act = (behaviour: Plan["behaviours"][number]): Effect.Effect<Reconcile.Outcome | void, unknown> => {
  switch (behaviour) {
    case "done":
      return Effect.succeed(Reconcile.done)
    case "sleep":
      return Effect.sleep(7)
    case "fail":
      return Effect.delay(Effect.fail("no"), 2)
    case "after":
      return Effect.succeed(Reconcile.after(9))
    case "terminal":
      return Effect.fail(Reconcile.terminal("gone"))
    case "die":
      return Effect.die("defect")
  }
}

const settle = Effect.repeat(Effect.yieldNow, { times: 20 })

const pod = (name: string) => ({ metadata: { namespace: "ns", name, resourceVersion: "1" } })

const created = (trace: Trace.Trace, name: string): Cause => {
  const delta = { _tag: "Created", object: pod(name), initial: false } as const
  return { _tag: "Change", kind: "Pod", delta, entry: undefined, span: trace.event("Pod", delta) }
}

/** Runs the plan until no work is left. */
const run = (plan: Plan) =>
  Effect.gen(function* () {
    const { spans, tracer } = recorder()
    const queue = yield* KeyedQueue.make()
    const trace = new Trace.Trace("test", tracer, yield* Clock.Clock)
    const attempts = new Map<string, number>()
    const held = new Set<string>()
    const reconciling = Reconcile.run(queue, {
      concurrency: plan.concurrency,
      trace,
      park: (key, resume) => {
        if (!plan.parks || held.delete(key)) return false
        held.add(key)
        queueMicrotask(resume)
        return true
      },
      reconcile: (key) => {
        const attempt = (attempts.get(key) ?? 0) + 1
        attempts.set(key, attempt)
        const behaviour = attempt > 6 ? "done" : plan.behaviours[attempt % plan.behaviours.length]!
        return act(behaviour)
      }
    })
    const event = (n: number) => {
      queue.addUnsafe(`ns/k${n}`, 0, created(trace, `k${n}`))
    }
    let loop = yield* Effect.forkChild(reconciling)
    for (const step of plan.steps) {
      if (step.do === "event") event(step.n)
      if (step.do === "burst") for (let i = 0; i < step.millis; i++) event(step.n)
      if (step.do === "restart") {
        yield* Fiber.interrupt(loop)
        loop = yield* Effect.forkChild(reconciling)
      }
      if (step.do === "wait") yield* TestClock.adjust(step.millis)
      yield* settle
    }
    // A parked key is tried again only after the clock has stopped.
    for (let round = 0; round < 30; round++) yield* Effect.andThen(TestClock.adjust("1 minute"), settle)
    yield* Fiber.interrupt(loop)
    return { spans, left: queue.stats() }
  }).pipe(Effect.scoped)

const isEvent = ({ name }: Recorded) => name === "watch event"
const isRun = ({ name }: Recorded) => name === "reconcile test"
const number = (span: Recorded, name: string): number => Number(span.attributes.get(name) ?? 0)

/** The faults in the spans of a loop without work. */
const faults = (spans: ReadonlyArray<Recorded>): ReadonlyArray<string> => {
  const wrong: Array<string> = []
  const answered = new Map<string, number>()
  let counted = 0
  const triggers = spans.filter((span) => isEvent(span) || (isRun(span) && span.attributes.get("again") === true))
  for (const run of spans.filter(isRun)) {
    if (run.status._tag !== "Ended") wrong.push("a run never ended")
    if (run.links.length > 16) wrong.push(`${run.links.length} links`)
    counted += run.links.length + number(run, "triggers.unlinked")
    if (number(run, "triggers") !== run.links.length + number(run, "triggers.unlinked"))
      wrong.push("triggers miscounted")
    for (const { span } of run.links) {
      answered.set(span.spanId, (answered.get(span.spanId) ?? 0) + 1)
      const trigger = triggers.find((one) => one.spanId === span.spanId)
      if (trigger === undefined) wrong.push("a link to what was no trigger")
      else if (trigger.attributes.get("name") !== run.attributes.get("name"))
        wrong.push("a link to another key's trigger")
      else if (trigger.status.startTime > run.status.startTime) wrong.push("a link to the future")
    }
    const parent = Option.getOrUndefined(run.parent)
    if (run.links.length > 0 && parent === undefined) wrong.push("a run with triggers and without a wait")
    if (parent !== undefined && run.traceId !== run.links[0]?.span.traceId) wrong.push("a run in another trace")
  }
  if ([...answered.values()].some((times) => times > 1)) wrong.push("a trigger was answered twice")
  if (counted !== triggers.length) wrong.push(`${triggers.length} triggers, ${counted} answered`)
  return wrong
}

const Plans = Arbitrary.schema(Plan)

describe("the spans of a loop", () => {
  it.effect.prop(
    "link every run to each trigger that was merged into it, and lose none",
    { plan: Plans },
    ({ plan }) =>
      Effect.map(run(plan), ({ left, spans }) => {
        assert.deepStrictEqual(faults(spans), [])
        assert.strictEqual(left.ready + left.waiting + left.processing, 0)
      }),
    { arbitrary: { runs: runs(150) } }
  )

  it.effect("are a tree of event, wait, run, and the calls of the run", () =>
    Effect.gen(function* () {
      const { spans, tracer } = recorder()
      const queue = yield* KeyedQueue.make()
      const trace = new Trace.Trace("test", tracer, yield* Clock.Clock)
      queue.addWithUnsafe("ns/a", { after: "3 seconds", cause: created(trace, "a") })
      const call = Effect.withSpan(Effect.void, "get pods")
      yield* Reconcile.run(queue, { concurrency: 1, trace, reconcile: () => call }).pipe(
        Effect.provideService(Tracer.Tracer, tracer),
        Effect.forkScoped
      )
      yield* settle
      yield* TestClock.adjust("3 seconds")
      const line = spans.map(({ name, parent, status }) => [
        name,
        Option.match(parent, {
          onNone: () => undefined,
          onSome: (one) => spans.findIndex((it) => it.spanId === one.spanId)
        }),
        Number(status.startTime) / 1e9,
        status._tag === "Ended" ? Number(status.endTime) / 1e9 : undefined
      ])
      assert.deepStrictEqual(line, [
        ["watch event", undefined, 0, 0],
        ["queue wait", 0, 0, 3],
        ["reconcile test", 1, 3, 3],
        ["get pods", 2, 3, 3]
      ])
      assert.strictEqual(new Set(spans.map(({ traceId }) => traceId)).size, 1)
      assert.deepInclude(Object.fromEntries(spans[0]!.attributes), { kind: "Pod", namespace: "ns", name: "a" })
    }).pipe(Effect.scoped)
  )

  it.effect("are made only where a tracer is provided", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* Trace.of("test"))
      const traced = Effect.provideService(Trace.of("test"), Tracer.Tracer, recorder().tracer)
      assert.isDefined(yield* traced)
      assert.isUndefined(yield* Effect.withTracerEnabled(traced, false))
    })
  )
})

/**
 * Random operation sequences on EcsBindings: creations, removed annotations, restarts and faults, in virtual time.
 * Finally the faults stop, and the result is checked: each object is annotated, none was written without a reason, and
 * no requests follow.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as EcsBindings from "../../../src/controllers/EcsBinding.ts"
import * as Crd from "../../../src/kube/crd/Crd.ts"
import type * as Resource from "../../../src/kube/Resource.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import type { Entry } from "../../../src/apiserver/audit/AuditLog.ts"
import type * as Faults from "../../../src/apiserver/faults.ts"
import { ClusterTest, type Running } from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"

const { annotation, EcsBinding } = EcsBindings

type EcsBinding = Resource.Object<typeof EcsBinding>

const definition = Result.getOrThrow(Crd.make(EcsBinding))

const name = Schema.Literals(["a", "b"])

const Do = Schema.Union([
  Schema.TaggedStruct("Create", { name, isMarked: Schema.Boolean }),
  Schema.TaggedStruct("Edit", { name, innerip: Schema.Literals(["10.0.0.1", "10.0.0.2"]) }),
  Schema.TaggedStruct("Unmark", { name, to: Schema.Literals(["nothing", "false"]) }),
  Schema.TaggedStruct("Delete", { name }),
  /** The controller stops in order and starts again. */
  Schema.TaggedStruct("Restart", {}),
  Schema.TaggedStruct("Weather", {
    how: Schema.Literals(["conflict", "error", "drop", "lost", "slow", "stale", "relist"]),
    times: Schema.Literals([1, 2, 3])
  })
])

export const Operations = Schema.Array(Schema.Struct({ do: Do, wait: Schema.Literals([0, 0, 50, 1000, 40_000]) }))

type Operations = typeof Operations.Type
type Weather = Extract<typeof Do.Type, { readonly _tag: "Weather" }>

const resource = "ecsbinding.hopegi.com"

const ruleOf = ({ how, times }: Weather): Faults.Rule => {
  const onWrites = (fault: Faults.Fault): Faults.Rule => ({ match: { verb: "patch", resource }, fault, times })
  const onWatch = (fault: Faults.Fault): Faults.Rule => ({ match: { verb: "watch", resource }, fault, times })
  switch (how) {
    case "conflict":
      return onWrites({ _tag: "Conflict" })
    case "error":
      return onWrites({ _tag: "Status", code: 500 })
    case "drop":
      return onWrites({ _tag: "Drop" })
    case "lost":
      return onWrites({ _tag: "DropAnswer" })
    case "slow":
      return onWrites({ _tag: "Delay", millis: 2000 })
    case "stale":
      return onWatch({ _tag: "CutWatch", after: 2, how: "silence" })
    case "relist":
      return onWatch({ _tag: "Gone", after: 1 })
  }
}

const isStale = (step: Operations[number]): boolean => step.do._tag === "Weather" && step.do.how === "stale"

/** State of a run, by name; of the object that has the name now. */
interface Diary {
  /** How often the annotation was missing: at the creation, and each time a user removed it. */
  readonly reasons: Map<string, number>
  /** How often it was added, on the server. */
  readonly marked: Map<string, number>
  /** Writes by the controller since recording started. */
  heard: number
}

const markOf = (one: EcsBinding): string | undefined => one.metadata.annotations?.[annotation]

const isMarked = (one: EcsBinding): boolean => markOf(one) === "true"

/** Only the controller patches. */
const listening =
  (diary: Diary) =>
  ({ code, name, resource, verb }: Entry): void => {
    if (resource !== "ecsbinding" || verb !== "patch") return
    diary.heard++
    if (code === 200) add(diary.marked, name, 1)
  }

const add = (counts: Map<string, number>, name: string, more: number): void =>
  void counts.set(name, (counts.get(name) ?? 0) + more)

const spec = { id: "ecs-1", name: "first", nodename: "worker-1", innerip: "10.0.0.1" }

const create = (name: string, isMarked: boolean) =>
  Effect.flatMap(KubeClient, (client) =>
    client.create(EcsBinding, {
      metadata: { name, annotations: { theirs: "yes", ...(isMarked ? { [annotation]: "true" } : {}) } },
      spec
    })
  )

const act = Effect.fnUntraced(function* (
  step: Exclude<typeof Do.Type, Weather | { readonly _tag: "Restart" }>,
  diary: Diary
) {
  const client = yield* KubeClient
  const { name } = step
  switch (step._tag) {
    case "Create": {
      yield* create(name, step.isMarked)
      diary.marked.set(name, 0)
      diary.reasons.set(name, step.isMarked ? 0 : 1)
      return
    }
    case "Delete":
      return void (yield* client.delete(EcsBinding, { name }))
    case "Edit": {
      const now = yield* client.get(EcsBinding, { name })
      return void (yield* client.update(EcsBinding, { ...now, spec: { ...now.spec, innerip: step.innerip } }))
    }
    case "Unmark": {
      const now = yield* client.get(EcsBinding, { name })
      const { [annotation]: _, ...others } = now.metadata.annotations ?? {}
      const annotations = { ...others, ...(step.to === "nothing" ? {} : { [annotation]: step.to }) }
      yield* client.update(EcsBinding, { ...now, metadata: { ...now.metadata, annotations } })
      if (isMarked(now)) add(diary.reasons, name, 1)
    }
  }
})

/** All violations at the end. */
export const run = (history: Operations) =>
  Effect.suspend(() => {
    const diary: Diary = { reasons: new Map(), marked: new Map(), heard: 0 }
    const layer = ClusterTest.layer({ crds: [definition], audit: { onEntry: listening(diary) } })
    return Effect.provide(tell(history, diary), layer).pipe(Effect.scoped)
  })

const tell = Effect.fnUntraced(function* (history: Operations, diary: Diary) {
  const cluster = yield* ClusterTest
  const server = yield* ApiServer
  let rules: ReadonlyArray<Faults.Rule> = []
  yield* act({ _tag: "Create", name: "a", isMarked: false }, diary)
  yield* act({ _tag: "Create", name: "b", isMarked: true }, diary)
  let running: Running = yield* cluster.run(EcsBindings.make())
  const restart = Effect.gen(function* () {
    // Running requests are finished; a response may be slow.
    const stopped = yield* Effect.forkChild(running.stop())
    yield* cluster.advance("10 seconds")
    yield* Fiber.join(stopped)
    running = yield* cluster.run(EcsBindings.make())
  })
  for (const { do: step, wait } of history) {
    // User requests meet fewer faults; a failed one is not retried.
    yield* server.setFaults([])
    if (step._tag === "Weather") rules = [...rules, ruleOf(step)].slice(-2)
    else if (step._tag !== "Restart") yield* Effect.ignore(act(step, diary))
    yield* server.setFaults(rules)
    if (step._tag === "Restart") yield* restart
    yield* cluster.advance(wait)
  }
  yield* server.setFaults([])
  // A watch that delivers nothing is detected only by its timeout.
  yield* cluster.advance(history.some(isStale) ? "12 minutes" : "2 minutes")
  const said = yield* wrongs(diary, history.every(isExact))
  diary.heard = 0
  // Everything is listed and reconciled again, and time passes.
  yield* restart
  yield* cluster.advance("12 minutes")
  if (diary.heard > 0) said.push(`${diary.heard} writes in the quiet`)
  yield* create("last", false)
  yield* cluster.advance("1 second")
  if (!(yield* cluster.snapshot(EcsBinding)).every(isMarked)) said.push("it does not go on")
  return said
})

/** Whether the controller's cache and its pending own writes are correct. */
const isExact = ({ do: step }: Operations[number]): boolean =>
  step._tag !== "Weather" || ["conflict", "error", "drop"].includes(step.how)

const wrongs = Effect.fnUntraced(function* ({ marked, reasons }: Diary, isExact: boolean) {
  const said: Array<string> = []
  for (const one of yield* (yield* ClusterTest).snapshot(EcsBinding)) {
    const { annotations, name } = one.metadata
    if (!isMarked(one)) said.push(`${name} has no mark`)
    if (annotations?.["theirs"] !== "yes") said.push(`${name} has lost what was not ours`)
    const [times = 0, due = 0] = [marked.get(name), reasons.get(name)]
    if (times < due) said.push(`${name} was marked ${times} times, for ${due} reasons`)
    if (isExact && times !== due) said.push(`${name} was marked ${times} times, not ${due}`)
  }
  return said
})

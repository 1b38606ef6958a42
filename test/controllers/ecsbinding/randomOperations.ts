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
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import type { Running } from "../../../src/testing/TestCluster.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { disturb, Disturbance } from "../../support/faultSteps.ts"

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
  Schema.TaggedStruct("Disturbance", Disturbance.fields)
])

export const Operations = Schema.Array(Schema.Struct({ do: Do, wait: Schema.Literals([0, 0, 50, 1000, 40_000]) }))

type Operations = typeof Operations.Type
type Disturbing = Extract<typeof Do.Type, { readonly _tag: "Disturbance" }>

const resource = "ecsbinding.hopegi.com"

const ruleOf = (step: Disturbing): Faults.Rule => disturb(step, resource, { verb: "patch", resource })

const isStale = (step: Operations[number]): boolean => step.do._tag === "Disturbance" && step.do.how === "stale"

/** What a run records, by the name of the present object. */
interface Records {
  /** How often the annotation was missing: at the creation, and each time a user removed it. */
  readonly reasons: Map<string, number>
  /** How often it was added, on the server. */
  readonly marked: Map<string, number>
  /** Writes by the controller since the counter was last reset. */
  writes: number
}

const markOf = (one: EcsBinding): string | undefined => one.metadata.annotations?.[annotation]

const isMarked = (one: EcsBinding): boolean => markOf(one) === "true"

/** Only the controller patches. */
const recordWrites =
  (records: Records) =>
  ({ code, name, resource, verb }: Entry): void => {
    if (resource !== "ecsbinding" || verb !== "patch") return
    records.writes++
    if (code === 200) add(records.marked, name, 1)
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
  step: Exclude<typeof Do.Type, Disturbing | { readonly _tag: "Restart" }>,
  records: Records
) {
  const client = yield* KubeClient
  const { name } = step
  switch (step._tag) {
    case "Create": {
      yield* create(name, step.isMarked)
      records.marked.set(name, 0)
      records.reasons.set(name, step.isMarked ? 0 : 1)
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
      if (isMarked(now)) add(records.reasons, name, 1)
    }
  }
})

/** All violations at the end. */
export const run = (history: Operations) =>
  Effect.suspend(() => {
    const records: Records = { reasons: new Map(), marked: new Map(), writes: 0 }
    const layer = ClusterTest.layer({ crds: [definition], audit: { onEntry: recordWrites(records) } })
    return Effect.provide(perform(history, records), layer).pipe(Effect.scoped)
  })

const perform = Effect.fnUntraced(function* (history: Operations, records: Records) {
  const cluster = yield* ClusterTest
  const server = yield* ApiServer
  let rules: ReadonlyArray<Faults.Rule> = []
  yield* act({ _tag: "Create", name: "a", isMarked: false }, records)
  yield* act({ _tag: "Create", name: "b", isMarked: true }, records)
  let running: Running = yield* cluster.run(EcsBindings.make())
  const restart = Effect.gen(function* () {
    // The controller completes running requests, and a response may be slow.
    const stopped = yield* Effect.forkChild(running.stop())
    yield* cluster.advance("10 seconds")
    yield* Fiber.join(stopped)
    running = yield* cluster.run(EcsBindings.make())
  })
  for (const { do: step, wait } of history) {
    // User requests meet fewer faults; a failed one is not retried.
    yield* server.setFaults([])
    if (step._tag === "Disturbance") rules = [...rules, ruleOf(step)].slice(-2)
    else if (step._tag !== "Restart") yield* Effect.ignore(act(step, records))
    yield* server.setFaults(rules)
    if (step._tag === "Restart") yield* restart
    yield* cluster.advance(wait)
  }
  yield* server.setFaults([])
  // A watch that delivers nothing is detected only by its timeout.
  yield* cluster.advance(history.some(isStale) ? "12 minutes" : "2 minutes")
  const violations = yield* violationsOf(records, history.every(isExact))
  records.writes = 0
  // Everything is listed and reconciled again, and time passes.
  yield* restart
  yield* cluster.advance("12 minutes")
  if (records.writes > 0) violations.push(`${records.writes} writes although nothing changed`)
  yield* create("last", false)
  yield* cluster.advance("1 second")
  if (!(yield* cluster.snapshot(EcsBinding)).every(isMarked))
    violations.push("the controller does not annotate a new object")
  return violations
})

/** Whether the controller's cache and its pending own writes are correct. */
const isExact = ({ do: step }: Operations[number]): boolean =>
  step._tag !== "Disturbance" || ["conflict", "error", "drop"].includes(step.how)

const violationsOf = Effect.fnUntraced(function* ({ marked, reasons }: Records, isExact: boolean) {
  const violations: Array<string> = []
  for (const one of yield* (yield* ClusterTest).snapshot(EcsBinding)) {
    const { annotations, name } = one.metadata
    if (!isMarked(one)) violations.push(`${name} is not annotated`)
    if (annotations?.["theirs"] !== "yes") violations.push(`${name} has lost another annotation`)
    const [times = 0, due = 0] = [marked.get(name), reasons.get(name)]
    if (times < due) violations.push(`${name} was annotated ${times} times, for ${due} reasons`)
    if (isExact && times !== due) violations.push(`${name} was annotated ${times} times, not ${due}`)
  }
  return violations
})

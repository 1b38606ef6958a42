/**
 * One object whose spec clients set to valid and invalid values, reconciled repeatedly, with an API server that may reject or lose status
 * writes. In every case an object that cannot be decoded is not passed to reconcile, one event is recorded for each generation, and when
 * the faults are over the condition is correct and nothing more is written.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as ApiError from "../../../src/kube/ApiError.ts"
import * as Conditions from "../../../src/kube/conditions.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import type * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import * as Objects from "../../../src/layers/controller/objects.ts"
import { runs, seed } from "../../support/runs.ts"

const Gadget = Resource.make({
  group: "example.com",
  version: "v1",
  kind: "Gadget",
  plural: "gadgets",
  subresources: { status: true },
  spec: Schema.Struct({
    size: Schema.Int,
    colour: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("grey")))
  }),
  status: Schema.Struct({ conditions: Schema.optionalKey(Conditions.schema) })
})

const finalizer = "example.com/door"

const step = Schema.Literals(["good", "bad", "worse", "spoil", "label", "look", "look", "delete"])

const cases = Arbitrary.schema(
  Schema.Struct({
    steps: Schema.Array(step).check(Schema.isMaxLength(10)),
    /** What happens to writes of the status, in order; later ones succeed. */
    script: Schema.Array(Schema.Literals(["fine", "drop", "race"])).check(Schema.isMaxLength(4)),
    /** Whether the server rejects every write to an invalid object. */
    strict: Schema.Boolean,
    /** A condition of another writer. */
    theirs: Schema.Boolean,
    finalizes: Schema.Boolean
  })
)

type Case = typeof cases extends Arbitrary.Arbitrary<infer A> ? A : never

type Gadget = KubeObject & { spec: unknown; status?: { conditions?: Conditions.Conditions } }

const specs = { good: { size: 1 }, bad: { size: "1" }, worse: {} }

const theirs: Conditions.Condition = {
  type: "Available",
  status: "True",
  reason: "Ready",
  message: "",
  lastTransitionTime: "2026-01-01T00:00:00Z"
}

const ours = (object: Gadget | undefined): Conditions.Conditions => {
  const conditions = object?.status?.conditions
  return Array.isArray(conditions) ? conditions.filter(({ type }) => type === "Valid") : []
}

/** The services of the controller, and a record of its calls. */
const world = (value: Case) => {
  const script = [...value.script]
  let version = 1
  let stored: Gadget | undefined = {
    apiVersion: "example.com/v1",
    kind: "Gadget",
    metadata: {
      name: "x",
      namespace: "n",
      uid: "u",
      generation: 1,
      resourceVersion: "1",
      finalizers: value.finalizes ? [finalizer] : []
    },
    spec: specs.good,
    ...(value.theirs ? { status: { conditions: [theirs] } } : {})
  }
  const seen = { handed: 0, raw: 0, faults: 0, races: "", events: [] as Array<string>, writes: 0 }
  const store = (change: Partial<Gadget>, metadata: Partial<KubeObject["metadata"]> = {}): void => {
    if (stored === undefined) return
    const next = {
      ...stored,
      ...change,
      metadata: { ...stored.metadata, ...metadata, resourceVersion: `${++version}` }
    }
    const { deletionTimestamp, finalizers } = next.metadata
    stored = deletionTimestamp !== undefined && finalizers?.length === 0 ? undefined : next
  }
  const context = { verb: "patch", path: "/x" }
  const refuse = (status: number) => Effect.fail(ApiError.fromStatus({ context, status, body: "" }))
  const answer = (body: Gadget, dryRun: boolean) => {
    if (stored === undefined) return refuse(404)
    const { finalizers, resourceVersion } = body.metadata
    if (resourceVersion !== undefined && resourceVersion !== stored.metadata.resourceVersion) return refuse(409)
    const last = stored
    if (!dryRun)
      store(body.status === undefined ? {} : { status: body.status }, finalizers === undefined ? {} : { finalizers })
    return Effect.succeed(stored ?? last)
  }
  const patch = (_: unknown, _2: unknown, { body }: Patch.Patch, options?: { readonly dryRun?: boolean }) =>
    Effect.suspend((): Effect.Effect<KubeObject, ApiError.ApiError> => {
      const event = (body as Gadget).status === undefined ? undefined : script.shift()
      if ((body as Gadget).status !== undefined) seen.writes++
      if (event === "drop" || event === "race") seen.faults++
      if (event === "drop") return Effect.fail(ApiError.network(context, "reset"))
      if (event === "race") {
        seen.races = `${version}`
        store({ status: { conditions: [{ ...theirs, message: seen.races }, ...ours(stored)] } })
      }
      if ((body as Gadget).status !== undefined && value.strict && !isReadable(stored)) return refuse(422)
      return answer(body as Gadget, options?.dryRun === true)
    })
  const tools = {
    client: { patch, subresource: () => ({ patch }) },
    cache: { get: () => Effect.sync(() => stored) },
    events: {
      warning: (_: KubeObject, reason: string, message: string) =>
        Effect.sync(() => void seen.events.push(`${reason} ${message}`))
    }
  } as unknown as Objects.Erased
  const change = (to: (typeof step)["Type"]): void => {
    const { metadata } = stored ?? { metadata: undefined }
    if (to === "look" || metadata === undefined) return
    if (to === "spoil") return store({ status: { conditions: "none" } as never })
    if (to === "label") return store({}, { labels: { at: `${version}` } })
    if (to === "delete") return store({}, { deletionTimestamp: "2026-01-01T00:00:00Z" })
    if (stored?.spec !== specs[to]) store({ spec: specs[to] }, { generation: (metadata.generation ?? 0) + 1 })
  }
  return { seen, tools, change, left: () => script.length, read: () => stored }
}

const isReadable = (object: KubeObject | undefined): boolean =>
  object !== undefined && Gadget.decode(object)._tag === "Success"

/** The state of the object that the events are about. */
const stateOf = (object: Gadget | undefined): string | undefined =>
  object === undefined || isReadable(object)
    ? undefined
    : `${object.metadata.generation} ${object.metadata.deletionTimestamp !== undefined && (object.metadata.finalizers ?? []).length > 0}`

/** The first statement that does not hold. */
const play = Effect.fnUntraced(function* (value: Case) {
  const { change, read, seen, tools } = world(value)
  const options: Objects.Objects<never, never> = {
    for: Gadget,
    ...(value.finalizes ? { finalizers: { [finalizer]: () => Effect.void } } : {}),
    reconcileObject: (object) =>
      Effect.sync(() => {
        seen.handed++
        if ((object as Gadget & { readonly spec: { readonly colour?: string } }).spec.colour !== "grey") seen.raw++
      })
  }
  const reconcile = Objects.reconciler(options, tools)
  const look = Effect.exit(reconcile({ key: "n/x", namespace: "n", name: "x" }))
  const expectedEvents: Array<string> = []
  let last: string | undefined
  for (const to of ["look", ...value.steps] as const) {
    change(to)
    const now = stateOf(read())
    if (now !== undefined && now !== last) expectedEvents.push(now)
    last = now
    const { faults, handed } = seen
    const failed = Exit.isFailure(yield* look)
    if (now !== undefined && seen.handed > handed) return "an object that cannot be decoded was passed on"
    if (seen.raw > 0) return "an object was passed on in wire form"
    if (failed && seen.faults === faults) return "a run failed without a fault"
    if (seen.events.length !== expectedEvents.length)
      return `recorded ${seen.events.length} events for ${expectedEvents.length} states`
  }
  for (let round = 0; round < 6; round++) yield* look
  const quiet = { ...seen, events: seen.events.length }
  yield* look
  if (seen.writes !== quiet.writes) return "it writes again without a change"
  if (seen.events.length !== quiet.events) return "it records an event again without a change"
  const object = read()
  if (object === undefined) return undefined
  const said: unknown = object.status?.conditions
  const conditions = Array.isArray(said) ? (said as Conditions.Conditions) : undefined
  if (
    !value.steps.includes("spoil") &&
    (value.theirs || seen.races !== "") &&
    Conditions.get(conditions, "Available")?.message !== seen.races
  )
    return "it took somebody else's condition"
  const condition = Conditions.get(conditions, "Valid")
  if (isReadable(object)) return condition === undefined ? undefined : "it says that a good object is bad"
  if (value.strict) return undefined
  if (condition?.status !== "False" || condition.reason !== "InvalidObject") return "it does not say what is wrong"
  return condition.observedGeneration === object.metadata.generation ? undefined : "it says so of another state"
})

const check = Arbitrary.checkEffect(
  cases,
  (value) =>
    Effect.flatMap(play(value), (verdict) => (verdict === undefined ? Effect.succeed(true) : Effect.fail(verdict))),
  { runs: runs(600), seed }
)

describe("objects that cannot be decoded", () => {
  it.effect("get one event for each generation, and are never passed to reconcile", () =>
    Effect.map(check, (result) => assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result)))
  )
})

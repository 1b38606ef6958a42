/**
 * A controller of one object, and a server that does to each call what a script says: lose it, lose its answer, or let another writer be
 * faster. The controller runs again and again, on what the cache shows, which may be old; in the end the script is over.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import { TestClock } from "effect/testing"
import type * as Access from "../../../../src/kube/Access.ts"
import * as ApiError from "../../../../src/kube/ApiError.ts"
import type { KubeObject } from "../../../../src/kube/Meta.ts"
import type * as Patch from "../../../../src/kube/Patch.ts"
import { ConfigMap } from "../../../../src/kube/resources.ts"
import type { Client } from "../../../../src/layers/controller/tools.ts"
import * as Finalize from "../../../../src/layers/controller/writes/finalize.ts"
import type { PatchOptions, Target } from "../../../../src/layers/KubeClient.ts"
import { type Law, prove } from "../../../support/laws.ts"

type Module = typeof Finalize

const mine = ["example.com/a", "example.com/b"] as const
const theirs = "other.example/c"

const cases = Arbitrary.schema(
  Schema.Struct({
    /** What happens to calls, in order; fewer than there are attempts. */
    script: Schema.Array(Schema.Literals(["fine", "drop", "lose", "race"])).check(Schema.isMaxLength(4)),
    /** Whether the cache is one round behind, by round. */
    stale: Schema.Array(Schema.Boolean).check(Schema.isMaxLength(6)),
    /** How often the work of each finalizer fails; 99 is for ever. */
    failures: Schema.Tuple([Schema.Literals([0, 1, 99]), Schema.Literals([0, 1, 99])]),
    /** Before which round the deletion is asked for. */
    deleteAt: Schema.Literals([0, 1, 2, 3]),
    theirs: Schema.Boolean
  })
)

type Case = typeof cases extends Arbitrary.Arbitrary<infer A> ? A : never

interface Seen {
  /** The names on the stored object each time it was handed out to be worked on. */
  readonly live: Array<ReadonlyArray<string>>
  /** Work that succeeded, in order. */
  readonly done: Array<string>
  /** Names that went without their work having been done. */
  readonly skipped: Array<string>
  /** Names of others that we took off, or put back. */
  readonly meddled: Array<string>
  /** Rounds in which work failed and the run did not. */
  silent: number
  /** Whether our names were on the object when its deletion was asked for. */
  held: boolean
  left: ReadonlyArray<string> | undefined
}

/** One stored object. */
const serve = (value: Case, seen: Seen) => {
  const script = [...value.script]
  let version = 1
  let stored: KubeObject | undefined
  const store = (metadata: Partial<KubeObject["metadata"]>): void => {
    const next = {
      name: "x",
      namespace: "n",
      uid: "u",
      ...stored?.metadata,
      ...metadata,
      resourceVersion: `${++version}`
    }
    stored = next.deletionTimestamp !== undefined && next.finalizers?.length === 0 ? undefined : { metadata: next }
  }
  store({ finalizers: value.theirs ? [theirs] : [] })
  const names = () => stored?.metadata.finalizers ?? []
  /** Another controller takes its finalizer off, or just writes. */
  const race = () => {
    if (stored !== undefined) store({ finalizers: names().filter((name) => name !== theirs) })
  }
  const context = { verb: "patch", path: "/x" }
  const refuse = (code: number) => ApiError.fromStatus({ context, status: code, body: "" })
  const patched = (metadata: Partial<KubeObject["metadata"]>, options: PatchOptions | undefined) => {
    if (stored === undefined) return Effect.fail(refuse(404))
    const { finalizers, resourceVersion } = metadata
    if (resourceVersion !== undefined && resourceVersion !== stored.metadata.resourceVersion)
      return Effect.fail(refuse(409))
    if (options?.dryRun === true || finalizers === undefined) return Effect.succeed(stored)
    const before = names()
    for (const name of mine) {
      if (before.includes(name) && !finalizers.includes(name) && !seen.done.includes(name)) seen.skipped.push(name)
    }
    if (before.includes(theirs) !== finalizers.includes(theirs)) seen.meddled.push(theirs)
    const last = stored
    store({ finalizers })
    return Effect.succeed(stored ?? last)
  }
  const patch = (_: unknown, _2: Target, { body }: Patch.Patch, options?: PatchOptions) =>
    Effect.suspend((): Effect.Effect<KubeObject, ApiError.ApiError> => {
      const event = script.shift()
      if (event === "drop") return Effect.fail(ApiError.network(context, "reset"))
      if (event === "race") race()
      const answer = patched((body as { metadata: Partial<KubeObject["metadata"]> }).metadata, options)
      return event === "lose" ? Effect.fail(ApiError.network(context, "reset")) : answer
    })
  return {
    client: { patch } as unknown as Client<Access.Access<"patch", typeof ConfigMap>>,
    read: () => stored,
    names,
    ask: () => {
      seen.held = mine.every((name) => names().includes(name))
      if (names().length === 0) stored = undefined
      else store({ deletionTimestamp: "2026-01-01T00:00:00Z" })
    }
  }
}

const rounds = 12

const play = Effect.fnUntraced(function* (module: Module, value: Case) {
  const seen: Seen = { live: [], done: [], skipped: [], meddled: [], silent: 0, held: false, left: undefined }
  const server = serve(value, seen)
  const failing: Array<number> = [...value.failures]
  let failed = false
  const work = (name: string, i: number) =>
    Effect.suspend(() => {
      const left = failing[i] ?? 0
      if (left === 0) return Effect.sync(() => void seen.done.push(name))
      failing[i] = left - 1
      failed = true
      return Effect.fail("no")
    })
  const finalizers = Object.fromEntries(mine.map((name, i) => [name, () => work(name, i)]))
  let older = server.read()
  for (let round = 0; round < rounds; round++) {
    const cached = value.stale[round] === true ? older : server.read()
    if (round === value.deleteAt) server.ask()
    older = server.read()
    if (cached === undefined) continue
    failed = false
    const run = module.finalize(server.client, { resource: ConfigMap, object: cached, finalizers })
    const fiber = yield* Effect.forkChild(run, { startImmediately: true })
    // Only what tries again waits.
    if (fiber.pollUnsafe() === undefined) yield* TestClock.adjust("1 second")
    const exit = yield* Fiber.await(fiber)
    if (failed && Exit.isSuccess(exit)) seen.silent++
    // What is gone meanwhile was told apart by its version or will be, by the cache.
    if (Exit.isSuccess(exit) && exit.value !== undefined && server.read() !== undefined) seen.live.push(server.names())
  }
  return { ...seen, left: server.read()?.metadata.finalizers }
})

const about = (title: string, holds: (seen: Seen, value: Case) => boolean): Law<Module> => ({
  title,
  check: (module, options) =>
    Arbitrary.checkEffect(cases, (value) => Effect.map(play(module, value), (seen) => holds(seen, value)), options)
})

const possible = ({ failures }: Case): ReadonlyArray<string> => mine.filter((_, i) => failures[i] !== 99)

const laws: ReadonlyArray<Law<Module>> = [
  about("what is handed out to be worked on has the finalizers on it", ({ live }) =>
    live.every((names) => mine.every((name) => names.includes(name)))
  ),
  about("no finalizer goes before its work has succeeded", ({ skipped }) => skipped.length === 0),
  about(
    "work that can succeed is done exactly once for a deletion, whatever becomes of other work",
    ({ done, held }, value) => {
      const can = possible(value)
      return (
        (held ? done.length === can.length : done.length <= can.length) &&
        can.every((name) => !held || done.includes(name))
      )
    }
  ),
  about("work that failed fails the run", ({ silent }) => silent === 0),
  about("finalizers of others are left alone", ({ meddled }) => meddled.length === 0),
  about("in the end nothing of ours holds the object but work that cannot be done", ({ left }, value) =>
    (left ?? []).every((name) => !possible(value).includes(name))
  )
]

prove({
  path: "layers/controller/writes/finalize.ts",
  module: Finalize,
  laws,
  mutants: [
    {
      title: "works before the finalizers are stored",
      find: "Effect.succeed(object) : store.put(object, wanted)",
      replace: "Effect.succeed(object) : Effect.succeed(object)"
    },
    {
      title: "takes a finalizer off though its work failed",
      find: "work(object), ",
      replace: "Effect.ignore(work(object)), "
    },
    {
      title: "takes a finalizer off before its work",
      find: "work(object), takeOff(store, name)",
      replace: "takeOff(store, name), work(object)"
    },
    { title: "believes the cache", find: "yield* store.confirmed", replace: "read" },
    {
      title: "gives up at the first difficulty",
      find: 'ApiError.isTransient(error) || ApiError.hasReason(error, "Conflict")',
      replace: "false"
    },
    {
      title: "gives up when an answer is lost",
      find: 'ApiError.isTransient(error) || ApiError.hasReason(error, "Conflict")',
      replace: 'ApiError.hasReason(error, "Conflict")'
    },
    {
      title: "says nothing of work that failed",
      find: "for (const failure of failures) return yield* Effect.fail(failure)",
      replace: ""
    },
    {
      title: "takes everybody's finalizers off",
      find: "Finalizers.remove(Finalizers.of(object), name)",
      replace: "[]"
    },
    {
      title: "writes whatever the version",
      find: "patch({ resourceVersion: object.metadata.resourceVersion, finalizers }",
      replace: "patch({ finalizers }"
    },
    {
      title: "forgets the finalizers of others",
      find: "store.put(object, wanted)",
      replace: "store.put(object, Object.keys(finalizers))"
    },
    {
      title: "one failure keeps the other from being done",
      find: "const [, failures] = yield* Effect.partition(mine,",
      replace: "const failures = []\n  yield* Effect.forEach(mine.slice(0, 1),"
    }
  ]
})

/**
 * A controller of one object, and a server that follows a script for each call: it loses the request, loses the response, or lets another
 * writer be faster. The controller runs repeatedly with the object of the cache, which may be old, until after the end of the script.
 */
import { describe } from "@effect/vitest"
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
import type { Client } from "../../../../src/layers/controller/reconcileContext.ts"
import * as Finalize from "../../../../src/layers/controller/writes/finalize.ts"
import type { PatchOptions, Target } from "../../../../src/layers/KubeClient.ts"
import { checkProperty } from "../../../support/property.ts"

const mine = ["example.com/a", "example.com/b"] as const
const theirs = "other.example/c"

const cases = Arbitrary.schema(
  Schema.Struct({
    /** What happens to calls, in order; fewer than there are attempts. */
    script: Schema.Array(Schema.Literals(["fine", "drop", "lose", "race"])).check(Schema.isMaxLength(4)),
    /** Whether the cache is one round behind, by round. */
    stale: Schema.Array(Schema.Boolean).check(Schema.isMaxLength(6)),
    /** How often the cleanup of each finalizer fails; 99 is always. */
    failures: Schema.Tuple([Schema.Literals([0, 1, 99]), Schema.Literals([0, 1, 99])]),
    /** The round before which the object is deleted. */
    deleteAt: Schema.Literals([0, 1, 2, 3]),
    theirs: Schema.Boolean
  })
)

type Case = typeof cases extends Arbitrary.Arbitrary<infer A> ? A : never

interface Seen {
  /** The finalizers of the stored object each time it was returned for reconciling. */
  readonly live: Array<ReadonlyArray<string>>
  /** Cleanups that succeeded, in order. */
  readonly done: Array<string>
  /** Finalizers that were removed without their cleanup. */
  readonly skipped: Array<string>
  /** Finalizers of others that the controller removed or added. */
  readonly meddled: Array<string>
  /** Rounds in which a cleanup failed and the run did not. */
  silent: number
  /** Whether the object had the controller's finalizers when it was deleted. */
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
  /** Another controller removes its finalizer, or only writes. */
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

const run = Effect.fnUntraced(function* (value: Case) {
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
    const finalized = Finalize.finalize(server.client, { resource: ConfigMap, object: cached, finalizers })
    const fiber = yield* Effect.forkChild(finalized, { startImmediately: true })
    // Only retries wait.
    if (fiber.pollUnsafe() === undefined) yield* TestClock.adjust("1 second")
    const exit = yield* Fiber.await(fiber)
    if (failed && Exit.isSuccess(exit)) seen.silent++
    // An object that is gone meanwhile is detected by its version, here or in the cache.
    if (Exit.isSuccess(exit) && exit.value !== undefined && server.read() !== undefined) seen.live.push(server.names())
  }
  return { ...seen, left: server.read()?.metadata.finalizers }
})

const checkRuns = (title: string, holds: (seen: Seen, value: Case) => boolean): void =>
  checkProperty(title, cases, (value) => Effect.map(run(value), (seen) => holds(seen, value)))

const possible = ({ failures }: Case): ReadonlyArray<string> => mine.filter((_, i) => failures[i] !== 99)

describe("Finalize.finalize", () => {
  checkRuns("an object that is returned for reconciling has its finalizers", ({ live }) =>
    live.every((names) => mine.every((name) => names.includes(name)))
  )

  checkRuns("no finalizer goes before its work has succeeded", ({ skipped }) => skipped.length === 0)

  checkRuns(
    "work that can succeed is done exactly once for a deletion, whatever becomes of other work",
    ({ done, held }, value) => {
      const can = possible(value)
      return (
        (held ? done.length === can.length : done.length <= can.length) &&
        can.every((name) => !held || done.includes(name))
      )
    }
  )

  checkRuns("work that failed fails the run", ({ silent }) => silent === 0)

  checkRuns("finalizers of others are left alone", ({ meddled }) => meddled.length === 0)

  checkRuns("in the end nothing of ours holds the object but work that cannot be done", ({ left }, value) =>
    (left ?? []).every((name) => !possible(value).includes(name))
  )
})

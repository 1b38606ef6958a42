/**
 * What the models of the API server share: tables of objects whose watch events reach the controller's cache when the script delivers them, writes
 * of which any may be refused, lose its response or be the last of the process, and the time at which the key is due.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as ApiError from "../../../../src/kube/ApiError.ts"
import * as Key from "../../../../src/kube/Key.ts"
import type { Draft, KubeObject } from "../../../../src/kube/Meta.ts"
import type * as Patch from "../../../../src/kube/Patch.ts"
import type { Pod } from "../../../../src/kube/resources.ts"
import * as Time from "../../../../src/kube/time.ts"
import type { Index } from "../../../../src/layers/Cache.ts"
import type { EventSink } from "../../../../src/layers/Recorder.ts"
import type * as Reconcile from "../../../../src/streams/reconcile/Reconcile.ts"
import type { ObjectEvent } from "../../../../src/streams/watch/protocol.ts"
import type { Delta } from "../../../../src/streams/store/Store.ts"
import type { KeyedQueue } from "../../../../src/streams/queue/KeyedQueue.ts"
import * as Store from "../../../../src/streams/store/Store.ts"

/** All tables share one sequence of resource versions. */
let version = 1

/** The objects of one kind on the server, and a store that receives their events when the script delivers them. */
export class Table<A extends KubeObject> {
  private readonly objects = new Map<string, A>()
  private readonly events: Array<ObjectEvent<A>> = []
  readonly store = Store.make<A>()

  constructor(indexes: ReadonlyArray<Index<A>>) {
    for (const { name, of } of indexes) this.store.addIndex(name, (object) => of(object))
    this.store.apply({ _tag: "Restarted" })
    this.store.apply({ _tag: "Synced", resourceVersion: "0" })
  }

  get(key: string): A | undefined {
    return this.objects.get(key)
  }

  /** The response to a GET. */
  live(key: string): Effect.Effect<A, ApiError.ApiError> {
    return Effect.suspend(() => {
      const found = this.objects.get(key)
      return found === undefined ? Effect.fail(failure(404, "get")) : Effect.succeed(found)
    })
  }

  all(): ReadonlyArray<A> {
    return [...this.objects.values()]
  }

  put(given: A): A {
    const object = stamped(given)
    const type = this.objects.has(Key.of(object)) ? "MODIFIED" : "ADDED"
    this.objects.set(Key.of(object), object)
    this.events.push({ type, object })
    return object
  }

  /** Stores the object unless it has changed since it was read. */
  replace(object: A): A | ApiError.ApiError {
    const found = this.get(Key.of(object))
    if (found === undefined) return failure(404, "update")
    return found.metadata.resourceVersion === object.metadata.resourceVersion
      ? this.put(object)
      : failure(409, "update")
  }

  remove(given: A): A {
    const object = stamped(given)
    if (this.objects.delete(Key.of(object))) this.events.push({ type: "DELETED", object })
    return object
  }

  /** Delivers this many events to the store. */
  show(count: number): ReadonlyArray<Delta<A>> {
    return this.events.splice(0, count).flatMap((event) => {
      const resourceVersion = event.object.metadata.resourceVersion ?? ""
      return this.store.apply({ _tag: "Changed", events: [event], resourceVersion })
    })
  }
}

const stamped = <A extends KubeObject>(object: A): A => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: String(++version) }
})

export const verbs = ["create", "delete", "patch", "update"] as const

export type Verb = (typeof verbs)[number]

/** The response to a failed request; `reason`: that of its Status, if it has one. */
export const failure = (code: number, verb: string, reason?: string): ApiError.ApiError =>
  ApiError.fromStatus({
    context: { verb, path: "/" },
    status: code,
    body:
      reason === undefined
        ? String(code)
        : { kind: "Status", apiVersion: "v1", status: "Failure", reason, code, message: `${verb}: ${code}` }
  })

export const noEvents: EventSink = { event: () => Effect.void, normal: () => Effect.void, warning: () => Effect.void }

const few = Schema.Literals([0, 1, 2, 3])

/** A sync with this many pod events delivered after every write. */
export const Sync = Schema.TaggedStruct("Sync", { meanwhile: Schema.Literals([0, 1, 2]) })

/** This many pod events are delivered. */
export const ShowPods = Schema.TaggedStruct("ShowPods", { events: few })

/** This many calls of the verb are refused. */
export const Refuse = Schema.TaggedStruct("Refuse", { verb: Schema.Literals(verbs), times: few })

/** The process ends at that write of a sync, before or after it is stored; another process takes over, with a `fresh` cache or a lagging one. */
export const Crash = Schema.TaggedStruct("Crash", {
  write: Schema.Literals([1, 2, 3, 4, 5]),
  done: Schema.Boolean,
  fresh: Schema.Boolean
})

/** The response to that write of a sync is lost. */
export const Lose = Schema.TaggedStruct("Lose", { write: Schema.Literals([1, 2, 3]) })

/** What happens in one process, and when it ends. */
export type Run =
  | typeof Sync.Type
  | { readonly _tag: "Crash"; readonly write: number; readonly done: boolean; readonly fresh: boolean }
  | { readonly _tag: "Lose"; readonly write: number }

/** The defect of a process that ends in the middle of a write. */
const crashed = "the process ended"

export abstract class ModelServer {
  abstract readonly pods: Table<Pod>
  /** One sync of the controller. */
  abstract readonly sync: Effect.Effect<void>
  abstract showPods(count: number): void
  /** Another process takes over. */
  abstract takeOver(fresh: boolean): void

  /** Milliseconds since 1970, as `TestClock` has them. */
  now = 1_000_000
  /** When the key is due. */
  due = Infinity
  /** How many calls of each verb are refused. */
  readonly refusing: Record<Verb, number> = { create: 0, delete: 0, patch: 0, update: 0 }
  /** This many pod events are delivered to the cache after every write. */
  meanwhile = 0
  /** Set by every write. */
  wrote = false
  firstViolation: string | undefined
  /** Which write of the current sync is faulty; zero for none. */
  private faultyWrite = 0
  private fault: "before" | "after" | "lost" = "before"
  private writes = 0
  private isDead = false
  private number = 0

  protected readonly queue: Pick<KeyedQueue, "addWithUnsafe"> = {
    addWithUnsafe: (_, options) => this.requeue(Duration.toMillis(options?.after ?? 0))
  }

  protected violation(text: string | undefined): void {
    this.firstViolation ??= text
  }

  protected requeue(after: number): number {
    this.due = Math.min(this.due, this.now + after)
    return after
  }

  /** A write by the controller. */
  protected call<A>(verb: Verb, act: () => A | ApiError.ApiError): Effect.Effect<A, ApiError.ApiError> {
    return Effect.suspend(() => {
      if (this.isDead) return Effect.die(crashed)
      this.wrote = true
      const fault = ++this.writes === this.faultyWrite ? this.fault : undefined
      if (fault === "before") {
        this.isDead = true
        return Effect.die(crashed)
      }
      if (this.refusing[verb] > 0) {
        this.refusing[verb]--
        return Effect.fail(failure(403, verb))
      }
      const done = act()
      if (fault === "after") {
        this.isDead = true
        return Effect.die(crashed)
      }
      this.showPods(this.meanwhile)
      if (fault === "lost") return Effect.fail(failure(500, verb))
      return ApiError.isApiError(done) ? Effect.fail(done) : Effect.succeed(done)
    })
  }

  /** Stores a new object in the namespace `ns`, unless its name is taken. A draft without a name gets one: p1, p2, …. */
  protected make<A extends KubeObject>(table: Table<A>, draft: Draft<A>, more: object = {}): A | ApiError.ApiError {
    const number = ++this.number
    const { name = `p${number}` } = draft.metadata
    if (table.get(`ns/${name}`) !== undefined) return failure(409, "create", "AlreadyExists")
    const creationTimestamp = Time.format(this.now)
    const metadata = { ...draft.metadata, name, namespace: "ns", uid: `uid-${number}`, creationTimestamp }
    return table.put({ ...draft, ...more, metadata } as never)
  }

  /** Of a patch of a pod only the labels matter. */
  protected patchLabels(pod: Pod, { body }: Patch.Patch): Pod | ApiError.ApiError {
    const found = this.pods.get(Key.of(pod))
    if (found === undefined || found.metadata.uid !== pod.metadata.uid) return failure(404, "patch")
    const { labels } = (body as { readonly metadata: { readonly labels?: Record<string, string> } }).metadata
    return this.pods.put({ ...found, metadata: { ...found.metadata, labels: { ...found.metadata.labels, ...labels } } })
  }

  /** Events reach the cache: the key is due if a trigger returns it. */
  protected dispatch<A>(
    deltas: ReadonlyArray<Delta<A>>,
    trigger: (delta: Delta<A>) => ReadonlyArray<Key.Key>,
    key: Key.Key
  ): void {
    for (const delta of deltas) if (trigger(delta).includes(key)) this.requeue(0)
  }

  /** A sync, after whose failure the key is due again in `retryAfter` milliseconds. Only the script may end a process. */
  protected running(
    reconcile: Effect.Effect<Reconcile.Outcome | void, unknown>,
    retryAfter: number
  ): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.writes = 0
      this.due = Infinity
      return Effect.map(Effect.exit(reconcile), (exit) => {
        this.faultyWrite = 0
        if (Exit.isFailure(exit)) this.requeue(retryAfter)
        else if (exit.value?._tag === "After") this.requeue(Duration.toMillis(exit.value.delay))
        if (Exit.isFailure(exit) && Exit.hasDies(exit) && !this.isDead)
          this.violation(`died: ${Cause.pretty(exit.cause)}`)
      })
    })
  }

  run(action: Run): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (action._tag === "Sync") {
        this.meanwhile = action.meanwhile
        return this.sync
      }
      this.faultyWrite = action.write
      this.fault = action._tag === "Lose" ? "lost" : action.done ? "after" : "before"
      if (action._tag === "Lose") return this.sync
      return Effect.map(this.sync, () => {
        this.isDead = false
        this.takeOver(action.fresh)
      })
    })
  }

  pass(millis: number): Effect.Effect<void> {
    this.now += millis
    return TestClock.setTime(this.now)
  }
}

/** Runs `act` for each action, then `end`; returns the first violation. */
export const check = Effect.fnUntraced(function* <M extends ModelServer, A>(
  model: M,
  actions: ReadonlyArray<A>,
  act: (model: M, action: A) => Effect.Effect<void>,
  end: (model: M) => Effect.Effect<string | undefined>
): Effect.fn.Return<string | undefined> {
  yield* TestClock.setTime(model.now)
  for (const action of actions) {
    yield* act(model, action)
    if (model.firstViolation !== undefined) return model.firstViolation
  }
  return yield* end(model)
})

/**
 * Syncs without faults, each when the key is due, until it is not due any more; then `rest` checks the result. `live` is called before each sync:
 * nodes do their work, and all events are delivered. `longest`: milliseconds that the controller may have to wait.
 */
export const converge = Effect.fnUntraced(function* <M extends ModelServer>(
  model: M,
  rounds: number,
  longest: number,
  live: () => void,
  rest: (model: M) => Effect.Effect<string | undefined>
): Effect.fn.Return<string | undefined> {
  for (const verb of verbs) model.refusing[verb] = 0
  for (let round = 0; round < rounds; round++) {
    live()
    if (model.due === Infinity) return yield* rest(model)
    if (model.due - model.now > longest) return `waits ${model.due - model.now} ms, longer than anything takes`
    yield* model.pass(Math.max(1, model.due - model.now))
    model.meanwhile = 0
    yield* model.sync
    if (model.firstViolation !== undefined) return model.firstViolation
  }
  return `does not settle in ${rounds} syncs`
})

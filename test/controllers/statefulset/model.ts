/**
 * A model of the API server for the StatefulSet loop: events arrive when the script says so, users change the spec, any write may be the last of a
 * process, and answers get lost. There is no read-your-own-writes. Each write is checked against what the loop could know when its sync began
 * (`Knowledge`). It is kept because it is faster: 26 ms for a sequence of up to 25 operations and the final convergence, against 801 ms for a
 * sequence of 12 on the embedded API server.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Indexes from "../../../src/controllers/shared/workload/indexes.ts"
import * as StatefulLoop from "../../../src/controllers/StatefulSet.ts"
import * as ApiError from "../../../src/kube/ApiError.ts"
import type { Key } from "../../../src/kube/Key.ts"
import type { Draft, KubeObject } from "../../../src/kube/Meta.ts"
import type * as Patch from "../../../src/kube/Patch.ts"
import type { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from "../../../src/kube/resources.ts"
import type { Delta } from "../../../src/streams/store/Store.ts"
import { Table } from "../daemonset/table.ts"
import * as Knowledge from "./knowledge.ts"
import * as Truth from "./truth.ts"

export type Verb = "create" | "delete" | "patch" | "update"

export const key = "ns/web"

const refusal = (code: number, verb: string, reason = "") =>
  ApiError.fromStatus({
    context: { verb, path: "/" },
    status: code,
    body: { kind: "Status", apiVersion: "v1", status: "Failure", reason, code, message: `${verb}: ${code}` }
  })

/** The process is gone in the middle of a write. */
const crashed = "the process ended"

export class StatefulSetModel {
  private number = 0
  now = 1_000_000
  readonly sets = new Table<StatefulSet>([])
  readonly pods = new Table<Pod>(Indexes.both)
  readonly claims = new Table<PersistentVolumeClaim>([])
  readonly revisions = new Table<ControllerRevision>(Indexes.both)
  readonly refusing: Record<Verb, number> = { create: 0, delete: 0, patch: 0, update: 0 }
  /** So many events of pods reach the cache after every write. */
  meanwhile = 0
  /** Which write of the present sync has bad luck; zero is none. */
  badWrite = 0
  badLuck: "before" | "after" | "lost" = "before"
  private writes = 0
  private isDead = false
  wrote = false
  /** Whether anything asked for a sync, and when it was asked for. */
  due = Infinity
  wrong: string | undefined
  /** Claims that went with pods were to be kept at once: what was given away already goes all the same. */
  isTooLate = false
  private known: Knowledge.Knowledge
  private loop: StatefulLoop.Loop

  constructor(setup: typeof Truth.Setup.Type) {
    this.loop = this.start()
    this.sets.put(Truth.setOf(setup))
    this.known = Knowledge.nothing(this.set, this.now)
    this.showAll()
  }

  get set(): StatefulSet {
    return this.sets.get(key) as StatefulSet
  }

  private start(): StatefulLoop.Loop {
    const deps: Parameters<typeof StatefulLoop.loopOf>[0] = {
      sets: this.sets.store,
      pods: this.pods.store,
      claims: this.claims.store,
      revisions: this.revisions.store,
      live: () => Effect.sync(() => this.set),
      liveRevision: (_, name) =>
        Effect.suspend(() => {
          const found = this.revisions.get(`ns/${name}`)
          return found === undefined ? Effect.fail(refusal(404, "get")) : Effect.succeed(found)
        }),
      updateStatus: (set) => this.call("update", () => this.updateStatus(set)),
      create: (draft) => this.call("create", () => this.create(draft)),
      remove: (pod) => this.call("delete", () => this.remove(pod)),
      patch: (pod, patch) => this.call("patch", () => this.patch(pod, patch)),
      createClaim: (draft) => this.call("create", () => this.make(this.claims, draft)),
      updateClaim: (claim) => this.call("update", () => replaced(this.claims, claim)),
      createRevision: (draft) => this.before(this.call("create", () => this.make(this.revisions, draft))),
      updateRevision: (revision) => this.before(this.call("update", () => replaced(this.revisions, revision))),
      patchRevision: (revision) => Effect.succeed(revision),
      removeRevision: (revision) => this.call("delete", () => this.removeRevision(revision)),
      events: { event: () => Effect.void, normal: () => Effect.void, warning: () => Effect.void },
      queue: { addWithUnsafe: (_, options) => this.ask(Duration.toMillis(options?.after ?? 0)) }
    }
    return StatefulLoop.loopOf(deps, false)
  }

  /** Pods are looked at after the history has been brought up to date. */
  private before<A>(call: Effect.Effect<A, ApiError.ApiError>): Effect.Effect<A, ApiError.ApiError> {
    return Effect.ensuring(
      call,
      Effect.sync(() => void (this.known = { ...this.known, pods: this.pods.store.list() }))
    )
  }

  private ask(after: number): number {
    this.due = Math.min(this.due, this.now + after)
    return after
  }

  private call<A>(verb: Verb, act: () => A | ApiError.ApiError): Effect.Effect<A, ApiError.ApiError> {
    return Effect.suspend(() => {
      if (this.isDead) return Effect.die(crashed)
      this.wrote = true
      const luck = ++this.writes === this.badWrite ? this.badLuck : undefined
      if (luck === "before") {
        this.isDead = true
        return Effect.die(crashed)
      }
      if (this.refusing[verb] > 0) {
        this.refusing[verb]--
        return Effect.fail(refusal(403, verb))
      }
      const done = act()
      if (luck === "after") {
        this.isDead = true
        return Effect.die(crashed)
      }
      this.showPods(this.meanwhile)
      if (luck === "lost") return Effect.fail(refusal(500, verb))
      return ApiError.isApiError(done) ? Effect.fail(done) : Effect.succeed(done)
    })
  }

  private say(text: string | undefined): void {
    this.wrong ??= text
  }

  private make<A extends KubeObject>(table: Table<A>, draft: Draft<A>, more: object = {}): A | ApiError.ApiError {
    const { name = "" } = draft.metadata
    if (table.get(`ns/${name}`) !== undefined) return refusal(409, "create", "AlreadyExists")
    const metadata = { ...draft.metadata, name, namespace: "ns", uid: `uid-${++this.number}` }
    return table.put({ ...draft, ...more, metadata: { ...metadata, creationTimestamp: Truth.time(this.now) } } as never)
  }

  private create(draft: Draft<Pod>): Pod | ApiError.ApiError {
    const pod = this.make(this.pods, draft, { status: { phase: "Pending" } })
    if (!ApiError.isApiError(pod)) this.say(Knowledge.ofCreation(this.known, pod))
    return pod
  }

  private remove(pod: Pod): Pod | ApiError.ApiError {
    const found = this.pods.get(`ns/${pod.metadata.name}`)
    this.say(Knowledge.ofDeletion(this.known, pod))
    if (found === undefined) return refusal(404, "delete")
    if (found.metadata.uid !== pod.metadata.uid) return refusal(409, "delete")
    this.say(Knowledge.ofClaim(this.known, pod, this.claims.get(`ns/data-${pod.metadata.name}`)))
    return this.leave(found)
  }

  leave(pod: Pod): Pod {
    if (Truth.isTerminating(pod)) return pod
    return this.pods.put({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: Truth.time(this.now) } })
  }

  private patch(pod: Pod, { body }: Patch.Patch): Pod | ApiError.ApiError {
    const found = this.pods.get(`ns/${pod.metadata.name}`)
    if (found === undefined || found.metadata.uid !== pod.metadata.uid) return refusal(404, "patch")
    const { labels } = (body as { readonly metadata: { readonly labels?: Record<string, string> } }).metadata
    return this.pods.put({ ...found, metadata: { ...found.metadata, labels: { ...found.metadata.labels, ...labels } } })
  }

  private updateStatus(set: StatefulSet): StatefulSet | ApiError.ApiError {
    if (set.metadata.resourceVersion !== this.set.metadata.resourceVersion) return refusal(409, "update")
    this.say(Knowledge.ofStatus(this.known, set))
    return this.sets.put({ ...this.set, ...(set.status === undefined ? {} : { status: set.status }) })
  }

  private removeRevision(revision: ControllerRevision): unknown {
    this.say(Knowledge.ofRevision(this.known, revision))
    return this.revisions.remove(revision)
  }

  private hear<A>(deltas: ReadonlyArray<Delta<A>>, trigger: (delta: Delta<A>) => ReadonlyArray<Key>): void {
    for (const delta of deltas) if (trigger(delta).includes(key)) this.ask(0)
  }

  showPods(count: number): void {
    this.hear(this.pods.show(count), (delta) => this.loop.onPod(delta))
  }

  showClaims(): void {
    this.hear(this.claims.show(Infinity), (delta) => this.loop.onClaim(delta))
  }

  showSet(): void {
    this.hear(this.sets.show(Infinity), (delta) => this.loop.onSet(delta))
    this.hear(this.revisions.show(Infinity), (delta) => this.loop.onRevision(delta))
  }

  showAll(): void {
    this.showSet()
    this.showClaims()
    this.showPods(Infinity)
  }

  get sync(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.writes = 0
      this.due = Infinity
      this.known = {
        ...Knowledge.nothing(this.sets.store.get(key) ?? this.set, this.now),
        pods: this.pods.store.list(),
        claims: this.claims.store.list(),
        revisions: this.revisions.store.list()
      }
      return Effect.exit(this.loop.reconcile({ key }))
    }).pipe(
      Effect.map((exit) => {
        this.badWrite = 0
        if (Exit.isFailure(exit)) this.ask(10)
        else if (exit.value?._tag === "After") this.ask(Duration.toMillis(exit.value.delay))
        // Only the script ends a process.
        if (Exit.isFailure(exit) && Exit.hasDies(exit) && !this.isDead) this.say(`died: ${Cause.pretty(exit.cause)}`)
      })
    )
  }

  takeOver(fresh: boolean): void {
    if (fresh) this.showAll()
    this.isDead = false
    this.loop = this.start()
    this.ask(0)
  }

  /** What kubelets do. */
  live(): void {
    for (const pod of this.pods.all()) {
      if (Truth.isTerminating(pod)) this.pods.remove(pod)
      else if (!Truth.hasEnded(pod) && !Truth.isReady(pod) && Truth.image(pod) !== Truth.bad)
        this.pods.put(Truth.ready(pod, true, this.now))
    }
  }

  /** What the garbage collector does, which is slower. */
  collect(): void {
    const uids = new Set([this.set.metadata.uid, ...this.pods.all().map(({ metadata }) => metadata.uid)])
    for (const claim of this.claims.all()) {
      const { ownerReferences = [] } = claim.metadata
      if (ownerReferences.length > 0 && ownerReferences.every(({ uid }) => !uids.has(uid))) this.claims.remove(claim)
    }
  }
}

const replaced = <A extends KubeObject>(table: Table<A>, object: A): A | ApiError.ApiError => {
  const found = table.get(`ns/${object.metadata.name}`)
  if (found === undefined) return refusal(404, "update")
  return found.metadata.resourceVersion === object.metadata.resourceVersion ? table.put(object) : refusal(409, "update")
}

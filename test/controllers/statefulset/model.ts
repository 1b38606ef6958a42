/**
 * A model of the API server for the StatefulSet controller: the script decides when each event is delivered, users change the spec, any write may be
 * the last of a process, and responses are lost. There is no read-your-writes. Each write is checked against the cached state at the beginning of its
 * sync (`Knowledge`). It is kept because it is faster: 26 ms for a sequence of up to 25 operations and the final convergence, against 801 ms for a
 * sequence of 12 on the embedded API server.
 */
import * as Effect from "effect/Effect"
import * as Indexes from "../../../src/controllers/shared/workload/indexes.ts"
import * as StatefulLoop from "../../../src/controllers/StatefulSet.ts"
import * as ApiError from "../../../src/kube/ApiError.ts"
import type { Draft } from "../../../src/kube/Meta.ts"
import type { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from "../../../src/kube/resources.ts"
import { failure, ModelServer, noEvents, Table } from "../shared/workload/modelServer.ts"
import * as Knowledge from "./knowledge.ts"
import * as Truth from "./truth.ts"

export const key = "ns/web"

export class StatefulSetModel extends ModelServer {
  readonly sets = new Table<StatefulSet>([])
  readonly pods = new Table<Pod>(Indexes.both)
  readonly claims = new Table<PersistentVolumeClaim>([])
  readonly revisions = new Table<ControllerRevision>(Indexes.both)
  /** The policy changed from deleting claims with pods to retaining them: claims that pods already own are deleted all the same. */
  ownersMayRemain = false
  private known: Knowledge.Knowledge
  private loop: StatefulLoop.Loop

  constructor(setup: typeof Truth.Setup.Type) {
    super()
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
      liveRevision: (_, name) => this.revisions.live(`ns/${name}`),
      updateStatus: (set) => this.call("update", () => this.updateStatus(set)),
      create: (draft) => this.call("create", () => this.create(draft)),
      remove: (pod) => this.call("delete", () => this.remove(pod)),
      patch: (pod, patch) => this.call("patch", () => this.patchLabels(pod, patch)),
      createClaim: (draft) => this.call("create", () => this.make(this.claims, draft)),
      updateClaim: (claim) => this.call("update", () => this.claims.replace(claim)),
      createRevision: (draft) => this.thenReadsPods(this.call("create", () => this.make(this.revisions, draft))),
      updateRevision: (revision) => this.thenReadsPods(this.call("update", () => this.revisions.replace(revision))),
      patchRevision: (revision) => Effect.succeed(revision),
      removeRevision: (revision) => this.call("delete", () => this.removeRevision(revision)),
      events: noEvents,
      queue: this.queue
    }
    return StatefulLoop.loopOf(deps, false)
  }

  /** The sync reads the pods after it has written the revisions. */
  private thenReadsPods<A>(call: Effect.Effect<A, ApiError.ApiError>): Effect.Effect<A, ApiError.ApiError> {
    return Effect.ensuring(
      call,
      Effect.sync(() => void (this.known = { ...this.known, pods: this.pods.store.list() }))
    )
  }

  private create(draft: Draft<Pod>): Pod | ApiError.ApiError {
    const pod = this.make(this.pods, draft, { status: { phase: "Pending" } })
    if (!ApiError.isApiError(pod)) this.violation(Knowledge.ofCreation(this.known, pod))
    return pod
  }

  private remove(pod: Pod): Pod | ApiError.ApiError {
    const found = this.pods.get(`ns/${pod.metadata.name}`)
    this.violation(Knowledge.ofDeletion(this.known, pod))
    if (found === undefined) return failure(404, "delete")
    if (found.metadata.uid !== pod.metadata.uid) return failure(409, "delete")
    this.violation(Knowledge.ofClaim(this.known, pod, this.claims.get(`ns/data-${pod.metadata.name}`)))
    return this.leave(found)
  }

  leave(pod: Pod): Pod {
    if (Truth.isTerminating(pod)) return pod
    return this.pods.put({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: Truth.time(this.now) } })
  }

  private updateStatus(set: StatefulSet): StatefulSet | ApiError.ApiError {
    if (set.metadata.resourceVersion !== this.set.metadata.resourceVersion) return failure(409, "update")
    this.violation(Knowledge.ofStatus(this.known, set))
    return this.sets.put({ ...this.set, ...(set.status === undefined ? {} : { status: set.status }) })
  }

  private removeRevision(revision: ControllerRevision): unknown {
    this.violation(Knowledge.ofRevision(this.known, revision))
    return this.revisions.remove(revision)
  }

  showPods(count: number): void {
    this.dispatch(this.pods.show(count), (delta) => this.loop.onPod(delta), key)
  }

  showClaims(): void {
    this.dispatch(this.claims.show(Infinity), (delta) => this.loop.onClaim(delta), key)
  }

  showSet(): void {
    this.dispatch(this.sets.show(Infinity), (delta) => this.loop.onSet(delta), key)
    this.dispatch(this.revisions.show(Infinity), (delta) => this.loop.onRevision(delta), key)
  }

  showAll(): void {
    this.showSet()
    this.showClaims()
    this.showPods(Infinity)
  }

  get sync(): Effect.Effect<void> {
    const reconcile = Effect.suspend(() => {
      this.known = {
        ...Knowledge.nothing(this.sets.store.get(key) ?? this.set, this.now),
        pods: this.pods.store.list(),
        claims: this.claims.store.list(),
        revisions: this.revisions.store.list()
      }
      return this.loop.reconcile({ key })
    })
    return this.running(reconcile, 10)
  }

  takeOver(fresh: boolean): void {
    if (fresh) this.showAll()
    this.loop = this.start()
    this.requeue(0)
  }

  /** Acts as kubelets. */
  live(): void {
    for (const pod of this.pods.all()) {
      if (Truth.isTerminating(pod)) this.pods.remove(pod)
      else if (!Truth.hasEnded(pod) && !Truth.isReady(pod) && Truth.image(pod) !== Truth.bad)
        this.pods.put(Truth.ready(pod, true, this.now))
    }
  }

  /** Acts as garbage collector. */
  collect(): void {
    const uids = new Set([this.set.metadata.uid, ...this.pods.all().map(({ metadata }) => metadata.uid)])
    for (const claim of this.claims.all()) {
      const { ownerReferences = [] } = claim.metadata
      if (ownerReferences.length > 0 && ownerReferences.every(({ uid }) => !uids.has(uid))) this.claims.remove(claim)
    }
  }
}

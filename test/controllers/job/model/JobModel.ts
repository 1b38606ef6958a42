/**
 * A model of the API server for the Job loop: events arrive when the script says so, any write may be the last of a process, and answers get lost.
 * Each write is checked against the invariants of `ledger.ts`; in the end every pod must be counted once. It is kept because it is faster: 17 ms for
 * a sequence of up to 25 operations and the final convergence, against 290 ms for a sequence of 12 on the embedded API server.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as JobLoop from "../../../../src/controllers/Job.ts"
import * as Indexes from "../../../../src/controllers/shared/workload/indexes.ts"
import * as ApiError from "../../../../src/kube/ApiError.ts"
import type { Draft } from "../../../../src/kube/Meta.ts"
import type * as Patch from "../../../../src/kube/Patch.ts"
import * as PodFacts from "../../../../src/kube/pod.ts"
import type { Job, Pod } from "../../../../src/kube/resources.ts"
import type { ObjectEvent } from "../../../../src/streams/watch/protocol.ts"
import * as Store from "../../../../src/streams/store/Store.ts"
import * as Ledger from "./ledger.ts"
import type { Action, Setup } from "./script.ts"

const key = "ns/work"
const labels = { job: "work" }

const status = (code: number, verb: string) =>
  ApiError.fromStatus({ context: { verb, path: "/" }, status: code, body: String(code) })

/** The process is gone in the middle of a write. */
const crashed = "the process ended"

interface Body {
  readonly metadata: {
    readonly resourceVersion?: string
    readonly "$deleteFromPrimitiveList/finalizers"?: ReadonlyArray<string>
  }
}

export class JobModel {
  private version = 1
  private number = 0
  now = 1_000_000
  job: Job
  readonly pods = new Map<string, Pod>()
  readonly ledger: Ledger.Ledger
  private readonly jobEvents: Array<ObjectEvent<Job>> = []
  private readonly podEvents: Array<ObjectEvent<Pod>> = []
  readonly jobStore = Store.make<Job>()
  readonly podStore = Store.make<Pod>()
  readonly refusing = { create: 0, delete: 0, patch: 0, update: 0 }
  meanwhile = 0
  /** Which write of the present sync has bad luck; zero is none. */
  private badWrite = 0
  private badLuck: "before" | "after" | "lost" = "before"
  private writes = 0
  private isDead = false
  wrote = false
  private loop: JobLoop.Loop
  /** Keys of pods that the loop asked for. */
  private readonly held = new Set<string>()

  constructor(setup: Setup) {
    this.job = jobOf(setup)
    this.ledger = Ledger.make()
    this.podStore.addIndex(Indexes.byController.name, Indexes.byController.of)
    this.podStore.addIndex(Indexes.orphans.name, Indexes.orphans.of)
    for (const store of [this.jobStore, this.podStore]) {
      store.apply({ _tag: "Restarted" })
      store.apply({ _tag: "Synced", resourceVersion: "0" })
    }
    this.loop = this.start()
    this.jobEvents.push({ type: "ADDED", object: this.job })
    this.showJob()
  }

  private start(): JobLoop.Loop {
    return JobLoop.loopOf({
      jobs: this.jobStore,
      pods: this.podStore,
      live: () => Effect.sync(() => this.job),
      livePods: () => Effect.sync(() => [...this.pods.values()]),
      updateStatus: (job) => this.call("update", () => this.updateStatus(job)),
      create: (draft) => this.call("create", () => this.create(draft)),
      remove: (pod) => this.call("delete", () => this.remove(pod)),
      patch: (pod, patch) => this.call("patch", () => this.patch(pod, patch)),
      events: { event: () => Effect.void, normal: () => Effect.void, warning: () => Effect.void },
      queue: { addWithUnsafe: () => undefined }
    })
  }

  private call<A>(
    verb: "create" | "delete" | "patch" | "update",
    act: () => A | ApiError.ApiError
  ): Effect.Effect<A, ApiError.ApiError> {
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
        return Effect.fail(status(403, verb))
      }
      const done = act()
      if (luck === "after") {
        this.isDead = true
        return Effect.die(crashed)
      }
      this.showPods(this.meanwhile)
      if (luck === "lost") return Effect.fail(status(500, verb))
      return ApiError.isApiError(done) ? Effect.fail(done) : Effect.succeed(done)
    })
  }

  private stamp(): string {
    return String(++this.version)
  }

  private put(pod: Pod): Pod {
    const known = this.pods.has(pod.metadata.name)
    const object = { ...pod, metadata: { ...pod.metadata, resourceVersion: this.stamp() } }
    this.ledger.pod(object)
    this.pods.set(pod.metadata.name, object)
    this.podEvents.push({ type: known ? "MODIFIED" : "ADDED", object })
    return object
  }

  private end(pod: Pod): void {
    this.pods.delete(pod.metadata.name)
    this.podEvents.push({
      type: "DELETED",
      object: { ...pod, metadata: { ...pod.metadata, resourceVersion: this.stamp() } }
    })
  }

  private create(draft: Draft<Pod>): Pod {
    const name = `pod-${++this.number}`
    const pod = this.put({
      ...draft,
      metadata: { ...draft.metadata, name, namespace: "ns", uid: `uid-${name}`, creationTimestamp: this.time() },
      status: { phase: "Pending" }
    })
    const active = [...this.pods.values()].filter(PodFacts.isActive).length
    this.ledger.created(this.job, active, this.believed())
    return pod
  }

  private remove(pod: Pod): Pod | ApiError.ApiError {
    const found = this.pods.get(pod.metadata.name)
    if (found === undefined) return status(404, "delete")
    return this.leave(found)
  }

  /** A scheduled pod is stopped first; an unscheduled one is gone once it has no finalizer. */
  private leave(pod: Pod): Pod {
    if (pod.metadata.deletionTimestamp !== undefined) return pod
    const leaving = this.put({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: this.time() } })
    if (!this.isPlaced(pod) || PodFacts.isTerminal(pod)) this.release(leaving)
    return leaving
  }

  private isPlaced({ metadata }: Pod): boolean {
    return Number(metadata.name.slice(4)) % 3 !== 0
  }

  private release(pod: Pod): void {
    if ((pod.metadata.finalizers ?? []).length === 0) this.end(pod)
  }

  private patch(pod: Pod, { body }: Patch.Patch): Pod | ApiError.ApiError {
    const found = this.pods.get(pod.metadata.name)
    if (found === undefined) return status(404, "patch")
    const { "$deleteFromPrimitiveList/finalizers": gone = [], resourceVersion = found.metadata.resourceVersion } = (
      body as Body
    ).metadata
    if (resourceVersion !== found.metadata.resourceVersion) return status(409, "patch")
    const finalizers = (found.metadata.finalizers ?? []).filter((one) => !gone.includes(one))
    if (finalizers.length === (found.metadata.finalizers ?? []).length) return found
    this.ledger.removeFinalizer(this.job, found, pod)
    const { finalizers: _, ...metadata } = found.metadata
    const let_ = this.put({ ...found, metadata })
    const isOver = let_.metadata.deletionTimestamp !== undefined && (PodFacts.isTerminal(let_) || !this.isPlaced(let_))
    if (isOver) this.end(let_)
    return let_
  }

  private updateStatus(job: Job): Job | ApiError.ApiError {
    if (job.metadata.resourceVersion !== this.job.metadata.resourceVersion) return status(409, "update")
    const next = { ...this.job, status: job.status ?? {} }
    this.ledger.status(this.job, next)
    return this.write(next)
  }

  private write(job: Job, generation = 0): Job {
    this.wrote = true
    this.job = {
      ...job,
      metadata: {
        ...job.metadata,
        resourceVersion: this.stamp(),
        generation: (job.metadata.generation ?? 0) + generation
      }
    }
    this.jobEvents.push({ type: "MODIFIED", object: this.job })
    return this.job
  }

  private specify(spec: Partial<NonNullable<Job["spec"]>>): void {
    this.write({ ...this.job, spec: { ...(this.job.spec as NonNullable<Job["spec"]>), ...spec } }, 1)
  }

  /** How many pods the loop knows to be wanted at once. */
  private believed(): number {
    const spec = this.jobStore.get(key)?.spec
    return spec?.suspend === true ? 0 : (spec?.parallelism ?? 0)
  }

  private time(): string {
    return new Date(this.now).toISOString().replace(/\.\d+Z$/, "Z")
  }

  showPods(count: number): void {
    for (const event of this.podEvents.splice(0, count)) {
      const resourceVersion = event.object.metadata.resourceVersion ?? ""
      for (const delta of this.podStore.apply({ _tag: "Changed", events: [event], resourceVersion }))
        for (const one of this.loop.onPod(delta)) this.held.add(one)
    }
  }

  showJob(): void {
    for (const event of this.jobEvents.splice(0)) {
      const resourceVersion = event.object.metadata.resourceVersion ?? ""
      for (const delta of this.jobStore.apply({ _tag: "Changed", events: [event], resourceVersion }))
        for (const one of this.loop.onJob(delta)) if (one !== key) this.held.add(one)
    }
  }

  showAll(): void {
    this.showPods(Infinity)
    this.showJob()
  }

  get sync() {
    return Effect.suspend(() => {
      this.writes = 0
      const keys = [...this.held.values(), key]
      this.held.clear()
      return Effect.forEach(keys, (one) => Effect.exit(this.loop.reconcile({ key: one })))
    }).pipe(
      Effect.tap((exits) =>
        Effect.sync(() => {
          // Only the script ends a process.
          const defect = exits.find((exit) => Exit.hasDies(exit))
          if (defect !== undefined && !this.isDead) this.ledger.say(`died: ${JSON.stringify(defect)}`)
          this.badWrite = 0
        })
      ),
      Effect.asVoid
    )
  }

  private running(nth: number): Pod | undefined {
    return [...this.pods.values()].filter((pod) => !PodFacts.isTerminal(pod))[nth]
  }

  finish(pod: Pod, phase: "Succeeded" | "Failed"): void {
    const finishedAt = this.time()
    const state = { terminated: { exitCode: phase === "Failed" ? 1 : 0, finishedAt } }
    const main = { name: "main", image: "", imageID: "", ready: false, restartCount: 0, state }
    const ended = this.put({ ...pod, status: { phase, containerStatuses: [main] } })
    if (ended.metadata.deletionTimestamp !== undefined) this.release(ended)
  }

  /** Kubelets stop what was placed, and the garbage collector of pods what never was. */
  stop(): void {
    for (const pod of this.pods.values()) if (PodFacts.isTerminating(pod)) this.finish(pod, "Failed")
  }

  private takeOver(fresh: boolean): void {
    if (fresh) this.showAll()
    this.isDead = false
    this.held.clear()
    this.loop = this.start()
    // A new subscriber gets all cached objects.
    for (const object of this.jobStore.list()) this.loop.onJob({ _tag: "Created", object, initial: true })
    for (const object of this.podStore.list())
      for (const one of this.loop.onPod({ _tag: "Created", object, initial: true })) this.held.add(one)
  }

  act(action: Action): Effect.Effect<void> {
    switch (action._tag) {
      case "Sync":
        this.meanwhile = action.meanwhile
        return this.sync
      case "SyncBehind":
        return Effect.suspend(() => {
          this.meanwhile = 0
          return Effect.andThen(
            this.sync,
            Effect.suspend(() => {
              this.showJob()
              return this.sync
            })
          )
        })
      case "Crash":
        return Effect.suspend(() => {
          this.badWrite = action.write
          this.badLuck = action.done ? "after" : "before"
          return Effect.tap(this.sync, () => Effect.sync(() => this.takeOver(action.fresh)))
        })
      case "Lose":
        return Effect.suspend(() => {
          this.badWrite = action.write
          this.badLuck = "lost"
          return this.sync
        })
      default:
        return Effect.sync(() => this.actNow(action))
    }
  }

  private actNow(action: Exclude<Action, { readonly _tag: "Sync" | "SyncBehind" | "Crash" | "Lose" }>): void {
    switch (action._tag) {
      case "End": {
        const pod = this.running(action.pod)
        return pod === undefined ? undefined : this.finish(pod, action.how)
      }
      case "EndShown": {
        const pod = this.running(action.pod)
        if (pod !== undefined) this.finish(pod, action.how)
        return this.showAll()
      }
      case "Delete": {
        const pod = this.running(action.pod)
        return pod === undefined ? undefined : void this.leave(pod)
      }
      case "Stop":
        return this.stop()
      case "Suspend":
        this.specify({ suspend: action.suspend })
        return action.shown ? this.showJob() : undefined
      case "Parallelism":
        this.specify({ parallelism: action.parallelism })
        return action.shown ? this.showJob() : undefined
      case "Refuse":
        this.refusing[action.verb] = action.times
        return
      case "ShowPods":
        return this.showPods(action.events)
      case "ShowJob":
        return this.showJob()
      case "Wait":
        if (action.seconds > 60) this.showAll()
        this.now += action.seconds * 1000
    }
  }
}

const jobOf = ({ backoffLimit, completions, mode, parallelism, policy }: Setup): Job => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "work", namespace: "ns", uid: "uid-work", generation: 1, resourceVersion: "1" },
  spec: {
    completions,
    parallelism,
    completionMode: mode === "NonIndexed" ? mode : "Indexed",
    podReplacementPolicy: policy,
    suspend: false,
    ...(mode === "PerIndex" ? { backoffLimitPerIndex: backoffLimit } : { backoffLimit }),
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { restartPolicy: "Never", containers: [{ name: "main", image: "" }] } }
  },
  status: {}
})

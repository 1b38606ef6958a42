/**
 * Which changes enqueue which quotas, with which priority and delay. Deletions and lower usage are written at once. For created objects the
 * admission plugin has already charged the quota: the sums are compared a second later, and only what was not charged is added.
 */
import * as Equality from "../../kube/equality.ts"
import * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Names from "../../kube/quota/names.ts"
import * as Usage from "../../kube/quota/usage.ts"
import type * as Resource from "../../kube/Resource.ts"
import type { ResourceQuota } from "../../kube/resources.ts"
import type { Delta } from "../../streams/store/Store.ts"
import * as KeyedQueue from "../../streams/queue/KeyedQueue.ts"
import type * as Store from "../../streams/store/Store.ts"
import { because, type Cause } from "../../streams/reconcile/cause.ts"
import type { Trigger } from "../../streams/store/trigger.ts"
import * as State from "./state.ts"
import type { Affected } from "./ledger.ts"
import * as Plan from "./plan.ts"

/** What the triggers read and add to. */
export interface Deps {
  readonly quotas: Store.Readable<ResourceQuota>
  readonly queue: Pick<KeyedQueue.KeyedQueue, "addUnsafe" | "addWithUnsafe">
  /** Around the handling of a change of a counted object. */
  readonly causes: {
    readonly begin: (resource: Resource.Any, delta: Delta<KubeObject>) => void
    readonly end: () => void
  }
  /** Milliseconds since 1970. */
  readonly now: () => number
}

export interface Triggers {
  /** Runs after the store has changed. */
  readonly onQuota: Trigger<ResourceQuota>
  /** A kind is watched from now on; returns the listener for its objects. */
  readonly watch: (resource: Resource.Any, objects: Store.Readable<KubeObject>) => Listener
  /** The informer of a kind has synced: quotas that count it can be written now. */
  readonly onSynced: (resource: Resource.Any) => void
  readonly onStopped: (resource: Resource.Any) => void
  /** All informers have synced or timed out: from now on quotas are synced. */
  readonly begin: () => void
  /** Enqueues all quotas for a full recount. */
  readonly recountAll: () => void
  /** Enqueues a quota whose usage may have decreased. */
  readonly enqueue: (quota: Key.Key) => void
}

type Listener = (deltas: ReadonlyArray<Delta<KubeObject>>) => void

/** Quotas without complete usage block all creations, so they come first. Source: pkg/controller/resourcequota: missingUsageQueue. */
export const urgent = 10

/** Milliseconds until the usage that the admission plugin added for a new object is in the cached status. */
export const chargeDelay = 1000

const none: ReadonlyArray<Key.Key> = []

export const make = ({ causes, now, queue, quotas }: Deps, state: State.State): Triggers => {
  const enqueue = (key: Key.Key, priority = 0, cause?: Cause): void => {
    state.freeing.add(key)
    if (state.hasBegun) queue.addUnsafe(key, priority, cause)
  }
  const enqueueLater = (key: Key.Key, cause?: Cause): void => {
    if (state.hasBegun) queue.addWithUnsafe(key, { after: chargeDelay, cause })
  }
  const enqueueQuota = (quota: ResourceQuota, cause?: Cause): void =>
    enqueue(Key.of(quota), Plan.isIncomplete(quota) ? urgent : 0, cause)

  const enqueueAffected = ({ less, more }: Affected, cause?: Cause): void => {
    for (const key of less) enqueue(key, 0, cause)
    for (const key of more) enqueueLater(key, cause)
  }
  /** Pods past their deletion grace period stop counting without an event. */
  const enqueueAtExpiry = (namespace: string, keys: ReadonlyArray<Key.Key>): void => {
    const due = state.ledgers.get(namespace)?.nextExpiry
    if (due === undefined || !state.hasBegun) return
    for (const key of keys) queue.addWithUnsafe(key, { after: Math.max(0, due - now()) })
  }

  const onObject = (kind: Names.Counted, delta: Delta<KubeObject>): void => {
    const { object } = delta
    const namespace = object.metadata.namespace ?? ""
    const ledger = state.ledgers.get(namespace)
    const concerned = ledger?.interested(kind) ?? none
    if (ledger === undefined || concerned.length === 0) return
    const isGone = delta._tag === "Deleted"
    if (Usage.isMeasured(kind)) {
      enqueueAffected(ledger.observe(kind, Key.of(object), isGone ? undefined : object, now()))
      if (object.metadata.deletionTimestamp !== undefined) enqueueAtExpiry(namespace, concerned)
    } else if (delta._tag !== "Updated")
      enqueueAffected(isGone ? { less: concerned, more: none } : { less: none, more: concerned })
  }

  /** A DeviceClass has another extended resource. */
  const reclassify = (cause?: Cause): void => {
    for (const ledger of state.ledgers.values()) enqueueAffected(ledger.reclassify(), cause)
  }

  return {
    onQuota: (delta) => {
      const { object } = delta
      if (delta._tag === "Deleted") state.close(object)
      // Statuses are written by this loop and by admission: only changed limits matter.
      else if (delta._tag === "Created" || !hasSameLimits(delta.previous, object)) {
        state.open(object, now())
        enqueueQuota(object)
      }
      return none
    },
    watch: (resource, objects) => {
      state.watched(resource, objects)
      if (isDeviceClass(resource)) {
        return (deltas) => {
          const delta = deltas.find(isReclassified)
          if (delta === undefined) return
          try {
            causes.begin(resource, delta)
            reclassify()
          } finally {
            causes.end()
          }
        }
      }
      return (deltas) => {
        try {
          for (const delta of deltas) {
            causes.begin(resource, delta)
            onObject(resource, delta)
          }
        } finally {
          causes.end()
        }
      }
    },
    onSynced: (resource) => {
      for (const ledger of state.ledgers.values())
        for (const key of ledger.interested(resource)) enqueue(key, 0, because(`all ${resource.plural} are known`))
    },
    onStopped: (resource) => {
      state.unwatched(resource)
      if (isDeviceClass(resource)) reclassify(because(`${resource.plural} are not watched any more`))
    },
    begin: () => {
      state.hasBegun = true
      for (const quota of quotas.list()) enqueueQuota(quota, because("all counted objects are known"))
    },
    recountAll: () => {
      for (const namespace of state.ledgers.keys()) state.stale.add(namespace)
      for (const key of quotas.keys()) enqueue(key, KeyedQueue.LOW, because("recount of all quotas"))
    },
    enqueue: (key) => enqueue(key)
  }
}

const isDeviceClass = (resource: Resource.Any): boolean => Names.isSame(resource, Names.deviceClasses)

const isReclassified = (delta: Delta<KubeObject>): boolean => {
  const before = delta._tag === "Updated" ? State.extendedResourceOf(delta.previous) : undefined
  const now = State.extendedResourceOf(delta.object)
  return delta._tag === "Updated" ? before !== now : now !== undefined
}

const hasSameLimits = (a: ResourceQuota, b: ResourceQuota): boolean =>
  Equality.equal({ hard: a.spec?.hard }, { hard: b.spec?.hard })

/**
 * What the console's server sends and its page reads, as JSON. Types only: the page is a bundle of its own and imports nothing else of the
 * program. Times are milliseconds since 1970, durations milliseconds, sizes bytes; names and messages are those of the cluster and may be anything.
 */
import type { Entry } from "../../layers/timeline/entries.ts"

/**
 * One line of the stream `GET /console/api/stream` (`application/x-ndjson`). The first line of each type comes at once, later ones when something has
 * changed. An empty line only shows that the connection is alive. A stream ends after half an hour: the page asks for another one.
 */
export type Message =
  | { readonly type: "hello"; readonly program: Program }
  /** At most once a second. */
  | {
      readonly type: "controllers"
      readonly at: number
      readonly controllers: ReadonlyArray<Controller>
      readonly disabled: ReadonlyArray<string>
    }
  | { readonly type: "informers"; readonly at: number; readonly informers: ReadonlyArray<Informer> }
  | {
      readonly type: "leadership"
      readonly at: number
      readonly groups: ReadonlyArray<LeaderGroup>
      /** Writes that were refused or given up since the start, because this process was not certain to lead. */
      readonly fencedWrites: number
    }
  /** Nodes and pods of the cluster: the whole at first, in lines of at most a thousand of each, then what has changed. */
  | { readonly type: "cluster"; readonly at: number; readonly nodes: Changes<Node>; readonly pods: Changes<Pod> }

/** `reset`: what was sent before is void; `changed` is the whole, or the beginning of it. `rest`: it goes on with the whole. */
export interface Changes<A> {
  readonly reset: boolean
  readonly rest?: true
  readonly changed: ReadonlyArray<A>
  readonly removed: ReadonlyArray<string>
}

export interface Program {
  readonly name: string
  readonly version: string
  /** The address of the API server. */
  readonly server: string
  /** Whether the cluster is the embedded one, whose nodes and pods are shown. */
  readonly isEmbedded: boolean
  readonly startedAt: number
}

/** Those of a group come in the order in which they start. */
export interface Controller {
  readonly name: string
  /** The kind that its keys name, `deployments.apps`; absent for keys of its own. */
  readonly resource?: string
  readonly state: "started" | "waiting" | "skipped" | "failed"
  /** What it waits for, or why it does not run. */
  readonly reason?: string
  readonly workers: number
  readonly active: number
  readonly queue: {
    readonly ready: number
    readonly delayed: number
    readonly processing: number
    readonly failing: number
  }
  /** How long the oldest ready key has been ready. */
  readonly oldest: number | null
  /** Runs and failed runs since the start. */
  readonly runs: number
  readonly failures: number
  /** Of the runs since the last message; null without runs. */
  readonly p50: number | null
  readonly p99: number | null
  readonly lastError: LastError | null
  readonly reads: ReadonlyArray<string>
  /** The first keys of its queues: running, ready and delayed ones. */
  readonly keys: ReadonlyArray<QueuedKey>
}

export interface LastError {
  readonly message: string
  readonly key?: string
  readonly at: number
}

export type QueuedKey =
  | { readonly state: "running"; readonly key: string; readonly since: number }
  | { readonly state: "ready"; readonly key: string; readonly priority: number; readonly since: number }
  | {
      readonly state: "delayed"
      readonly key: string
      readonly due: number
      readonly failures: number
      /** What its last run failed with, in a few words. */
      readonly error?: string
    }

export interface Informer {
  readonly kind: string
  readonly scope: string
  readonly synced: boolean
  readonly objects: number
  /** Null until it is measured: of many informers a few are measured each second. */
  readonly bytes: number | null
  readonly lastEventAt: number | null
  readonly failuresInARow: number
  /** Since the informer started. */
  readonly failures: number
  /** How often the full state was read again, since the informer started. */
  readonly relists: number
  readonly lastError: { readonly message: string; readonly at: number; readonly retryIn: number | null } | null
  readonly subscribers: number
}

export interface LeaderGroup {
  /** Null without an election. */
  readonly lease: string | null
  readonly identity: string | null
  readonly leader: string | null
  readonly leads: boolean
  readonly validFor: number | null
  /** Terms of this process since its start, with the present one, which began at `since`; null while it does not lead. */
  readonly terms: number
  readonly since: number | null
  /** How often the Lease has changed its holder, as this process read it last. */
  readonly transitions: number | null
  /** The last attempts of this process to renew the lease, oldest first. */
  readonly renewals: ReadonlyArray<Renewal>
  /** Of the last attempt that did not renew it. */
  readonly lastError: LastError | null
  readonly controllers: ReadonlyArray<string>
}

export interface Renewal {
  readonly at: number
  readonly took: number
  readonly isRenewed: boolean
}

export interface Node {
  readonly name: string
  readonly ready: boolean
  readonly schedulable: boolean
}

export interface Pod {
  /** `namespace/name`. */
  readonly key: string
  readonly node: string | null
  readonly phase: string
  readonly ready: boolean
  /** Why a container waits or has ended, or why the pod failed. */
  readonly reason: string | null
  /** `ReplicaSet/web-1`. */
  readonly owner: string | null
  readonly deleting: boolean
}

/** The body of a response with another status than 200. 401: the token is missing or not valid; 403: it is, and its user may not. */
export interface Failure {
  readonly message: string
}

/** `GET /console/api/search?q=…`: objects in the cache, at most 50. A resource is `pods` or `deployments.apps`. */
export interface SearchResult {
  readonly found: ReadonlyArray<{ readonly resource: string; readonly kind: string; readonly key: string }>
}

/** `GET /console/api/objects/<resource>/<namespace>/<name>`, without the namespace for cluster-scoped kinds. */
export interface ObjectView {
  readonly resource: string
  readonly kind: string
  readonly key: string
  readonly exists: boolean
  /** Oldest first. */
  readonly timeline: ReadonlyArray<TimelineEntry>
  /** Entries of the object before the first one were dropped, because the limit of the memory was reached, or are too many to send. */
  readonly truncated: boolean
  /** When controllers will reconcile it next. */
  readonly due: ReadonlyArray<{ readonly controller: string; readonly at: number; readonly failures: number }>
  /** Its owners, and theirs. */
  readonly owners: Relations
  /** Its dependants, and theirs. An object that is reached in several ways is at the first of them. */
  readonly dependants: Relations
}

/** Objects that owner references connect with an object, in one direction. */
export interface Relations {
  readonly objects: ReadonlyArray<Related>
  /** The number of those that are not in `objects`. */
  readonly more: number
}

export interface Related {
  /** Empty if no object of the kind is in the cache. */
  readonly resource: string
  readonly kind: string
  readonly key: string
  /** `Running`, `3/3 ready`, `not in the cache`. */
  readonly state: string
  /** Further away in the same direction. */
  readonly next: Relations
}

export type TimelineEntry = Entry

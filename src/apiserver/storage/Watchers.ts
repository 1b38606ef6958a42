/**
 * The watchers of a collection. A watcher is a position in the history: synced when it has delivered everything, and then waiting;
 * otherwise unsynced, and read at the pace of its consumer. Writers never wait and nothing is buffered per watcher; one that falls
 * behind the compaction ends with 410. Each change is encoded once per view and the text shared. Model: the watchableStore of etcd.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Arr from "effect/Array"
import * as Stream from "effect/Stream"
import * as StatusError from "../StatusError.ts"
import type { Change, History, RevisionLog } from "./RevisionLog.ts"
import { matches } from "./Version.ts"
import type { SelectionPredicate, Version } from "./Version.ts"
import type { Encoder } from "../printers/Encoder.ts"

/** The parsed parameters of a watch. */
export interface Plan {
  readonly selection: SelectionPredicate
  readonly encoder: Encoder
  /** Present objects to deliver first, each as ADDED. */
  readonly initial: ReadonlyArray<Version>
  /** Whether a bookmark with the annotation `k8s.io/initial-events-end` follows the initial objects. */
  readonly markInitialEnd: boolean
  /** Changes after this revision are delivered. */
  readonly revision: number
  readonly bookmarks: boolean
  /** Milliseconds until the server ends the watch. */
  readonly duration: number
  /** For objects that must be converted by a webhook before they can be encoded. */
  readonly preparation?: Preparation | undefined
}

export interface Preparation {
  readonly isReady: (version: Version) => boolean
  /** Converts the versions; returns the error to end the watch with. */
  readonly prepare: (versions: ReadonlyArray<Version>) => Effect.Effect<StatusError.StatusError | undefined>
}

export interface Watchers {
  readonly open: (plan: Plan) => Stream.Stream<string>
  /** Called by the collection, after the change is in the history. */
  readonly notify: (change: Change) => void
  /** Ends all watches of the collection. */
  readonly closeAll: () => void
  /** Ends all watches of the collection after they have delivered all changes so far. */
  readonly finishAll: () => void
  readonly size: () => number
}

/** Maximum lines of a chunk: enough to amortise the cost of an effect, few enough to be fair. */
const chunkSize = 512
const bookmarkMillis = 60_000
/** The last bookmark is sent this long before the end, so that a client can resume from there. */
const lastBookmarkMillis = 2_000

export const make = (history: History, log: RevisionLog): Watchers => {
  const open = new Set<Watcher>()
  return {
    open: (plan) =>
      Stream.unwrap(
        Effect.gen(function* () {
          const watcher = yield* Effect.acquireRelease(
            Effect.sync(() => {
              const created = new Watcher(plan, history, log)
              open.add(created)
              return created
            }),
            (watcher) => Effect.sync(() => open.delete(watcher))
          )
          yield* Effect.forkScoped(keepTime(watcher, plan), { startImmediately: true })
          return Stream.fromPull(Effect.succeed(pull(watcher, plan)))
        })
      ),
    notify: (change) => {
      for (const watcher of open) watcher.notice(change)
    },
    closeAll: () => {
      for (const watcher of open) watcher.end()
    },
    finishAll: () => {
      for (const watcher of open) watcher.finish()
    },
    size: () => open.size
  }
}

/** One timer per watcher: bookmarks and timeout. */
const keepTime = Effect.fnUntraced(function* (watcher: Watcher, plan: Plan) {
  let left = plan.duration
  while (left > 0) {
    const next = plan.bookmarks
      ? left > bookmarkMillis + lastBookmarkMillis
        ? bookmarkMillis
        : left > lastBookmarkMillis
          ? left - lastBookmarkMillis
          : left
      : left
    yield* Effect.sleep(next)
    left -= next
    if (left > 0) watcher.wantBookmark()
  }
  watcher.end()
})

type Lines = Arr.NonEmptyReadonlyArray<string>

const isNonEmpty = (lines: ReadonlyArray<string>): lines is Lines => lines.length > 0

const pull = (watcher: Watcher, plan: Plan): Effect.Effect<Lines, Cause.Done> => {
  const next: Effect.Effect<Lines, Cause.Done> = Effect.suspend(() => {
    const lines = watcher.take()
    if (isNonEmpty(lines)) return Effect.succeed(lines)
    if (watcher.unready.length > 0 && plan.preparation !== undefined) {
      return Effect.flatMap(plan.preparation.prepare(watcher.unready), (refusal) => {
        if (refusal !== undefined) watcher.fail(refusal)
        return next
      })
    }
    return watcher.ended ? Cause.done() : waiting
  })
  // A resumed fiber runs at once, inside the synchronous section of the writer: it yields first, so that writers never run their
  // watchers and a burst of writes is delivered as one chunk.
  const later = Effect.andThen(Effect.yieldNow, next)
  const waiting = Effect.callback<Lines, Cause.Done>((resume) => {
    watcher.wake = () => resume(later)
    return Effect.sync(() => {
      watcher.wake = undefined
    })
  })
  return next
}

class Watcher {
  ended = false
  /** The watch ends when there is nothing left to deliver. */
  private finishing = false
  /** Defined while the watcher is synced and its consumer waits. */
  wake: (() => void) | undefined
  private readonly plan: Plan
  private readonly history: History
  private readonly log: RevisionLog
  /** Every change up to this revision has been delivered or does not match. */
  private position: number
  private delivered = 0
  private initialEnd: boolean
  /** Started at a revision that had been compacted. */
  private readonly late: boolean
  private bookmark = false
  private encoder: Encoder
  /** The versions that the last `take` could not deliver because they need conversion. */
  unready: ReadonlyArray<Version> = []
  private failure: StatusError.StatusError | undefined

  constructor(plan: Plan, history: History, log: RevisionLog) {
    this.plan = plan
    this.encoder = plan.encoder
    this.history = history
    this.log = log
    this.position = plan.revision
    this.initialEnd = plan.markInitialEnd
    this.late = plan.revision < history.watchable
  }

  /** Wakes a waiting watcher only for a change that it delivers; other changes move its position. */
  notice(change: Change): void {
    if (this.wake === undefined || change.revision <= this.position) return
    if (this.concerns(change)) this.rouse()
    else this.position = change.revision
  }

  wantBookmark(): void {
    this.bookmark = true
    this.rouse()
  }

  end(): void {
    this.ended = true
    this.rouse()
  }

  /** Makes the error the next and last line. */
  fail(refusal: StatusError.StatusError): void {
    this.failure = refusal
  }

  finish(): void {
    this.finishing = true
    this.rouse()
  }

  /** The next lines; none when the watcher is synced or ended. */
  take(): Array<string> {
    this.unready = []
    if (this.failure !== undefined) return this.takeFailure()
    if (this.delivered < this.plan.initial.length) return this.takeInitial()
    const lines: Array<string> = []
    if (this.initialEnd) {
      this.initialEnd = false
      lines.push(this.bookmarkLine(this.plan.revision, true))
    }
    if (!this.ended) this.takeChanges(lines)
    if (this.unready.length > 0) return lines
    if (this.bookmark && lines.length === 0) {
      this.bookmark = false
      this.position = Math.max(this.position, this.log.revision())
      lines.push(this.bookmarkLine(this.position, false))
    }
    if (this.finishing && lines.length === 0) this.ended = true
    return lines
  }

  private rouse(): void {
    const wake = this.wake
    this.wake = undefined
    wake?.()
  }

  private takeFailure(): Array<string> {
    if (this.ended || this.failure === undefined) return []
    this.ended = true
    return [line("ERROR", JSON.stringify(this.failure.status))]
  }

  private takeInitial(): Array<string> {
    const versions = this.plan.initial.slice(this.delivered, this.delivered + chunkSize)
    this.unready = this.ended ? [] : this.unreadyOf(versions)
    if (this.unready.length > 0) return []
    this.delivered += versions.length
    return versions.map((version) => line("ADDED", this.nextEncoder().encode(version)))
  }

  private takeChanges(lines: Array<string>): void {
    while (lines.length === 0) {
      if (this.late || this.history.dropped > this.position) {
        lines.push(expiredLine(this.position, this.history.watchable))
        this.ended = true
        return
      }
      const changes = this.readyOf(this.history.after(this.position, chunkSize))
      const last = changes.at(-1)
      if (last === undefined) return
      for (const change of changes) this.deliver(change, lines)
      this.position = last.revision
    }
  }

  private unreadyOf(versions: ReadonlyArray<Version>): ReadonlyArray<Version> {
    const { preparation } = this.plan
    return preparation === undefined ? [] : versions.filter((version) => !preparation.isReady(version))
  }

  /** The changes before the first one that needs conversion; records that one when it is the very first. */
  private readyOf(changes: ReadonlyArray<Change>): ReadonlyArray<Change> {
    if (this.plan.preparation === undefined) return changes
    const first = changes.findIndex((change) => this.unreadyOf(this.shownOf(change)).length > 0)
    if (first === 0) this.unready = this.unreadyOf(changes.flatMap((change) => this.shownOf(change)))
    return first === -1 ? changes : changes.slice(0, first)
  }

  /** The version that a change is delivered with, if it matches. */
  private shownOf({ next, previous, type }: Change): ReadonlyArray<Version> {
    const { selection } = this.plan
    const before = previous !== undefined && matches(selection, previous)
    if (type === "DELETED") return before ? [next] : []
    if (matches(selection, next)) return [next]
    return before ? [previous] : []
  }

  private concerns(change: Change): boolean {
    return (
      matches(this.plan.selection, change.next) ||
      (change.previous !== undefined && matches(this.plan.selection, change.previous))
    )
  }

  /** An object that starts or stops matching is delivered as ADDED or DELETED. */
  private deliver(change: Change, lines: Array<string>): void {
    const { selection } = this.plan
    const before = change.previous !== undefined && matches(selection, change.previous)
    if (change.type === "DELETED") {
      if (before) lines.push(shared(change, this.nextEncoder(), "DELETED", change.next))
      return
    }
    const after = matches(selection, change.next)
    if (after) lines.push(shared(change, this.nextEncoder(), before ? "MODIFIED" : "ADDED", change.next))
    else if (before) lines.push(shared(change, this.nextEncoder(), "LEFT", change.previous))
  }

  /** The view of the next event. */
  private nextEncoder(): Encoder {
    const { encoder } = this
    if (encoder.next !== undefined) this.encoder = encoder.next
    return encoder
  }

  private bookmarkLine(revision: number, initialEnd: boolean): string {
    const annotations = initialEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {}
    return line("BOOKMARK", this.plan.encoder.encodeBookmark({ resourceVersion: String(revision), ...annotations }))
  }
}

const line = (type: string, object: string): string => `{"type":"${type}","object":${object}}`

/** `LEFT` is the last matching state, at the revision at which it stopped matching; clients get DELETED. */
const shared = (
  change: Change,
  encoder: Encoder,
  type: "ADDED" | "MODIFIED" | "DELETED" | "LEFT",
  version: Version | undefined
): string => {
  const form = `${type} ${encoder.id}`
  for (let known = change.lines; known !== undefined; known = known.next) if (known.form === form) return known.text
  const object =
    version === undefined
      ? "{}"
      : type === "LEFT"
        ? encoder.encodeAt(version, change.revision)
        : encoder.encode(version)
  const text = line(type === "LEFT" ? "DELETED" : type, object)
  change.lines = { form, text, next: change.lines }
  return text
}

const expiredLine = (position: number, oldest: number): string =>
  line("ERROR", JSON.stringify(StatusError.expired(`too old resource version: ${position} (${oldest})`).status))

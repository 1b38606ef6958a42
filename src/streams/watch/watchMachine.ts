/**
 * The decisions of a watch as one pure, total function: `step(settings)(state, input, moment)` returns the next state, the changes to emit
 * and the next request. Time and randomness are arguments (`moment`). Invariants: the version to resume from is that of the last event
 * or bookmark emitted, never of one that could not be read; every failure leads to a wait or to exactly one relist, so the rate of
 * requests is bounded whatever a server does. States: docs/design/pipeline.md. Source: client-go's tools/cache: Reflector.
 */
import * as Duration from "effect/Duration"
import * as ApiError from "../../kube/ApiError.ts"
import type { KubeList, KubeObject } from "../../kube/Meta.ts"
import * as Backoff from "../queue/backoff.ts"
import { readEvents, readList } from "./decode.ts"
import type { Change, Restarted, WatchEvent } from "./protocol.ts"
import * as Protocol from "./protocol.ts"

const restarted: Restarted = { _tag: "Restarted" }

export interface Settings<A extends KubeObject> {
  readonly pageSize: number
  readonly idleTimeout: Duration.Duration
  readonly transform: (object: A) => A
  readonly context: ApiError.Context
}

export interface State {
  readonly phase: Phase
  /** Version of the last event, bookmark or complete list emitted, from which a watch resumes. */
  readonly version: string | undefined
  /** No streaming list is requested before this time, in monotonic milliseconds. */
  readonly streamingFrom: number
  /** The number of failures in a row; two minutes without one reset it. */
  readonly attempt: number
  /** End of the wait after the last failure, in monotonic milliseconds. The time without a failure is counted from here. */
  readonly quietFrom: number
  /** When the server last responded with 410: after the first one it relists at once, after another within two minutes it waits. */
  readonly expiredAt: number
  /** The number of watches in a row that failed with "Too large resource version". */
  readonly tooLarge: number
}

/** `at` of a list: `"0"` for any version, a version for "not older than", empty for the most recent. */
export type Phase =
  | { readonly _tag: "Empty" }
  | Listing
  | { readonly _tag: "Streaming"; readonly at: string; readonly since: number }
  | { readonly _tag: "Watching"; readonly since: number }
  | { readonly _tag: "Waiting"; readonly next: Next }

interface Listing {
  readonly _tag: "Listing"
  readonly at: string
  /** Token of the requested page; undefined for the first. */
  readonly continue: string | undefined
  /** Version of the first page, which all pages share. */
  readonly version: string | undefined
}

type Next = Listing | { readonly _tag: "Begin"; readonly at: string } | { readonly _tag: "Resume" }

export type Input<A> =
  | { readonly _tag: "Started" }
  | { readonly _tag: "Woke" }
  | { readonly _tag: "Page"; readonly list: KubeList<A> }
  | { readonly _tag: "Events"; readonly events: ReadonlyArray<WatchEvent> }
  /** The server closed the watch without an error. */
  | { readonly _tag: "Ended" }
  /** Nothing arrived for the idle timeout. */
  | { readonly _tag: "Idle" }
  | { readonly _tag: "Failed"; readonly error: ApiError.ApiError }

export interface Moment {
  /** Monotonic milliseconds. */
  readonly now: number
  /** Uniform in [0, 1). */
  readonly random: number
  /** As in the state, for all watches of this server. */
  readonly streamingFrom: number
}

export interface Step<A> {
  readonly state: State
  readonly output: ReadonlyArray<Change<A>>
  /** Undefined: go on reading the present watch. */
  readonly request: Protocol.Request | undefined
  /** Set when no watch of this server should request a streaming list before then. */
  readonly streamingFrom?: number
}

/** Milliseconds. Sources: client-go's reflector (backoff), kube-apiserver's choice of watch timeouts. */
export const timing = {
  backoffBase: 800,
  backoffMax: 30_000,
  /** After so long without a failure the number of failures is reset. */
  quiet: 120_000,
  /** A watch that ended sooner counts as a failure, even without an error. */
  shortLived: 10_000,
  /** How long the watch lists in pages after the server rejected a streaming list. */
  withoutStreaming: 3_600_000
}

/** After so many of these failures in a row the server's versions must have gone backwards (etcd was restored from a backup). */
const tooLargeLimit = 8

export const initial = (streamingList: "auto" | "never"): State => ({
  phase: { _tag: "Empty" },
  version: undefined,
  streamingFrom: streamingList === "auto" ? -Infinity : Infinity,
  attempt: 0,
  quietFrom: -Infinity,
  expiredAt: -Infinity,
  tooLarge: 0
})

/** The wait after the n-th failure in a row: 0.8 s, doubled up to 30 s, plus a random part of up to the same length. */
const backoff = (attempt: number, random: number): number => exponential(attempt - 1) * (1 + random)

const exponential = Backoff.exponential({ base: timing.backoffBase, max: timing.backoffMax })

/** An input that is not possible in the phase changes nothing. */
export const step =
  <A extends KubeObject>(settings: Settings<A>) =>
  (state: State, input: Input<A>, moment: Moment): Step<A> => {
    const phase = state.phase
    switch (input._tag) {
      case "Started":
        return phase._tag === "Empty" ? begin(settings, state, "0", moment) : stay(state)
      case "Woke":
        return phase._tag === "Waiting" ? proceed(settings, state, phase.next, moment) : stay(state)
      case "Page":
        return phase._tag === "Listing" ? page(settings, state, phase, input.list, moment) : stay(state)
      case "Events":
        if (phase._tag === "Watching") return watched(settings, state, input.events, moment)
        return phase._tag === "Streaming" ? streamed(settings, state, phase, input.events, moment) : stay(state)
      case "Ended":
        if (phase._tag === "Watching") return interrupted(settings, state, phase.since, undefined, moment)
        return phase._tag === "Streaming" ? fallBack(settings, state, phase.at, undefined) : stay(state)
      case "Idle": {
        const error = ApiError.timeout(settings.context, settings.idleTimeout)
        if (phase._tag === "Watching") return interrupted(settings, state, phase.since, error, moment)
        return phase._tag === "Streaming"
          ? fallBack(settings, withoutStreaming(state, moment), phase.at, error)
          : stay(state)
      }
      case "Failed":
        return failed(settings, state, input.error, moment)
    }
  }

const stay = (state: State): Step<never> => ({ state, output: [], request: undefined })

const begin = <A extends KubeObject>(settings: Settings<A>, state: State, at: string, moment: Moment): Step<A> => {
  if (moment.now < Math.max(state.streamingFrom, moment.streamingFrom)) return beginPages(settings, state, at)
  return {
    state: { ...state, phase: { _tag: "Streaming", at, since: moment.now } },
    output: [restarted],
    request: Protocol.streamingList(at, moment.random)
  }
}

const beginPages = <A extends KubeObject>(settings: Settings<A>, state: State, at: string): Step<A> => {
  const phase: Listing = { _tag: "Listing", at, continue: undefined, version: undefined }
  return { state: { ...state, phase }, output: [restarted], request: pageOf(settings, phase) }
}

const resume = (state: State, moment: Moment): Step<never> => ({
  state: { ...state, phase: { _tag: "Watching", since: moment.now } },
  output: [],
  request: Protocol.watch(state.version ?? "", moment.random)
})

const pageOf = <A extends KubeObject>({ pageSize }: Settings<A>, listing: Listing): Protocol.Request =>
  Protocol.page(pageSize, listing.at, listing.continue)

const proceed = <A extends KubeObject>(settings: Settings<A>, state: State, next: Next, moment: Moment): Step<A> => {
  switch (next._tag) {
    case "Begin":
      return begin(settings, state, next.at, moment)
    case "Listing":
      return { state: { ...state, phase: next }, output: [], request: pageOf(settings, next) }
    case "Resume":
      return resume(state, moment)
  }
}

const page = <A extends KubeObject>(
  settings: Settings<A>,
  state: State,
  listing: Listing,
  list: KubeList<A>,
  moment: Moment
): Step<A> => {
  const read = readList(settings, list)
  if (ApiError.isApiError(read)) return failed(settings, state, read, moment)
  const version = listing.version ?? read.version
  const listed: Change<A> = { _tag: "Listed", objects: read.objects }
  if (read.continue !== undefined) {
    const next: Listing = { ...listing, continue: read.continue, version }
    return { state: { ...state, phase: next }, output: [listed], request: pageOf(settings, next) }
  }
  const watching = resume({ ...state, version, tooLarge: 0 }, moment)
  return { ...watching, output: [listed, { _tag: "Synced", resourceVersion: version }] }
}

const watched = <A extends KubeObject>(
  settings: Settings<A>,
  state: State,
  events: ReadonlyArray<WatchEvent>,
  moment: Moment
): Step<A> => {
  const read = readEvents(settings, events, false)
  if (read.version === undefined)
    return read.error === undefined ? stay(state) : failed(settings, state, read.error, moment)
  const output: ReadonlyArray<Change<A>> = [{ _tag: "Changed", events: read.events, resourceVersion: read.version }]
  const next = { ...state, version: read.version, tooLarge: 0 }
  if (read.error === undefined) return { state: next, output, request: undefined }
  return after(output, failed(settings, next, read.error, moment))
}

/** The initial events of a streaming list, up to the bookmark that ends them; the rest of the chunk are events of the watch. */
const streamed = <A extends KubeObject>(
  settings: Settings<A>,
  state: State,
  phase: { readonly at: string; readonly since: number },
  events: ReadonlyArray<WatchEvent>,
  moment: Moment
): Step<A> => {
  const read = readEvents(settings, events, true)
  const output: Array<Change<A>> = []
  if (read.events.some((event) => event.type === "DELETED")) {
    output.push({ _tag: "Changed", events: read.events, resourceVersion: read.version ?? "" })
  } else if (read.events.length > 0) {
    output.push({ _tag: "Listed", objects: read.events.map((event) => event.object) })
  }
  if (read.error !== undefined) return after(output, fallBack(settings, state, phase.at, read.error))
  if (read.stop === undefined || read.version === undefined) return { state, output, request: undefined }
  if (!read.stop.initialEventsEnd)
    return after(output, fallBack(settings, withoutStreaming(state, moment), phase.at, undefined))
  output.push({ _tag: "Synced", resourceVersion: read.version })
  const next: State = { ...state, phase: { _tag: "Watching", since: phase.since }, version: read.version, tooLarge: 0 }
  const rest = events.slice(read.stop.index + 1)
  return after(output, rest.length === 0 ? stay(next) : watched(settings, next, rest, moment))
}

/**
 * A streaming list failed: list in pages at once, whatever the error. Servers reject streaming lists in many ways, and an overloaded server
 * also fails the list in pages, with an error after which the watch waits. Source: client-go's tools/cache: Reflector.ListAndWatchWithContext.
 */
const fallBack = <A extends KubeObject>(
  settings: Settings<A>,
  state: State,
  at: string,
  error: ApiError.ApiError | undefined
): Step<A> => after(unpunished(error), beginPages(settings, state, at))

const withoutStreaming = (state: State, moment: Moment): State => ({
  ...state,
  streamingFrom: Math.max(state.streamingFrom, moment.now + timing.withoutStreaming)
})

const unpunished = (error: ApiError.ApiError | undefined): ReadonlyArray<Change<never>> =>
  error === undefined ? [] : [{ _tag: "Failed", error, attempt: 0, delay: Duration.zero }]

/** A watch ended: it resumes at once, or after a wait if the watch was short. */
const interrupted = <A extends KubeObject>(
  settings: Settings<A>,
  state: State,
  since: number,
  error: ApiError.ApiError | undefined,
  moment: Moment
): Step<A> => {
  if (moment.now - since < timing.shortLived) return wait(state, { _tag: "Resume" }, error, moment)
  return after(unpunished(error), proceed(settings, state, { _tag: "Resume" }, moment))
}

const failed = <A extends KubeObject>(
  settings: Settings<A>,
  state: State,
  error: ApiError.ApiError,
  moment: Moment
): Step<A> => {
  const phase = state.phase
  switch (phase._tag) {
    case "Watching":
      if (ApiError.hasReason(error, "Gone")) return expired(settings, state, state.version ?? "", error, moment)
      return ApiError.isTooLargeResourceVersion(error)
        ? tooLarge(state, error, moment)
        : wait({ ...state, tooLarge: 0 }, { _tag: "Resume" }, error, moment)
    case "Streaming":
      return ApiError.hasReason(error, "Gone")
        ? expired(settings, state, "", error, moment)
        : streamingFailed(settings, state, phase.at, error, moment)
    case "Listing":
      // A first list whose continue token expired begins again at the version of its first page, a relist at the most recent one.
      if (ApiError.hasReason(error, "Gone")) {
        return expired(settings, state, phase.at === "0" ? (phase.version ?? "") : "", error, moment)
      }
      return wait(state, isAhead(phase.at, error) ? { _tag: "Begin", at: "" } : phase, error, moment)
    case "Empty":
    case "Waiting":
      return stay(state)
  }
}

/** It waits after a 429, a refused connection or a version that is too large, and lists in pages after other errors. */
const streamingFailed = <A extends KubeObject>(
  settings: Settings<A>,
  state: State,
  at: string,
  error: ApiError.ApiError,
  moment: Moment
): Step<A> => {
  if (
    ApiError.hasReason(error, "TooManyRequests") ||
    ApiError.isConnectionRefused(error) ||
    ApiError.isTooLargeResourceVersion(error)
  ) {
    return wait(state, { _tag: "Begin", at: isAhead(at, error) ? "" : at }, error, moment)
  }
  if (ApiError.isProgressUnsupported(error)) {
    const next = withoutStreaming(state, moment)
    return { ...fallBack(settings, next, at, error), streamingFrom: next.streamingFrom }
  }
  const isUnknown = ApiError.hasReason(error, "BadRequest", "Invalid")
  return fallBack(settings, isUnknown ? withoutStreaming(state, moment) : state, at, error)
}

const isAhead = (at: string, error: ApiError.ApiError): boolean =>
  at !== "" && at !== "0" && ApiError.isTooLargeResourceVersion(error)

/** Usually another replica of the server is behind. One that does not catch up has lost its history. */
const tooLarge = (state: State, error: ApiError.ApiError, moment: Moment): Step<never> =>
  state.tooLarge + 1 >= tooLargeLimit
    ? wait({ ...state, tooLarge: 0 }, { _tag: "Begin", at: "" }, error, moment)
    : wait({ ...state, tooLarge: state.tooLarge + 1 }, { _tag: "Resume" }, error, moment)

/** 410: relist at once; with backoff if it repeats. */
const expired = <A extends KubeObject>(
  settings: Settings<A>,
  state: State,
  at: string,
  error: ApiError.ApiError,
  moment: Moment
): Step<A> => {
  const next = { ...state, expiredAt: moment.now, tooLarge: 0 }
  if (moment.now - state.expiredAt < timing.quiet) return wait(next, { _tag: "Begin", at }, error, moment)
  return after(unpunished(error), begin(settings, next, at, moment))
}

/** Counts a failure and waits: the backoff, or the server's Retry-After if that is longer. */
const wait = (state: State, next: Next, error: ApiError.ApiError | undefined, moment: Moment): Step<never> => {
  const attempt = moment.now - state.quietFrom >= timing.quiet ? 1 : state.attempt + 1
  const retryAfter = error === undefined ? undefined : ApiError.retryAfter(error)
  const millis = Math.max(backoff(attempt, moment.random), retryAfter === undefined ? 0 : Duration.toMillis(retryAfter))
  return {
    state: { ...state, phase: { _tag: "Waiting", next }, attempt, quietFrom: moment.now + millis },
    output: error === undefined ? [] : [{ _tag: "Failed", error, attempt, delay: Duration.millis(millis) }],
    request: { _tag: "Sleep", millis }
  }
}

const after = <A>(output: ReadonlyArray<Change<A>>, next: Step<A>): Step<A> =>
  output.length === 0 ? next : { ...next, output: [...output, ...next.output] }

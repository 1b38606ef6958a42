/**
 * From the bytes of a watch response to checked events: `events` cuts them into lines, one JSON document and one event each; `identify` sets
 * the kind of an object and `trim` leaves out what a cache does not need; `readEvents` and `readList` check that each object has a name and
 * a version. Strict: a malformed, overlong or truncated line ends the stream with a `Decode` failure, an ERROR event with the failure that it
 * contains, each after the good events before it. Chunks are cut at newline bytes before they are decoded: no UTF-8 sequence contains one.
 */
import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import * as ApiError from "../../kube/ApiError.ts"
import type { KubeList, KubeObject } from "../../kube/Meta.ts"
import * as Resource from "../../kube/Resource.ts"
import type { ObjectEvent, WatchEvent } from "./protocol.ts"

export interface Options {
  /** A longer line is a failure. Default 32 MiB; servers reject objects of more than a few MiB. */
  readonly maxLineBytes?: number | undefined
  /** Leaves out `metadata.managedFields`, which saves a third of the parsing. Default false. */
  readonly omitManagedFields?: boolean | undefined
}

/** The events of a watch response. Fails with the failure of the response, with `Decode`, or with that of an ERROR event. */
export const events = <E, R>(
  bytes: Stream.Stream<Uint8Array, E, R>,
  context: ApiError.Context,
  options: Options = {}
): Stream.Stream<WatchEvent, E | ApiError.ApiError, R> =>
  Stream.transformPull(bytes, (upstream) => Effect.sync(() => reading(upstream, makeFramer(context, options))))

type Events = Arr.NonEmptyReadonlyArray<WatchEvent>

/** Pulls bytes until they yield events or a failure; a failure after events is returned by the next pull. */
const reading = <E>(
  upstream: Pull.Pull<Arr.NonEmptyReadonlyArray<Uint8Array>, E>,
  framer: Framer
): Pull.Pull<Events, E | ApiError.ApiError> => {
  const emit = (
    found: Array<WatchEvent>,
    otherwise: Pull.Pull<Events, E | ApiError.ApiError>
  ): Pull.Pull<Events, E | ApiError.ApiError> =>
    isNonEmpty(found) ? Exit.succeed(found) : framer.failure === undefined ? otherwise : Exit.fail(framer.failure)
  const read = Pull.matchEffect(upstream, {
    onSuccess: (chunks): Pull.Pull<Events, E | ApiError.ApiError> => {
      const found: Array<WatchEvent> = []
      for (const chunk of chunks) framer.push(chunk, found)
      return emit(found, pull)
    },
    onFailure: (cause): Pull.Pull<Events, E> => Effect.failCause(cause),
    onDone: (): Pull.Pull<Events, E | ApiError.ApiError> => {
      const found: Array<WatchEvent> = []
      framer.end(found)
      return emit(found, Cause.done())
    }
  })
  const pull: Pull.Pull<Events, E | ApiError.ApiError> = Effect.suspend(() =>
    framer.failure === undefined ? read : Exit.fail(framer.failure)
  )
  return pull
}

const isNonEmpty = (found: Array<WatchEvent>): found is [WatchEvent, ...Array<WatchEvent>] => found.length > 0

/** The synchronous core: bytes in, events out, and at most one failure, after which nothing is read. */
export interface Framer {
  readonly push: (chunk: Uint8Array, into: Array<WatchEvent>) => void
  /** The response has ended: the rest must be a whole line. */
  readonly end: (into: Array<WatchEvent>) => void
  readonly failure: ApiError.ApiError | undefined
}

export const makeFramer = (context: ApiError.Context, options: Options = {}): Framer => {
  const maxLineBytes = options.maxLineBytes ?? 32 * 1024 * 1024
  const parseJson: (text: string) => unknown = options.omitManagedFields === true ? parseTrimmed : JSON.parse
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  /** The beginning of a line whose end has not arrived, in pieces, so that a long line is joined only once. */
  let pieces: Array<Uint8Array> = []
  let pending = 0
  let failure: ApiError.ApiError | undefined

  /** Parses one or more whole lines, up to the first that is not an event. */
  const parse = (text: string, into: Array<WatchEvent>): void => {
    let start = 0
    while (start < text.length) {
      let end = text.indexOf("\n", start)
      if (end === -1) end = text.length
      const line = text.slice(start, end)
      start = end + 1
      if (isBlank(line)) continue
      const found = parseLine(context, line, parseJson)
      if (ApiError.isApiError(found)) {
        failure = found
        return
      }
      into.push(found)
    }
  }

  const decode = (bytes: Uint8Array, into: Array<WatchEvent>): void => {
    const text = bytes.length > maxLineBytes ? undefined : decoded(decoder, bytes)
    if (text === undefined) lineByLine(bytes, into)
    else parse(text, into)
  }

  /** The slow path when a line is too long or not UTF-8, which keeps the lines before it. */
  const lineByLine = (bytes: Uint8Array, into: Array<WatchEvent>): void => {
    for (let start = 0; start < bytes.length && failure === undefined;) {
      const found = bytes.indexOf(0x0a, start)
      const end = found === -1 ? bytes.length : found
      if (overlong(end - start)) return
      const text = decoded(decoder, bytes.subarray(start, end))
      if (text === undefined) failure = ApiError.decode(context, "a line of the watch is not valid UTF-8")
      else parse(text, into)
      start = end + 1
    }
  }

  const keep = (rest: Uint8Array): void => {
    if (rest.length === 0) return
    pieces.push(rest)
    pending += rest.length
  }

  const take = (last: Uint8Array): Uint8Array => {
    if (pending === 0) return last
    keep(last)
    const joined = join(pieces, pending)
    pieces = []
    pending = 0
    return joined
  }

  const overlong = (length: number): boolean => {
    if (length <= maxLineBytes) return false
    failure = ApiError.decode(context, `a line of the watch is longer than ${maxLineBytes} bytes`)
    return true
  }

  return {
    push: (chunk, into) => {
      if (failure !== undefined) return
      const last = chunk.lastIndexOf(0x0a)
      if (last === -1) {
        keep(chunk)
        overlong(pending)
        return
      }
      decode(take(chunk.subarray(0, last + 1)), into)
      keep(chunk.subarray(last + 1))
      if (failure === undefined) overlong(pending)
    },
    end: (into) => {
      if (failure === undefined && pending > 0) decode(take(new Uint8Array(0)), into)
    },
    get failure() {
      return failure
    }
  }
}

const join = (pieces: ReadonlyArray<Uint8Array>, length: number): Uint8Array => {
  const joined = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    joined.set(piece, at)
    at += piece.length
  }
  return joined
}

const decoded = (decoder: TextDecoder, bytes: Uint8Array): string | undefined => {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

const isBlank = (line: string): boolean => line === "" || (line.charCodeAt(0) <= 0x20 && line.trim() === "")

const parseLine = (
  context: ApiError.Context,
  line: string,
  parseJson: (text: string) => unknown
): WatchEvent | ApiError.ApiError => {
  let event: unknown
  try {
    event = parseJson(line)
  } catch (cause) {
    return ApiError.decode(context, "a line of the watch is not valid JSON", cause)
  }
  const type = (event as { readonly type?: unknown } | null)?.type
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
    case "BOOKMARK":
      return event as WatchEvent
    case "ERROR":
      return ApiError.fromWatchError(context, (event as { readonly object?: unknown }).object)
    default:
      return ApiError.decode(
        context,
        `a line of the watch is no event: its type is ${typeof type === "string" ? JSON.stringify(type.slice(0, 40)) : "missing"}`
      )
  }
}

/**
 * Sets the kind and apiVersion of the resource, in place: servers leave them out of list items, and call an object of which they send only
 * the metadata a `PartialObjectMetadata`, although it is an object of the real kind.
 */
export const identify = (resource: Resource.AnyCreatable, object: { kind?: unknown; apiVersion?: unknown }): void => {
  const { kind } = object
  if (kind !== undefined && kind !== "" && kind !== "PartialObjectMetadata") return
  object.kind = resource.kind
  object.apiVersion = Resource.apiVersion(resource)
}

/** The events of a watch, with the real kind on projected objects. It writes to them, because each was parsed for this watch alone. */
export const identifyEvents = <E>(resource: Resource.Any, watched: Stream.Stream<WatchEvent, E>): typeof watched =>
  resource.projection === "object"
    ? watched
    : Stream.mapArray(watched, (chunk) => {
        for (const { object } of chunk) if (isRecord(object)) identify(resource, object)
        return chunk
      })

const isRecord = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * Makes a freshly parsed object what a cache holds, in place: with its kind and without `metadata.managedFields`. It keeps objects out of
 * V8's dictionary mode, on which the memory of a large cache depends.
 */
export const trim =
  (resource: Resource.Any, keepManagedFields = false) =>
  <A extends KubeObject>(object: A): A => {
    const own = object as { -readonly [K in keyof KubeObject]: KubeObject[K] }
    identify(resource, own)
    if (!keepManagedFields && own.metadata.managedFields !== undefined)
      own.metadata = withoutManagedFields(own.metadata)
    return object
  }

/** A copy, because deleting a property would put the object into dictionary mode, on newer V8 even for the last property. */
export const withoutManagedFields = <M extends object>(metadata: M): M => {
  const { managedFields: _, ...rest } = metadata as { readonly managedFields?: unknown }
  return rest as M
}

const managedFieldsKey = '"managedFields":['

/**
 * `JSON.parse` of a watch event without its managedFields, a third of a typical object. The array is cut out of the text up to the first
 * closing bracket, and a number put in its place. If the rest is not JSON with that number at `object.metadata.managedFields`, the
 * whole text is parsed, so the result is the same as parsing everything and removing the field: a bracket inside a string or an inner
 * array leaves invalid JSON, and the key in another object leaves the number elsewhere. Throws like `JSON.parse`.
 */
export const parseTrimmed = (text: string): unknown => {
  const start = text.indexOf(managedFieldsKey)
  const end = start === -1 ? -1 : text.indexOf("]", start + managedFieldsKey.length)
  const event = end === -1 ? undefined : parsed(`${text.slice(0, start)}"managedFields":0${text.slice(end + 1)}`)
  const metadata = event?.object?.metadata
  if (typeof metadata === "object" && metadata?.managedFields === 0) return withoutThem(event)
  const whole = JSON.parse(text) as Event | null
  return Array.isArray(whole?.object?.metadata?.managedFields) ? withoutThem(whole) : whole
}

interface Event {
  readonly object?: { metadata?: { readonly managedFields?: unknown } | null } | null
}

const parsed = (text: string): Event | undefined => {
  try {
    return JSON.parse(text) as Event
  } catch {
    return undefined
  }
}

const withoutThem = (event: Event | null | undefined): unknown => {
  const object = event?.object
  if (object?.metadata) object.metadata = withoutManagedFields(object.metadata)
  return event
}

export interface Reading<A> {
  readonly context: ApiError.Context
  /** Applied to every object; may mutate it or return another. */
  readonly transform: (object: A) => A
}

export interface ReadEvents<A> {
  readonly events: ReadonlyArray<ObjectEvent<A>>
  /** Version of the last event or bookmark read. */
  readonly version: string | undefined
  /** The first bookmark, if `stopAtBookmark`. */
  readonly stop: { readonly index: number; readonly initialEventsEnd: boolean } | undefined
  /** Why the rest was not read. */
  readonly error: ApiError.ApiError | undefined
}

/** The objects of events, up to the first malformed one. A plain loop: this is the hot path of every informer. */
export const readEvents = <A extends KubeObject>(
  reading: Reading<A>,
  events: ReadonlyArray<WatchEvent>,
  stopAtBookmark: boolean
): ReadEvents<A> => {
  const out: Array<ObjectEvent<A>> = []
  let version: string | undefined
  const upToHere = (error: ApiError.ApiError | undefined, stop?: ReadEvents<A>["stop"]): ReadEvents<A> => ({
    events: out,
    version,
    stop,
    error
  })
  for (let index = 0; index < events.length; index++) {
    const event = events[index]
    const found = event === undefined ? undefined : versionOf(event.object)
    if (event === undefined || found === undefined) return upToHere(malformed(reading.context, event))
    if (event.type === "BOOKMARK") {
      version = found
      if (!stopAtBookmark) continue
      return upToHere(undefined, { index, initialEventsEnd: isInitialEventsEnd(event.object) })
    }
    if (!isNamed(event.object)) return upToHere(malformed(reading.context, event))
    try {
      const object = reading.transform(event.object as A)
      out.push(object === event.object ? (event as ObjectEvent<A>) : { type: event.type, object })
    } catch (cause) {
      return upToHere(untransformed(reading.context, cause))
    }
    version = found
  }
  return upToHere(undefined)
}

export interface ReadList<A> {
  readonly objects: ReadonlyArray<A>
  readonly version: string
  readonly continue: string | undefined
}

/** Go encodes some empty lists as `items: null`. A list without a version is a failure. */
export const readList = <A extends KubeObject>(
  reading: Reading<A>,
  list: KubeList<A>
): ReadList<A> | ApiError.ApiError => {
  const version = versionOf(list)
  if (version === undefined) return ApiError.decode(reading.context, "the list has no resourceVersion")
  const items: unknown = list.items ?? []
  if (!Array.isArray(items)) return ApiError.decode(reading.context, "the list has no items")
  const objects: Array<A> = []
  for (const item of items) {
    if (!isNamed(item)) return ApiError.decode(reading.context, "an item of the list has no metadata.name")
    try {
      objects.push(reading.transform(item as A))
    } catch (cause) {
      return untransformed(reading.context, cause)
    }
  }
  const token = list.metadata.continue
  return { objects, version, continue: token === undefined || token === "" ? undefined : token }
}

interface Loose {
  readonly metadata?: {
    readonly name?: unknown
    readonly resourceVersion?: unknown
    readonly annotations?: Readonly<Record<string, unknown>> | null
  } | null
}

const versionOf = (object: unknown): string | undefined => {
  const version = (object as Loose | null | undefined)?.metadata?.resourceVersion
  return typeof version === "string" && version !== "" ? version : undefined
}

const isNamed = (object: unknown): object is KubeObject => {
  const name = (object as Loose | null | undefined)?.metadata?.name
  return typeof name === "string" && name !== ""
}

/** Whether a bookmark ends the initial events of a streaming list. Source: meta/v1: InitialEventsAnnotationKey. */
const isInitialEventsEnd = (bookmark: unknown): boolean =>
  (bookmark as Loose).metadata?.annotations?.["k8s.io/initial-events-end"] === "true"

const malformed = (context: ApiError.Context, event: WatchEvent | undefined): ApiError.ApiError =>
  ApiError.decode(
    context,
    event === undefined
      ? "a watch event is missing"
      : `the object of a watch event of type ${JSON.stringify(event.type)} has no name or no resourceVersion`
  )

const untransformed = (context: ApiError.Context, cause: unknown): ApiError.ApiError =>
  ApiError.decode(context, "the transformation of an object failed", cause)

/**
 * Reads what a server sent into objects that have a name and a version, without trusting it: whatever is malformed ends the
 * reading with a `Decode` failure, after the good part before it. Plain loops over arrays, the hot path of every informer.
 */
import * as ApiError from "../../kube/ApiError.ts"
import type { KubeList, KubeObject } from "../../kube/Meta.ts"
import type { ObjectEvent } from "./Change.ts"

/** One line of a watch, as a transport decodes it. */
export interface WatchEvent {
  /** What happened; a bookmark says only how far the server is. */
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"
  /** The object, or for an error a `Status`; not looked into before. */
  readonly object: unknown
}

export interface Reading<A> {
  readonly context: ApiError.Context
  /** Applied to every object; may mutate it and may return another. */
  readonly transform: (object: A) => A
}

export interface ReadEvents<A> {
  readonly events: ReadonlyArray<ObjectEvent<A>>
  /** Version of the last event or bookmark read; undefined if there was none. */
  readonly version: string | undefined
  /** The first bookmark, when reading was to stop there. */
  readonly stop: { readonly index: number; readonly initialEventsEnd: boolean } | undefined
  /** Why the rest was not read. */
  readonly error: ApiError.ApiError | undefined
}

export const readEvents = <A extends KubeObject>(
  reading: Reading<A>,
  events: ReadonlyArray<WatchEvent>,
  stopAtBookmark: boolean
): ReadEvents<A> => {
  const out: Array<ObjectEvent<A>> = []
  let version: string | undefined
  for (let index = 0; index < events.length; index++) {
    const event = events[index]
    const found = event === undefined ? undefined : versionOf(event.object)
    if (event === undefined || found === undefined) {
      return { events: out, version, stop: undefined, error: malformed(reading.context, event) }
    }
    if (event.type === "BOOKMARK") {
      version = found
      if (!stopAtBookmark) continue
      return {
        events: out,
        version,
        stop: { index, initialEventsEnd: isInitialEventsEnd(event.object) },
        error: undefined
      }
    }
    if (!isNamed(event.object))
      return { events: out, version, stop: undefined, error: malformed(reading.context, event) }
    try {
      const object = reading.transform(event.object as A)
      out.push(object === event.object ? (event as ObjectEvent<A>) : { type: event.type, object })
    } catch (cause) {
      return { events: out, version, stop: undefined, error: untransformed(reading.context, cause) }
    }
    version = found
  }
  return { events: out, version, stop: undefined, error: undefined }
}

export interface ReadList<A> {
  readonly objects: ReadonlyArray<A>
  readonly version: string
  readonly continue: string | undefined
}

/** Go encodes an empty list as `items: null` here and there; that is fine. A list without a version is not. */
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

/** The annotation of the bookmark that ends the initial events of a streaming list. Source: meta/v1 types. */
const initialEventsEnd = "k8s.io/initial-events-end"

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

const isInitialEventsEnd = (object: unknown): boolean =>
  (object as Loose).metadata?.annotations?.[initialEventsEnd] === "true"

const malformed = (context: ApiError.Context, event: WatchEvent | undefined): ApiError.ApiError =>
  ApiError.decode(
    context,
    event === undefined
      ? "a watch event is missing"
      : `the object of a watch event of type ${JSON.stringify(event.type)} has no name or no resourceVersion`
  )

const untransformed = (context: ApiError.Context, cause: unknown): ApiError.ApiError =>
  ApiError.decode(context, "the transformation of an object failed", cause)

/**
 * Bytes of a watch response to events: one line, one JSON document, one event; one array of events for each chunk of bytes.
 * Strict, because what cannot be read must not be skipped past: a malformed, overlong or truncated line ends the stream
 * with a `Decode` failure, an ERROR event with the failure it carries - each after the good events before it.
 * Chunks are cut at newline bytes before they are decoded: no UTF-8 sequence contains one, so none is ever torn.
 */
import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import * as ApiError from "../../kube/ApiError.ts"
import { parseTrimmed } from "./trim.ts"
import type { WatchEvent } from "./watchRead.ts"

export interface Options {
  /** A longer line is a failure. Default 32 MiB; servers refuse objects above a few MiB. */
  readonly maxLineBytes?: number | undefined
  /** Leaves out `metadata.managedFields`, which saves a third of the parsing. Default false. */
  readonly omitManagedFields?: boolean | undefined
}

/** The events of a watch response. Fails with the response's own failure, `Decode`, or what an ERROR event says. */
export const events = <E, R>(
  bytes: Stream.Stream<Uint8Array, E, R>,
  context: ApiError.Context,
  options: Options = {}
): Stream.Stream<WatchEvent, E | ApiError.ApiError, R> =>
  Stream.transformPull(bytes, (upstream) => Effect.sync(() => reading(upstream, makeFramer(context, options))))

type Events = Arr.NonEmptyReadonlyArray<WatchEvent>

/** Pulls bytes until they yield events or a failure; a failure found behind events waits for the next pull. */
const reading = <E>(
  upstream: Pull.Pull<Arr.NonEmptyReadonlyArray<Uint8Array>, E>,
  framer: Framer
): Pull.Pull<Events, E | ApiError.ApiError> => {
  const emit = (found: Array<WatchEvent>): Pull.Pull<Events, E | ApiError.ApiError> =>
    isNonEmpty(found) ? Exit.succeed(found) : framer.failure === undefined ? pull : Exit.fail(framer.failure)
  const read = Pull.matchEffect(upstream, {
    onSuccess: (chunks): Pull.Pull<Events, E | ApiError.ApiError> => {
      const found: Array<WatchEvent> = []
      for (const chunk of chunks) framer.push(chunk, found)
      return emit(found)
    },
    onFailure: (cause): Pull.Pull<Events, E> => Effect.failCause(cause),
    onDone: (): Pull.Pull<Events, E | ApiError.ApiError> => {
      const found: Array<WatchEvent> = []
      framer.end(found)
      return isNonEmpty(found)
        ? Exit.succeed(found)
        : framer.failure === undefined
          ? Cause.done()
          : Exit.fail(framer.failure)
    }
  })
  const pull: Pull.Pull<Events, E | ApiError.ApiError> = Effect.suspend(() =>
    framer.failure === undefined ? read : Exit.fail(framer.failure)
  )
  return pull
}

const isNonEmpty = (found: Array<WatchEvent>): found is [WatchEvent, ...Array<WatchEvent>] => found.length > 0

/** The synchronous core: bytes in, events out, and at most one failure, after which nothing is read any more. */
export interface Framer {
  readonly push: (chunk: Uint8Array, into: Array<WatchEvent>) => void
  /** The response is over: what is left must be a whole line. */
  readonly end: (into: Array<WatchEvent>) => void
  readonly failure: ApiError.ApiError | undefined
}

const newline = 0x0a

export const makeFramer = (context: ApiError.Context, options: Options = {}): Framer => {
  const maxLineBytes = options.maxLineBytes ?? 32 * 1024 * 1024
  const parseJson: (text: string) => unknown = options.omitManagedFields === true ? parseTrimmed : JSON.parse
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  /** The beginning of a line whose end has not arrived, in pieces, so that a long line is joined only once. */
  let pieces: Array<Uint8Array> = []
  let pending = 0
  let failure: ApiError.ApiError | undefined

  /** One or more whole lines; stops at the first that is no event. */
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

  /** The slow path, when a line is overlong or not UTF-8: to keep the lines before it. */
  const lineByLine = (bytes: Uint8Array, into: Array<WatchEvent>): void => {
    for (let start = 0; start < bytes.length && failure === undefined;) {
      const found = bytes.indexOf(newline, start)
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
      const last = chunk.lastIndexOf(newline)
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

/**
 * Bytes of a watch to its events, one array a chunk. An ERROR event, a malformed or a truncated line ends the stream as an
 * `ApiError` after everything good before it has been delivered.
 */
import type * as Arr from "effect/Array"
import * as Stream from "effect/Stream"
import * as ApiError from "../../kube/ApiError.ts"
import type { WatchEvent } from "../Transport.ts"

export const decode =
  (context: ApiError.Context) =>
  (bytes: Stream.Stream<Uint8Array, ApiError.ApiError>): Stream.Stream<WatchEvent, ApiError.ApiError> =>
    bytes.pipe(
      Stream.decodeText,
      Stream.splitLines,
      Stream.chunks,
      Stream.flatMap((lines) => {
        const { error, events } = parse(context, lines)
        const good = Stream.fromArray(events)
        return error === undefined ? good : Stream.concat(good, Stream.fail(error))
      })
    )

const parse = (context: ApiError.Context, lines: Arr.NonEmptyReadonlyArray<string>) => {
  const events: Array<WatchEvent> = []
  for (const line of lines) {
    if (line === "") continue
    let event: { type: WatchEvent["type"] | "ERROR"; object: unknown }
    try {
      event = JSON.parse(line)
    } catch {
      return { events, error: ApiError.decode(context, "a line of the watch is not valid JSON") }
    }
    if (event.type === "ERROR") return { events, error: ApiError.fromWatchError(context, event.object) }
    events.push({ type: event.type, object: event.object })
  }
  return { events, error: undefined }
}

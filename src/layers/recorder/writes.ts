/**
 * The objects and patches of events for the server, in both API groups. Pure. It applies the limits of servers (the length of a note, of
 * an instance), because an event that the server rejects is lost.
 */
import type { Counted } from "./correlator.ts"
import * as Occurrence from "./occurrence.ts"
import type { Series } from "./series.ts"

export type Api = "v1" | "events.k8s.io"

/** One write: the patch if there is one, otherwise, or when the event to patch is gone, the creation. */
export interface Write {
  readonly api: Api
  readonly namespace: string
  readonly name: string
  readonly create: Readonly<Record<string, unknown>>
  readonly patch: object | undefined
}

/** Bytes of a note. Source: validation of events.k8s.io/v1, NoteLengthLimit. */
const noteLimit = 1024
/** Characters of reason, action and reporting instance. Source: the same. */
const wordLimit = 128

/** core/v1, with a count. */
export const legacy = (event: Counted, exists: boolean): Write => {
  const { object, type, reason, component, instance } = event.occurrence
  const namespace = Occurrence.namespaceOf(object)
  const counted = { count: event.count, lastTimestamp: Occurrence.seconds(event.last), message: event.message }
  return {
    api: "v1",
    namespace,
    name: event.name,
    create: {
      metadata: { name: event.name, namespace },
      involvedObject: object,
      reason,
      type,
      source: instance === "" ? { component } : { component, host: instance },
      firstTimestamp: Occurrence.seconds(event.first),
      ...counted,
      eventTime: null,
      reportingComponent: component,
      reportingInstance: instance.slice(0, wordLimit)
    },
    patch: exists ? counted : undefined
  }
}

/** events.k8s.io/v1, with a series from the second one on. */
export const modern = ({ occurrence, count, lastTime }: Series, exists: boolean): Write => {
  const { object, type, reason, component, instance, action, message, name, time } = occurrence
  const namespace = Occurrence.namespaceOf(object)
  const series = count > 1 ? { series: { count, lastObservedTime: Occurrence.micros(lastTime) } } : {}
  return {
    api: "events.k8s.io",
    namespace,
    name,
    create: {
      metadata: { name, namespace },
      eventTime: Occurrence.micros(time),
      regarding: object,
      type,
      reason: reason.slice(0, wordLimit),
      action: (action === "" ? reason : action).slice(0, wordLimit),
      note: withinBytes(message, noteLimit),
      reportingController: component,
      reportingInstance: (instance === "" ? component : instance).slice(0, wordLimit),
      ...series
    },
    patch: exists ? series : undefined
  }
}

/** The longest prefix of a text that has at most `limit` bytes in UTF-8, in whole characters. */
const withinBytes = (text: string, limit: number): string => {
  if (text.length * 3 <= limit) return text
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= limit) return text
  let end = limit
  // A byte 10xxxxxx continues a character: go back to where the character begins.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return new TextDecoder().decode(bytes.subarray(0, end))
}

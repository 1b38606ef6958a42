/**
 * What the handling of one request depends on: the state of the server, the time of arrival, randomness, and the request. What a request reads
 * and writes without waiting is one synchronous section, which nothing interrupts; that is the lock of the server.
 */
import type * as Random from "effect/Random"
import type { ApiRequest } from "./Api.ts"
import type { AuditLog } from "./audit/AuditLog.ts"
import type { Authorizer } from "./authorization/Authorizer.ts"
import type { ResourceRegistry } from "./apiextensions/ResourceRegistry.ts"
import type { Collection } from "./storage/Collection.ts"
import type { RevisionLog } from "./storage/RevisionLog.ts"
import type { Version } from "./storage/Version.ts"

export interface State {
  readonly log: RevisionLog
  /** The resources that are served at present. */
  readonly registry: ResourceRegistry
  readonly collection: (storage: string) => Collection
  readonly authorizer: Authorizer
  readonly audit: AuditLog
}

export interface RequestContext {
  readonly state: State
  readonly request: ApiRequest
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly random: Random.Random
  /** Warnings for the response header; validation and admission append to it. */
  readonly warnings: Array<string>
  /** For the audit log: what the request has written so far, and the annotations of its entry, of which policies make some. */
  readonly written: { last: Version | undefined; annotations: Map<string, string> | undefined }
}

let lastSecond = 0
let lastText = "1970-01-01T00:00:00Z"

/** In seconds, as metav1.Time. Memoizes the text of the last second, because writes come in bursts. */
export const timestamp = (millis: number): string => {
  const second = Math.floor(millis / 1000)
  if (second !== lastSecond) {
    lastText = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`
    lastSecond = second
  }
  return lastText
}

const hex = "0123456789abcdef"

/** A version 4 UUID. */
export const uuid = (random: RequestContext["random"]): string => {
  let out = ""
  for (let i = 0; i < 36; i++) {
    if (i === 8 || i === 13 || i === 18 || i === 23) out += "-"
    else if (i === 14) out += "4"
    else {
      const digit = Math.floor(random.nextDoubleUnsafe() * 16)
      out += hex[i === 19 ? (digit & 3) | 8 : digit] ?? "0"
    }
  }
  return out
}

/** No vowels and nothing that looks alike: the alphabet of generated names. Source: apimachinery util/rand. */
const safe = "bcdfghjklmnpqrstvwxz2456789"

export const suffix = (random: RequestContext["random"]): string => {
  let out = ""
  for (let i = 0; i < 5; i++) out += safe[Math.floor(random.nextDoubleUnsafe() * safe.length)] ?? "b"
  return out
}

/**
 * What one request may know of the world: the server's state, the time it arrived, chance, and the request. A turn is one
 * synchronous section; nothing else happens while it lasts, and that is the server's lock.
 */
import type * as Random from "effect/Random"
import type { ApiRequest } from "./Api.ts"
import type { AuditLog } from "./audit/AuditLog.ts"
import type { Authorizer } from "./authorization/Authorizer.ts"
import type { ResourceRegistry } from "./apiextensions/ResourceRegistry.ts"
import type { Collection } from "./storage/Collection.ts"
import type { RevisionLog } from "./storage/RevisionLog.ts"

export interface State {
  readonly log: RevisionLog
  /** What is served at the moment. */
  readonly kinds: ResourceRegistry
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
  /** What the client is to be told beside its answer; rules add to it. */
  readonly warnings: Array<string>
  /** Whether a refusal is final even where what is missing is being made: nobody will try again. */
  readonly isLastTry: boolean
}

let lastSecond = 0
let lastText = "1970-01-01T00:00:00Z"

/** Seconds precision, as metav1.Time has it. The text of the last second is remembered: writes come in bursts. */
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

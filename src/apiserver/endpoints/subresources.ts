/**
 * Subresources that are not parts of their object, by name: they take and give kinds of their own. `status`, `finalize` and
 * `ephemeralcontainers` are ordinary updates of a part and not here.
 */
import type { Target } from "../routing.ts"
import type { RequestScope } from "../admission/Admission.ts"
import { bind } from "./binding.ts"
import { evict } from "./eviction.ts"
import { scale } from "./scale.ts"
import { requestToken } from "./token.ts"

/** Status and text of the answer. */
export type Handler = (context: RequestScope, target: Target) => readonly [number, string]

const handlers: ReadonlyMap<string, Handler> = new Map([
  ["binding", bind],
  ["eviction", evict],
  ["scale", scale],
  ["token", requestToken]
])

export const handlerOf = (subresource: string): Handler | undefined => handlers.get(subresource)

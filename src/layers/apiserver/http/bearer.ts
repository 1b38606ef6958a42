/**
 * Who is calling, by bearer token: the holder of the one token is the cluster's administrator, the health paths are open to
 * anybody, and all else is 401. Other ways to prove an identity belong to a later room.
 */
import { createHash, timingSafeEqual } from "node:crypto"
import * as Redacted from "effect/Redacted"
import type { User } from "../Api.ts"

const admin: User = { name: "admin", groups: ["system:masters", "system:authenticated"] }

const anonymous: User = { name: "system:anonymous", groups: ["system:unauthenticated"] }

const open: ReadonlySet<string> = new Set(["/healthz", "/livez", "/readyz"])

/**
 * A function from the Authorization header and path to the user, `undefined` for a stranger. Digests are compared, so that
 * neither the content nor the length of the token shows in the time taken. A wrong token is refused on open paths as well.
 */
export const make = (token: Redacted.Redacted): ((header: string | undefined, path: string) => User | undefined) => {
  const expected = digest(Redacted.value(token))
  return (header, path) => {
    if (header === undefined) return open.has(path) ? anonymous : undefined
    const presented = /^bearer +(\S+) *$/i.exec(header)?.[1]
    return presented !== undefined && timingSafeEqual(digest(presented), expected) ? admin : undefined
  }
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()

/** Users by bearer tokens that a carrier was told at its start. */
import { createHash, timingSafeEqual } from "node:crypto"
import * as Redacted from "effect/Redacted"
import type { User } from "../Api.ts"

export interface Known {
  readonly token: Redacted.Redacted
  readonly user: User
}

/** Who holds the token that is made at a start. */
export const administrator: User = { name: "admin", groups: ["system:masters", "system:authenticated"] }

/**
 * From a token to its user, `undefined` for a stranger's. Digests are compared, so that neither the content nor the length of a token
 * shows in the time taken.
 */
export const make = (tokens: ReadonlyArray<Known>): ((token: string) => User | undefined) => {
  const expected = tokens.map(({ token, user }) => ({ digest: digest(Redacted.value(token)), user }))
  return (token) => {
    const presented = digest(token)
    return expected.find((one) => timingSafeEqual(presented, one.digest))?.user
  }
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()

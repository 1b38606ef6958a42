/**
 * A certificate for a server that was given none: for this host and for loopback, signed by itself, gone with the process. It keeps
 * listeners on the way out; it proves nothing to anybody. Platform edge.
 */
import type { Certificate } from "./Listener.ts"
import * as Signing from "./signing.ts"

const hour = 3_600_000

/** Valid from an hour before `now` (milliseconds) for ten years: nobody trusts it, so nothing is won by its end. */
export const make = (host: string, now: number): Promise<Certificate> =>
  Signing.selfSigned({
    name: host,
    hosts: [host, "localhost", "127.0.0.1", "::1"],
    notBefore: now - hour,
    notAfter: now + 87_600 * hour
  })

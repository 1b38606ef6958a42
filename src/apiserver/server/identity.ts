/**
 * Who is calling: by the certificate of the connection, or else by the bearer token of the request, one that was known from the start
 * or a service account's. Who shows neither is nobody, and may ask for health alone; who shows something wrong is refused even that.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { createHash, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { TLSSocket } from "node:tls"
import type { Api, User } from "../Api.ts"

const anonymous: User = { name: "system:anonymous", groups: ["system:unauthenticated"] }

const open: ReadonlySet<string> = new Set(["/healthz", "/livez", "/readyz"])

/** Undefined for strangers. */
export type Identify = (message: IncomingMessage, path: string) => Effect.Effect<User | undefined>

export const make = (api: Pick<Api, "authenticate">, known: (token: string) => User | undefined): Identify => {
  const certified = remembered(ofCertificate)
  return (message, path) => {
    const user = certified(message.socket)
    if (user !== undefined) return Effect.succeed(user)
    const header = message.headers.authorization
    if (header === undefined) return Effect.succeed(open.has(path) ? anonymous : undefined)
    const token = /^bearer +(\S+) *$/i.exec(header)?.[1]
    if (token === undefined) return Effect.succeed(undefined)
    const holder = known(token)
    return holder === undefined ? api.authenticate(token) : Effect.succeed(holder)
  }
}

/** A connection's certificate never changes. */
const remembered = <A extends object, B>(f: (key: A) => B | undefined): ((key: A) => B | undefined) => {
  const found = new WeakMap<A, { readonly value: B | undefined }>()
  return (key) => {
    const kept = found.get(key)
    if (kept !== undefined) return kept.value
    const value = f(key)
    found.set(key, { value })
    return value
  }
}

/** The common name is the user, the organisations are the groups. Source: the x509 authenticator of the reference server. */
const ofCertificate = (socket: unknown): User | undefined => {
  // Unless its authority is ours, a certificate says nothing.
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined
  const { subject } = socket.getPeerCertificate()
  const name = [subject?.CN].flat()[0] ?? ""
  const groups = [subject?.O ?? []].flat()
  return name === "" ? undefined : { name, groups: [...groups, "system:authenticated"] }
}

/** A bearer token that the server is given at its start. */
export interface KnownToken {
  readonly token: Redacted.Redacted
  readonly user: User
}

/** The user of the token that is generated at the start. */
export const administrator: User = { name: "admin", groups: ["system:masters", "system:authenticated"] }

/**
 * Finds the user of a token; undefined for an unknown token. It compares digests, so that the time taken depends neither on the content
 * nor on the length of a token.
 */
export const byToken = (tokens: ReadonlyArray<KnownToken>): ((token: string) => User | undefined) => {
  const expected = tokens.map(({ token, user }) => ({ digest: digest(Redacted.value(token)), user }))
  return (token) => {
    const presented = digest(token)
    return expected.find((one) => timingSafeEqual(presented, one.digest))?.user
  }
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()

/**
 * Authenticates a request: by the client certificate of the connection, or else by the bearer token, which is one given at the start or
 * a service account token. A request without credentials is anonymous and may only read health; one with invalid credentials gets 401
 * even there.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { createHash, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { TLSSocket } from "node:tls"
import type { Api, User } from "../Api.ts"

const anonymous: User = { name: "system:anonymous", groups: ["system:unauthenticated"] }

const open: ReadonlySet<string> = new Set(["/healthz", "/livez", "/readyz"])

/** Undefined for invalid or missing credentials. */
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

/** Memoizes by connection, whose certificate never changes. */
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

/**
 * The common name is the user, the organisations are the groups. Source: apiserver/pkg/authentication/request/x509:
 * CommonNameUserConversion.
 */
const ofCertificate = (socket: unknown): User | undefined => {
  // A certificate of another authority is ignored.
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

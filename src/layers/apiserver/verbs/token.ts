/**
 * serviceaccounts/token: tokens for service accounts. A token looks like the reference server's, a signed JWT, but its
 * signature is chance: it is good because this server remembers having issued it. Tokens are forgotten when they expire.
 */
import * as Base64Url from "effect/encoding/Base64Url"
import { arrayAt, at, objectAt, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import * as body from "../body.ts"
import * as Refusal from "../Refusal.ts"
import type { FieldError } from "../Refusal.ts"
import type { Target } from "../routing.ts"
import * as fieldValidation from "../rules/fieldValidation.ts"
import { invalidValue } from "../rules/validate.ts"
import * as kinds from "../schema/kinds.ts"
import * as Turn from "../Turn.ts"
import * as Version from "../mvcc/Version.ts"
import * as read from "./read.ts"

export interface Issued {
  readonly username: string
  readonly uid: string
  readonly groups: ReadonlyArray<string>
  readonly audiences: ReadonlyArray<string>
  /** Milliseconds since the epoch. */
  readonly expires: number
}

/** Of each server; a server that is gone takes its tokens with it. */
const issued = new WeakMap<Turn.State, Map<string, Issued>>()

/** Whose token this is, unless it was never issued or has expired. The authenticator's and TokenReview's question. */
export const holderOf = (turn: Turn.Turn, token: string): Issued | undefined => {
  const found = issued.get(turn.state)?.get(token)
  return found !== undefined && found.expires > turn.now ? found : undefined
}

export const issuer = "https://kubernetes.default.svc"

const request = { group: "authentication.k8s.io", kind: "TokenRequest" }
const defaultSeconds = 3600
const minSeconds = 600
const maxSeconds = 2 ** 32

export const requestToken = (turn: Turn.Turn, target: Target): readonly [number, string] => {
  if (turn.request.method !== "POST") throw Refusal.methodNotAllowed()
  const sent =
    body.optional(turn.request, "TokenRequest", fieldValidation.ofBodyAs(turn, "authentication.TokenRequest")) ?? {}
  const account = Version.parse(read.find(turn, target))
  const seconds = secondsOf(sent)
  const asked = arrayAt(sent, "spec", "audiences").map(String)
  const audiences = asked.length === 0 ? [issuer] : asked
  const bound = objectAt(sent, "spec", "boundObjectRef")
  if (bound !== undefined) checkBound(turn, target, bound)
  const uid = textAt(account, "metadata", "uid")
  const { name, namespace } = target
  const username = `system:serviceaccount:${namespace}:${name}`
  const now = Math.floor(turn.now / 1000)
  const claims = {
    aud: audiences,
    exp: now + seconds,
    iat: now,
    iss: issuer,
    jti: Turn.uuid(turn.random),
    "kubernetes.io": { namespace, serviceaccount: { name, uid }, ...boundClaim(bound) },
    nbf: now,
    sub: username
  }
  const token = sign(turn, claims)
  remember(turn, token, {
    username,
    uid,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
    audiences,
    expires: (now + seconds) * 1000
  })
  const answer = {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name, namespace, creationTimestamp: Turn.timestamp(turn.now) },
    spec: { audiences, expirationSeconds: seconds, boundObjectRef: bound ?? null },
    status: { token, expirationTimestamp: Turn.timestamp((now + seconds) * 1000) }
  }
  return [201, JSON.stringify(answer)]
}

const secondsOf = (sent: JsonObject): number => {
  const asked = at(sent, "spec", "expirationSeconds") ?? defaultSeconds
  const refuse = (error: FieldError) => Refusal.invalid(request, "", [error])
  const field = "spec.expirationSeconds"
  if (typeof asked !== "number" || asked < minSeconds) {
    throw refuse(invalidValue(field, asked, "may not specify a duration less than 10 minutes"))
  }
  if (asked > maxSeconds)
    throw refuse(invalidValue(field, asked, "may not specify a duration larger than 2^32 seconds"))
  return Math.floor(asked)
}

const boundKinds: ReadonlyMap<string, string> = new Map([
  ["Pod", "pods"],
  ["Secret", "secrets"],
  ["Node", "nodes"]
])

/** A token may be bound to an object that exists; a pod must run as the account. */
const checkBound = (turn: Turn.Turn, { name, namespace }: Target, bound: JsonObject): void => {
  const named = textAt(bound, "kind")
  const kind = kinds.all.find(({ group, plural }) => group === "" && plural === boundKinds.get(named))
  if (kind === undefined || !["", "v1"].includes(textAt(bound, "apiVersion"))) {
    throw Refusal.badRequest(`cannot bind token to object of type ${textAt(bound, "apiVersion")}, Kind=${named}`)
  }
  const key = Version.keyOf(kind.namespaced ? namespace : "", textAt(bound, "name"))
  const found = turn.state.collection(kind.storage).get(key)
  if (found === undefined) throw Refusal.notFound(kind, textAt(bound, "name"))
  const object = Version.parse(found)
  const uid = textAt(object, "metadata", "uid")
  const wanted = textAt(bound, "uid")
  if (wanted !== "" && wanted !== uid) {
    throw Refusal.conflict(
      kind,
      found.name,
      `the UID in the bound object reference (${wanted}) does not match the UID in record. The object might have been deleted and then recreated`
    )
  }
  if (named === "Pod" && (textAt(object, "spec", "serviceAccountName") || "default") !== name) {
    throw Refusal.badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(name)} to pod running with different serviceaccount name.`
    )
  }
}

const boundClaim = (bound: JsonObject | undefined): object =>
  bound === undefined
    ? {}
    : { [textAt(bound, "kind").toLowerCase()]: { name: textAt(bound, "name"), uid: textAt(bound, "uid") } }

const signatureBytes = 256

const sign = (turn: Turn.Turn, claims: object): string => {
  const signature = Uint8Array.from({ length: signatureBytes }, () => Math.floor(turn.random.nextDoubleUnsafe() * 256))
  const head = Base64Url.encode(JSON.stringify({ alg: "RS256", kid: "embedded" }))
  return `${head}.${Base64Url.encode(JSON.stringify(claims))}.${Base64Url.encode(signature)}`
}

const remember = (turn: Turn.Turn, token: string, holder: Issued): void => {
  const tokens = issued.get(turn.state) ?? new Map<string, Issued>()
  issued.set(turn.state, tokens)
  for (const [old, { expires }] of tokens) if (expires <= turn.now) tokens.delete(old)
  tokens.set(token, holder)
}

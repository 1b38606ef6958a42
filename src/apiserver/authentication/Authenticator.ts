/**
 * Authenticates bearer tokens. A service account token is valid by its signature, lifetime and audience, as long as the account and the
 * object it is bound to exist with the same uid. Transports may provide a table of other tokens, for TokenReviews. Source:
 * pkg/serviceaccount: jwtTokenAuthenticator.
 */
import * as Base64Url from "effect/encoding/Base64Url"
import * as Result from "effect/Result"
import type { User } from "../Api.ts"
import * as body from "../body.ts"
import { arrayAt, isObject, numberAt, objectAt, textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import * as Version from "../storage/Version.ts"
import type { RequestContext } from "../RequestContext.ts"
import * as legacyTokens from "./legacyTokens.ts"
import * as serviceAccounts from "./serviceAccounts.ts"
import { remembered } from "./Signer.ts"
import type { SigningContext, Signer } from "./Signer.ts"

/** The issuer of the tokens, and the audience of this server. */
export const issuer = "https://kubernetes.default.svc"

export interface Holder {
  readonly user: User
  /** The audiences of the token that were requested. */
  readonly audiences: ReadonlyArray<string>
}

/** The holder, or the error in the words of kube-apiserver. */
export type Identified = Holder | { readonly error: string }

export interface Authenticator {
  /** Signs a token with these claims. */
  readonly issue: (claims: JsonObject, signingContext: SigningContext) => string
  /** The token must have at least one of `audiences`; by default the audience of this server. */
  readonly identify: (
    context: Pick<RequestContext, "state" | "now">,
    token: string,
    audiences?: ReadonlyArray<string>
  ) => Identified
}

export interface Options {
  readonly signer?: Signer | undefined
  /** Finds the user of a token that is no service account token; undefined for unknown tokens. */
  readonly known?: ((token: string) => User | undefined) | undefined
}

const invalid = "invalid bearer token"

const refused = (why?: string): Identified => ({ error: why === undefined ? invalid : `[${invalid}, ${why}]` })

export const make = ({ known, signer = remembered() }: Options = {}): Authenticator => ({
  issue: (claims, signingContext) => {
    const head = { alg: signer.algorithm, kid: signer.keyId }
    const input = `${Base64Url.encode(JSON.stringify(head))}.${Base64Url.encode(JSON.stringify(claims))}`
    return `${input}.${Base64Url.encode(signer.sign(input, signingContext))}`
  },
  identify: (context, token, audiences = []) => {
    const user = known?.(token)
    const wanted = audiences.length === 0 ? [issuer] : audiences
    if (user !== undefined) return wanted.includes(issuer) ? { user, audiences: [issuer] } : refused()
    const claims = verified(signer, token)
    if (claims === undefined) return refused()
    return legacyTokens.isLegacy(claims)
      ? legacy(legacyTokens.userOf(context.state, claims, token), wanted)
      : holderOf(context, claims, wanted)
  }
})

/** Legacy tokens name no audience: they are for this server. */
const legacy = (found: User | string, wanted: ReadonlyArray<string>): Identified => {
  if (typeof found === "string") return refused(found)
  return wanted.includes(issuer) ? { user: found, audiences: [issuer] } : refused()
}

/** The claims of a token with a valid signature; undefined otherwise. */
const verified = (signer: Signer, token: string): JsonObject | undefined => {
  const [head, payload, mark, ...more] = token.split(".")
  if (head === undefined || payload === undefined || mark === undefined || more.length > 0) return undefined
  const signature = Base64Url.decode(mark)
  if (Result.isFailure(signature) || !signer.verify(`${head}.${payload}`, signature.success)) return undefined
  const text = Base64Url.decodeString(payload)
  const claims = Result.isFailure(text) ? undefined : body.parseJson(text.success)
  return isObject(claims) ? claims : undefined
}

const holderOf = (
  { now, state }: Pick<RequestContext, "state" | "now">,
  claims: JsonObject,
  wanted: ReadonlyArray<string>
): Identified => {
  const own = arrayAt(claims, "aud").map(String)
  const audiences = own.filter((audience) => wanted.includes(audience))
  if (audiences.length === 0) {
    return refused(`token audiences ${list(own)} is invalid for the target audiences ${list(wanted)}`)
  }
  if (numberAt(claims, "exp") * 1000 <= now) return refused("service account token has expired")
  if (numberAt(claims, "nbf") * 1000 > now) return refused("service account token is not valid yet")
  const about = objectAt(claims, "kubernetes.io")
  const namespace = textAt(about, "namespace")
  const name = textAt(about, "serviceaccount", "name")
  const uid = textAt(about, "serviceaccount", "uid")
  for (const { claim, plural } of bindings) {
    const bound = objectAt(about, claim)
    if (bound === undefined) continue
    const key = Version.keyOf(claim === "node" ? "" : namespace, textAt(bound, "name"))
    const found = state.collection(plural).get(key)
    if (found === undefined) return refused(`${plural} ${JSON.stringify(textAt(bound, "name"))} not found`)
    if (textAt(Version.parse(found), "metadata", "uid") !== textAt(bound, "uid")) {
      return refused(`the ${claim}'s UID does not match the token's claim`)
    }
  }
  const user = { name: serviceAccounts.userOf({ name, namespace }), uid, groups: serviceAccounts.groupsOf(namespace) }
  return { user, audiences }
}

/** The objects that must exist for a token to be valid: its account, and the one it may be bound to. */
const bindings = [
  { claim: "serviceaccount", plural: "serviceaccounts" },
  { claim: "pod", plural: "pods" },
  { claim: "secret", plural: "secrets" },
  { claim: "node", plural: "nodes" }
] as const

const list = (values: ReadonlyArray<string>): string => `[${values.map((one) => JSON.stringify(one)).join(" ")}]`

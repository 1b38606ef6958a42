/**
 * Legacy service account tokens, which are stored in Secrets and do not expire: signed by a controller with the key of the server, valid
 * as long as the Secret holds the token and the account has the same uid. Source: pkg/serviceaccount: legacyValidator, including its
 * messages.
 */
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import type { User } from "../Api.ts"
import { textAt } from "../json.ts"
import type { JsonObject } from "../json.ts"
import * as Version from "../storage/Version.ts"
import type { State } from "../RequestContext.ts"
import * as serviceAccounts from "./serviceAccounts.ts"

const issuer = "kubernetes/serviceaccount"

export const isLegacy = (claims: JsonObject): boolean => claims["iss"] === issuer

/** The user of the token, or the error. */
export const userOf = (state: Pick<State, "collection">, claims: JsonObject, token: string): User | string => {
  const claim = (name: string): string => textAt(claims, `${issuerPrefix}/${name}`)
  const account = { namespace: claim("namespace"), name: claim("service-account.name") }
  const uid = claim("service-account.uid")
  const secret = claim("secret.name")
  const empty = ["namespace", "secret.name", "service-account.name", "service-account.uid"].find(
    (name) => claim(name) === ""
  )
  if (empty !== undefined) return `${empty} claim is missing`
  if (claims["sub"] !== serviceAccounts.userOf(account)) return "sub claim is invalid"
  const find = (plural: string, name: string): JsonObject | undefined => {
    const found = state.collection(plural).get(Version.keyOf(account.namespace, name))
    return found === undefined ? undefined : Version.parse(found)
  }
  const stored = find("secrets", secret)
  if (stored === undefined || isGoing(stored)) return "service account token has been invalidated"
  if (textAt(stored, "metadata", "labels", invalidSince) !== "") return "the token in secret has been marked as invalid"
  const text = Base64.decodeString(textAt(stored, "data", "token"))
  if (Result.isFailure(text) || text.success !== token) return "service account token does not match server's copy"
  const owner = find("serviceaccounts", account.name)
  if (owner === undefined) return `serviceaccounts ${JSON.stringify(account.name)} not found`
  if (isGoing(owner)) return `service account ${account.namespace}/${account.name} has been deleted`
  if (textAt(owner, "metadata", "uid") !== uid)
    return `service account UID (${textAt(owner, "metadata", "uid")}) does not match claim (${uid})`
  return { name: serviceAccounts.userOf(account), uid, groups: serviceAccounts.groupsOf(account.namespace) }
}

const issuerPrefix = "kubernetes.io/serviceaccount"

const invalidSince = "kubernetes.io/legacy-token-invalid-since"

const isGoing = (object: JsonObject): boolean => textAt(object, "metadata", "deletionTimestamp") !== ""

/**
 * Which Secrets hold tokens of service accounts, of which account, and which fields they lack. Pure. Source: pkg/controller/serviceaccount:
 * TokensController.
 */
import * as Base64 from "effect/encoding/Base64"
import * as Key from "../../../kube/Key.ts"
import * as Resource from "../../../kube/Resource.ts"
import { Secret, type ServiceAccount } from "../../../kube/resources.ts"
import type { Index } from "../../../layers/Cache.ts"

const type = "kubernetes.io/service-account-token"

/** A field selector, so that other Secrets, which are many and large, are not cached. */
export const Tokens = Resource.selected(Secret, `type=${type}`)

const nameAnnotation = "kubernetes.io/service-account.name"
const uidAnnotation = "kubernetes.io/service-account.uid"

/** The account that a Secret names. */
export interface Wanted {
  readonly namespace: string
  readonly name: string
  /** If empty, any account of that name matches. */
  readonly uid: string
}

/** Undefined for a Secret that is not a token. */
export const accountOf = ({ metadata, type: own }: Secret): Wanted | undefined => {
  const name = metadata.annotations?.[nameAnnotation] ?? ""
  if (own !== type || name === "") return undefined
  return { namespace: metadata.namespace ?? "", name, uid: metadata.annotations?.[uidAnnotation] ?? "" }
}

/** Whether the Secret names that account. */
export const isMeant = ({ uid }: Wanted, { metadata }: ServiceAccount): boolean => uid === "" || uid === metadata.uid

/** Value: the key of the account whose token a Secret is. */
export const byAccount: Index<Secret> = {
  name: "serviceaccounttoken/account",
  of: (secret) => {
    const wanted = accountOf(secret)
    return wanted === undefined ? [] : [Key.make(wanted.namespace, wanted.name)]
  }
}

/** The Secret with its missing fields; undefined if nothing is missing. */
export const filled = (
  secret: Secret,
  account: ServiceAccount,
  { rootCa, token }: { readonly rootCa: string | undefined; readonly token: () => string }
): Secret | undefined => {
  const { data = {}, metadata } = secret
  const ca = rootCa === undefined ? undefined : Base64.encode(rootCa)
  const missing = {
    ...(ca === undefined || data["ca.crt"] === ca ? {} : { "ca.crt": ca }),
    ...(isEmpty(data["namespace"]) ? { namespace: Base64.encode(metadata.namespace ?? "") } : {}),
    ...(isEmpty(data["token"]) ? { token: Base64.encode(token()) } : {})
  }
  if (Object.keys(missing).length === 0) return undefined
  const annotations = {
    ...metadata.annotations,
    [nameAnnotation]: account.metadata.name,
    [uidAnnotation]: account.metadata.uid ?? ""
  }
  return { ...secret, metadata: { ...metadata, annotations }, data: { ...data, ...missing } }
}

const isEmpty = (text: string | undefined): boolean => text === undefined || text === ""

/** The account without its reference to a Secret; undefined if it has none. */
export const without = (account: ServiceAccount, secret: string): ServiceAccount | undefined => {
  const secrets = account.secrets ?? []
  const left = secrets.filter(({ name }) => name !== secret)
  return left.length === secrets.length ? undefined : { ...account, secrets: left }
}

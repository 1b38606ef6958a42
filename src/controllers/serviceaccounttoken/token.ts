/**
 * The token in a Secret: a JSON web token that does not end. It is good for as long as the Secret and the account that it names are there.
 * Source: spec G.3, the legacy claims of the reference.
 */
import * as Base64Url from "effect/encoding/Base64Url"
import type { TokenSigner } from "../../layers/ClusterAuthority.ts"

/** Whose token it is, and where it lies. */
export interface Holder {
  readonly namespace: string
  readonly account: string
  /** Of the account. */
  readonly uid: string
  /** Name of the Secret. */
  readonly secret: string
}

const prefix = "kubernetes.io/serviceaccount"

const claims = ({ account, namespace, secret, uid }: Holder) => ({
  iss: "kubernetes/serviceaccount",
  [`${prefix}/namespace`]: namespace,
  [`${prefix}/secret.name`]: secret,
  [`${prefix}/service-account.name`]: account,
  [`${prefix}/service-account.uid`]: uid,
  sub: `system:serviceaccount:${namespace}:${account}`
})

/** The same text for the same holder, where the key's signatures have no chance in them. */
export const make = ({ algorithm, keyId, sign }: TokenSigner, holder: Holder): string => {
  const head = { alg: algorithm, kid: keyId }
  const input = `${Base64Url.encode(JSON.stringify(head))}.${Base64Url.encode(JSON.stringify(claims(holder)))}`
  return `${input}.${Base64Url.encode(sign(input))}`
}

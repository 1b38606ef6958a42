/**
 * Legacy tokens of service accounts: JSON web tokens without an expiry, valid as long as the Secret that holds them and the account exist. Pure.
 * Source: pkg/serviceaccount: LegacyClaims.
 */
import * as Base64Url from "effect/encoding/Base64Url"
import type { TokenSigner } from "../../layers/ClusterAuthority.ts"

/** The account that a token names, and the Secret that holds it. */
export interface Holder {
  readonly namespace: string
  readonly account: string
  /** The uid of the account. */
  readonly uid: string
  /** Name of the Secret. */
  readonly secret: string
}

const claimPrefix = "kubernetes.io/serviceaccount"

const claims = ({ account, namespace, secret, uid }: Holder) => ({
  iss: "kubernetes/serviceaccount",
  [`${claimPrefix}/namespace`]: namespace,
  [`${claimPrefix}/secret.name`]: secret,
  [`${claimPrefix}/service-account.name`]: account,
  [`${claimPrefix}/service-account.uid`]: uid,
  sub: `system:serviceaccount:${namespace}:${account}`
})

/** With a deterministic signature the same holder always gets the same token. */
export const legacyToken = ({ algorithm, keyId, sign }: TokenSigner, holder: Holder): string => {
  const head = { alg: algorithm, kid: keyId }
  const input = `${Base64Url.encode(JSON.stringify(head))}.${Base64Url.encode(JSON.stringify(claims(holder)))}`
  return `${input}.${Base64Url.encode(sign(input))}`
}

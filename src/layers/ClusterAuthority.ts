/**
 * The secrets of a cluster that this process was given: the key that signs tokens of service accounts, and the certificate authorities
 * of the API server. Either may be missing. The key itself is not exposed, only a function that signs.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

/** Signs JSON web tokens. */
export interface TokenSigner {
  /** `RS256`, `ES256`, …: `alg` of the header. */
  readonly algorithm: string
  /** `kid` of the header: the digest of the public key, with which the server finds the key. */
  readonly keyId: string
  /** Signs the first two parts of a token. Source: RFC 7518. */
  readonly sign: (input: string) => Uint8Array
}

export class ClusterAuthority extends Context.Service<
  ClusterAuthority,
  {
    /** Undefined without a key. */
    readonly signer: TokenSigner | undefined
    /** PEM. Undefined: clients verify the server with the authorities of their system. */
    readonly rootCa: string | undefined
  }
>()("effect-controller-manager/ClusterAuthority") {
  /** No key to sign with and no authority for the server. */
  static readonly layerNoop: Layer.Layer<ClusterAuthority> = Layer.succeed(
    ClusterAuthority,
    ClusterAuthority.of({ signer: undefined, rootCa: undefined })
  )
}

/**
 * The name of the cluster, which a controller may put into what it writes, so that objects and log lines of several clusters can be
 * distinguished. `kubernetes` by default. Source: kube-controller-manager's `--cluster-name`.
 */
export const ClusterName = Context.Reference<string>("effect-controller-manager/ClusterName", {
  defaultValue: () => "kubernetes"
})

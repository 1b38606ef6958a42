/**
 * What a cluster vouches with, as far as this process was entrusted with it: the key that its API server believes tokens of service accounts by,
 * and the authorities by which clients know the server. Either may be missing. Only a signer sees a key: what is offered is
 * to sign.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

/** Signs as the header of a JSON web token says. */
export interface TokenSigner {
  /** `RS256`, `ES256`, …: `alg` of the header. */
  readonly algorithm: string
  /** `kid` of the header: the digest of the public key, by which the server finds it. */
  readonly keyId: string
  /** The signature of the token's first two parts, as RFC 7518 wants it. */
  readonly sign: (input: string) => Uint8Array
}

export class ClusterAuthority extends Context.Service<
  ClusterAuthority,
  {
    /** Undefined: there is no key. */
    readonly signer: TokenSigner | undefined
    /** PEM; undefined: clients are to know the server by the authorities of their system. */
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

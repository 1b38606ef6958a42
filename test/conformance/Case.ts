/**
 * A conformance case checks one behaviour of the Kubernetes API. It uses only `KubeClient`, `Transport` and plain requests, so that
 * it runs unchanged on a real server, on the embedded server over HTTPS and on the embedded server in process. Cases run concurrently
 * on one server, each in its own namespace; the names of cluster-scoped objects contain that namespace.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { TokenSigner } from "../../src/layers/ClusterAuthority.ts"
import type * as KubeClient from "../../src/layers/KubeClient.ts"
import type { Method, Transport } from "../../src/layers/Transport.ts"

export interface Subject {
  readonly client: KubeClient.KubeClient["Service"]
  readonly transport: Transport["Service"]
  readonly ask: Ask
  /** The namespace of the case, which exists. */
  readonly namespace: string
  /** Minor version of the server. */
  readonly minor: number
  /** Compacts the store up to now, as etcd does. Only for cases that run `alone`. */
  readonly compact: Effect.Effect<void>
  /** Signs service account tokens with the key of the server; undefined where there is none. */
  readonly signer: TokenSigner | undefined
  /** A transport to the same server with another token, or none. */
  readonly as: (token: string | undefined) => Effect.Effect<Transport["Service"], never, Scope.Scope>
}

/** A user that the administrator impersonates. */
export interface ImpersonatedUser {
  readonly user: string
  readonly group?: string
}

/** Sends a raw request and returns the response, errors included. The path may have a query. */
export type Ask = (
  method: Method | "HEAD",
  path: string,
  /** A string is sent as it is, any other value as JSON. */
  body?: unknown,
  options?: { readonly accept?: string; readonly contentType?: string; readonly as?: ImpersonatedUser }
) => Effect.Effect<Reply>

export interface Reply {
  readonly status: number
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The body as JSON; undefined when it is none. The body of a watch is its lines. */
  readonly body: any
}

/** A feature that a back end may not have. */
export type Part = "credentials" | "custom objects" | "HTTP front"

interface CaseBase {
  readonly title: string
  readonly needs?: Part | undefined
  /** Must not share the server with other cases while it runs. */
  readonly alone?: true | undefined
  readonly run: (subject: Subject) => Effect.Effect<void, unknown, Scope.Scope>
}

/**
 * `since` is the oldest minor version of Kubernetes 1.x that passes the case; 20 means "20 or older". A case that needs a newer version
 * gives the reason in `rule`.
 */
export type Case = CaseBase & ({ readonly since: 20 } | { readonly since: number; readonly rule: string })

export const configMap = (name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}) => ({
  metadata: { name, labels },
  data
})

/** The smallest pod that a real server admits. */
export const pod = (name: string, labels: Record<string, string> = {}) => ({
  metadata: { name, labels },
  spec: { containers: [{ name: "main", image: "registry.example/app:1" }] }
})

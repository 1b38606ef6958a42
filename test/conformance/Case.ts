/**
 * What a conformance case is: a promise of the Kubernetes API, checked through `KubeClient`, `Transport` and plain requests alone,
 * so that it holds the same words for a real server, the embedded one over HTTPS and the embedded one in process. Cases run in
 * one server side by side, each in a namespace of its own; what is cluster-scoped carries that namespace in its name.
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
  /** Exists, and nobody else's. */
  readonly namespace: string
  /** Minor version of the server. */
  readonly minor: number
  /** Makes every revision before now unreadable, as etcd's compaction does. Only for cases that run `alone`. */
  readonly compact: Effect.Effect<void>
  /** Has the key by which the server believes tokens of service accounts; undefined where there is none. */
  readonly signer: TokenSigner | undefined
  /** The same server to a caller with another token, or none. */
  readonly as: (token: string | undefined) => Effect.Effect<Transport["Service"], never, Scope.Scope>
}

/** A user whom the administrator acts as. */
export interface Someone {
  readonly user: string
  readonly group?: string
}

/** One request as it is, refusals included: for cases about the answer itself. The path may carry a query. */
export type Ask = (
  method: Method | "HEAD",
  path: string,
  /** Sent as it is when it is a text, as JSON otherwise. */
  body?: unknown,
  options?: { readonly accept?: string; readonly contentType?: string; readonly as?: Someone }
) => Effect.Effect<Reply>

export interface Reply {
  readonly status: number
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The text as JSON; undefined when it is none. A watch's answer is its lines. */
  readonly body: any
}

/** What a server, or a way to it, may openly lack. */
export type Part = "credentials" | "custom objects" | "HTTP front"

interface Promised {
  readonly title: string
  readonly needs?: Part | undefined
  /** Must not share the server with other cases while it runs. */
  readonly alone?: true | undefined
  readonly run: (subject: Subject) => Effect.Effect<void, unknown, Scope.Scope>
}

/**
 * `since` is the minor version of Kubernetes 1.x that keeps the promise for certain: 20 stands for "20 and older". What only a
 * newer server could prove names the rule it follows.
 */
export type Case = Promised & ({ readonly since: 20 } | { readonly since: number; readonly rule: string })

export const configMap = (name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}) => ({
  metadata: { name, labels },
  data
})

/** The smallest pod that a real server admits. */
export const pod = (name: string, labels: Record<string, string> = {}) => ({
  metadata: { name, labels },
  spec: { containers: [{ name: "main", image: "registry.example/app:1" }] }
})

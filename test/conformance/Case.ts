/**
 * What a conformance case is: a promise of the Kubernetes API, checked through `KubeClient` and `Transport` alone, so that it
 * holds the same words for a real server, the embedded one over HTTPS and the embedded one in process. Cases run in one
 * server side by side, each in a namespace of its own.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as KubeClient from "../../src/layers/KubeClient.ts"
import type { Transport } from "../../src/layers/Transport.ts"

export interface Subject {
  readonly client: KubeClient.KubeClient["Service"]
  readonly transport: Transport["Service"]
  /** Exists, and nobody else's. */
  readonly namespace: string
  /** Makes every revision before now unreadable, as etcd's compaction does. */
  readonly compact: Effect.Effect<void>
  /** The same server to a caller with another token, or none. */
  readonly as: (token: string | undefined) => Effect.Effect<Transport["Service"], never, Scope.Scope>
}

export type Part = "credentials" | "compaction" | "applyRemoval" | "managedFields" | "fieldValidation"

export interface Case {
  readonly title: string
  /** Minor version of Kubernetes 1.x that first keeps this promise. */
  readonly since?: number | undefined
  /** A part of the API that a back end may openly lack. */
  readonly needs?: Part | undefined
  readonly run: (subject: Subject) => Effect.Effect<void, unknown, Scope.Scope>
}

export const configMap = (name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}) => ({
  metadata: { name, labels },
  data
})

/** The smallest pod that a real server admits. */
export const pod = (name: string, labels: Record<string, string> = {}) => ({
  metadata: { name, labels },
  spec: { containers: [{ name: "main", image: "registry.example/app:1" }] }
})

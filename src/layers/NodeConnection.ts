/**
 * What an API server asks the nodes for besides the API objects: the logs of containers, which it fetches from the kubelet of a pod's
 * node, and the usage of containers, which a metrics server collects from all kubelets. Simulated nodes implement it, and the composition
 * of a cluster connects it to the embedded server. Source: pkg/kubelet/server, metrics-server.
 */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { Pod } from "../kube/resources.ts"

/** Which part of a log. Source: core/v1 PodLogOptions. */
export interface LogOptions {
  /** A container of the pod. */
  readonly container: string
  /** The log continues until the container ends. */
  readonly follow: boolean
  /** The log of the run before the present one. */
  readonly previous: boolean
  /** Whether each line starts with its time. */
  readonly timestamps: boolean
  /** At most so many lines of the present log; undefined for all. */
  readonly tailLines: number | undefined
  /** Only lines of this time and later, in milliseconds since 1970. */
  readonly since: number | undefined
  /** The log ends after so many bytes. */
  readonly limitBytes: number | undefined
}

/** No kubelet answers for the node. */
export class NodeUnreachable extends Data.TaggedError("NodeUnreachable")<{
  /** Of the node. */
  readonly node: string
}> {}

/** The kubelet has no such log. The message is that of the kubelet. */
export class LogUnavailable extends Data.TaggedError("LogUnavailable")<{ readonly message: string }> {}

/** Amounts that are used. */
export interface Amounts {
  /** Billionths of a CPU. */
  readonly cpu: number
  /** Bytes. */
  readonly memory: number
}

/** One measurement of a node or pod. */
export interface Measurement {
  /** When the window ended, in milliseconds since 1970. */
  readonly time: number
  /** The length of the window, in milliseconds. */
  readonly window: number
}

/** What a pod used. */
export interface PodUsage extends Measurement {
  /** Every container that ran for the whole window. */
  readonly containers: ReadonlyArray<Amounts & { readonly name: string }>
}

/** The latest measurements of all nodes that answer. */
export interface Usage {
  /** By name. */
  readonly nodes: ReadonlyMap<string, Measurement & Amounts>
  /** By uid: pods of which every container was measured. */
  readonly pods: ReadonlyMap<string, PodUsage>
}

/** The kubelets of a cluster, and the measurements of their containers. */
export interface NodeConnection {
  /** The log of a container as text, in whole lines unless `limitBytes` cuts one. It is produced as it is read. */
  readonly logs: (
    pod: Pod,
    options: LogOptions
  ) => Effect.Effect<Stream.Stream<string>, LogUnavailable | NodeUnreachable>
  /** Measured at regular times; two calls in between return the same. */
  readonly usage: Effect.Effect<Usage>
}

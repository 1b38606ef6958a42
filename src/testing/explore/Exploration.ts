/** What a user declares of an exploration: the controllers, what is done to the cluster, and what must hold. */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type { ApiError } from "../../kube/ApiError.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import type * as Resource from "../../kube/Resource.ts"
import type { Descriptor, Services } from "../../layers/Controller.ts"
import type { Client, Target } from "../../layers/KubeClient.ts"
import type { ClusterAuthority } from "../../layers/ClusterAuthority.ts"
import type { Discovery } from "../../layers/Discovery.ts"
import type * as Nodes from "../../simulation/Nodes.ts"
import type * as Apply from "../apply.ts"
import type { Options as ClusterOptions } from "../ClusterTest.ts"
import type { Comparable } from "./finalState.ts"
import type { Invariant } from "./invariants.ts"
import type { Kind } from "./perturbation.ts"

/** What a scenario does with the cluster. Its own requests are never perturbed; each change is a step of the scenario. */
export interface Cluster {
  /** Server-side apply of YAML documents or values, in order. */
  readonly apply: Apply.Apply
  /** A merge patch of an object. */
  readonly edit: <A extends KubeObject>(
    resource: Resource.Resource<A>,
    target: Target,
    change: object
  ) => Effect.Effect<A, ApiError>
  /** Deletes an object. */
  readonly delete: (
    resource: Resource.Any,
    target: Target,
    options?: { readonly propagationPolicy?: "Orphan" | "Background" | "Foreground" | undefined }
  ) => Effect.Effect<void, ApiError>
  /** Any other change, as a step with that title. */
  readonly step: <A, E, R>(title: string, change: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Waits until no work is left at the present time, advances the clock, and waits again. */
  readonly advance: (duration: Duration.Input) => Effect.Effect<void>
  /** All objects of a kind as the server has them, in order. */
  readonly snapshot: <A extends KubeObject>(resource: Resource.Resource<A>) => Effect.Effect<ReadonlyArray<A>>
  /** For other requests of the user. */
  readonly client: Client
  /** The simulated machines; undefined in a cluster without nodes. */
  readonly nodes: Nodes.Nodes["Service"] | undefined
}

/** What the controllers of an exploration may need beyond {@link Services}. */
export type Provided = Services | Discovery | ClusterAuthority

/** The settings of an exploration. */
export interface Options<R = never> {
  /** The controllers that are explored. All run in one process, which may end, and is started again. */
  readonly controllers: ReadonlyArray<Descriptor<R | Provided>>
  /**
   * What is done to the cluster: an ordinary test without assertions, which is run again and again. It must do the same each time. Default: for
   * each kind of the controllers, operations that its Schemas suggest.
   */
  readonly scenario?: ((cluster: Cluster) => Effect.Effect<unknown, unknown>) | undefined
  /** What must hold after every write. */
  readonly invariants?: ReadonlyArray<Invariant> | undefined
  /**
   * Whether the cluster has converged, checked when nothing has happened for `within`; it fails with what is missing. Default: the final state is that
   * of the undisturbed run.
   */
  readonly converged?: ((cluster: Cluster) => Effect.Effect<unknown, unknown>) | undefined
  /** Changes an object before final states are compared; undefined leaves it out. Default: all objects, without what is random or a time. */
  readonly comparable?: Comparable | undefined
  /** Controllers that run beside, undisturbed. Objects without owners are collected in any case. */
  readonly environment?: ReadonlyArray<Descriptor<Provided>> | undefined
  /** What the controllers need beside, such as another system. It outlives their processes. */
  readonly services?: Layer.Layer<R> | undefined
  /** How long the controllers have after the scenario, and for how long they must write nothing after that. Default: 5 minutes. */
  readonly within?: Duration.Input | undefined
  /** Kinds of perturbations that are left out, each with its reason. */
  readonly without?: Partial<Readonly<Record<Kind, string>>> | undefined
  /** Settings of the cluster. The definitions of the controllers' own kinds are installed in any case. */
  readonly cluster?: ClusterSettings | undefined
}

/** Settings of the cluster, as in `ClusterTest.layer`. */
export interface ClusterSettings extends Pick<ClusterOptions, "nodes" | "objects" | "admission" | "metrics"> {
  /** Further CustomResourceDefinitions. */
  readonly crds?: ReadonlyArray<object> | undefined
}

/** What is explored: a name, and its settings. */
export interface Declared {
  readonly name: string
  readonly options: Omit<Options, "controllers"> & { readonly controllers: ReadonlyArray<Descriptor<unknown>> }
}

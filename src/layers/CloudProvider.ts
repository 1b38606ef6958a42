/**
 * What controllers ask a cloud about the machines behind nodes. The contract is small on purpose: whoever brings a cloud implements three
 * questions, and everything else is added above. Only controllers that say `cloud` may use it, and they run only where it is provided.
 * Source: cloud-provider's InstancesV2.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** What of a node leads to its machine. */
export interface NodeRef {
  /** Of the node. */
  readonly name: string
  /** `spec.providerID`; undefined until it is set. */
  readonly providerId: string | undefined
}

/** What the cloud knows of a machine. */
export interface Instance {
  /** `provider://…`: what belongs into `spec.providerID`. */
  readonly providerId: string
  /** For the label `node.kubernetes.io/instance-type`. */
  readonly type: string | undefined
  /** For `topology.kubernetes.io/zone` and `/region`. */
  readonly zone: string | undefined
  /** See `zone`. */
  readonly region: string | undefined
  /** For the node's status. */
  readonly addresses: ReadonlyArray<{ readonly type: string; readonly address: string }>
}

/** The cloud could not be asked; nothing follows from it for the node. The message is one sentence and holds no secret. */
export class CloudError extends Data.TaggedError("CloudError")<{
  readonly message: string
  /** What the cloud's own library threw. */
  readonly cause?: unknown
}> {}

/** The cloud behind the nodes. Every failure means that the cloud could not say; it is asked again. */
export class CloudProvider extends Context.Service<
  CloudProvider,
  {
    /** What `spec.providerID` begins with. */
    readonly name: string
    /** False only when the cloud is sure that there is no such machine: the node will be deleted. */
    readonly exists: (node: NodeRef) => Effect.Effect<boolean, CloudError>
    /** Whether the machine is there and switched off. */
    readonly isShutDown: (node: NodeRef) => Effect.Effect<boolean, CloudError>
    /** Undefined: there is no such machine. */
    readonly metadata: (node: NodeRef) => Effect.Effect<Instance | undefined, CloudError>
  }
>()("effect-controller-manager/CloudProvider") {
  /**
   * An in-memory cloud: the machine of a node by the node's name, asked anew at every question; undefined where there is
   * none. For tests, and to try controllers out without a cloud.
   */
  static readonly layerMemory = (machineOf: (node: string) => Machine | undefined): Layer.Layer<CloudProvider> =>
    Layer.succeed(
      CloudProvider,
      CloudProvider.of({
        name: "memory",
        exists: ({ name }) => Effect.sync(() => machineOf(name) !== undefined),
        isShutDown: ({ name }) => Effect.sync(() => machineOf(name)?.isShutDown === true),
        metadata: ({ name }) =>
          Effect.sync(() => {
            const machine = machineOf(name)
            return machine && { ...unknown, providerId: `memory://${name}`, ...machine.instance }
          })
      })
    )
}

/** A machine of {@link CloudProvider.layerMemory}. */
export interface Machine {
  /** Whether it is switched off. Default: false. */
  readonly isShutDown?: boolean | undefined
  /** What the cloud says of it; the rest is unknown to it. */
  readonly instance?: Partial<Instance> | undefined
}

const unknown = { type: undefined, zone: undefined, region: undefined, addresses: [] }

/**
 * What controllers ask a cloud about the machines of nodes. A cloud implements three methods; everything else is added above. Only
 * controllers that declare `cloud` may use it, and they run only where it is provided. Source: cloud-provider's InstancesV2.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** The fields of a node that identify its machine. */
export interface NodeRef {
  /** Of the node. */
  readonly name: string
  /** `spec.providerID`; undefined until it is set. */
  readonly providerId: string | undefined
}

/** What the cloud knows of a machine. */
export interface Instance {
  /** The value for `spec.providerID`, `provider://…`. */
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

/** The cloud could not be asked, so the state of the machine is unknown. The message is one sentence without secrets. */
export class CloudError extends Data.TaggedError("CloudError")<{
  readonly message: string
  /** The exception of the cloud's client library. */
  readonly cause?: unknown
}> {}

/** The cloud of the nodes. After a failure the state is unknown, and the cloud is asked again. */
export class CloudProvider extends Context.Service<
  CloudProvider,
  {
    /** The prefix of `spec.providerID`. */
    readonly name: string
    /** False only when the cloud is certain that there is no such machine: the node is then deleted. */
    readonly exists: (node: NodeRef) => Effect.Effect<boolean, CloudError>
    /** Whether the machine exists and is switched off. */
    readonly isShutDown: (node: NodeRef) => Effect.Effect<boolean, CloudError>
    /** Undefined: there is no such machine. */
    readonly metadata: (node: NodeRef) => Effect.Effect<Instance | undefined, CloudError>
  }
>()("effect-controller-manager/CloudProvider") {
  /**
   * An in-memory cloud: `machineOf` is called for each request and returns undefined where a node has no machine. For tests, and to
   * try controllers without a cloud.
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
  /** The facts that the cloud reports. */
  readonly instance?: Partial<Instance> | undefined
}

const unknown = { type: undefined, zone: undefined, region: undefined, addresses: [] }

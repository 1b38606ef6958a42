/**
 * The command line: one record of flags from which parsing, `--help` and the type of the settings follow. Environment and
 * defaults are resolved here, at the edge; every room below gets values. Nothing here starts anything.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Flag from "effect/cli/Flag"
import * as Selector from "../../kube/Selector.ts"
import * as Durations from "./duration.ts"

const duration = (name: string, initial: string, description: string): Flag.Flag<Duration.Duration> =>
  Flag.String(name).pipe(
    Flag.withMetavar("duration"),
    Flag.withDefault(initial),
    Flag.filterMap(Durations.parse, () => "a duration like 10s, 1m30s or '90 seconds'"),
    Flag.withDescription(`${description} (default ${initial})`)
  )

/** Work that repeats without a pause would take the whole processor, and the server's with it. */
const interval = (name: string, initial: string, description: string): Flag.Flag<Duration.Duration> =>
  duration(name, initial, description).pipe(Flag.filter(Duration.isPositive, () => "a duration longer than zero"))

const selector = (name: string, description: string): Flag.Flag<Option.Option<Selector.LabelSelector>> =>
  Flag.String(name).pipe(
    Flag.withMetavar("selector"),
    Flag.filterMap(
      (text) => Result.getSuccess(Selector.parseLabels(text)),
      () => "a label selector like app=web,tier!=cache"
    ),
    Flag.optional,
    Flag.withDescription(description)
  )

const portOf = (text: string): Option.Option<number> =>
  /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Option.some(Number(text)) : Option.none()

export const port = (name: string, description: string): Flag.Flag<number> =>
  Flag.String(name).pipe(
    Flag.withMetavar("port"),
    Flag.withDefault("0"),
    Flag.filterMap(portOf, () => "a port from 0 to 65535"),
    Flag.withDescription(description)
  )

/** How many keys of one loop at once. */
const syncs = (name: string, initial: number, what: string): Flag.Flag<number> =>
  Flag.String(name).pipe(
    Flag.withMetavar("number"),
    Flag.withDefault(String(initial)),
    Flag.filterMap(
      (text) => (/^[1-9]\d{0,5}$/.test(text) ? Option.some(Number(text)) : Option.none()),
      () => "a number of at least 1"
    ),
    Flag.withDescription(`${what} worked on at once (default ${initial})`)
  )

export const flags = {
  cluster: Flag.Literals("cluster", ["auto", "kubeconfig", "in-cluster", "embedded"]).pipe(
    Flag.withDefault("auto"),
    Flag.withDescription(
      "Where to run: auto tries in-cluster, then a kubeconfig, then the embedded cluster (default auto)"
    )
  ),
  kubeconfig: Flag.String("kubeconfig").pipe(
    Flag.withMetavar("file"),
    Flag.optional,
    Flag.withDescription("Path to a kubeconfig; KUBECONFIG and $HOME/.kube/config are looked at without it")
  ),
  context: Flag.String("context").pipe(
    Flag.withMetavar("name"),
    Flag.optional,
    Flag.withDescription("Context of the kubeconfig to use instead of its current one")
  ),
  controllers: Flag.String("controllers").pipe(
    Flag.withMetavar("list"),
    Flag.withDefault("*"),
    Flag.map((text) =>
      text
        .split(",")
        .map((pattern) => pattern.trim())
        .filter((pattern) => pattern !== "")
    ),
    Flag.withDescription("Controllers to run: * for those on by default, name, -name (default *)")
  ),
  leaderElect: Flag.Boolean("leader-elect").pipe(
    Flag.optional,
    Flag.withDescription(
      "Run controllers only while holding a lease (default: false, but true for core loops on a real cluster)"
    )
  ),
  leaseName: Flag.String("leader-elect-resource-name").pipe(
    Flag.withMetavar("name"),
    Flag.withDefault("effect-controller-manager"),
    Flag.withDescription("Name of the lease of your own controllers (default effect-controller-manager)")
  ),
  coreLeaseName: Flag.String("core-lease-name").pipe(
    Flag.withMetavar("name"),
    Flag.withDefault("kube-controller-manager"),
    Flag.withDescription(
      "Name of the core loops' lease in kube-system; another one runs them beside a kube-controller-manager that was started without them (default kube-controller-manager)"
    )
  ),
  leaseNamespace: Flag.String("leader-elect-resource-namespace").pipe(
    Flag.withMetavar("namespace"),
    Flag.optional,
    Flag.withDescription("Namespace of the lease; the pod's own in a cluster, kube-system elsewhere")
  ),
  leaseDuration: duration("leader-elect-lease-duration", "15s", "How long a silent leader keeps the lease"),
  renewDeadline: duration("leader-elect-renew-deadline", "10s", "How long a leader goes on without a renewal"),
  retryPeriod: duration("leader-elect-retry-period", "2s", "Time between tries to acquire or renew"),
  clusterName: Flag.String("cluster-name").pipe(
    Flag.withMetavar("name"),
    Flag.withDefault("kubernetes"),
    Flag.withDescription("Name of the cluster, for logs (default kubernetes)")
  ),
  podCountInterval: interval("pod-count-interval", "10s", "Time between two counts"),
  podCountSchedule: Flag.Literals("pod-count-schedule", ["spaced", "nonsliding"]).pipe(
    Flag.withDefault("spaced"),
    Flag.withDescription("Count the interval from the end of a run, or from its start (default spaced)")
  ),
  podCountNodes: selector(
    "pod-count-node-selector",
    "Nodes to label (default: those with the control-plane or master role label)"
  ),
  deploymentSyncs: syncs("concurrent-deployment-syncs", 5, "Deployments"),
  replicaSetSyncs: syncs("concurrent-replicaset-syncs", 5, "ReplicaSets"),
  replicationControllerSyncs: syncs("concurrent-rc-syncs", 5, "ReplicationControllers"),
  gcSyncs: syncs("concurrent-gc-syncs", 20, "Objects that the garbage collector has"),
  namespaceSyncs: syncs("concurrent-namespace-syncs", 10, "Namespaces"),
  namespaceSyncPeriod: interval("namespace-sync-period", "5m", "Time after which namespaces are looked at again"),
  terminatedPodThreshold: Flag.String("terminated-pod-gc-threshold").pipe(
    Flag.withMetavar("number"),
    Flag.withDefault("12500"),
    Flag.filterMap(
      (text) => (/^-?\d{1,9}$/.test(text) ? Option.some(Number(text)) : Option.none()),
      () => "a number"
    ),
    Flag.withDescription("So many terminated pods are kept; 0 and less keep all (default 12500)")
  ),
  shutdownTimeout: duration("graceful-shutdown-timeout", "30s", "Time for an orderly stop; then the process exits 1"),
  embeddedPort: port("embedded-port", "Port of the embedded API server on 127.0.0.1; 0 takes a free one (default 0)")
}

export interface Settings {
  readonly cluster: "auto" | "kubeconfig" | "in-cluster" | "embedded"
  readonly kubeconfig: Option.Option<string>
  readonly context: Option.Option<string>
  readonly controllers: ReadonlyArray<string>
  /** None: nobody said. */
  readonly leaderElect: Option.Option<boolean>
  readonly leaseName: string
  readonly coreLeaseName: string
  readonly leaseNamespace: Option.Option<string>
  readonly leaseDuration: Duration.Duration
  readonly renewDeadline: Duration.Duration
  readonly retryPeriod: Duration.Duration
  readonly clusterName: string
  readonly podCountInterval: Duration.Duration
  readonly podCountSchedule: "spaced" | "nonsliding"
  readonly podCountNodes: Option.Option<Selector.LabelSelector>
  readonly deploymentSyncs: number
  readonly replicaSetSyncs: number
  readonly replicationControllerSyncs: number
  readonly gcSyncs: number
  readonly namespaceSyncs: number
  readonly namespaceSyncPeriod: Duration.Duration
  readonly terminatedPodThreshold: number
  readonly shutdownTimeout: Duration.Duration
  readonly embeddedPort: number
}

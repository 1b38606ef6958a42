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
    Flag.withDefault(false),
    Flag.withDescription("Run controllers only while holding the lease (default false)")
  ),
  leaseName: Flag.String("leader-elect-resource-name").pipe(
    Flag.withMetavar("name"),
    Flag.withDefault("effect-controller-manager"),
    Flag.withDescription("Name of the lease (default effect-controller-manager)")
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
  shutdownTimeout: duration("graceful-shutdown-timeout", "30s", "Time for an orderly stop; then the process exits 1"),
  embeddedPort: port("embedded-port", "Port of the embedded API server on 127.0.0.1; 0 takes a free one (default 0)")
}

export interface Settings {
  readonly cluster: "auto" | "kubeconfig" | "in-cluster" | "embedded"
  readonly kubeconfig: Option.Option<string>
  readonly context: Option.Option<string>
  readonly controllers: ReadonlyArray<string>
  readonly leaderElect: boolean
  readonly leaseName: string
  readonly leaseNamespace: Option.Option<string>
  readonly leaseDuration: Duration.Duration
  readonly renewDeadline: Duration.Duration
  readonly retryPeriod: Duration.Duration
  readonly clusterName: string
  readonly podCountInterval: Duration.Duration
  readonly podCountSchedule: "spaced" | "nonsliding"
  readonly podCountNodes: Option.Option<Selector.LabelSelector>
  readonly shutdownTimeout: Duration.Duration
  readonly embeddedPort: number
}

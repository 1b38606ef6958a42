/** The installation that `manifests` derives from the settings: the arguments of the pods, and the objects that they need. Pure. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type { Descriptor } from "../../layers/Controller.ts"
import type * as Setting from "../../layers/Setting.ts"
import { isLed } from "../../layers/Shards.ts"
import type { Resolved } from "../setting/sources.ts"
import type * as Webhook from "../../layers/Webhook.ts"
import * as CacheSettings from "../settings/cache.ts"
import { isConsoleReviewed } from "../settings/servers.ts"
import { dividedCache } from "../settings/sharding.ts"
import { accounts, holders, needed } from "../permissions.ts"
import type { Holder, LeaseName } from "../permissions.ts"
import type * as Installation from "./Installation.ts"
import * as Objects from "./objects.ts"
import * as Served from "./webhooks.ts"
import * as Metrics from "./metrics.ts"
import { own, settings } from "./settings.ts"

/** Settings that are not passed on to the pods: they select a cluster from this machine, or the manifests set them. */
const local: ReadonlySet<string> = new Set([
  "cluster",
  "kubeconfig",
  "context",
  "master",
  "insecure-http",
  "config",
  "controllers",
  "leader-elect",
  ...Object.values(own).map((setting) => setting.name)
])

/** Secret settings are not written into a manifest: the operator provides them in a Secret. */
const secret = (all: Setting.Settings): ReadonlySet<string> =>
  new Set(
    Object.values(all)
      .filter((setting) => setting.isSecret)
      .map((setting) => setting.name)
  )

/** Their defaults here differ from those of the program. */
const secured: ReadonlySet<string> = new Set([settings.metricsAddress.name, settings.metricsSecure.name])

const isSaid = (
  { name, origin }: Resolved<typeof settings>["effective"][number],
  { isSecure }: Installation.Metrics
): boolean => origin._tag !== "Default" || (isSecure && secured.has(name))

/** Seconds added to the program's own limit for an orderly stop. */
const grace = 15

/** Seconds for a program without a limit: a day. */
const longest = 86_400

/** The program that the pods run. */
export interface Workload {
  readonly name: string
  /** All settings of `manifests`. */
  readonly settings: Setting.Settings
  /** Webhooks for the kinds of its controllers. Default: none. */
  readonly webhooks?: ReadonlyArray<Webhook.Any> | undefined
}

const product: Workload = { name: "effect-controller-manager", settings }

export const manifests = (
  { effective, values }: Resolved<typeof settings>,
  controllers: ReadonlyArray<Holder & { readonly isCore: boolean } & Pick<Descriptor, "needsLeader" | "sharded">>,
  { name, settings: all, webhooks = [] }: Workload = product
): ReadonlyArray<Installation.Manifest> => {
  const namespace = values.installNamespace
  const hidden = secret(all)
  // There are two replicas, so leader election is on unless a setting turns it off.
  const isElected = Option.getOrElse(values.leaderElect, () => true)
  const metrics = Metrics.metricsOf(values, name)
  const isReviewed = isConsoleReviewed(values)
  const served = Served.webhooksOf(values, webhooks)
  const isKept = served !== undefined && served.mountPath === undefined
  const led = (isCore: boolean): boolean =>
    controllers.some((one) => one.isCore === isCore && isLed(one, values.sharding))
  const ownLease: LeaseName = {
    namespace: Option.getOrElse(values.leaseNamespace, () => namespace),
    name: values.leaseName
  }
  const leases: ReadonlyArray<LeaseName> = [
    ...(led(true) ? [{ namespace: values.coreLeaseNamespace, name: values.coreLeaseName }] : []),
    ...(led(false) || isKept ? [ownLease] : [])
  ]
  return Objects.all({
    name,
    namespace,
    image: values.image,
    args: [
      "--cluster=in-cluster",
      `--controllers=${controllers.map(({ who }) => who).join(",")}`,
      `--leader-elect=${isElected}`,
      // Includes settings from the environment and the configuration file, because the roles are derived from them too.
      ...effective
        .filter((one) => isSaid(one, metrics) && !local.has(one.name) && !hidden.has(one.name))
        .map((one) => `--${one.name}=${one.text}`),
      ...(metrics.certificate === undefined || Option.isSome(values.metricsCertPath)
        ? []
        : [`--${settings.metricsCertPath.name}=${metrics.certificate.mountPath}`])
    ],
    graceSeconds: Math.min(Math.ceil(Duration.toSeconds(values.shutdownTimeout)), longest) + grace,
    probes: values.probeAddress?.port,
    metrics,
    console: isReviewed ? values.consoleAddress?.port : undefined,
    webhooks: served,
    minorVersion: values.kubernetesVersion,
    isDivided: values.sharding,
    accounts: accounts(controllers, CacheSettings.options(values).namespaces),
    permissions: needed({
      controllers: [...controllers, ...holders(webhooks)],
      leases: isElected ? leases : [],
      shards: values.sharding ? ownLease : undefined,
      isCacheDivided: dividedCache(values) !== undefined,
      namespaces: CacheSettings.options(values).namespaces,
      secureMetrics: metrics.isSecure || isReviewed,
      certificates: isKept ? Served.certificatesOf({ name, namespace }, webhooks) : undefined
    })
  })
}

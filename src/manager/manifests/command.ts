/** What `manifests` makes of the settings: which of them the pods are started with, and what they need. Pure. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type * as Setting from "../setting.ts"
import type { Resolved } from "../setting/sources.ts"
import type * as Webhook from "../../layers/Webhook.ts"
import * as CacheSettings from "../settings/cache.ts"
import { accounts, holders, needed } from "../permissions.ts"
import type { Holder, LeaseName } from "../permissions.ts"
import type * as Installation from "./Installation.ts"
import * as Objects from "./objects.ts"
import * as Served from "./webhooks.ts"
import * as Metrics from "./metrics.ts"
import { own, settings } from "./settings.ts"

/** Settings that select a cluster from here, or that the manifests set anew. */
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

/** Secrets are not written into a manifest: the operator of the pods provides a Secret. */
const secret = (all: Setting.Settings): ReadonlySet<string> =>
  new Set(
    Object.values(all)
      .filter((setting) => setting.isSecret)
      .map((setting) => setting.name)
  )

/** Their defaults are other ones here than in the program that the pods run. */
const secured: ReadonlySet<string> = new Set([settings.metricsAddress.name, settings.metricsSecure.name])

const isSaid = (
  { name, origin }: Resolved<typeof settings>["effective"][number],
  { isSecure }: Installation.Metrics
): boolean => origin._tag !== "Default" || (isSecure && secured.has(name))

/** Seconds that a pod has beyond the program's own limit for an orderly stop. */
const grace = 15

/** Seconds, for a program that may take for ever: a day. */
const longest = 86_400

/** The program that the pods run. */
export interface Workload {
  readonly name: string
  /** All settings of `manifests`. */
  readonly settings: Setting.Settings
  /** Those about the kinds of its controllers. None unless there are any. */
  readonly webhooks?: ReadonlyArray<Webhook.Any> | undefined
}

const product: Workload = { name: "effect-controller-manager", settings }

export const manifests = (
  { effective, values }: Resolved<typeof settings>,
  controllers: ReadonlyArray<Holder & { readonly isCore: boolean; readonly needsLeader: boolean }>,
  { name, settings: all, webhooks = [] }: Workload = product
): ReadonlyArray<Installation.Manifest> => {
  const namespace = values.installNamespace
  const hidden = secret(all)
  // One of two replicas leads, unless leader election is off.
  const isElected = Option.getOrElse(values.leaderElect, () => true)
  const metrics = Metrics.metricsOf(values, name)
  const served = Served.webhooksOf(values, webhooks)
  const isKept = served !== undefined && served.mountPath === undefined
  const led = (isCore: boolean): boolean => controllers.some((one) => one.isCore === isCore && one.needsLeader)
  const leases: ReadonlyArray<LeaseName> = [
    ...(led(true) ? [{ namespace: values.coreLeaseNamespace, name: values.coreLeaseName }] : []),
    ...(led(false) || isKept
      ? [{ namespace: Option.getOrElse(values.leaseNamespace, () => namespace), name: values.leaseName }]
      : [])
  ]
  return Objects.all({
    name,
    namespace,
    image: values.image,
    args: [
      "--cluster=in-cluster",
      `--controllers=${controllers.map(({ who }) => who).join(",")}`,
      `--leader-elect=${isElected}`,
      // Whichever source set them: the roles follow from them too.
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
    webhooks: served,
    minorVersion: values.kubernetesVersion,
    accounts: accounts(controllers, CacheSettings.options(values).namespaces),
    permissions: needed({
      controllers: [...controllers, ...holders(webhooks)],
      leases: isElected ? leases : [],
      namespaces: CacheSettings.options(values).namespaces,
      secureMetrics: metrics.isSecure,
      certificates: isKept ? Served.certificatesOf({ name, namespace }, webhooks) : undefined
    })
  })
}

/** What `manifests` makes of the settings: which of them the pods are started with, and what they need. Pure. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Setting from "../setting.ts"
import * as Codecs from "../setting/codecs.ts"
import type { Resolved } from "../setting/sources.ts"
import * as Settings from "../settings.ts"
import * as CacheSettings from "../settings/cache.ts"
import { needed } from "../permissions.ts"
import type { Holder, LeaseName } from "../permissions.ts"
import * as Objects from "./objects.ts"

export const settings = {
  ...Settings.settings,
  image: Setting.make(Codecs.text("image"), {
    name: "image",
    env: false,
    group: "command",
    description: "Image of the program",
    default: "effect-controller-manager:latest"
  }),
  installNamespace: Setting.make(Codecs.text("namespace"), {
    name: "install-namespace",
    env: false,
    group: "command",
    description: "Namespace to install into; made if it is not there",
    default: "effect-controller-manager"
  })
}

/** They say which cluster is meant from here, or are said anew. */
const local: ReadonlySet<string> = new Set([
  "cluster",
  "kubeconfig",
  "context",
  "master",
  "config",
  "controllers",
  "leader-elect",
  "image",
  "install-namespace"
])

/** Seconds that a pod has beyond the program's own limit for an orderly stop. */
const grace = 15

/** Seconds, for a program that may take for ever: a day. */
const longest = 86_400

const name = "effect-controller-manager"

export const manifests = (
  { effective, values }: Resolved<typeof settings>,
  controllers: ReadonlyArray<Holder & { readonly isCore: boolean; readonly needsLeader: boolean }>
): ReadonlyArray<Objects.Manifest> => {
  const namespace = values.installNamespace
  // Of two replicas one leads, unless somebody said that both may work at once.
  const isElected = Option.getOrElse(values.leaderElect, () => true)
  const isSecure = values.metricsSecure && values.metricsAddress !== undefined
  const led = (isCore: boolean): boolean => controllers.some((one) => one.isCore === isCore && one.needsLeader)
  const leases: ReadonlyArray<LeaseName> = [
    ...(led(true) ? [{ namespace: "kube-system", name: values.coreLeaseName }] : []),
    ...(led(false)
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
      ...effective
        .filter((one) => (one.origin._tag === "Flag" || one.origin._tag === "File") && !local.has(one.name))
        .map((one) => `--${one.name}=${one.text}`)
    ],
    graceSeconds: Math.min(Math.ceil(Duration.toSeconds(values.shutdownTimeout)), longest) + grace,
    ports: { probes: values.probeAddress?.port, metrics: values.metricsAddress?.port },
    secureMetrics: isSecure,
    permissions: needed({
      controllers,
      leases: isElected ? leases : [],
      namespaces: CacheSettings.options(values).namespaces,
      secureMetrics: isSecure
    })
  })
}

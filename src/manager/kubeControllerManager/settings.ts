/**
 * The settings in kube-controller-manager mode: those of the program, with one port for probes and metrics instead of two, and with
 * kube-controller-manager's name for the Lease. Pure.
 */
import * as Option from "effect/Option"
import * as Address from "../../layers/http/address.ts"
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"
import type { Resolved } from "../setting/sources.ts"
import type * as Settings from "../settings.ts"

const host: Codecs.Codec<string> = {
  metavar: "address",
  expected: "an address of this machine",
  decode: (text) => Option.map(Address.parse(text.includes(":") ? `[${text}]:1` : `${text}:1`), () => text)
}

const own = {
  bindAddress: Setting.make(host, {
    name: "bind-address",
    group: "servers",
    description: "Address of the port for probes and metrics",
    default: "0.0.0.0"
  }),
  securePort: Setting.make(Codecs.integer({ min: 0, max: 65_535, expected: "a port, or 0 for none" }), {
    name: "secure-port",
    group: "servers",
    description: "Port of the probes, without authorization, and of the metrics, with authorization, over HTTPS",
    default: "10257"
  }),
  tlsCertFile: Setting.optional(Codecs.text("file"), {
    name: "tls-cert-file",
    group: "servers",
    description: "Certificate of that port, read again when it changes; default is a self-signed one"
  }),
  tlsKeyFile: Setting.optional(Codecs.text("file"), {
    name: "tls-private-key-file",
    group: "servers",
    description: "Its key"
  }),
  garbageCollector: Setting.make(Codecs.boolean, {
    name: "enable-garbage-collector",
    group: "controllers",
    description: "Run the garbage collector; false is --controllers=-garbagecollector,…",
    default: "true"
  })
}

/** The settings that the one port replaces, and those with a fixed value. */
type Replaced =
  | "contentType"
  | "metricsAddress"
  | "metricsSecure"
  | "metricsCertPath"
  | "metricsCertName"
  | "metricsCertKey"
  | "probeAddress"

export const settingsOf = (settings: typeof Settings.common) => {
  const {
    contentType: _type,
    metricsAddress: _address,
    metricsCertKey: _key,
    metricsCertName: _name,
    metricsCertPath: _path,
    metricsSecure: _secure,
    probeAddress: _probes,
    ...rest
  } = settings
  return {
    ...rest,
    ...own,
    // Used only if a rate is set.
    burst: Setting.withDefault(rest.burst, "30"),
    // Dashboards of kube-controller-manager show request durations.
    clientMetrics: Setting.withDefault(rest.clientMetrics, "all"),
    leaderElect: Setting.withDefault(rest.leaderElect, "true"),
    coreLeaseName: { ...rest.coreLeaseName, name: "leader-elect-resource-name" },
    coreLeaseNamespace: { ...rest.coreLeaseNamespace, name: "leader-elect-resource-namespace" },
    leaseName: { ...rest.leaseName, name: "own-lease-name", aliases: [] },
    leaseNamespace: { ...rest.leaseNamespace, name: "own-lease-namespace", aliases: [] },
    minResyncPeriod: Setting.withDefault(rest.minResyncPeriod, "12h"),
    pprofAddress: { ...rest.pprofAddress, aliases: [] },
    shutdownTimeout: {
      ...Setting.withDefault(rest.shutdownTimeout, "10s"),
      name: "controller-shutdown-timeout",
      aliases: [rest.shutdownTimeout.name]
    }
  } satisfies Omit<typeof Settings.common, Replaced>
}

type Own = ReturnType<typeof settingsOf>

/** The first contradiction between settings, in one sentence. */
export const contradiction = ({ values }: Resolved<Own>): string | undefined => {
  if (Option.isSome(values.tlsCertFile) !== Option.isSome(values.tlsKeyFile))
    return "--tls-cert-file and --tls-private-key-file belong together: say both"
  const key = Option.getOrElse(values.tlsKeyFile, () => "")
  return directoryOf(Option.getOrElse(values.tlsCertFile, () => "")) === directoryOf(key) || key.startsWith("/")
    ? undefined
    : "--tls-private-key-file must be an absolute path, because it is not in the directory of --tls-cert-file"
}

const directoryOf = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1)

/** The file name if the file is in the directory, else the path. */
const within = (directory: string, path: string): string =>
  directoryOf(path) === directory ? path.slice(directory.length) : path

/** The same as values of the program's own settings. */
export const asOwn = (
  resolved: Resolved<Own>,
  controllers: ReadonlyArray<string>
): Resolved<typeof Settings.common> => {
  const { bindAddress, cloudProvider, garbageCollector, minResyncPeriod, securePort, tlsCertFile, tlsKeyFile } =
    resolved.values
  const address = securePort === 0 ? undefined : { host: bindAddress, port: securePort }
  const [cert = "", key = ""] = [tlsCertFile, tlsKeyFile].map((file) => Option.getOrElse(file, () => ""))
  const directory = directoryOf(cert)
  const servers = {
    contentType: "application/json" as const,
    metricsAddress: address,
    probeAddress: address,
    metricsSecure: true,
    metricsCertPath: Option.as(tlsCertFile, directory || "."),
    metricsCertName: within(directory, cert),
    metricsCertKey: within(directory, key)
  }
  const isSaid = (property: "syncPeriod" | "minResyncPeriod") => resolved.origins[property]._tag !== "Default"
  const said = resolved.origins.securePort
  const origins = Object.fromEntries(
    Object.keys(servers).map((property) => [property, { ...said, _tag: "Flag" as const }])
  ) as Record<keyof typeof servers, typeof said>
  return {
    ...resolved,
    values: {
      ...resolved.values,
      ...servers,
      controllers: garbageCollector ? controllers : ["-garbagecollector", ...controllers],
      // `external` means that cloud controllers run in another program.
      cloudProvider: Option.filter(cloudProvider, (name) => name !== "external"),
      minResyncPeriod: isSaid("syncPeriod") && !isSaid("minResyncPeriod") ? Option.none() : minResyncPeriod
    },
    origins: { ...resolved.origins, ...origins }
  }
}

/**
 * The settings of the command that runs in the place of kube-controller-manager: those of the program, with that program's one port for probes and
 * metrics in place of two, and its name for the lease of its loops. Pure.
 */
import * as Option from "effect/Option"
import * as Address from "../http/address.ts"
import * as Setting from "../setting.ts"
import * as Codecs from "../setting/codecs.ts"
import type { Resolved } from "../setting/sources.ts"
import type * as Settings from "../settings.ts"

const host: Setting.Codec<string> = {
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
    description: "Port that answers probes to everybody and shows metrics to those who may see them, over HTTPS",
    default: "10257"
  }),
  tlsCertFile: Setting.optional(Codecs.text("file"), {
    name: "tls-cert-file",
    group: "servers",
    description: "Certificate of that port, read again when it changes; without it one is made up"
  }),
  tlsKeyFile: Setting.optional(Codecs.text("file"), {
    name: "tls-private-key-file",
    group: "servers",
    description: "Its key, in the same directory"
  })
}

/** What one port replaces. */
type Replaced =
  | "metricsAddress"
  | "metricsSecure"
  | "metricsCertPath"
  | "metricsCertName"
  | "metricsCertKey"
  | "probeAddress"

export const settingsOf = (settings: typeof Settings.common) => {
  const {
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
    // Its dashboards show how long requests take.
    clientMetrics: Setting.withDefault(rest.clientMetrics, "all"),
    coreLeaseName: { ...rest.coreLeaseName, name: "leader-elect-resource-name" },
    leaseName: { ...rest.leaseName, name: "own-lease-name", aliases: [] }
  } satisfies Omit<typeof Settings.common, Replaced>
}

type Own = ReturnType<typeof settingsOf>

/** What is wrong with them together, in one sentence. */
export const contradiction = ({ values }: Resolved<Own>): string | undefined => {
  if (Option.isSome(values.tlsCertFile) !== Option.isSome(values.tlsKeyFile))
    return "--tls-cert-file and --tls-private-key-file belong together: say both"
  const [cert, key] = [Option.getOrUndefined(values.tlsCertFile), Option.getOrUndefined(values.tlsKeyFile)]
  return directoryOf(cert ?? "") === directoryOf(key ?? "")
    ? undefined
    : "--tls-cert-file and --tls-private-key-file must be in one directory, which is watched for changes"
}

const directoryOf = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1)

/** As the program itself would have been told. */
export const asOwn = (
  resolved: Resolved<Own>,
  controllers: ReadonlyArray<string>
): Resolved<typeof Settings.common> => {
  const { bindAddress, securePort, tlsCertFile, tlsKeyFile } = resolved.values
  const address = securePort === 0 ? undefined : { host: bindAddress, port: securePort }
  const named = (file: Option.Option<string>) => Option.map(file, (path) => path.slice(directoryOf(path).length))
  const servers = {
    metricsAddress: address,
    probeAddress: address,
    metricsSecure: true,
    metricsCertPath: Option.map(tlsCertFile, (path) => directoryOf(path) || "."),
    metricsCertName: Option.getOrElse(named(tlsCertFile), () => ""),
    metricsCertKey: Option.getOrElse(named(tlsKeyFile), () => "")
  }
  const said = resolved.origins.securePort
  const origins = Object.fromEntries(
    Object.keys(servers).map((property) => [property, { ...said, _tag: "Flag" as const }])
  ) as Record<keyof typeof servers, typeof said>
  return {
    ...resolved,
    values: { ...resolved.values, ...servers, controllers },
    origins: { ...resolved.origins, ...origins }
  }
}

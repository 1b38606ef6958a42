/** Settings: where probes and metrics are served, and who may read them. */
import * as Option from "effect/Option"
import * as Address from "../../layers/http/address.ts"
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"

const address: Codecs.Codec<Address.Address | undefined> = {
  metavar: "address",
  expected: "an address like :8080 or 127.0.0.1:8080, or 0 for none",
  decode: Address.parse
}

/** Profiles and the console show internals, so the default host is loopback. `true` is the usual port. */
const loopbackAddress = (usual: number): Codecs.Codec<Address.Address | undefined> => ({
  metavar: "address",
  expected: `an address like 127.0.0.1:${usual}, a port, or 0 for none`,
  decode: (text) => {
    if (text === "false") return Option.some(undefined)
    const written = text === "true" ? `:${usual}` : /^[1-9]\d{0,4}$/.test(text) ? `:${text}` : text
    return Option.map(Address.parse(written), (address) =>
      address === undefined ? undefined : { ...address, host: address.host ?? "127.0.0.1" }
    )
  }
})

/** Without TLS the default address of the metrics is on loopback. */
export const metricsAt = ({
  metricsAddress: address,
  metricsSecure
}: Pick<Setting.Values<typeof settings>, "metricsAddress" | "metricsSecure">): Address.Address | undefined =>
  address === undefined || metricsSecure ? address : { ...address, host: address.host ?? "127.0.0.1" }

/** Whether the console is served elsewhere than on loopback, which needs reviews by the API server. */
export const isConsoleReviewed = ({
  consoleAddress: address
}: Pick<Setting.Values<typeof settings>, "consoleAddress">): boolean =>
  address !== undefined && !Address.isLoopback(address.host)

export const settings = {
  metricsAddress: Setting.make(address, {
    name: "metrics-bind-address",
    aliases: ["metrics-addr"],
    group: "servers",
    description:
      "Address of the metrics; 0 turns them off. Without metrics-secure the default host is 127.0.0.1. On the embedded cluster the default address is skipped if it is in use",
    default: ":8080"
  }),
  metricsSecure: Setting.make(Codecs.boolean, {
    name: "metrics-secure",
    group: "servers",
    description: "Serve metrics over HTTPS, to clients whose token the API server accepts and that may get /metrics",
    default: "false"
  }),
  metricsCertPath: Setting.optional(Codecs.text("directory"), {
    name: "metrics-cert-path",
    group: "servers",
    description:
      "Directory with the certificate of the metrics server, read again when it changes; default is a self-signed one"
  }),
  metricsCertName: Setting.make(Codecs.text("file"), {
    name: "metrics-cert-name",
    group: "servers",
    description: "Name of the certificate in that directory",
    default: "tls.crt"
  }),
  metricsCertKey: Setting.make(Codecs.text("file"), {
    name: "metrics-cert-key",
    group: "servers",
    description: "Name of its key in that directory",
    default: "tls.key"
  }),
  probeAddress: Setting.make(address, {
    name: "health-probe-bind-address",
    aliases: ["health-addr"],
    group: "servers",
    description:
      "Address of the probes; 0 turns them off. On the embedded cluster the default host is 127.0.0.1, and the default address is skipped if it is in use",
    default: ":8081"
  }),
  consoleAddress: Setting.make(loopbackAddress(8082), {
    name: "console-bind-address",
    group: "servers",
    description:
      "Address of the console, a page that shows the running program; the default host is 127.0.0.1, 0 turns it off. Elsewhere than on loopback it is served over HTTPS, to clients whose token the API server accepts and that may get /console. The default address is used on the embedded cluster only, and skipped if it is in use",
    default: "127.0.0.1:8082"
  }),
  pprofAddress: Setting.make(loopbackAddress(6060), {
    name: "pprof-bind-address",
    aliases: ["profiling"],
    group: "servers",
    description:
      "Address of profiles of the process, without authorization; the default host is 127.0.0.1, true is port 6060, 0 turns them off",
    default: "0"
  }),
  http2: Setting.make(Codecs.boolean, {
    name: "enable-http2",
    group: "servers",
    description: "Enable HTTP/2 on HTTPS servers",
    default: "false"
  })
}

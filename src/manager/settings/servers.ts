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

/** Profiles show internals, so the default host is loopback. */
const loopbackAddress: Codecs.Codec<Address.Address | undefined> = {
  metavar: "address",
  expected: "an address like 127.0.0.1:6060, a port, or 0 for none",
  decode: (text) => {
    if (text === "false") return Option.some(undefined)
    const written = text === "true" ? ":6060" : /^[1-9]\d{0,4}$/.test(text) ? `:${text}` : text
    return Option.map(Address.parse(written), (address) =>
      address === undefined ? undefined : { ...address, host: address.host ?? "127.0.0.1" }
    )
  }
}

/** Without TLS the default address of the metrics is on loopback. */
export const metricsAt = ({
  metricsAddress: address,
  metricsSecure
}: Pick<Setting.Values<typeof settings>, "metricsAddress" | "metricsSecure">): Address.Address | undefined =>
  address === undefined || metricsSecure ? address : { ...address, host: address.host ?? "127.0.0.1" }

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
  pprofAddress: Setting.make(loopbackAddress, {
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

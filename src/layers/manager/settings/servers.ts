/** Where probes and metrics are served, and to whom. */
import * as Address from "../http/address.ts"
import * as Setting from "../setting.ts"
import * as Codecs from "../setting/codecs.ts"

const address: Setting.Codec<Address.Address | undefined> = {
  metavar: "address",
  expected: "an address like :8080 or 127.0.0.1:8080, or 0 for none",
  decode: Address.parse
}

export const settings = {
  metricsAddress: Setting.make(address, {
    name: "metrics-bind-address",
    aliases: ["metrics-addr"],
    group: "servers",
    description:
      "Where metrics are served; 0 turns them off. On the embedded cluster the default is this address on 127.0.0.1, and none if it is in use",
    default: ":8080"
  }),
  metricsSecure: Setting.make(Codecs.boolean, {
    name: "metrics-secure",
    group: "servers",
    description: "Serve metrics over HTTPS, to those whom the API server knows by their token and lets get /metrics",
    default: "false"
  }),
  metricsCertPath: Setting.optional(Codecs.text("directory"), {
    name: "metrics-cert-path",
    group: "servers",
    description:
      "Directory with the certificate of the metrics server, read again when it changes; without it one is made up"
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
      "Where probes are answered; 0 turns them off. On the embedded cluster the default is this address on 127.0.0.1, and none if it is in use",
    default: ":8081"
  })
}

/** Where probes and metrics are served, and to whom. */
import * as Address from "../http/address.ts"
import * as Setting from "../setting.ts"

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
  probeAddress: Setting.make(address, {
    name: "health-probe-bind-address",
    aliases: ["health-addr"],
    group: "servers",
    description:
      "Where probes are answered; 0 turns them off. On the embedded cluster the default is this address on 127.0.0.1, and none if it is in use",
    default: ":8081"
  })
}

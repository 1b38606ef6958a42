/**
 * Settings of the node controllers: timeouts and eviction rates. Defaults and meanings are those of kube-controller-manager. Source:
 * pkg/controller/nodelifecycle/config.
 */
import * as Option from "effect/Option"
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"

/** Evictions per second; zero means never. */
const perSecond = {
  metavar: "number",
  expected: "a number from 0, with a fraction if need be",
  decode: (value: string) => (/^\d{1,6}(\.\d{1,6})?$/.test(value) ? Option.some(Number(value)) : Option.none<number>())
}

const share = {
  ...perSecond,
  expected: "a number from 0 to 1",
  decode: (value: string) => Option.filter(perSecond.decode(value), (number) => number <= 1)
}

export const settings = {
  nodeMonitorPeriod: Setting.make(Codecs.interval, {
    name: "node-monitor-period",
    group: "tuning",
    description: "Time between two checks of the health of all nodes",
    default: "5s"
  }),
  nodeMonitorGracePeriod: Setting.make(Codecs.interval, {
    name: "node-monitor-grace-period",
    group: "tuning",
    description:
      "Time without a heartbeat after which a node is not ready; should be several times the kubelets' interval",
    default: "50s"
  }),
  nodeStartupGracePeriod: Setting.make(Codecs.interval, {
    name: "node-startup-grace-period",
    group: "tuning",
    description: "The same for a node that has never sent a heartbeat",
    default: "1m"
  }),
  nodeEvictionRate: Setting.make(perSecond, {
    name: "node-eviction-rate",
    group: "tuning",
    description: "Nodes per second from which pods are evicted, in each zone",
    default: "0.1"
  }),
  secondaryNodeEvictionRate: Setting.make(perSecond, {
    name: "secondary-node-eviction-rate",
    group: "tuning",
    description: "The same in a large zone with partial disruption; in a small one no pods are evicted",
    default: "0.01"
  }),
  largeClusterSizeThreshold: Setting.make(Codecs.integer({ min: 0, max: 999_999, expected: "a number from 0" }), {
    name: "large-cluster-size-threshold",
    group: "tuning",
    description: "Number of nodes above which a zone is large",
    default: "50"
  }),
  unhealthyZoneThreshold: Setting.make(share, {
    name: "unhealthy-zone-threshold",
    group: "tuning",
    description: "Share of not ready nodes, and at least three, from which a zone has partial disruption",
    default: "0.55"
  })
}

/**
 * How patient the loops of nodes are, and how fast nodes may be given up. Defaults and meanings are those of kube-controller-manager. Source:
 * pkg/controller/nodelifecycle/config.
 */
import * as Option from "effect/Option"
import * as Setting from "../setting.ts"
import * as Codecs from "../setting/codecs.ts"

/** Zero: never. */
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
    description: "Time between two looks at the health of all nodes",
    default: "5s"
  }),
  nodeMonitorGracePeriod: Setting.make(Codecs.interval, {
    name: "node-monitor-grace-period",
    group: "tuning",
    description: "A node without a heartbeat for so long is not ready; several times the interval of kubelets",
    default: "50s"
  }),
  nodeStartupGracePeriod: Setting.make(Codecs.interval, {
    name: "node-startup-grace-period",
    group: "tuning",
    description: "The same for a node that has never reported",
    default: "1m"
  }),
  nodeEvictionRate: Setting.make(perSecond, {
    name: "node-eviction-rate",
    group: "tuning",
    description: "Nodes a second that pods are made to leave, in each zone",
    default: "0.1"
  }),
  secondaryNodeEvictionRate: Setting.make(perSecond, {
    name: "secondary-node-eviction-rate",
    group: "tuning",
    description: "The same in a large zone that is partly ill; in a small one no pods are made to leave",
    default: "0.01"
  }),
  largeClusterSizeThreshold: Setting.make(Codecs.integer({ min: 0, max: 999_999, expected: "a number from 0" }), {
    name: "large-cluster-size-threshold",
    group: "tuning",
    description: "A zone of more nodes is a large one",
    default: "50"
  }),
  unhealthyZoneThreshold: Setting.make(share, {
    name: "unhealthy-zone-threshold",
    group: "tuning",
    description: "So much of a zone, at least three nodes, makes it partly ill when it is not ready",
    default: "0.55"
  })
}

/** Settings of leader election: whether it is on, its Leases and its durations. */
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"

export const settings = {
  /** None: not set. */
  leaderElect: Setting.optional(Codecs.boolean, {
    name: "leader-elect",
    aliases: ["enable-leader-election"],
    group: "leadership",
    description:
      "Run controllers only while holding a Lease; default is false, and true for core controllers on a real cluster"
  }),
  leaseName: Setting.make(Codecs.text("name"), {
    name: "leader-elect-resource-name",
    aliases: ["leader-election-id"],
    group: "leadership",
    description: "Name of the lease of your own controllers",
    default: "effect-controller-manager"
  }),
  coreLeaseName: Setting.make(Codecs.text("name"), {
    name: "core-lease-name",
    group: "leadership",
    description:
      "Name of the core controllers' Lease; another name runs them beside a kube-controller-manager that was started without them",
    default: "kube-controller-manager"
  }),
  coreLeaseNamespace: Setting.make(Codecs.text("namespace"), {
    name: "core-lease-namespace",
    group: "leadership",
    description: "Namespace of the core controllers' Lease",
    default: "kube-system"
  }),
  leaseNamespace: Setting.optional(Codecs.text("namespace"), {
    name: "leader-elect-resource-namespace",
    env: "POD_NAMESPACE",
    group: "leadership",
    description: "Namespace of the Lease; default is the pod's own in a cluster, kube-system elsewhere"
  }),
  leaseLock: Setting.make(Codecs.choice(["leases"]), {
    name: "leader-elect-resource-lock",
    group: "leadership",
    description: "Kind of the lock object; there is only one",
    default: "leases"
  }),
  leaseDuration: Setting.make(Codecs.duration, {
    name: "leader-elect-lease-duration",
    group: "leadership",
    description: "Time without a renewal after which another candidate takes the Lease",
    default: "15s"
  }),
  renewDeadline: Setting.make(Codecs.duration, {
    name: "leader-elect-renew-deadline",
    group: "leadership",
    description: "Time without a renewal after which a leader stops leading",
    default: "10s"
  }),
  retryPeriod: Setting.make(Codecs.duration, {
    name: "leader-elect-retry-period",
    group: "leadership",
    description: "Time between attempts to acquire or renew",
    default: "2s"
  }),
  onLost: Setting.make(Codecs.choice(["exit", "rejoin"]), {
    name: "leader-elect-on-lost",
    group: "leadership",
    description:
      "What happens when the Lease is lost: exit ends the process with code 1, rejoin takes part in the election again",
    default: "exit"
  }),
  leaseRelease: Setting.make(Codecs.boolean, {
    name: "leader-elect-release-on-cancel",
    env: "CM_LEADER_ELECT_RELEASE",
    group: "leadership",
    description: "Release the Lease on an orderly stop, so that a standby need not wait until it expires",
    default: "true"
  })
}

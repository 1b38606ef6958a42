/** Who leads, under which Lease, and in what rhythm. */
import * as Setting from "../setting.ts"
import * as Codecs from "../setting/codecs.ts"

export const settings = {
  /** None: not set. */
  leaderElect: Setting.optional(Codecs.boolean, {
    name: "leader-elect",
    aliases: ["enable-leader-election"],
    group: "leadership",
    description:
      "Run controllers only while holding a lease; without it false, but true for core loops on a real cluster"
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
      "Name of the core loops' lease; another one runs them beside a kube-controller-manager that was started without them",
    default: "kube-controller-manager"
  }),
  coreLeaseNamespace: Setting.make(Codecs.text("namespace"), {
    name: "core-lease-namespace",
    group: "leadership",
    description: "Namespace of the core loops' lease",
    default: "kube-system"
  }),
  leaseNamespace: Setting.optional(Codecs.text("namespace"), {
    name: "leader-elect-resource-namespace",
    env: "POD_NAMESPACE",
    group: "leadership",
    description: "Namespace of the lease; without it the pod's own in a cluster, kube-system elsewhere"
  }),
  leaseLock: Setting.make(Codecs.choice(["leases"]), {
    name: "leader-elect-resource-lock",
    group: "leadership",
    description: "Kind of object to lead by; there is only one",
    default: "leases"
  }),
  leaseDuration: Setting.make(Codecs.duration, {
    name: "leader-elect-lease-duration",
    group: "leadership",
    description: "How long a silent leader keeps the lease",
    default: "15s"
  }),
  renewDeadline: Setting.make(Codecs.duration, {
    name: "leader-elect-renew-deadline",
    group: "leadership",
    description: "How long a leader goes on without a renewal",
    default: "10s"
  }),
  retryPeriod: Setting.make(Codecs.duration, {
    name: "leader-elect-retry-period",
    group: "leadership",
    description: "Time between tries to acquire or renew",
    default: "2s"
  }),
  onLost: Setting.make(Codecs.choice(["exit", "rejoin"]), {
    name: "leader-elect-on-lost",
    group: "leadership",
    description:
      "What follows when the lease is lost: exit ends the process with 1, rejoin contends again with fresh controllers",
    default: "exit"
  }),
  leaseRelease: Setting.make(Codecs.boolean, {
    name: "leader-elect-release-on-cancel",
    env: "CM_LEADER_ELECT_RELEASE",
    group: "leadership",
    description: "Give the lease back on an orderly stop, so that a standby need not wait for it to run out",
    default: "true"
  })
}

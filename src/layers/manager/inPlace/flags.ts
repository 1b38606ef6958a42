/**
 * Flags of kube-controller-manager 1.36 that have nothing to say here, each with what becomes of it: in that program's place they are accepted, and
 * one line tells of those that were given. A flag that this program has is not among them, whenever it comes to have it. Pure.
 */
import { canonical, type Settings } from "../setting.ts"

/** Why they do nothing, to stand behind `because`; and the flags, with a `?` behind those that need no value. */
interface Group {
  readonly why: string
  readonly flags: string
}

const groups: ReadonlyArray<Group> = [
  {
    why: "the controller that gives pods their addresses is not here",
    flags:
      "allocate-node-cidrs? cidr-allocator-type cluster-cidr service-cluster-ip-range node-cidr-mask-size node-cidr-mask-size-ipv4 node-cidr-mask-size-ipv6"
  },
  {
    why: "the controllers that sign certificates are not here",
    flags:
      "cluster-signing-cert-file cluster-signing-key-file cluster-signing-duration cluster-signing-kube-apiserver-client-cert-file cluster-signing-kube-apiserver-client-key-file cluster-signing-kubelet-client-cert-file cluster-signing-kubelet-client-key-file cluster-signing-kubelet-serving-cert-file cluster-signing-kubelet-serving-key-file cluster-signing-legacy-unknown-cert-file cluster-signing-legacy-unknown-key-file"
  },
  {
    why: "who may read metrics is asked of the API server of --kubeconfig, by token",
    flags:
      "authentication-kubeconfig authorization-kubeconfig authentication-skip-lookup? authentication-token-webhook-cache-ttl authentication-tolerate-lookup-failure? authorization-always-allow-paths authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl client-ca-file requestheader-client-ca-file requestheader-allowed-names requestheader-extra-headers-prefix requestheader-group-headers requestheader-uid-headers requestheader-username-headers"
  },
  {
    why: "TLS is as Node has it, and the port is this process's alone",
    flags:
      "cert-dir tls-cipher-suites tls-curve-preferences tls-min-version tls-sni-cert-key disable-http2-serving? http2-max-streams-per-connection permit-address-sharing? permit-port-sharing?"
  },
  {
    why: "clouds are asked by a program of theirs",
    flags:
      "allow-untagged-cloud? cloud-config concurrent-service-syncs configure-cloud-routes? external-cloud-volume-plugin node-sync-period route-reconciliation-period"
  },
  {
    why: "the controllers of volumes and devices are not here",
    flags:
      "attach-detach-reconcile-sync-period concurrent-ephemeralvolume-syncs concurrent-resource-claim-syncs disable-attach-detach-reconcile-sync? disable-force-detach-on-timeout? enable-dynamic-provisioning? enable-hostpath-provisioner? flex-volume-plugin-dir pv-recycler-increment-timeout-nfs pv-recycler-minimum-timeout-hostpath pv-recycler-minimum-timeout-nfs pv-recycler-pod-template-filepath-hostpath pv-recycler-pod-template-filepath-nfs pv-recycler-timeout-increment-hostpath pvclaimbinder-sync-period volume-host-allow-local-loopback? volume-host-cidr-denylist"
  },
  {
    why: "the controllers that they are for are not here",
    flags:
      "concurrent-cluster-role-aggregation-syncs concurrent-cron-job-syncs concurrent-disruption-syncs concurrent-horizontal-pod-autoscaler-syncs concurrent-resource-quota-syncs concurrent-statefulset-syncs concurrent-validating-admission-policy-status-syncs horizontal-pod-autoscaler-cpu-initialization-period horizontal-pod-autoscaler-downscale-stabilization horizontal-pod-autoscaler-initial-readiness-delay horizontal-pod-autoscaler-sync-period horizontal-pod-autoscaler-tolerance legacy-service-account-token-clean-up-period mirroring-concurrent-service-endpoint-syncs mirroring-max-endpoints-per-subset resource-quota-sync-period"
  },
  {
    why: "a controller is left out by its name, --controllers=*,-garbagecollector",
    flags: "enable-garbage-collector?"
  },
  {
    why: "this program logs and counts in its own way, see --help",
    flags:
      "allow-metric-labels allow-metric-labels-manifest contention-profiling? disabled-metrics emulated-version enable-leader-migration? leader-migration-config log-flush-frequency log-json-info-buffer-size log-json-split-stream? log-text-info-buffer-size log-text-split-stream? logging-format min-compatibility-version show-hidden-metrics-for-version unsupported-kube-api-over-localhost? vmodule"
  }
]

/** By the name of the flag. */
const all: ReadonlyMap<string, { readonly why: string; readonly isSwitch: boolean }> = new Map(
  groups.flatMap(({ flags, why }) =>
    flags.split(" ").map((flag) => [flag.replace("?", ""), { why, isSwitch: flag.endsWith("?") }] as const)
  )
)

export interface Separated {
  /** Without the flags that have nothing to say here. */
  readonly argv: ReadonlyArray<string>
  /** One sentence for each reason. */
  readonly notes: ReadonlyArray<string>
}

/** Takes them out, with their values. `settings`: what the program has itself. Source: pflag. */
export const separate = (argv: ReadonlyArray<string>, settings: Settings): Separated => {
  const own = new Set(Object.values(settings).flatMap(({ aliases, name }) => [name].concat(aliases)))
  const kept: Array<string> = []
  const found = new Map<string, Array<string>>()
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index] ?? ""
    const [, written = "", value] = /^--?([a-z][\w-]+)(=[^]*)?$/.exec(argument) ?? []
    const name = canonical(written)
    const flag = own.has(name) ? undefined : all.get(name)
    if (flag === undefined) {
      kept.push(argument)
      continue
    }
    found.set(flag.why, [...(found.get(flag.why) ?? []), `--${name}`])
    if (value === undefined && !flag.isSwitch) index++
  }
  return {
    argv: kept,
    notes: Array.from(found, ([why, flags]) => `${listed(flags)} ${does(flags)} nothing, because ${why}`)
  }
}

const does = (items: ReadonlyArray<unknown>): string => (items.length === 1 ? "does" : "do")

/** `a`, `a and b`, `a, b and c`. */
export const listed = (items: ReadonlyArray<string>): string =>
  items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`

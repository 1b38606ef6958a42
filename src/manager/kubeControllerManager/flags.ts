/**
 * Translates the command line of kube-controller-manager 1.36, parsed like pflag does, into the flags of this program. Flags without effect here
 * are accepted, and one sentence for each reason names those that were given. Flags that this program has itself are not listed here. Pure.
 */
import type { Gate, Setting, Settings } from "../../layers/Setting.ts"
import { canonical } from "../setting/sources.ts"

/** The reason, which completes "because …", and the flags; a `?` marks those that need no value. */
interface Group {
  readonly why: string
  readonly flags: string
}

const groups: ReadonlyArray<Group> = [
  {
    why: "the controller that gives pods their addresses is not in this program",
    flags:
      "allocate-node-cidrs? cidr-allocator-type cluster-cidr service-cluster-ip-range node-cidr-mask-size node-cidr-mask-size-ipv4 node-cidr-mask-size-ipv6"
  },
  {
    why: "the controllers that sign certificates are not in this program",
    flags:
      "cluster-signing-cert-file cluster-signing-key-file cluster-signing-duration cluster-signing-kube-apiserver-client-cert-file cluster-signing-kube-apiserver-client-key-file cluster-signing-kubelet-client-cert-file cluster-signing-kubelet-client-key-file cluster-signing-kubelet-serving-cert-file cluster-signing-kubelet-serving-key-file cluster-signing-legacy-unknown-cert-file cluster-signing-legacy-unknown-key-file"
  },
  {
    why: "the API server of --kubeconfig is asked who may read metrics, by token, and probes are answered to every client",
    flags:
      "authentication-kubeconfig authorization-kubeconfig authentication-skip-lookup? authentication-token-webhook-cache-ttl authentication-tolerate-lookup-failure? authorization-always-allow-paths authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl client-ca-file requestheader-client-ca-file requestheader-allowed-names requestheader-extra-headers-prefix requestheader-group-headers requestheader-uid-headers requestheader-username-headers"
  },
  {
    why: "TLS is configured as Node.js does by default, and the port is not shared",
    flags:
      "cert-dir tls-cipher-suites tls-curve-preferences tls-min-version tls-sni-cert-key permit-address-sharing? permit-port-sharing?"
  },
  {
    why: "HTTP/2 is served only with --enable-http2, with the limits of Node.js",
    flags: "disable-http2-serving? http2-max-streams-per-connection"
  },
  {
    why: "the cloud's own controller manager asks the cloud",
    flags:
      "allow-untagged-cloud? cloud-config concurrent-service-syncs configure-cloud-routes? external-cloud-volume-plugin node-sync-period route-reconciliation-period"
  },
  {
    why: "the controllers of volumes and devices are not in this program",
    flags:
      "attach-detach-reconcile-sync-period concurrent-device-taint-eviction-syncs concurrent-ephemeralvolume-syncs concurrent-resourceclaim-syncs disable-attach-detach-reconcile-sync? disable-force-detach-on-timeout? enable-dynamic-provisioning? enable-hostpath-provisioner? flex-volume-plugin-dir pv-recycler-increment-timeout-nfs pv-recycler-minimum-timeout-hostpath pv-recycler-minimum-timeout-nfs pv-recycler-pod-template-filepath-hostpath pv-recycler-pod-template-filepath-nfs pv-recycler-timeout-increment-hostpath pvclaimbinder-sync-period"
  },
  {
    why: "the controller of validating admission policies is not in this program",
    flags: "concurrent-validating-admission-policy-status-syncs"
  },
  {
    why: "profiles are served where --pprof-bind-address says, and nowhere without it",
    flags: "profiling? contention-profiling?"
  },
  {
    why: "requests and answers are JSON",
    flags: "kube-api-content-type"
  },
  {
    why: "this program logs in its own way, see the section Logs of --help",
    flags:
      "log-flush-frequency log-json-info-buffer-size log-json-split-stream? log-text-info-buffer-size log-text-split-stream? logging-format vmodule"
  },
  {
    why: "every metric is shown, with all its labels",
    flags: "allow-metric-labels allow-metric-labels-manifest disabled-metrics show-hidden-metrics-for-version"
  },
  {
    why: "the core loops lead under one Lease",
    flags: "enable-leader-migration? leader-migration-config"
  },
  {
    why: "this program behaves like version 1.36 and like no other",
    flags: "emulated-version min-compatibility-version"
  }
]

/** Groups by the name of the flag. */
const inert: ReadonlyMap<string, { readonly why: string; readonly isSwitch: boolean }> = new Map(
  groups.flatMap(({ flags, why }) =>
    flags.split(" ").map((flag) => [flag.replace("?", ""), { why, isSwitch: flag.endsWith("?") }] as const)
  )
)

/** The flags that are accepted and have no effect. */
export const withoutEffect: ReadonlyArray<string> = [...inert.keys()]

export interface Translated {
  /** The arguments for this program, which rejects unknown ones. */
  readonly argv: ReadonlyArray<string>
  /** One sentence for each reason why a flag has no effect. */
  readonly notes: ReadonlyArray<string>
}

/** Repeated values of these flags are joined; of other flags the last value is used. */
const lists = new Set(["controllers", "feature-gates"])

/** `settings` and `gates` are those of the program. Source: pflag: FlagSet.Parse. */
export const translate = (argv: ReadonlyArray<string>, settings: Settings, gates: ReadonlyArray<Gate>): Translated => {
  const own = new Map(
    Object.values(settings).flatMap((setting) =>
      [setting.name, ...setting.aliases].map((name) => [name, setting] as const)
    )
  )
  const known = argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv
  const others: Array<string> = []
  const reported: Array<string> = []
  const values = new Map<string, string>()
  const found = new Map<string, Array<string>>()
  for (let index = 0; index < known.length; index++) {
    const argument = known[index] ?? ""
    const [isVersion, version = "true"] = /^--version(?:=([^]*))?$/.exec(argument) ?? []
    if (isVersion !== undefined && version.startsWith("v")) reported.push(argument)
    if (isVersion !== undefined && (version === "true" || version === "raw")) others.push("--version")
    if (isVersion !== undefined) continue
    const flag = flagIn(argument)
    const setting = own.get(flag?.name ?? "")
    const unused = setting === undefined ? inert.get(flag?.name ?? "") : undefined
    const isSwitch = setting === undefined ? unused?.isSwitch === true : setting.codec.isSwitch === true
    const value = flag?.value ?? (isSwitch ? "true" : known[index + 1])
    if (flag === undefined || value === undefined || (setting ?? unused) === undefined) {
      others.push(argument)
      continue
    }
    if (flag.value === undefined && !isSwitch) index++
    if (unused !== undefined) found.set(unused.why, [...(found.get(unused.why) ?? []), `--${flag.name}`])
    if (setting !== undefined) put(values, setting, value)
  }
  const featureGates = gatesIn(values.get("feature-gates") ?? "", gates)
  if (values.has("feature-gates")) values.set("feature-gates", featureGates.here)
  return {
    argv: [...others, ...Array.from(values, ([name, value]) => `--${name}=${value}`), ...argv.slice(known.length)],
    notes: [
      ...Array.from(found, ([why, flags]) => `${listed(flags)} ${have(flags)} no effect, because ${why}`),
      ...notesOf(featureGates.elsewhere),
      ...reported.map((flag) => `${flag} has no effect, because this program reports its own version`)
    ]
  }
}

const put = (values: Map<string, string>, { name }: Setting<unknown>, value: string): void => {
  const before = values.get(name)
  values.set(name, before !== undefined && lists.has(name) ? `${before},${value}` : value)
}

/** `--name` or `--name=value`, with dashes or underscores; `-v4` is the only flag with a one-letter name. */
const flagIn = (argument: string): { readonly name: string; readonly value: string | undefined } | undefined => {
  const [, verbosity] = /^-v(\d+)$/.exec(argument) ?? []
  if (verbosity !== undefined) return { name: "v", value: verbosity }
  const [, name, value] = /^--?([a-z][\w-]*)(?:=([^]*))?$/.exec(argument) ?? []
  return name === undefined ? undefined : { name: canonical(name), value }
}

/** `kube:` is the default component. Invalid text stays, and the setting rejects it. */
const gatesIn = (text: string, gates: ReadonlyArray<Gate>) => {
  const names = new Set([...gates.map(({ name }) => name), "AllAlpha", "AllBeta"])
  const entries = text.split(",").map((entry) => entry.trim().replace(/^kube:/, ""))
  const isElsewhere = (entry: string): boolean => /^[A-Z]\w*=\w+$/.test(entry) && !names.has(entry.replace(/=.*/, ""))
  return {
    here: entries.filter((entry) => !isElsewhere(entry)).join(","),
    elsewhere: entries.filter(isElsewhere).map((entry) => entry.replace(/=.*/, ""))
  }
}

const notesOf = (elsewhere: ReadonlyArray<string>): ReadonlyArray<string> =>
  elsewhere.length === 0
    ? []
    : [
        `The feature gate${elsewhere.length === 1 ? "" : "s"} ${listed(elsewhere)} ${have(elsewhere)} no effect, because what they switch is not in this program`
      ]

const have = (items: ReadonlyArray<unknown>): string => (items.length === 1 ? "has" : "have")

/** `a`, `a and b`, `a, b and c`. */
export const listed = (items: ReadonlyArray<string>): string =>
  items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`

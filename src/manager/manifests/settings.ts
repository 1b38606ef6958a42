/** Settings of the manifests, beside those of the program that they run. */
import * as Option from "effect/Option"
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"
import * as Settings from "../settings.ts"

/** `1.20` or `v1.33.2`: the minor version. */
const minorVersion: Codecs.Codec<number> = {
  metavar: "version",
  expected: "a version like 1.20",
  decode: (text) => Option.fromUndefinedOr(/^v?1\.(\d{1,3})(\.\d+)?$/.exec(text)?.[1]).pipe(Option.map(Number))
}

/** Settings of the command itself; the program in the pods does not have them. */
export const own = {
  image: Setting.make(Codecs.text("image"), {
    name: "image",
    env: false,
    group: "command",
    description: "Image of the program",
    default: "effect-controller-manager:latest"
  }),
  installNamespace: Setting.make(Codecs.text("namespace"), {
    name: "install-namespace",
    env: false,
    group: "command",
    description: "Namespace to install into; created if it is missing",
    default: "effect-controller-manager"
  }),
  out: Setting.optional(Codecs.text("directory"), {
    name: "out",
    env: false,
    group: "command",
    description: "Directory to write the manifests to, as a base for Kustomize, instead of printing them"
  }),
  kubernetesVersion: Setting.make(minorVersion, {
    name: "kubernetes-version",
    env: false,
    group: "command",
    description: "The oldest version of Kubernetes that the manifests are for",
    default: "1.21"
  }),
  serviceMonitor: Setting.make(Codecs.boolean, {
    name: "service-monitor",
    env: false,
    group: "command",
    description:
      "Include a ServiceMonitor, a kind of the Prometheus operator; it verifies the metrics server with the Secret <name>-metrics-cert, which must exist",
    default: "false"
  })
}

/** The settings of every program; a program with settings of its own adds them. In a cluster, metrics are served with authorization. */
export const settings = {
  ...Settings.common,
  metricsAddress: Setting.withDefault(Settings.common.metricsAddress, ":8443"),
  metricsSecure: Setting.withDefault(Settings.common.metricsSecure, "true"),
  ...own
}

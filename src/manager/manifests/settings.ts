/** Settings of the manifests, beside those of the program that they run. */
import * as Option from "effect/Option"
import * as Setting from "../setting.ts"
import * as Codecs from "../setting/codecs.ts"
import * as Settings from "../settings.ts"

/** `1.20`, `v1.33.2`: the minor version, as servers have been called since 2015. */
const minorVersion: Setting.Codec<number> = {
  metavar: "version",
  expected: "a version like 1.20",
  decode: (text) => Option.fromUndefinedOr(/^v?1\.(\d{1,3})(\.\d+)?$/.exec(text)?.[1]).pipe(Option.map(Number))
}

/** They are about the printing, and mean nothing to what is printed. */
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
    description: "Namespace to install into; made if it is not there",
    default: "effect-controller-manager"
  }),
  out: Setting.optional(Codecs.text("directory"), {
    name: "out",
    env: false,
    group: "command",
    description: "Directory to write the manifests to, as a base for Kustomize, in place of printing them"
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
      "Include a ServiceMonitor, a kind that comes with the Prometheus operator; it verifies metrics by the Secret <name>-metrics-cert, which has to be there",
    default: "false"
  })
}

/** Of every program; one with settings of its own has those too. What runs in a cluster shows its metrics to those alone who may read them. */
export const settings = {
  ...Settings.common,
  metricsAddress: Setting.withDefault(Settings.common.metricsAddress, ":8443"),
  metricsSecure: Setting.withDefault(Settings.common.metricsSecure, "true"),
  ...own
}

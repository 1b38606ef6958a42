/**
 * The version as metrics, in the form that Kubernetes components use: the Kubernetes version whose behaviour this program has, with the program's own
 * name and version as build metadata. Source: k8s.io/component-base/metrics/prometheus/version, k8s.io/component-base/compatibility.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Program } from "../Program.ts"

const minor = 36

const build = Metric.gauge("kubernetes_build_info", { description: "Always 1: the labels tell what runs" })
const versions = Metric.gauge("version_info", { description: "Always 1: the labels tell whose behaviour it has" })

const architectures: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" }

/** The runtime that the program runs on, as `node:process` describes it. */
export interface Runtime {
  readonly arch: string
  readonly platform: string
  readonly version: string
}

export const publish = (
  { name, version }: Pick<Program["Service"], "name" | "version">,
  { arch, platform, version: runtime }: Runtime
): Effect.Effect<void> => {
  const info = {
    build_date: "",
    compiler: "node",
    git_commit: "",
    git_tree_state: "",
    git_version: `v1.${minor}.0+${name}.${version.replace(/[^\dA-Za-z.-]/g, "-")}`,
    go_version: runtime,
    major: "1",
    minor: String(minor),
    platform: `${platform}/${architectures[arch] ?? arch}`
  }
  const compatibility = {
    binary: `1.${minor}`,
    component: "kube",
    emulation: `1.${minor}`,
    min_compat: `1.${minor - 1}`
  }
  return Effect.andThen(
    Metric.update(Metric.withAttributes(build, info), 1),
    Metric.update(Metric.withAttributes(versions, compatibility), 1)
  )
}

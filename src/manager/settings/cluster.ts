/** Which cluster the program runs on, and how it gets there. */
import type * as Option from "effect/Option"
import * as Setting from "../setting.ts"
import * as Codecs from "../setting/codecs.ts"
import type { Origin } from "../setting/sources.ts"

/** What names a cluster of the user's. */
export const kubeconfig = {
  kubeconfig: Setting.optional(Codecs.text("file"), {
    name: "kubeconfig",
    env: "KUBECONFIG",
    group: "cluster",
    description: "Path to a kubeconfig; without it $HOME/.kube/config is looked at. The variable may list several"
  }),
  context: Setting.optional(Codecs.text("name"), {
    name: "context",
    group: "cluster",
    description: "Context of the kubeconfig to use instead of its current one"
  }),
  insecureHttp: Setting.make(Codecs.boolean, {
    name: "insecure-http",
    group: "cluster",
    description:
      "Send credentials to an API server at an http:// address too, where whoever is on the way reads them; without it those of a kubeconfig are left out, and in a pod such an address is refused",
    default: "false"
  })
}

export const settings = {
  cluster: Setting.make(Codecs.choice(["auto", "kubeconfig", "in-cluster", "embedded"]), {
    name: "cluster",
    group: "cluster",
    description: "Where to run: auto tries in-cluster, then a kubeconfig, then the embedded cluster",
    default: "auto"
  }),
  ...kubeconfig,
  master: Setting.optional(Codecs.text("url"), {
    name: "master",
    group: "cluster",
    description: "Address of the API server, instead of the one in the kubeconfig"
  }),
  qps: Setting.make(Codecs.rate, {
    name: "kube-api-qps",
    group: "cluster",
    description: "Requests a second at most, watches and what leader election asks apart; -1 is no limit",
    default: "-1"
  }),
  burst: Setting.make(Codecs.integer({ min: 0, max: 999_999, expected: "a number from 0" }), {
    name: "kube-api-burst",
    group: "cluster",
    description: "Requests at once before the rate counts; 0 is twice the rate",
    default: "0"
  }),
  contentType: Setting.make(Codecs.choice(["application/json"]), {
    name: "kube-api-content-type",
    group: "cluster",
    description: "How requests and answers are written; there is only one",
    default: "application/json"
  }),
  dryRun: Setting.make(Codecs.boolean, {
    name: "dry-run",
    group: "cluster",
    description: "Have the server check every write and store none, except those to the lease",
    default: "false"
  }),
  clusterName: Setting.make(Codecs.text("name"), {
    name: "cluster-name",
    group: "cluster",
    description: "Name of the cluster, for logs and for controllers that write it somewhere",
    default: "kubernetes"
  }),
  embeddedPort: Setting.make(Codecs.port, {
    name: "embedded-port",
    group: "cluster",
    description: "Port of the embedded API server on 127.0.0.1; 0 takes a free one",
    default: "0"
  })
}

/**
 * The path that `--kubeconfig` or the file names. `KUBECONFIG` is a list that is merged, and may name files that do not exist:
 * it is left to who reads it. Source: client-go's loading rules.
 */
export const pathOf = (path: Option.Option<string>, origin: Origin): string | undefined =>
  path._tag === "Some" && origin._tag !== "Environment" ? path.value : undefined

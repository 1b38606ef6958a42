/** Settings: which cluster the program runs on, and how it connects. */
import type * as Option from "effect/Option"
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"
import type { Origin } from "../setting/sources.ts"

/** How many nodes can be simulated: each has one address of a /24 network. */
export const nodeCount = Codecs.integer({ min: 0, max: 254, expected: "a number from 0 to 254" })

/** Settings that select a real cluster. */
export const kubeconfig = {
  kubeconfig: Setting.optional(Codecs.text("file"), {
    name: "kubeconfig",
    env: "KUBECONFIG",
    group: "cluster",
    description: "Path to a kubeconfig; default is $HOME/.kube/config. The variable may list several"
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
      "Send credentials over plain http:// too, where they can be read in transit; without it those of a kubeconfig are not sent, and a pod rejects such an address",
    default: "false"
  })
}

export const settings = {
  cluster: Setting.make(Codecs.choice(["auto", "kubeconfig", "in-cluster", "embedded"]), {
    name: "cluster",
    group: "cluster",
    description: "The cluster to run on: auto tries in-cluster, then a kubeconfig, then the embedded cluster",
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
    description: "Requests per second at most, except watches and leader election; -1 is no limit",
    default: "-1"
  }),
  burst: Setting.make(Codecs.integer({ min: 0, max: 999_999, expected: "a number from 0" }), {
    name: "kube-api-burst",
    group: "cluster",
    description: "Burst of requests above that rate; 0 is twice the rate",
    default: "0"
  }),
  contentType: Setting.make(Codecs.choice(["application/json"]), {
    name: "kube-api-content-type",
    group: "cluster",
    description: "Content type of requests and responses; there is only one",
    default: "application/json"
  }),
  dryRun: Setting.make(Codecs.boolean, {
    name: "dry-run",
    group: "cluster",
    description: "Send every write as a dry run, except those to the Lease",
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
  }),
  nodes: Setting.make(nodeCount, {
    name: "nodes",
    group: "cluster",
    description: "Simulated nodes of the embedded cluster; of two and more, the first is a control-plane node",
    default: "3"
  }),
  demo: Setting.make(Codecs.choice(["web", "shop", "none"]), {
    name: "demo",
    group: "cluster",
    description:
      "Objects with which the embedded cluster starts: web is one Deployment, shop a small system that changes all the time",
    default: "web"
  })
}

/**
 * The path of `--kubeconfig` or of the configuration file. `KUBECONFIG` is a list of files that are merged and need not exist, so the loader reads
 * it. Source: client-go's loading rules.
 */
export const pathOf = (path: Option.Option<string>, origin: Origin): string | undefined =>
  path._tag === "Some" && origin._tag !== "Environment" ? path.value : undefined

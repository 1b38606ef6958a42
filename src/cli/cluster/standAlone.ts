/**
 * The commands `apiserver` and `nodes`: the embedded API server without any controller, for tests in any language, and simulated nodes as clients of
 * any API server.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { Cache } from "../../layers/Cache.ts"
import { Endpoint } from "../../layers/Endpoint.ts"
import * as HttpTransport from "../../platform/HttpTransport.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"
import type { Resolved } from "../../manager/setting/sources.ts"
import * as ClusterSettings from "../../manager/settings/cluster.ts"
import * as Logs from "../../manager/settings/logs.ts"

const count = (name: string, initial: number, description: string) =>
  Setting.make(ClusterSettings.nodeCount, {
    name,
    env: false,
    group: "command",
    description,
    default: String(initial)
  })

export const apiserverSettings = {
  port: Setting.make(Codecs.port, {
    name: "port",
    env: false,
    group: "command",
    description: "Port to listen on, on 127.0.0.1; 0 takes a free one",
    default: "0"
  }),
  directory: Setting.optional(Codecs.text("path"), {
    name: "directory",
    env: false,
    group: "command",
    description: "Directory to write the kubeconfig to; default is a new temporary directory"
  }),
  // Not `nodes`, which is the setting of the program.
  simulated: count("nodes", 0, "Simulated nodes, with a scheduler, kubelets, storage and load balancers"),
  authorization: Setting.make(Codecs.choice(["AlwaysAllow", "RBAC"]), {
    name: "authorization-mode",
    env: false,
    group: "command",
    description: "Authorization mode; the printed kubeconfig is an administrator's",
    default: "RBAC"
  }),
  auditLog: Setting.optional(Codecs.text("path"), {
    name: "audit-log-path",
    env: false,
    group: "command",
    description: "File of the audit log, with one JSON line for each request"
  }),
  crds: Setting.optional(Codecs.text("path"), {
    name: "crds",
    env: false,
    group: "command",
    description: "Directory of CustomResourceDefinitions, in YAML or JSON, that the server serves from the start"
  }),
  ...Logs.settings
}

export const nodesSettings = {
  ...ClusterSettings.kubeconfig,
  count: count("count", 3, "Number of nodes; of two and more, the first is a control-plane node"),
  ...Logs.settings
}

const over = (endpoint: Endpoint["Service"]) => Layer.provide(HttpTransport.layer, Layer.succeed(Endpoint, endpoint))

/** Starts the server for as long as the scope is open. Returns a line for the user's shell once the server is ready. */
export const apiserver = Effect.fnUntraced(function* (settings: Setting.Values<typeof apiserverSettings>) {
  const { EmbeddedCluster } = yield* Effect.promise(() => import("../../apiserver/server/EmbeddedCluster.ts"))
  const onEntry = Option.isNone(settings.auditLog)
    ? undefined
    : yield* (yield* Effect.promise(() => import("../../apiserver/server/files/auditFile.ts"))).open(
        settings.auditLog.value
      )
  const crds = Option.isNone(settings.crds)
    ? []
    : yield* (yield* Effect.promise(() => import("../../apiserver/server/files/definitionFiles.ts"))).read(
        settings.crds.value
      )
  const services = yield* Layer.build(
    Layer.provideMerge(
      EmbeddedCluster.layerEndpoint,
      EmbeddedCluster.layer({
        port: settings.port,
        directory: Option.getOrUndefined(settings.directory),
        authorization: settings.authorization,
        metrics: settings.simulated > 0,
        audit: { onEntry },
        crds
      })
    )
  )
  const { connectNodes, endpoint, kubeconfig } = Context.get(services, EmbeddedCluster)
  if (settings.simulated > 0) yield* connectNodes(yield* simulate(Context.get(services, Endpoint), settings.simulated))
  yield* Effect.annotateLogs(Effect.logInfo("Embedded API server is up"), { server: endpoint.server })
  return `export KUBECONFIG=${quoted(kubeconfig)}`
})

/** For a POSIX shell. */
const quoted = (path: string): string =>
  /^[\w./+-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`

/** Registers simulated nodes in the cluster of a kubeconfig and runs them for as long as the scope is open. */
export const nodes = Effect.fnUntraced(function* (
  { origins, values: settings }: Resolved<typeof nodesSettings>,
  env: Readonly<Record<string, string | undefined>>
) {
  const KubeConfig = yield* Effect.promise(() => import("../../platform/KubeConfig.ts"))
  const { endpoint, origin } = yield* KubeConfig.find({
    mode: "kubeconfig",
    path: ClusterSettings.pathOf(settings.kubeconfig, origins.kubeconfig),
    context: Option.getOrUndefined(settings.context),
    insecureHttp: settings.insecureHttp,
    env
  })
  yield* simulate(endpoint, settings.count)
  yield* Effect.annotateLogs(Effect.logInfo("Simulated nodes are up"), { server: endpoint.server, origin })
  return settings.count === 1 ? "1 simulated node is ready" : `${settings.count} simulated nodes are ready`
})

/** The nodes are registered and ready when this returns their connection. */
const simulate = Effect.fnUntraced(function* (endpoint: Endpoint["Service"], count: number) {
  const Nodes = yield* Effect.promise(() => import("../../simulation/Nodes.ts"))
  const Machine = yield* Effect.promise(() => import("../../simulation/Machine.ts"))
  const services = yield* Layer.build(
    Nodes.layer({ machines: Machine.group(count) }).pipe(
      Layer.provide(Cache.layer()),
      Layer.provide(KubeClient.layer),
      Layer.provide(over(endpoint))
    )
  )
  return Context.get(services, Nodes.Nodes).connection
})

/**
 * Finds the cluster to run on and connects to it: a real cluster with its credentials, or the embedded one if a setting selects it or no cluster is
 * configured. Both are reached over HTTPS.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import { randomUUID } from "node:crypto"
import * as Crd from "../../kube/crd/Crd.ts"
import type * as Resource from "../../kube/Resource.ts"
import { Cache } from "../../layers/Cache.ts"
import { ClusterAuthority, type TokenSigner } from "../../layers/ClusterAuthority.ts"
import { Endpoint } from "../../layers/Endpoint.ts"
import * as HttpTransport from "../../platform/HttpTransport.ts"
import { type Client, KubeClient } from "../../layers/KubeClient.ts"
import type { Transport } from "../../layers/Transport.ts"
import * as Accounts from "../../manager/identity/accounts.ts"
import type { Manifest } from "../../manager/manifests/Installation.ts"
import { pathOf as pathOfRole } from "../../manager/manifests/roles.ts"
import { CurrentFormat } from "../../manager/logs/Logs.ts"
import type { Resolved } from "../../manager/setting/sources.ts"
import type * as Settings from "../../manager/settings.ts"
import { pathOf } from "../../manager/settings/cluster.ts"

export interface Connected {
  readonly transport: Layer.Layer<Transport>
  /** The address of the server and the program's credentials. */
  readonly address: Endpoint["Service"]
  /** The same, but undefined if the server runs in this process. */
  readonly endpoint: Endpoint["Service"] | undefined
  readonly embedded: boolean
  /** The root authority, and the key that signs service account tokens: known for the embedded server, never for a real one. */
  readonly authority: Layer.Layer<ClusterAuthority>
  /** The URL of the server. */
  readonly server: string
  /** The default namespace of a Lease. */
  readonly namespace: string
  /** A kubectl command that the user can copy. */
  readonly hint: string | undefined
  /** A cache of all nodes and pods that costs the program no watch: that of the simulated nodes. */
  readonly nodes: Cache["Service"] | undefined
  /** Waits until the sample objects exist. Controllers must run for that. */
  readonly populated: Effect.Effect<void>
}

/** The identity of this process in a Lease. It differs after each restart on the same host. */
export const identity = (host: string): Effect.Effect<string> => Effect.sync(() => `${host}_${randomUUID()}`)

/** What is known of the controllers before there is a cluster. */
export interface Expected<E, R> {
  /** The serviceaccount controller runs, so the embedded server can require a service account for each pod, as a real one does. */
  readonly serviceAccounts: boolean
  /** The resourcequota controller runs, so the embedded server can enforce quotas, as a real one does. */
  readonly resourceQuotas: boolean
  /** The custom kinds that the embedded server serves from the start. */
  readonly kinds: ReadonlyArray<Resource.AnyCustom>
  /** The program's account on the embedded server, which a real one has already. Undefined: the administrator. */
  readonly account: Effect.Effect<Account, E, R> | undefined
}

/** A service account in `kube-system`, and the roles to create for it. */
export interface Account {
  readonly name: string
  readonly roles: ReadonlyArray<Manifest>
}

export const connect = Effect.fnUntraced(function* <E, R>(
  { origins, values: settings }: Resolved<typeof Settings.common>,
  env: Readonly<Record<string, string | undefined>>,
  expected: Expected<E, R>
) {
  if (settings.cluster === "embedded") return yield* embedded(settings, expected)
  const KubeConfig = yield* Effect.promise(() => import("../../platform/KubeConfig.ts"))
  const found = yield* KubeConfig.find({
    mode: settings.cluster,
    path: pathOf(settings.kubeconfig, origins.kubeconfig),
    context: Option.getOrUndefined(settings.context),
    master: Option.getOrUndefined(settings.master),
    insecureHttp: settings.insecureHttp,
    env
  }).pipe(Effect.catchTag("NotConfigured", (error) => Effect.succeed(error.message)))
  if (typeof found === "string") {
    yield* Effect.logWarning(`No cluster is configured (${found}): starting the embedded one`)
    return yield* embedded(settings, expected)
  }
  const { endpoint, origin, source } = found
  yield* Effect.map(CurrentFormat, (form) => form.onRealCluster())
  yield* Effect.annotateLogs(Effect.logInfo("Connecting"), {
    cluster: settings.clusterName,
    server: endpoint.server,
    source,
    origin
  })
  return {
    transport: over(endpoint),
    address: endpoint,
    endpoint,
    embedded: false,
    authority: authority(endpoint, undefined),
    server: endpoint.server,
    namespace: source === "in-cluster" ? (found.namespace ?? "default") : "kube-system",
    hint: undefined,
    nodes: undefined,
    populated: Effect.void
  } satisfies Connected
})

/** Publishes the certificate authority that this program trusts, unless a setting names another. */
const authority = ({ identity }: Endpoint["Service"], signer: TokenSigner | undefined): Layer.Layer<ClusterAuthority> =>
  Layer.effect(
    ClusterAuthority,
    identity.pipe(
      Effect.map(({ tls: { ca } }) => ClusterAuthority.of({ signer, rootCa: ca })),
      // Without credentials the program's first request fails with a 401, which is reported then.
      Effect.orElseSucceed(() => ClusterAuthority.of({ signer, rootCa: undefined }))
    )
  )

const over = (endpoint: Endpoint["Service"]): Layer.Layer<Transport> =>
  Layer.provide(HttpTransport.layer, Layer.succeed(Endpoint, endpoint))

/** Connects with an account that has only the declared permissions, so that a missing one is found here and not first in a real installation. */
const endpointAs = Effect.fnUntraced(function* (
  administrator: Endpoint["Service"],
  client: Client,
  { name, roles }: Account
) {
  const write = (role: Manifest) => {
    const path = pathOfRole(role)
    return client.raw({ method: "POST", path, body: role, context: { verb: "create", path } })
  }
  yield* Effect.forEach(roles, write, { concurrency: 8, discard: true })
  return yield* Accounts.endpoint(administrator, client, name)
})

/** The server and the simulated nodes are loaded only here, because they need memory that a program on a real cluster saves. */
const embedded = Effect.fnUntraced(function* <E, R>(settings: Settings.Settings, expected: Expected<E, R>) {
  const { EmbeddedCluster } = yield* Effect.promise(() => import("../../apiserver/server/EmbeddedCluster.ts"))
  const Demo = yield* Effect.promise(() => import("../../simulation/demo.ts"))
  const Machine = yield* Effect.promise(() => import("../../simulation/Machine.ts"))
  const Nodes = yield* Effect.promise(() => import("../../simulation/Nodes.ts"))
  const services = yield* Layer.build(
    Layer.provideMerge(
      EmbeddedCluster.layerEndpoint,
      EmbeddedCluster.layer({
        port: settings.embeddedPort,
        metrics: true,
        admission: { serviceAccount: expected.serviceAccounts, resourceQuota: expected.resourceQuotas },
        crds: yield* Effect.forEach(expected.kinds, (kind) => Effect.fromResult(Crd.make(kind)))
      })
    )
  )
  const cluster = Context.get(services, EmbeddedCluster)
  const administrator = Context.get(services, Endpoint)
  // The simulated nodes are separate clients: their metrics and traces are kept apart from the controllers'.
  const isolated = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.withTracerEnabled(Effect.provideService(effect, Metric.MetricRegistry, new Map()), false)
  const client = yield* isolated(Layer.build(Layer.provide(KubeClient.layer, over(administrator))))
  const simulation = Nodes.layer({ machines: Machine.group(settings.nodes) }).pipe(
    Layer.provideMerge(Cache.layer()),
    Layer.provide(Layer.succeedContext(client))
  )
  const simulated = yield* isolated(Layer.build(simulation))
  yield* cluster.connectNodes(Context.get(simulated, Nodes.Nodes).connection)
  const nodes = Context.get(simulated, Cache)
  const address =
    expected.account === undefined
      ? administrator
      : yield* isolated(endpointAs(administrator, Context.get(client, KubeClient), yield* expected.account))
  // In the background, because pods may have to wait for controllers, which start only after this returns.
  const seeding = yield* Demo.seed(settings).pipe(
    Effect.catch((error) => Effect.logWarning(`Not all sample objects could be created: ${error.message}`)),
    Effect.provideContext(client),
    Effect.forkScoped
  )
  yield* Fiber.await(seeding).pipe(
    Effect.andThen(Demo.run(settings)),
    Effect.provideContext(client),
    isolated,
    Effect.forkScoped
  )
  yield* Effect.annotateLogs(Effect.logInfo("Embedded API server is up"), { server: cluster.endpoint.server })
  const hint = `kubectl --kubeconfig ${cluster.kubeconfig} get nodes --show-labels`
  return {
    transport: over(address),
    address,
    endpoint: undefined,
    embedded: true,
    authority: authority(administrator, cluster.signer),
    server: cluster.endpoint.server,
    namespace: "kube-system",
    hint,
    nodes,
    populated: Effect.asVoid(Fiber.await(seeding))
  } satisfies Connected
})

/**
 * Finds the cluster to run on and connects to it: a real one through its credentials, or the embedded one when nothing is
 * configured or when it was asked for. Both are reached over HTTPS; the embedded one has no other transport. Platform edge.
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
import * as Accounts from "../identity/accounts.ts"
import type { Manifest } from "../manifests/Installation.ts"
import { pathOf as pathOfRole } from "../manifests/roles.ts"
import { CurrentFormat } from "../logs/Logs.ts"
import type { Resolved } from "../setting/sources.ts"
import type * as Settings from "../settings.ts"
import { pathOf } from "../settings/cluster.ts"

export interface Connected {
  readonly transport: Layer.Layer<Transport>
  /** Where the server is and who the program is to it. */
  readonly address: Endpoint["Service"]
  /** The same if the server is in another process; undefined when it is in this one. */
  readonly endpoint: Endpoint["Service"] | undefined
  readonly embedded: boolean
  /** What this process knows of it: it has the embedded server's key, and never that of a real server. */
  readonly authority: Layer.Layer<ClusterAuthority>
  /** Its address. */
  readonly server: string
  /** The default namespace of a Lease. */
  readonly namespace: string
  /** A command to try, for the user to copy. */
  readonly hint: string | undefined
  /** Waits until everything is there that the cluster begins with; its own loops have to run for that. */
  readonly populated: Effect.Effect<void>
}

/** In a lease it distinguishes replicas, even when one restarts on the same host. */
export const identity = (host: string): Effect.Effect<string> => Effect.sync(() => `${host}_${randomUUID()}`)

/** What is known of the controllers before there is a cluster. */
export interface Expected {
  /** The controller for service accounts runs, so the embedded server may require one for each pod, as a real one does. */
  readonly serviceAccounts: boolean
  /** The controller for quotas runs, so the embedded server may enforce them, as a real one does. */
  readonly resourceQuotas: boolean
  /** Their own kinds: the embedded server serves them from the start. */
  readonly kinds: ReadonlyArray<Resource.AnyCustom>
  /** The program's user on the embedded server; undefined: its administrator. */
  readonly account: Account | undefined
}

/** A service account in `kube-system`, and all roles that exist before its first request. */
export interface Account {
  readonly name: string
  readonly roles: ReadonlyArray<Manifest>
}

export const connect = Effect.fnUntraced(function* (
  { origins, values: settings }: Resolved<typeof Settings.common>,
  env: Readonly<Record<string, string | undefined>>,
  expected: Expected
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
    populated: Effect.void
  } satisfies Connected
})

/** The authority by which this program trusts the server is published, unless a setting names another. */
const authority = ({ identity }: Endpoint["Service"], signer: TokenSigner | undefined): Layer.Layer<ClusterAuthority> =>
  Layer.effect(
    ClusterAuthority,
    identity.pipe(
      Effect.map(({ tls: { ca } }) => ClusterAuthority.of({ signer, rootCa: ca })),
      // A program without credentials gets a 401 for its first request.
      Effect.orElseSucceed(() => ClusterAuthority.of({ signer, rootCa: undefined }))
    )
  )

const over = (endpoint: Endpoint["Service"]): Layer.Layer<Transport> =>
  Layer.provide(HttpTransport.layer, Layer.succeed(Endpoint, endpoint))

/** What was not declared is refused here, and not first in an installation. */
const signedIn = Effect.fnUntraced(function* (
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

/** Loaded only here: the server, its certificates and the simulated nodes cost memory that a real cluster's user need not pay. */
const embedded = Effect.fnUntraced(function* (settings: Settings.Settings, expected: Expected) {
  const { EmbeddedCluster } = yield* Effect.promise(() => import("../../apiserver/server/EmbeddedCluster.ts"))
  const Demo = yield* Effect.promise(() => import("../../simulation/demo.ts"))
  const Nodes = yield* Effect.promise(() => import("../../simulation/Nodes.ts"))
  const services = yield* Layer.build(
    Layer.provideMerge(
      EmbeddedCluster.layerEndpoint,
      EmbeddedCluster.layer({
        port: settings.embeddedPort,
        admission: { serviceAccount: expected.serviceAccounts, resourceQuota: expected.resourceQuotas },
        crds: yield* Effect.forEach(expected.kinds, (kind) => Effect.fromResult(Crd.make(kind)))
      })
    )
  )
  const cluster = Context.get(services, EmbeddedCluster)
  const administrator = Context.get(services, Endpoint)
  // The simulated nodes are clients of their own: what they cache, count and trace is no business of the controllers.
  const apart = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.withTracerEnabled(Effect.provideService(effect, Metric.MetricRegistry, new Map()), false)
  const client = yield* apart(Layer.build(Layer.provide(KubeClient.layer, over(administrator))))
  const simulation = Nodes.layer().pipe(Layer.provide(Cache.layer()), Layer.provide(Layer.succeedContext(client)))
  yield* apart(Layer.build(simulation))
  const address =
    expected.account === undefined
      ? administrator
      : yield* apart(signedIn(administrator, Context.get(client, KubeClient), expected.account))
  // In the background, because pods may have to wait for controllers, which start only when this is done.
  const seeding = yield* Demo.seed.pipe(
    Effect.catch((error) => Effect.logWarning(`The sample objects could not all be made: ${error.message}`)),
    Effect.provideContext(client),
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
    populated: Effect.asVoid(Fiber.await(seeding))
  } satisfies Connected
})

/**
 * Loops whose sync has one read and few writes. A thousand Endpoints of twenty addresses, from the first create until each has its slice; a thousand ClusterRoles,
 * until ten others have all of their rules; a thousand unused tokens, from the start of the process until each is marked. The lower bounds are the same
 * number of slices, ClusterRoles and marks written by a bare loop.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as Resource from "../../src/kube/Resource.ts"
import { ClusterRole, EndpointSlice, Namespace, Secret } from "../../src/kube/resources.ts"
import type { KubeObject } from "../../src/kube/Meta.ts"
import type { KubeClient } from "../../src/layers/KubeClient.ts"
import type { Figure } from "../figure.ts"
import * as Stand from "./stand.ts"

const [count, each] = [1000, 20]
const namespace = "load"

type Client = KubeClient["Service"]

const post = (
  where: Stand.Server,
  make: (index: number) => { readonly path: string; readonly body: object },
  times = count
) => Effect.promise(() => Stand.plainly(where, times, (index) => ({ method: "POST", ...make(index) })))

/** Waits until this many objects have been observed as wanted. */
const observed = <A extends KubeObject>(
  client: Client,
  resource: Resource.Resource<A>,
  { expected, isWanted }: { readonly expected: number; readonly isWanted: (object: A) => boolean }
) => {
  const done = new Set<string>()
  return client.watch(resource, { timeoutSeconds: 900 }).pipe(
    Stream.takeUntil(({ object }) => {
      const one = object as A
      if (isWanted(one)) done.add(one.metadata.name)
      return done.size >= expected
    }),
    Stream.runDrain
  )
}

/** Seconds until the slices are written, and the resources that the process uses for it. */
const timed = <E, F, R, S>(
  running: Effect.Success<ReturnType<typeof Stand.controllers>>,
  act: Effect.Effect<unknown, E, R>,
  seen: Effect.Effect<void, F, S>
) =>
  Effect.gen(function* () {
    const before = Stand.usageOf(running).cpuMillis
    const began = performance.now()
    yield* Effect.all([seen, act], { concurrency: "unbounded" })
    const seconds = (performance.now() - began) / 1000
    const { cpuMillis, peakMiB } = Stand.usageOf(running)
    return { seconds, cpu: (cpuMillis - before) / count, peakMiB }
  })

type Bare = Effect.Success<ReturnType<typeof post>>

const floors = ({ cpuEach, millis }: Bare, per: string) => ({ floorSeconds: millis / 1000, floorCpu: cpuEach, per })

const space = (client: Client, name: string) => client.create(Namespace, { metadata: { name } })

const mirrored = Effect.gen(function* () {
  const where = yield* Stand.embedded
  const client = yield* Stand.client(where)
  yield* space(client, "floor")
  const ips = Array.from({ length: each }, (_, index) => `10.0.1.${index}`)
  const bare = yield* post(where, (index) => ({
    path: "/apis/discovery.k8s.io/v1/namespaces/floor/endpointslices",
    body: {
      metadata: { name: `s-${index}` },
      addressType: "IPv4",
      endpoints: ips.map((ip) => ({ addresses: [ip], conditions: { ready: true } })),
      ports: [{ name: "", port: 8080, protocol: "TCP" }]
    }
  }))
  yield* space(client, namespace)
  yield* post(where, (index) => ({
    path: `/api/v1/namespaces/${namespace}/services`,
    body: { metadata: { name: `load-${index}` }, spec: { ports: [{ port: 80 }] } }
  }))
  const running = yield* Stand.controllers(where, ["endpointslicemirroring"])
  const write = (from: number, times: number) =>
    post(
      where,
      (index) => ({
        path: `/api/v1/namespaces/${namespace}/endpoints`,
        body: {
          metadata: { name: `load-${index + from}` },
          subsets: [{ addresses: ips.map((ip) => ({ ip })), ports: [{ port: 8080 }] }]
        }
      }),
      times
    )
  const isWanted = ({ endpoints, metadata }: EndpointSlice) =>
    metadata.namespace === namespace && endpoints?.length === each
  // When the first is done, the caches have synced.
  yield* Effect.all([write(0, 1), observed(client, EndpointSlice, { expected: 1, isWanted })], { concurrency: 2 })
  const figure = yield* timed(
    running,
    write(1, count - 1),
    observed(client, EndpointSlice, { expected: count, isWanted })
  )
  const name = `1,000 Endpoints × 20 addresses to mirrored slices on ${where.what}`
  return Stand.figures(name, { ...figure, ...floors(bare, "Endpoints") })
})

const targets = 10

const aggregated = Effect.gen(function* () {
  const where = yield* Stand.embedded
  const client = yield* Stand.client(where)
  const path = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
  const role = (name: string) => (index: number) => ({
    path,
    body: {
      metadata: { name: `${name}-${index}`, labels: { [name]: `to-${index % targets}` } },
      rules: [{ apiGroups: [`group-${index}`], resources: ["things"], verbs: ["get"] }]
    }
  })
  const bare = yield* post(where, role("floor"))
  yield* post(
    where,
    (index) => ({
      path,
      body: {
        metadata: { name: `target-${index}` },
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { load: `to-${index}` } }] },
        rules: []
      }
    }),
    targets
  )
  const running = yield* Stand.controllers(where, ["clusterrole-aggregation"])
  const isWanted = ({ metadata, rules }: ClusterRole) =>
    metadata.name.startsWith("target-") && rules?.length === count / targets
  const seen = observed(client, ClusterRole, { expected: targets, isWanted })
  const figure = yield* timed(running, post(where, role("load")), seen)
  return Stand.figures(`1,000 ClusterRoles into 10 aggregated ones on ${where.what}`, {
    ...figure,
    ...floors(bare, "ClusterRole")
  })
})

const accounts = 100

const marked = Effect.gen(function* () {
  const where = yield* Stand.embedded
  const client = yield* Stand.client(where)
  const invalidSince = "kubernetes.io/legacy-token-invalid-since"
  const secretsOf = (index: number) =>
    Array.from({ length: count / accounts }, (_, i) => ({ name: `t-${i * accounts + index}` }))
  for (const name of ["floor", namespace]) {
    yield* space(client, name)
    const path = `/api/v1/namespaces/${name}`
    yield* post(
      where,
      (index) => ({
        path: `${path}/serviceaccounts`,
        body: { metadata: { name: `a-${index}` }, secrets: name === namespace ? secretsOf(index) : [] }
      }),
      accounts
    )
    yield* post(where, (index) => ({
      path: `${path}/secrets`,
      body: {
        metadata: {
          name: `t-${index}`,
          annotations: { "kubernetes.io/service-account.name": `a-${index % accounts}` }
        },
        type: "kubernetes.io/service-account-token"
      }
    }))
  }
  const bare = yield* Effect.promise(() =>
    Stand.plainly(where, count, (index) => ({
      method: "PATCH",
      path: `/api/v1/namespaces/floor/secrets/t-${index}`,
      body: { metadata: { labels: { [invalidSince]: "2020-01-01" } } }
    }))
  )
  yield* post(
    where,
    () => ({
      path: "/api/v1/namespaces/kube-system/configmaps",
      body: {
        metadata: { name: "kube-apiserver-legacy-service-account-token-tracking" },
        data: { since: "2020-01-01" }
      }
    }),
    1
  )
  // A second without use is enough, and creation times are whole seconds.
  yield* Effect.sleep("3 seconds")
  const began = performance.now()
  const running = yield* Stand.controllers(
    where,
    ["legacy-serviceaccount-token-cleaner"],
    ["--legacy-service-account-token-clean-up-period=1s"]
  )
  const isWanted = ({ metadata }: Secret) =>
    metadata.namespace === namespace && metadata.labels?.[invalidSince] !== undefined
  yield* observed(client, Secret, { expected: count, isWanted })
  const { cpuMillis, peakMiB } = Stand.usageOf(running)
  return Stand.figures(`1,000 tokens of no use marked, with the start of the process, on ${where.what}`, {
    seconds: (performance.now() - began) / 1000,
    cpu: cpuMillis / count,
    peakMiB,
    ...floors(bare, "token")
  })
})

const all = [mirrored, aggregated, marked]

export const run = (): Promise<Array<Figure>> =>
  Effect.runPromise(
    Effect.map(
      Effect.forEach(all, (one) => Effect.scoped(one)),
      (figures) => figures.flat()
    )
  )

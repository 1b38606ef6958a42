/** The harness of the endpoint controllers' tests: nodes, pods with given addresses, and the resulting endpoints of a Service. */
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as EndpointsController from "../../../../src/controllers/Endpoints.ts"
import * as EndpointSliceController from "../../../../src/controllers/EndpointSlice.ts"
import type { KubeObject } from "../../../../src/kube/Meta.ts"
import * as Patch from "../../../../src/kube/Patch.ts"
import type * as Resource from "../../../../src/kube/Resource.ts"
import { Endpoints, EndpointSlice, Event, Node, Pod, Service } from "../../../../src/kube/resources.ts"
import * as Time from "../../../../src/kube/time.ts"
import type { Rule } from "../../../../src/apiserver/faults.ts"
import * as ClusterTest from "../../../../src/testing/ClusterTest.ts"
import type { Descriptor } from "../../../../src/layers/Controller.ts"
import { Recorder } from "../../../../src/layers/Recorder.ts"
import type { Request } from "../../../../src/layers/Transport.ts"
import * as Cluster from "../../../support/cluster.ts"
import { withClient } from "../../../support/cluster.ts"

const namespace = "default"

export const labels = { app: "web" }

const settled = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.tap(effect, () => settle)

export const settle = Effect.flatMap(ClusterTest.ClusterTest, (cluster) => cluster.settle)

export const advance = (time: Duration.Input) =>
  Effect.flatMap(ClusterTest.ClusterTest, (cluster) => cluster.advance(time))

/** A Service of the pods with `app=web`. */
export const expose = (spec: object = {}, metadata: object = {}) =>
  settled(
    withClient((client) =>
      client.create(Service, {
        metadata: { name: "web", namespace, ...metadata },
        spec: { selector: labels, ports: [{ name: "http", port: 80, targetPort: 8080 }], ...spec }
      })
    )
  )

export const node = (name: string, zone?: string) =>
  settled(
    withClient((client) =>
      client.create(Node, {
        metadata: { name, labels: zone === undefined ? {} : { "topology.kubernetes.io/zone": zone } }
      })
    )
  )

const container = { name: "main", image: "web:1" }

/** A pod on `a`, without an address. */
export const pod = (name: string, spec: object = {}, metadata: object = {}) =>
  withClient((client) =>
    client.create(Pod, {
      metadata: { name, namespace, labels, ...metadata },
      spec: { nodeName: "a", containers: [container], ...spec }
    })
  )

/** Writes the status that a kubelet writes for a pod with addresses. */
export const runs = (name: string, ips: ReadonlyArray<string>, ready = true) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => patch(Pod, name, runningAt(ips, ready, now), "status"))

/** The body of that status, for tests that write it themselves. */
export const runningPatch = (ips: ReadonlyArray<string>, ready: boolean) => merge(runningAt(ips, ready, 0))

export const merge = Patch.merge

/** Creates a ready pod with that address. */
export const running = (name: string, ...ips: ReadonlyArray<string>) => Effect.andThen(pod(name), () => runs(name, ips))

/** Creates this many ready pods. */
export const crowd = (count: number) =>
  settled(
    Effect.forEach(
      Array.from({ length: count }, (_, i) => i),
      (i) =>
        withClient((client) =>
          Effect.andThen(pod(`web-${i}`), () =>
            client.patch(
              Pod,
              { namespace, name: `web-${i}`, subresource: "status" },
              Patch.merge(runningAt([`10.1.${i >> 8}.${i & 255}`], true, 0))
            )
          )
        )
    )
  )

const runningAt = (ips: ReadonlyArray<string>, ready: boolean, now: number) => ({
  status: {
    phase: "Running",
    podIP: ips[0],
    podIPs: ips.map((ip) => ({ ip })),
    conditions: [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime: Time.format(now) }]
  }
})

export const patch = (resource: Resource.Any, name: string, body: object, subresource?: string) =>
  settled(withClient((client) => client.patch(resource, { namespace, name, subresource }, Patch.merge(body))))

export const remove = (resource: Resource.Any, name: string, options: object = {}) =>
  settled(withClient((client) => client.delete(resource, { namespace, name }, options)))

export const list = <A extends KubeObject>(resource: Resource.Resource<A>) =>
  withClient((client) => Effect.map(client.list(resource, { namespace }), ({ items }) => items))

/** The slices of the Service, in the order of their creation. */
export const slices = (service = "web") =>
  Effect.map(list(EndpointSlice), (all) =>
    all
      .filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === service)
      .sort((a, b) => Number(a.metadata.creationTimestamp! > b.metadata.creationTimestamp!) || -1)
  )

/** How many endpoints each has, the fullest first. */
export const sizes = Effect.map(slices(), (all) =>
  all.map(({ endpoints }) => endpoints?.length ?? 0).sort((a, b) => b - a)
)

/** `IPv4 10.0.0.1 ready serving`, for each endpoint. */
export const behind = Effect.map(slices(), (all) =>
  all
    .flatMap(({ addressType, endpoints }) =>
      (endpoints ?? []).map(({ addresses, conditions = {} }) => {
        const states = (["ready", "serving", "terminating"] as const).filter((state) => conditions[state] === true)
        return [addressType, ...addresses, ...states].join(" ")
      })
    )
    .sort()
)

export const endpoints = (name = "web") =>
  Effect.map(list(Endpoints), (all) => all.find(({ metadata }) => metadata.name === name))

/** `10.0.0.1 (10.0.0.2) http:8080` for each subset, those that are not ready in brackets. */
export const subsets = Effect.map(endpoints(), (one) =>
  (one?.subsets ?? []).map(({ addresses = [], notReadyAddresses = [], ports = [] }) =>
    [
      ...addresses.map(({ ip }) => ip),
      ...notReadyAddresses.map(({ ip }) => `(${ip})`),
      ...ports.map(({ name = "", port }) => `${name}:${port}`)
    ].join(" ")
  )
)

/** Events in the order of their names, `type reason message`, and who recorded them. */
export const events = Effect.gen(function* () {
  yield* (yield* Recorder).drained
  const all = yield* list(Event)
  return all.map(({ message, reason, source, type }) => `${source?.component}: ${type} ${reason} ${message}`)
})

const kept = new Set(["endpoints", "endpointslices.discovery.k8s.io"])

/** Records writes of Endpoints and slices from now on; `rules` inject faults. */
export const recording = (rules: ReadonlyArray<Rule> = []) =>
  Cluster.recording(({ context }) => kept.has(context.resource ?? ""), rules)

/** `create endpoints`, `update endpointslices.discovery.k8s.io`. */
export const line = ({ context }: Request): string => `${context.verb} ${context.resource}`

export const loops: ReadonlyArray<Descriptor> = [EndpointsController.make(), EndpointSliceController.make()]

export const start = (controllers: ReadonlyArray<Descriptor> = loops) =>
  Effect.flatMap(ClusterTest.ClusterTest, (cluster) => Effect.forEach(controllers, (one) => cluster.run(one)))

/** Runs both controllers on a cluster with one node without a kubelet; the test sets the state of pods. */
export const withLoop = <A, E>(
  test: Effect.Effect<A, E, ClusterTest.Provides | Scope.Scope>,
  options: ClusterTest.Options & { readonly controllers?: ReadonlyArray<Descriptor> } = {}
) =>
  Effect.andThen(Effect.andThen(start(options.controllers), node("a", "zone-a")), test).pipe(
    Effect.scoped,
    Effect.provide(ClusterTest.ClusterTest.layer(options))
  )

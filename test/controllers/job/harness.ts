/** The harness of the Job tests: manifests, pods whose end the test sets, and recorded API calls. */
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import * as JobController from "../../../src/controllers/Job.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import type * as Resource from "../../../src/kube/Resource.ts"
import { Event, Job, Pod } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { isWatch, type Rule } from "../../../src/apiserver/faults.ts"
import * as ClusterTest from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { Recorder } from "../../../src/layers/Recorder.ts"
import type { Request } from "../../../src/layers/Transport.ts"

export const finalizer = "batch.kubernetes.io/job-tracking"
export const indexKey = "batch.kubernetes.io/job-completion-index"

const namespace = "default"

/** A Job whose pods run until a test ends them. */
export const job = (spec: object = {}, metadata: object = {}): object => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "work", namespace, ...metadata },
  spec: {
    template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "work:1" }] } },
    ...spec
  }
})

export const get = (name = "work") => Effect.flatMap(KubeClient, (client) => client.get(Job, { namespace, name }))

export const statusOf = (name = "work") => Effect.map(get(name), ({ status }) => status)

/** Types of the conditions that hold, in their order. */
export const conditions = Effect.map(statusOf(), (status) =>
  (status?.conditions ?? []).map(({ status: holds, type }) => (holds === "True" ? type : `not ${type}`))
)

/** All pods, in the order in which they were made. */
export const pods = Effect.flatMap(KubeClient, (client) =>
  Effect.map(client.list(Pod, { namespace }), ({ items }) =>
    items.toSorted((a, b) => Number(a.metadata.resourceVersion ?? 0) - Number(b.metadata.resourceVersion ?? 0))
  )
)

export const activePods = Effect.map(pods, (all) =>
  all.filter(
    ({ metadata, status }) =>
      metadata.deletionTimestamp === undefined && status?.phase !== "Succeeded" && status?.phase !== "Failed"
  )
)

export const indexOf = ({ metadata }: Pod): string | undefined => metadata.annotations?.[indexKey]

export const isHeld = ({ metadata }: Pod): boolean => metadata.finalizers?.includes(finalizer) === true

export const patch = (resource: Resource.Any, name: string, body: object, subresource?: string) =>
  Effect.flatMap(KubeClient, (client) => client.patch(resource, { namespace, name, subresource }, Patch.merge(body)))

export const change = (spec: object) => Effect.andThen(patch(Job, "work", { spec }), settle)

/** What a kubelet would say of a pod whose only container has ended. */
export const end = (pod: Pod | undefined, exitCode: number, more: object = {}) =>
  Effect.gen(function* () {
    const finishedAt = Time.format(yield* Clock.currentTimeMillis)
    const terminated = { exitCode, finishedAt, startedAt: finishedAt, reason: exitCode === 0 ? "Completed" : "Error" }
    yield* patch(
      Pod,
      pod?.metadata.name ?? "",
      {
        status: {
          phase: exitCode === 0 ? "Succeeded" : "Failed",
          containerStatuses: [
            { name: "main", image: "work:1", imageID: "", ready: false, restartCount: 0, state: { terminated } }
          ],
          ...more
        }
      },
      "status"
    )
  })

/** Ends the first so many active pods. */
export const endSome = (count: number, exitCode: number) =>
  Effect.flatMap(activePods, (all) =>
    Effect.forEach(all.slice(0, count), (pod) => end(pod, exitCode), { discard: true })
  )

/** Ends the active pod of an index. */
export const endIndex = (index: number, exitCode: number, more: object = {}) =>
  Effect.flatMap(activePods, (all) =>
    end(
      all.find((pod) => indexOf(pod) === String(index)),
      exitCode,
      more
    )
  )

/** What a kubelet says of a pod that runs. */
export const ready = (pod: Pod | undefined, restartCount = 0) =>
  Effect.gen(function* () {
    const lastTransitionTime = Time.format(yield* Clock.currentTimeMillis)
    yield* patch(
      Pod,
      pod?.metadata.name ?? "",
      {
        status: {
          phase: "Running",
          conditions: [{ type: "Ready", status: "True", lastTransitionTime }],
          containerStatuses: [
            { name: "main", image: "work:1", imageID: "", ready: true, restartCount, state: { running: {} } }
          ]
        }
      },
      "status"
    )
  })

/** Puts a pod on a node, so that it is deleted in two steps: the grace period of a kubelet that never comes. */
export const bind = (pod: Pod) =>
  Effect.flatMap(KubeClient, (client) =>
    client.create(
      Pod,
      {
        metadata: { name: pod.metadata.name, namespace },
        target: { apiVersion: "v1", kind: "Node", name: "worker-1" }
      } as never,
      { namespace, subresource: "binding" }
    )
  )

export const bindAll = Effect.flatMap(activePods, (all) => Effect.forEach(all, bind, { discard: true }))

/** The kubelet takes a pod away for good. */
export const takeAway = (name: string) =>
  Effect.flatMap(KubeClient, (client) => client.delete(Pod, { namespace, name }, { gracePeriodSeconds: 0 }))

export const remove = (resource: Resource.Any, name: string, options: object = {}) =>
  Effect.flatMap(KubeClient, (client) => client.delete(resource, { namespace, name }, options))

/** Events about an object in the order of their names, `type reason message`. */
export const events = (name = "work") =>
  Effect.gen(function* () {
    yield* (yield* Recorder).drained
    const client = yield* KubeClient
    const { items } = yield* client.list(Event, { fieldSelector: `involvedObject.name=${name}` })
    return items.map((event) => ({
      text: `${event.type} ${event.reason} ${event.message}`,
      component: event.source?.component
    }))
  })

/** Those that are not about one pod. */
export const jobEvents = Effect.map(events(), (all) =>
  all.map(({ text }) => text).filter((text) => !text.includes("SuccessfulCreate") && !text.includes("SuccessfulDelete"))
)

/** Calls to the server other than watches and events, from now on; rules for bad luck come first. */
export const recording = (rules: ReadonlyArray<Rule> = []) =>
  Effect.gen(function* () {
    const calls: Array<Request> = []
    yield* (yield* ApiServer).setFaults([
      {
        match: (request) => {
          if (request.context.resource !== "events" && !isWatch(request)) calls.push(request)
          return false
        },
        fault: { _tag: "Drop" }
      },
      ...rules
    ])
    return calls
  })

/** The counters of the loop: `job_controller_job_syncs_total NonIndexed success tracking 3`. Wants a registry of the test's own. */
export const counters = Effect.map(Metric.snapshot, (all) =>
  all.flatMap(({ attributes, id, state }) =>
    id.startsWith("job_controller_") && "count" in state
      ? `${id} ${Object.values(attributes ?? {}).join(" ")} ${state.count}`
      : []
  )
)

/** `create pods`, `update jobs.batch`. */
export const line = ({ context }: Request): string => `${context.verb} ${context.resource}`

export const settle = Effect.flatMap(ClusterTest.ClusterTest, (cluster) => cluster.settle)

export const advance = (time: Duration.Input) =>
  Effect.flatMap(ClusterTest.ClusterTest, (cluster) => cluster.advance(time))

/** Long enough for everything that happened to be looked at, in all its rounds. */
export const rounds = advance("4 seconds")

export const apply = (...objects: ReadonlyArray<object>) =>
  Effect.flatMap(ClusterTest.ClusterTest, (cluster) => Effect.tap(cluster.apply(objects), () => cluster.settle))

export const start = Effect.flatMap(ClusterTest.ClusterTest, (cluster) => cluster.run(JobController.make()))

/** The loop on a cluster without nodes, for as long as the test runs. */
export const withLoop = <A, E>(
  test: Effect.Effect<A, E, ClusterTest.Provides | Scope.Scope>,
  options: ClusterTest.Options = {}
) => Effect.andThen(start, test).pipe(Effect.scoped, Effect.provide(ClusterTest.ClusterTest.layer(options)))

export const nameOf = (object: KubeObject | undefined): string => object?.metadata.name ?? ""

/** The harness of the Job tests: manifests, pods whose end the test sets, and recorded API calls. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import * as JobController from "../../../src/controllers/Job.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import type * as Resource from "../../../src/kube/Resource.ts"
import { Job, Pod } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import type { Rule } from "../../../src/apiserver/faults.ts"
import * as ClusterTest from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import type { Request } from "../../../src/layers/Transport.ts"
import * as Cluster from "../../support/cluster.ts"

export { advance } from "../../support/cluster.ts"

export const finalizer = "batch.kubernetes.io/job-tracking"
export const indexKey = "batch.kubernetes.io/job-completion-index"

const namespace = "default"

/** A Job whose pods run until the test ends them. */
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

/** The types of the conditions in their order, with `not` before those that are not True. */
export const conditions = Effect.map(statusOf(), (status) =>
  (status?.conditions ?? []).map(({ status: holds, type }) => (holds === "True" ? type : `not ${type}`))
)

/** All pods, in the order of their creation. */
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

export const isTracked = ({ metadata }: Pod): boolean => metadata.finalizers?.includes(finalizer) === true

export const patch = (resource: Resource.Any, name: string, body: object, subresource?: string) =>
  Effect.flatMap(KubeClient, (client) => client.patch(resource, { namespace, name, subresource }, Patch.merge(body)))

export const change = (spec: object) => Effect.andThen(patch(Job, "work", { spec }), settle)

/** A patch with the status of a Job that has finished at this time. */
export const ended = (type: "Complete" | "Failed", at: string) => {
  const condition = { status: "True", reason: "Because", message: "", lastTransitionTime: at, lastProbeTime: at }
  return {
    status: {
      startTime: at,
      ...(type === "Complete" ? { completionTime: at } : {}),
      conditions: [
        { type: type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget", ...condition },
        { type, ...condition }
      ]
    }
  }
}

/** Writes the status that a kubelet reports for a pod whose only container has ended. */
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

/** Ends the first `count` active pods. */
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

/** Writes the status that a kubelet reports for a running pod. */
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

/** Binds a pod to a node without a kubelet, so that a deleted pod stays terminating. */
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

/** Deletes a terminating pod at once, as its kubelet does. */
export const deleteNow = (name: string) =>
  Effect.flatMap(KubeClient, (client) => client.delete(Pod, { namespace, name }, { gracePeriodSeconds: 0 }))

export const remove = (resource: Resource.Any, name: string, options: object = {}) =>
  Effect.flatMap(KubeClient, (client) => client.delete(resource, { namespace, name }, options))

/** The events of an object, sorted by their names, and the component that recorded each. */
export const events = (name = "work") =>
  Effect.map(Cluster.eventObjects(`involvedObject.name=${name}`), (items) =>
    items.map(({ message, reason, source, type }) => ({
      text: `${type} ${reason} ${message}`,
      component: source?.component
    }))
  )

/** The events of the Job, except those about the creation or deletion of a pod. */
export const jobEvents = Effect.map(events(), (all) =>
  all.map(({ text }) => text).filter((text) => !text.includes("SuccessfulCreate") && !text.includes("SuccessfulDelete"))
)

/** Records all requests other than watches and events from now on; `rules` inject faults. */
export const recording = (rules: ReadonlyArray<Rule> = []) =>
  Cluster.recordingAll(({ context }) => context.resource !== "events", rules)

/** The counters of the loop: `job_controller_job_syncs_total NonIndexed success tracking 3`. The test has to provide its own metric registry. */
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

/** Enough time for all batched syncs after a change. */
export const rounds = Cluster.advance("4 seconds")

export const apply = (...objects: ReadonlyArray<object>) =>
  Effect.flatMap(ClusterTest.ClusterTest, (cluster) => Effect.tap(cluster.apply(objects), () => cluster.settle))

export const start = Effect.flatMap(ClusterTest.ClusterTest, (cluster) => cluster.run(JobController.make()))

/** Runs the Job controller on a cluster without nodes from the beginning to the end of the test. */
export const withLoop = <A, E>(
  test: Effect.Effect<A, E, ClusterTest.Provides | Scope.Scope>,
  options: ClusterTest.Options = {}
) => Effect.andThen(start, test).pipe(Effect.scoped, Effect.provide(ClusterTest.ClusterTest.layer(options)))

export const nameOf = (object: KubeObject | undefined): string => object?.metadata.name ?? ""

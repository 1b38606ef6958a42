/** The harness of the CronJob tests: schedules, and Jobs that a test finishes. Extends the harness of the Job tests. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as CronJobs from "../../../src/controllers/CronJob.ts"
import * as Zone from "../../../src/kube/cron/Zone.ts"
import { CronJob, Job } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import * as ClusterTest from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Jobs from "../job/harness.ts"

export { advance, apply, patch, recording, remove, settle } from "../job/harness.ts"

const namespace = "default"

export const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "work:1" }] } }

/** A CronJob that runs each minute by default. */
export const cronJob = (spec: object = {}, metadata: object = {}): object => ({
  apiVersion: "batch/v1",
  kind: "CronJob",
  metadata: { name: "tick", namespace, ...metadata },
  spec: { schedule: "*/1 * * * ?", jobTemplate: { spec: { template } }, ...spec }
})

export const get = (name = "tick") => Effect.flatMap(KubeClient, (client) => client.get(CronJob, { namespace, name }))

export const statusOf = (name = "tick") => Effect.map(get(name), ({ status }) => status)

/** Names of the active Jobs, from the status. */
export const active = Effect.map(statusOf(), (status) => (status?.active ?? []).map(({ name = "" }) => name))

/** Names of all Jobs. */
export const runs = Effect.flatMap(KubeClient, (client) =>
  Effect.map(client.list(Job, { namespace }), ({ items }) => items.map(({ metadata }) => metadata.name))
)

export const run = (name: string) => Effect.flatMap(KubeClient, (client) => client.get(Job, { namespace, name }))

/** Finishes a Job now. */
export const end = (name: string, type: "Complete" | "Failed" = "Complete") =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.andThen(Jobs.patch(Job, name, Jobs.ended(type, Time.format(now)), "status"), Jobs.settle)
  )

export const change = (spec: object) => Effect.andThen(Jobs.patch(CronJob, "tick", { spec }), Jobs.settle)

/** The events of a CronJob, sorted by event name. */
export const eventTexts = (name = "tick") => Effect.map(Jobs.events(name), (all) => all.map(({ text }) => text))

/** The reasons of these events. */
export const reasons = (name = "tick") =>
  Effect.map(eventTexts(name), (all) => all.map((text) => text.split(" ")[1] ?? ""))

export const start = Effect.flatMap(ClusterTest.ClusterTest, (cluster) =>
  cluster.run(CronJobs.make({ zone: Zone.utc }))
)

/** Runs the controller, without nodes and without the Job controller, for the duration of the test. */
export const scenario = <A, E>(
  test: Effect.Effect<A, E, ClusterTest.Provides | Scope.Scope>,
  options: ClusterTest.Options = {}
) => Effect.andThen(start, test).pipe(Effect.scoped, Effect.provide(ClusterTest.ClusterTest.layer(options)))

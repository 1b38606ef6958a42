/** The Job controller on a real API server: a Job that succeeds, one that fails, and one whose parallelism is lowered. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as JobController from "../../../src/controllers/Job.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { Job, Pod } from "../../../src/kube/resources.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import * as Nodes from "../../../src/simulation/Nodes.ts"
import * as envtest from "../../support/envtest.ts"
import * as RealServer from "../../support/realServer.ts"

const isMissing = envtest.isMissing("Jobs on a real API server")
if (!isMissing)
  console.log(
    "skipped on a real API server of 1.20: ttl-after-finished, indexes and suspension, because it drops the fields that ask for them"
  )

const cluster = JobController.make().layer.pipe(
  Layer.provideMerge(Nodes.layer({ delays: { start: 20, stop: 20 } })),
  Layer.provideMerge(RealServer.services())
)

const namespace = "default"

const create = (name: string, spec: object, command: ReadonlyArray<string>) =>
  Effect.flatMap(KubeClient, (client) =>
    client.create(Job, {
      metadata: { namespace, name },
      spec: {
        ...spec,
        template: {
          spec: { restartPolicy: "Never", containers: [{ name: "main", image: "work:1", command: [...command] }] }
        }
      }
    })
  )

const until = (name: string, wanted: (job: Job) => boolean) =>
  RealServer.until(Job, name, (job) => job !== undefined && wanted(job))

const has = (job: Job, type: string): boolean => job.status?.conditions?.some((one) => one.type === type) === true

it.live.skipIf(isMissing)("runs Jobs to their ends on a real API server", () =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    yield* create("good", { completions: 5, parallelism: 2 }, ["true"])
    yield* create("bad", { backoffLimit: 0 }, ["false"])
    yield* create("long", { completions: 4, parallelism: 3 }, ["sleep", "infinity"])

    yield* until("good", (job) => has(job, "Complete"))
    const good = yield* client.get(Job, { namespace, name: "good" })
    assert.deepInclude(good.status, { succeeded: 5 })
    assert.isDefined(good.status?.completionTime)
    assert.deepStrictEqual(
      good.status?.conditions?.map(({ reason, type }) => `${type} ${reason}`),
      ["SuccessCriteriaMet CompletionsReached", "Complete CompletionsReached"]
    )
    yield* until("bad", (job) => has(job, "Failed"))
    assert.deepInclude((yield* client.get(Job, { namespace, name: "bad" })).status, { failed: 1 })

    yield* until("long", ({ status }) => status?.active === 3)
    yield* client.patch(Job, { namespace, name: "long" }, Patch.merge({ spec: { parallelism: 1 } }))
    yield* until("long", ({ status }) => status?.active === 1)

    const { items } = yield* client.list(Pod, { namespace })
    const tracked = items.filter(({ metadata }) => metadata.finalizers !== undefined)
    assert.deepStrictEqual(
      tracked.map(({ metadata }) => metadata.labels?.["job-name"]),
      ["long"]
    )
    yield* RealServer.recorded("Completed", "BackoffLimitExceeded", "SuccessfulCreate", "SuccessfulDelete")
  }).pipe(Effect.provide(cluster))
)

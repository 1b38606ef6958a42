/**
 * All core loops on a cluster without changes: five hundred Deployments of forty pods, created by the loops themselves, and then a new process that is
 * idle. The lower bound is a process of the same program that runs one loop about a kind with few objects.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { tableOf } from "../../test/support/controllers.ts"
import { Deployment, Namespace } from "../../src/kube/resources.ts"
import type { KubeClient } from "../../src/layers/KubeClient.ts"
import type { Figure } from "../figure.ts"
import * as Stand from "./stand.ts"

const [deployments, replicas] = [500, 40]
const pods = deployments * replicas
const namespace = "load"
const watched = 60

/** Every loop that needs no cloud, with a key for the one that creates tokens. */
export const coreLoops = tableOf({ "service-account-private-key-file": "sa.key" })
  .filter(
    ({ controller, embeddedOnly, group }) => group === "core" && controller.cloud !== true && embeddedOnly === undefined
  )
  .map(({ controller }) => controller.name)

const populate = (client: KubeClient["Service"]) =>
  Effect.gen(function* () {
    yield* client.create(Namespace, { metadata: { name: namespace } })
    const complete = new Set<string>()
    yield* Effect.all(
      [
        client.watch(Deployment, { namespace, timeoutSeconds: 900 }).pipe(
          Stream.takeUntil(({ object }) => {
            const { metadata, status } = object as Deployment
            if (status?.observedGeneration === metadata.generation && status?.updatedReplicas === replicas) {
              complete.add(metadata.name)
            }
            return complete.size === deployments
          }),
          Stream.runDrain
        ),
        Effect.forEach(
          Array.from({ length: deployments }, (_, index) => `load-${index}`),
          (name) =>
            client.create(Deployment, {
              metadata: { namespace, name },
              spec: {
                replicas,
                selector: { matchLabels: { of: name } },
                template: {
                  metadata: { labels: { of: name } },
                  spec: { containers: [{ name: "main", image: "example.test/main:1" }] }
                }
              }
            }),
          { concurrency: 8, discard: true }
        )
      ],
      { concurrency: "unbounded" }
    )
  })

/** CPU time in a minute of rest, in percent of a core. The process is idle when five seconds cost less than a tenth of them. */
const atRest = (where: Stand.Server, loops: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const key = `--service-account-private-key-file=${yield* Stand.signingKey}`
    const running = yield* Stand.controllers(where, loops, [key])
    const spent = (seconds: number) =>
      Effect.gen(function* () {
        const before = Stand.usageOf(running).cpuMillis
        yield* Effect.sleep(seconds * 1000)
        return (Stand.usageOf(running).cpuMillis - before) / seconds / 10
      })
    for (let tries = 0; tries < 20 && (yield* spent(5)) > 10; tries++) continue
    return { percent: yield* spent(watched), ...Stand.usageOf(running) }
  }).pipe(Effect.scoped)

const measured = Effect.gen(function* () {
  // Loops wait for kinds that a server of an old version does not have.
  const where = yield* Stand.embedded
  const client = yield* Stand.client(where)
  yield* Effect.scoped(Effect.andThen(Stand.controllers(where, ["deployment", "replicaset"]), populate(client)))
  const floor = yield* atRest(where, ["namespace"])
  const { peakMiB, percent, residentMiB } = yield* atRest(where, coreLoops)
  const name = `${coreLoops.length} loops idle on ${pods} pods on ${where.what}`
  return [
    {
      name: `${name}, ${Stand.load()}`,
      value: percent,
      unit: "% of a core",
      floor: floor.percent,
      bar: "≤ 2 %",
      ok: percent <= 2
    },
    {
      name: `${name}: memory`,
      value: residentMiB,
      unit: "MiB RSS",
      floor: floor.residentMiB,
      bar: "≤ 300 MiB",
      ok: residentMiB <= 300
    },
    {
      name: `${name}: peak memory`,
      value: peakMiB,
      unit: "MiB RSS",
      floor: floor.peakMiB,
      bar: "≤ 300 MiB",
      ok: peakMiB <= 300
    }
  ] satisfies Array<Figure>
})

export const run = (): Promise<Array<Figure>> => Effect.runPromise(Effect.scoped(measured))

/**
 * The program is killed with SIGKILL three times while it creates and replaces the replicas of ordered sets, and started again. At every revision of the server's
 * log a replica is created only when all before it are ready and deleted only when all others are. Each is created once of each template, and each claim once.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as Patch from "../../../src/kube/Patch.ts"
import { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from "../../../src/kube/resources.ts"
import * as KubeConfig from "../../../src/platform/KubeConfig.ts"
import * as Process from "../../support/process.ts"
import * as Cluster from "../cluster.ts"

const namespace = "default"
const names = Array.from({ length: 10 }, (_, i) => `db${i}`)
const replicas = 3

const templateOf = (image: string, name: string) => ({
  metadata: { labels: { of: name } },
  spec: { terminationGracePeriodSeconds: 0, containers: [{ name: "main", image }] }
})

const set = (name: string) => ({
  metadata: { namespace, name },
  spec: {
    serviceName: name,
    replicas,
    selector: { matchLabels: { of: name } },
    template: templateOf("db:1", name),
    volumeClaimTemplates: [
      {
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
      }
    ]
  }
})

const imageOf = ({ spec }: Pod): string => spec?.containers[0]?.image ?? ""
const isWell = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined &&
  status?.conditions?.some(({ status, type }) => type === "Ready" && status === "True") === true

/** The pods as the watch reports them, and every revision at which a set broke an invariant. */
const makeLog = () => {
  const pods = new Map<string, Pod>()
  const made = new Map<string, Array<string>>()
  const wrong: Array<string> = []
  const areReady = (name: string, ordinals: ReadonlyArray<number>): boolean =>
    ordinals.every((ordinal) => {
      const pod = pods.get(`${name}-${ordinal}`)
      return pod !== undefined && isWell(pod)
    })
  const all = Array.from({ length: replicas }, (_, i) => i)
  const record = (type: string, pod: Pod): void => {
    const { name, uid } = pod.metadata
    const [of = "", digit = ""] = name.split("-")
    const ordinal = Number(digit)
    const before = pods.get(name)
    if (type === "DELETED") pods.delete(name)
    else pods.set(name, pod)
    if (type === "ADDED") {
      made.set(name, [...(made.get(name) ?? []), imageOf(pod)])
      if (!areReady(of, all.slice(0, ordinal))) wrong.push(`${name} (${uid}) was made before all below it were ready`)
    }
    const wasKept = before !== undefined && before.metadata.deletionTimestamp === undefined
    if (wasKept && (type === "DELETED" || pod.metadata.deletionTimestamp !== undefined)) {
      const others = all.filter((other) => other !== ordinal)
      if (!areReady(of, others)) wrong.push(`${name} (${uid}) went while another one was not ready`)
    }
  }
  const count = (image: string) => [...made.values()].filter((images) => images.includes(image)).length
  return { record, made, wrong, count, well: () => [...pods.values()].filter(isWell).length }
}

describe("ten ordered sets of three replicas, and a changed template", () => {
  it.live("are created and replaced one by one, although the program is killed meanwhile", () =>
    Effect.gen(function* () {
      const server = yield* Process.start(["apiserver", "--nodes=4"])
      const [, kubeconfig = ""] = yield* server.says(/^export KUBECONFIG=(\S+)$/m)
      const client = yield* Cluster.clientAt(yield* KubeConfig.load({ mode: "kubeconfig", path: kubeconfig, env: {} }))
      const pods = makeLog()
      let claims = 0
      const since = { namespace, timeoutSeconds: 300 }
      yield* client.watch(Pod, since).pipe(
        Stream.runForEach(({ object, type }) => Effect.sync(() => pods.record(type, object as Pod))),
        Effect.forkScoped
      )
      yield* client.watch(PersistentVolumeClaim, since).pipe(
        Stream.runForEach(({ type }) => Effect.sync(() => (claims += type === "ADDED" ? 1 : 0))),
        Effect.forkScoped
      )
      const asked = { schedule: Schedule.spaced("10 millis"), times: 6000 }
      const until = (holds: () => boolean) =>
        Effect.retry(
          Effect.suspend(() => (holds() ? Effect.void : Effect.fail("not yet" as const))),
          asked
        )
      const start = Process.start(["--kubeconfig", kubeconfig, "--controllers=statefulset", "--leader-elect=false"])
      const total = names.length * replicas
      /** After this many replicas were created with the image, and before all were. */
      const killedAt = Effect.fnUntraced(function* (running: Process.Running, image: string, count: number) {
        yield* until(() => pods.count(image) >= count)
        yield* running.kill("SIGKILL")
        yield* running.exit
        assert.isBelow(pods.count(image), total)
      })
      yield* Effect.forEach(names, (name) => client.create(StatefulSet, set(name)))
      yield* killedAt(yield* start, "db:1", 4)
      yield* killedAt(yield* start, "db:1", 17)
      const last = yield* start
      yield* until(() => pods.well() === total)
      yield* Effect.forEach(names, (name) =>
        client.patch(StatefulSet, { namespace, name }, Patch.merge({ spec: { template: templateOf("db:2", name) } }))
      )
      yield* killedAt(last, "db:2", 8)
      yield* start
      const isDone = Effect.flatMap(client.list(StatefulSet, { namespace }), ({ items }) =>
        items.every(
          ({ metadata, status }) =>
            status?.observedGeneration === metadata.generation &&
            status?.updatedReplicas === replicas &&
            status.readyReplicas === replicas &&
            status.currentRevision === status.updateRevision
        )
          ? Effect.void
          : Effect.fail("not yet" as const)
      )
      yield* Effect.retry(isDone, { schedule: Schedule.spaced("100 millis"), times: 600 })
      assert.deepStrictEqual(pods.wrong, [])
      assert.lengthOf([...pods.made], total)
      for (const [name, images] of pods.made) assert.deepStrictEqual(images, ["db:1", "db:2"], name)
      assert.strictEqual(claims, total)
      const revisions = yield* client.list(ControllerRevision, { namespace })
      assert.lengthOf(revisions.items, 2 * names.length)
    }).pipe(Effect.scoped)
  )
})

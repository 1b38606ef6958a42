/** The pages for operators of a whole manager, on the embedded API server and in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import * as Access from "../../../src/kube/Access.ts"
import { ConfigMap, Secret } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import { on } from "../../../src/apiserver/faults.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import * as Health from "../../../src/layers/Health.ts"
import * as Inspection from "../../../src/layers/Inspection.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import { Leadership, noTerms } from "../../../src/layers/Leadership.ts"
import { Timeline } from "../../../src/layers/Timeline.ts"
import * as Record from "../../../src/layers/timeline/record.ts"
import type { ObjectView } from "../../../src/manager/console/protocol.ts"
import * as Manager from "../../../src/manager/Manager.ts"
import * as States from "../../../src/manager/runnables/states.ts"
import * as Cluster from "../../support/cluster.ts"
import { asked, pagesOf, read } from "./asking.ts"

class Broken extends Data.TaggedError("Broken")<{}> {
  override readonly message = "b is\nbroken"
}

/** Reconciles `a` until `letGo`, fails for `b`, and succeeds for everything else. */
const letGo = Deferred.makeUnsafe<void>()
const worker = Controller.make({
  name: "worker",
  for: ConfigMap,
  access: [Access.read(Secret)],
  concurrency: 2,
  backoff: { base: "1 hour" },
  reconcile: ({ name }) =>
    name === "a" ? Deferred.await(letGo) : name === "b" ? Effect.fail(new Broken()) : Effect.void
})

interface Detail {
  readonly state: string
  readonly reason: string
  readonly workers: number
  readonly queues: ReadonlyArray<{
    readonly ready: number
    readonly next: ReadonlyArray<{ readonly key: string; readonly priority: number; readonly readySeconds: number }>
  }>
}

interface Row {
  readonly kind: string
  readonly scope: string
  readonly synced: boolean
  readonly objects: number
  readonly bytes: number
  readonly failuresInARow: number
  readonly lastVersion: string | null
  readonly lastError: object | null
}

const create = (name: string) =>
  Effect.flatMap(KubeClient, (client) =>
    client.create(ConfigMap, { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" } })
  )

/** As `alone`, where the services of the cluster are made with a timeline. */
const recorded = <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof Cluster.layer> | Scope.Scope>) =>
  Effect.flatMap(Record.make(1 << 20), (timeline) => Effect.provideService(alone(effect), Timeline, timeline))

const alone = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.provide(Cluster.layer),
    Effect.provideService(Health.Health, Health.makeUnsafe()),
    Effect.provideService(Inspection.Inspection, Inspection.makeUnsafe()),
    Effect.provideService(States.States, States.makeUnsafe()),
    Effect.provideService(Metric.MetricRegistry, new Map()),
    Effect.scoped
  )

const started = (leadership: Layer.Layer<Leadership> = Leadership.layerAlways) =>
  Effect.gen(function* () {
    const running = yield* Effect.forkChild(
      Effect.provide(Manager.run({ controllers: [worker] }), leadership, { local: true })
    )
    yield* TestClock.adjust("1 second")
    yield* Cluster.settle
    return running
  })

/** A leadership that the test grants. */
const held = Effect.map(Deferred.make<void>(), (turn) => {
  const state = { proven: undefined as number | undefined }
  const layer = Layer.succeed(
    Leadership,
    Leadership.of({
      identity: "me",
      lease: { namespace: "kube-system", name: "manager" },
      acquire: Effect.as(Deferred.await(turn), { lost: Effect.never, isValidUnsafe: () => true }),
      leader: Effect.sync(() => (state.proven === undefined ? "another" : "me")),
      leaderChanges: Stream.empty,
      provenFor: Effect.sync(() => state.proven),
      terms: Effect.succeed(noTerms)
    })
  )
  const lead = Effect.suspend(() => {
    state.proven = 4567
    return Deferred.succeed(turn, undefined)
  })
  return { layer, lead }
})

describe("the pages for operators", () => {
  it.effect("an object's page shows its timeline, by any name of its kind, and when it is due", () =>
    Effect.gen(function* () {
      const handle = yield* pagesOf({ controllers: [worker] })
      yield* started()
      yield* create("b")
      yield* Cluster.settle
      const view = (path: string) => Effect.map(read(handle, path), (value) => value as ObjectView)
      const { due, timeline, ...rest } = yield* view("/debug/objects/ConfigMap/default/b")
      assert.deepInclude(rest, { resource: "configmaps", kind: "ConfigMap", key: "default/b", exists: true })
      assert.deepStrictEqual(
        timeline.map(({ type }) => type),
        ["change", "reconcile"]
      )
      assert.deepInclude(timeline[1], {
        controller: "worker",
        outcome: "error",
        error: "b is broken",
        reasons: ["ConfigMap default/b created"],
        attempt: 1
      })
      assert.deepStrictEqual(due, [{ controller: "worker", at: 1000 + 3_600_000, failures: 1 }])
      assert.deepStrictEqual((yield* view("/debug/objects/cm/default/b")).timeline, timeline)
      assert.isFalse((yield* view("/debug/objects/cm/default/nowhere")).exists)
      assert.strictEqual(yield* read(handle, "/debug/objects/cm"), 404)
      assert.strictEqual(yield* read(handle, "/debug/objects/cm//b"), 404)
    }).pipe(recorded)
  )

  it.effect("a controller's page shows its workers with their keys, the next keys and the last failures", () =>
    alone(
      Effect.gen(function* () {
        const handle = yield* pagesOf({ controllers: [worker], disabled: ["other"] })
        yield* started()
        yield* create("a")
        yield* create("b")
        yield* Cluster.settle
        yield* TestClock.adjust("3 seconds")
        yield* Cluster.settle
        const row = {
          name: "worker",
          state: "started",
          workers: 2,
          active: 1,
          queue: { ready: 0, delayed: 1, processing: 1, failing: 1 },
          lastError: { message: "b is broken", kind: "error", key: "default/b", at: "1970-01-01T00:00:01.000Z" }
        }
        assert.deepStrictEqual(yield* read(handle, "/debug/controllers"), {
          controllers: [row, { name: "other", state: "disabled" }]
        })
        assert.deepStrictEqual(yield* read(handle, "/debug/controllers/worker"), {
          ...row,
          needsLeader: true,
          reads: ["configmaps", "secrets"],
          running: [{ key: "default/a", seconds: 3 }],
          queues: [
            {
              name: "worker",
              ready: 0,
              delayed: 1,
              processing: 1,
              failing: 1,
              next: [],
              nextDelayed: [{ key: "default/b", dueInSeconds: 3597, failures: 1 }]
            }
          ],
          pages: []
        })
        assert.deepStrictEqual(yield* read(handle, "/debug/controllers/other"), { name: "other", state: "disabled" })
        yield* Deferred.succeed(letGo, undefined)
      })
    )
  )

  it.effect("a controller that waits for its kinds names them and shows its oldest waiting keys", () =>
    alone(
      Effect.gen(function* () {
        const server = yield* ApiServer
        server.faults.set([
          { match: on({ resource: "secrets" }), fault: { _tag: "Status", code: 503, message: "overloaded" } }
        ])
        for (let n = 10; n < 40; n++) yield* create(`c${n}`)
        const handle = yield* pagesOf({ controllers: [worker] })
        yield* started()
        yield* TestClock.adjust("20 seconds")
        yield* Cluster.settle
        const detail = Effect.map(read(handle, "/debug/controllers/worker"), (page) => page as Detail)
        const found = yield* detail
        assert.deepInclude(found, { state: "waiting", reason: "for the first sync of secrets", workers: 0 })
        assert.strictEqual(found.queues[0]?.ready, 30)
        assert.strictEqual(found.queues[0]?.next.length, 20)
        const oldest = found.queues[0]?.next[0]
        assert.deepInclude(oldest, { key: "default/c10", priority: -100 })
        yield* TestClock.adjust("7 seconds")
        assert.strictEqual((yield* detail).queues[0]?.next[0]?.readySeconds, (oldest?.readySeconds ?? 0) + 7)
        const { informers } = (yield* read(handle, "/debug/informers")) as { readonly informers: ReadonlyArray<Row> }
        assert.deepStrictEqual(
          informers.map(({ kind }) => kind),
          ["secrets", "configmaps"],
          "trouble comes first"
        )
        assert.deepInclude(informers[0]?.lastError ?? {}, { reason: "ServerError", status: 503 })
        assert.deepInclude(informers[0], { synced: false, objects: 0, lastVersion: null, scope: "everywhere" })
        assert.deepInclude(informers[1], { synced: true, objects: 30, failuresInARow: 0, lastError: null })
        assert.strictEqual(informers[0]?.bytes, 0)
        assert.isAbove(informers[1]?.bytes ?? 0, 30 * 100)
      })
    )
  )

  it.effect("a standby shows the holder of the lease; a leader shows for how long its lease is valid", () =>
    alone(
      Effect.gen(function* () {
        const { layer, lead } = yield* held
        const handle = yield* pagesOf({ controllers: [worker] })
        assert.deepStrictEqual(yield* read(handle, "/debug/leader"), { groups: [] })
        const running = yield* started(layer)
        const group = { lease: "kube-system/manager", identity: "me", controllers: ["worker"] }
        assert.deepStrictEqual(yield* read(handle, "/debug/leader"), {
          groups: [
            {
              lease: group.lease,
              identity: "me",
              leader: "another",
              leads: false,
              validForSeconds: null,
              controllers: ["worker"]
            }
          ]
        })
        const standby = (yield* read(handle, "/debug/controllers/worker")) as object
        assert.deepInclude(standby, { state: "waiting", reason: "for lease kube-system/manager, held by another" })
        yield* lead
        yield* TestClock.adjust("1 second")
        yield* Cluster.settle
        assert.deepStrictEqual(yield* read(handle, "/debug/leader"), {
          groups: [{ ...group, leader: "me", leads: true, validForSeconds: 4.567 }]
        })
        assert.deepInclude((yield* read(handle, "/debug/controllers/worker")) as object, { state: "started" })
        yield* Fiber.interrupt(running)
        assert.deepStrictEqual(yield* read(handle, "/debug/leader"), { groups: [] })
      })
    )
  )

  it.effect("a controller's own page is served below its name while it runs", () =>
    alone(
      Effect.gen(function* () {
        const inspection = yield* Inspection.Inspection
        const controllers = [{ ...worker, debug: { graph: "a picture" } }]
        const handle = yield* pagesOf({ controllers })
        const path = "/debug/controllers/worker/graph"
        assert.strictEqual((yield* asked(handle, path)).status, 503)
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* inspection.pages.show({
              controller: "worker",
              name: "graph",
              contentType: "text/plain",
              read: (query) => Effect.succeed(`of ${query.get("uid")}`)
            })
            assert.deepStrictEqual(yield* asked(handle, `${path}?uid=1`), {
              status: 200,
              text: "of 1",
              allow: undefined
            })
          })
        )
        assert.strictEqual((yield* asked(handle, path)).status, 503)
        const detail = (yield* read(handle, "/debug/controllers/worker")) as { readonly pages: unknown }
        assert.deepStrictEqual(detail.pages, [{ path, says: "a picture" }])
        for (const nowhere of ["/debug", "/debug/controllers/", "/debug/controllers/nobody", `${path}/x`, `${path}s`]) {
          assert.strictEqual((yield* asked(handle, nowhere)).status, 404, nowhere)
        }
      })
    )
  )

  it.effect("each page allows its own method only", () =>
    alone(
      Effect.gen(function* () {
        const handle = yield* pagesOf({ controllers: [worker] })
        const paths = [
          "/configz",
          "/debug/controllers",
          "/debug/controllers/worker",
          "/debug/informers",
          "/debug/leader"
        ]
        for (const path of paths) {
          assert.strictEqual((yield* asked(handle, path, { method: "HEAD" })).status, 200, path)
          for (const method of ["PUT", "POST", "DELETE"]) {
            assert.deepStrictEqual(
              yield* asked(handle, path, { method }),
              { status: 405, text: "Method Not Allowed\n", allow: "GET, HEAD" },
              path
            )
          }
        }
        assert.deepInclude(yield* asked(handle, "/debug/flags/v"), { status: 405, allow: "PUT" })
      })
    )
  )
})

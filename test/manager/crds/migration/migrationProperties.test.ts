/**
 * Migrations among other writers: objects are created, changed and deleted, the storage version changes, the history is compacted, writes conflict, and
 * the process is killed, all between any two requests. At every request `status.storedVersions` names each version in which an object is stored.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { ApiServer } from "../../../../src/apiserver/ApiServer.ts"
import * as Patch from "../../../../src/kube/Patch.ts"
import { KubeClient } from "../../../../src/layers/KubeClient.ts"
import * as Checkpoint from "../../../../src/manager/crds/migration/checkpoint.ts"
import * as Migration from "../../../../src/manager/crds/migration/Migration.ts"
import { layer } from "../../../support/cluster.ts"
import { checkSequences } from "../../../support/property.ts"
import { runs, seed } from "../../../support/runs.ts"
import * as Cluster from "./cluster.ts"

const integer = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** The number of a request of a run. */
const request = integer(0, 25)

const Event = Schema.Struct({
  before: request,
  what: Schema.Literals(["create", "change", "delete", "store", "flip", "compact", "conflict", "drop"]),
  object: integer(0, 11),
  version: Schema.Literals(["v1", "v2", "v3"])
})

const Run = Schema.Struct({
  events: Schema.Array(Event).check(Schema.isMaxLength(6)),
  /** The request at which the process is killed, before or after the server has received it. 26 and more: not at all. */
  killed: Schema.Struct({ at: integer(0, 40), isReceived: Schema.Boolean })
})

const Sequence = Schema.Struct({
  objects: integer(0, 12),
  pageSize: integer(1, 5),
  storage: Schema.Literals(["v1", "v2", "v3"]),
  runs: Schema.Array(Run).check(Schema.isMaxLength(4))
})

const all = ["v1", "v2", "v3"]

const nameOf = (object: number): string => `w${String(object).padStart(2, "0")}`

const happen = ({ object, version, what }: typeof Event.Type) =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    const server = yield* ApiServer
    const target = { namespace: "default", name: nameOf(object) }
    switch (what) {
      case "create":
        return yield* Cluster.put([target.name])
      case "change":
        return yield* client.patch(Cluster.v1, target, Patch.merge({ spec: { size: 7 } }))
      case "delete":
        return yield* client.delete(Cluster.v1, target)
      case "store":
        return yield* Cluster.store(version, all)
      case "flip": {
        const storage = yield* Cluster.storageVersion
        yield* Cluster.store(version, all)
        yield* Effect.ignore(client.patch(Cluster.v1, target, Patch.merge({ spec: { size: 7 } })))
        return yield* Cluster.store(storage, all)
      }
      case "compact":
        return yield* server.compact()
      case "conflict":
        return yield* server.setFaults([{ match: { verb: "patch" }, fault: { _tag: "Conflict" }, times: 2 }])
      case "drop":
        return yield* server.setFaults([{ match: {}, fault: { _tag: "DropAnswer" }, times: 2 }])
    }
  }).pipe(Effect.ignore)

/** A sentence for each object whose version is not among `status.storedVersions`. */
const violations = Effect.gen(function* () {
  const named = yield* Cluster.storedVersions
  return Object.entries(yield* Cluster.storedIn).flatMap(([name, version]) =>
    named.includes(version) ? [] : [`${name} is stored in ${version}, and storedVersions is ${named.join(", ")}`]
  )
})

const run = ({ objects, pageSize, runs, storage }: typeof Sequence.Type) =>
  Effect.gen(function* () {
    const own = yield* KubeClient
    const context = yield* Effect.context<ApiServer | KubeClient>()
    const found: Array<string> = []
    const look = Effect.map(Effect.provideContext(violations, context), (some) => void found.push(...some))
    yield* Cluster.install
    yield* Cluster.put(Array.from({ length: objects }, (_, i) => nameOf(i)))
    yield* Cluster.store(storage, all)

    const migrate = ({ events, killed }: typeof Run.Type) =>
      Effect.gen(function* () {
        let number = -1
        const client = own.through((transport) => ({
          ...transport,
          send: (request) =>
            Effect.gen(function* () {
              const mine = ++number
              for (const event of events) {
                if (event.before === mine) yield* Effect.provideContext(happen(event), context)
              }
              if (killed.at === mine && !killed.isReceived) return yield* Effect.interrupt
              const response = yield* transport.send(request)
              yield* look
              if (killed.at === mine) return yield* Effect.interrupt
              return response
            })
        }))
        const checkpoints = yield* Effect.provideService(Checkpoint.make("default"), KubeClient, client)
        const migration = Migration.migrate(Cluster.name, { pageSize, checkpoints, onProgress: () => {} })
        const fiber = yield* Effect.forkChild(Effect.provideService(migration, KubeClient, client))
        yield* TestClock.adjust("10 minutes")
        yield* (yield* ApiServer).setFaults([])
        yield* look
        return yield* Fiber.await(fiber)
      })

    for (const one of runs) yield* migrate(one)
    const last = yield* migrate({ events: [], killed: { at: 1000, isReceived: false } })
    const outcome = Exit.isSuccess(last) ? last.value.outcome : "failed"
    if (outcome !== "migrated" && outcome !== "current") found.push(`the last run has the outcome ${outcome}`)
    const versions = yield* Cluster.storedVersions
    if (versions.length !== 1) found.push(`storedVersions is ${versions.join(", ")} after the last run`)
    return found
  }).pipe(Effect.provide(layer))

checkSequences(
  "a migration never removes a version in which an object is stored, and the next undisturbed run finishes",
  Arbitrary.schema(Sequence),
  run,
  { runs: runs(120), maxShrinks: 200, seed }
)

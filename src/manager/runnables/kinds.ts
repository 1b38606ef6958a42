/**
 * Tracks which of the kinds that controllers need are not served. It requests the discovery document of each needed group and version: every 5 s
 * while one of its kinds is absent or an informer gets a 404, every 30 s otherwise. After a failed request the last result stays. Before the first
 * result a kind counts as served, and its informer reports the error. Source: cmd/kube-controller-manager/app: CreateControllerContext resets its
 * mapper every 30 s.
 */
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Resource from "../../kube/Resource.ts"
import { Cache, type InformerStatus } from "../../layers/Cache.ts"
import type { Descriptor } from "../../layers/Controller.ts"
import * as Discovery from "../../layers/Discovery.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import { Supervisor } from "../../layers/Supervisor.ts"

/** The fields of a controller that determine the kinds it needs. */
export type Needy = Pick<Descriptor<unknown>, "reads" | "requires">

/** Identities of kinds that are not served. Replaced, never changed. */
export type Absent = ReadonlySet<string>

export interface Kinds {
  readonly absent: () => Absent
  /** Waits until the set of absent kinds differs from `seen`. */
  readonly after: (seen: Absent) => Effect.Effect<void>
}

export interface Options {
  readonly controllers: ReadonlyArray<Needy>
  /** False: discovery is requested once, at the start. */
  readonly waits: boolean
  /** The time limit of the first requests. */
  readonly startTimeout: Duration.Input
}

/** Time between two requests while a kind is absent or doubtful. A new kind is used within twice that time. */
export const interval = "5 seconds"

/** All documents are requested once in so many rounds. */
const looksPerRound = 6

/** Concurrent requests. */
const atOnce = 8

/** The kinds that a controller reads or requires, each once; wildcards are left out. */
export const needed = ({ reads, requires = [] }: Needy): ReadonlyArray<Resource.Any> => [
  ...new Map(
    [...reads, ...requires].flatMap((resource) =>
      resource.id === Resource.anything.id ? [] : [[identity(resource), resource] as const]
    )
  ).values()
]

/** The names of the absent kinds that a controller needs. */
export const missing = (absent: Absent, controller: Needy): ReadonlyArray<string> =>
  needed(controller)
    .filter((resource) => absent.has(identity(resource)))
    .map(Resource.qualifiedName)

/** What the controllers without missing kinds read, each kind and projection once. */
export const readable = (controllers: ReadonlyArray<Needy>, absent: Absent): ReadonlyArray<Resource.Any> => [
  ...new Map(
    controllers
      .filter((one) => missing(absent, one).length === 0)
      .flatMap(({ reads }) => reads.map((resource) => [resource.id, resource] as const))
  ).values()
]

/** The same for every projection of a kind. */
const identity = ({ id }: Pick<Resource.Any, "id">): string => id.replace(/^metadata:/, "")

/** The kinds of one discovery document. */
interface Document {
  readonly group: string
  readonly version: string
  readonly kinds: ReadonlyArray<Resource.Any>
}

export const make = Effect.fnUntraced(function* ({ controllers, startTimeout, waits }: Options) {
  const client = yield* KubeClient
  const cache = yield* Cache
  const documents = documentsOf(controllers)
  let absent: Absent = new Set()
  let changed = Deferred.makeUnsafe<void>()

  const look = Effect.fnUntraced(function* ({ group, kinds, version }: Document) {
    const answer = yield* Effect.result(Discovery.versionOf(client, group, version))
    if (Result.isFailure(answer)) return
    const served = new Set(answer.success.map((one) => one.plural))
    const gone = kinds.filter((kind) => !served.has(kind.plural)).map(identity)
    const others = [...absent].filter((id) => !kinds.some((kind) => identity(kind) === id))
    const now = new Set([...others, ...gone])
    if (now.size === absent.size && gone.every((id) => absent.has(id))) return
    absent = now
    const before = changed
    changed = Deferred.makeUnsafe()
    Deferred.doneUnsafe(before, Effect.void)
  })
  const lookAt = (wanted: ReadonlyArray<Document>) =>
    Effect.forEach(wanted, look, { concurrency: atOnce, discard: true })

  yield* Effect.timeoutOption(lookAt(documents), startTimeout)
  if (waits && documents.length > 0) {
    let round = 0
    const once = Effect.gen(function* () {
      yield* Effect.sleep(interval)
      const doubtful = new Set((yield* cache.status).filter(isDenied).map(identity))
      const isWhole = ++round % looksPerRound === 0
      yield* lookAt(
        documents.filter(({ kinds }) => isWhole || kinds.map(identity).some((id) => absent.has(id) || doubtful.has(id)))
      )
    })
    yield* (yield* Supervisor).fork("discovery", Effect.forever(once))
  }
  return {
    absent: () => absent,
    after: (seen) => Effect.suspend(() => (seen === absent ? Deferred.await(changed) : Effect.void))
  } satisfies Kinds
})

const documentsOf = (controllers: ReadonlyArray<Needy>): ReadonlyArray<Document> => {
  const documents = new Map<string, Document & { readonly kinds: Array<Resource.Any> }>()
  const all = new Map(controllers.flatMap(needed).map((resource) => [identity(resource), resource]))
  for (const resource of all.values()) {
    const { group, version } = resource
    const document = documents.get(Resource.apiVersion(resource)) ?? { group, version, kinds: [] }
    document.kinds.push(resource)
    documents.set(Resource.apiVersion(resource), document)
  }
  return [...documents.values()]
}

/** The last request of the informer got a 404. */
const isDenied = ({ attempts, lastError }: InformerStatus): boolean => attempts > 0 && lastError?.status === 404

/**
 * Installs the CustomResourceDefinitions of custom kinds and waits until they are served, or compares them with those of the cluster. What other
 * clients have set on a definition (labels, annotations, conversion) stays. Installing an unchanged definition writes nothing. Definitions are
 * never deleted, because all their objects would be deleted too.
 */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type { ApiError } from "../../kube/ApiError.ts"
import * as Crd from "../../kube/crd/Crd.ts"
import * as Resource from "../../kube/Resource.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import { type Broken, broken, type Difference, differences } from "./compare.ts"

/** A definition as the cluster has it. */
export interface Stored extends Crd.CustomResourceDefinition {
  /** What the API server made of it: its conditions, and the versions in which objects may be stored. */
  readonly status?: {
    readonly conditions?: ReadonlyArray<Condition>
    readonly storedVersions?: ReadonlyArray<string>
  }
}

interface Condition {
  readonly type: string
  readonly status: string
  readonly message?: string
}

/** The kind of definitions themselves. */
export const CustomResourceDefinition = Resource.make<Stored>()({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster"
})

/** The API server has the definition and does not serve the kind; the message contains the kind and the server's error. */
export class NotEstablished extends Data.TaggedError("NotEstablished")<{
  readonly message: string
  /** `memcacheds.cache.example.com`. */
  readonly name: string
}> {}

/** The result for one definition. */
export interface Installed {
  /** `memcacheds.cache.example.com`. */
  readonly name: string
  /** What was written. */
  readonly outcome: "created" | "updated" | "unchanged"
}

/** Settings of an installation. */
export interface InstallOptions {
  /** How long to wait for each kind to be served. Default: 30 seconds. */
  readonly timeout?: Duration.Input | undefined
  /** Called before each definition with its name and the number of those that are installed. Default: nothing. */
  readonly onNext?: ((name: string, installed: number) => void) | undefined
  /** The client's writes are dry runs, so there is no kind to wait for. Default: false. */
  readonly isDryRun?: boolean | undefined
}

/**
 * Creates or updates the definitions, one after the other, and waits until each kind is served. Fails with `NotStructural` before it writes
 * anything, and with `NotEstablished` when a kind is not served in time.
 */
export const install = (
  resources: ReadonlyArray<Resource.AnyCustom>,
  { isDryRun = false, onNext = () => {}, timeout = "30 seconds" }: InstallOptions = {}
) =>
  Effect.gen(function* () {
    // All definitions are generated before the first is written, so an invalid one prevents all writes.
    const wanted = yield* Effect.forEach(resources, (resource) => Effect.fromResult(Crd.make(resource)))
    return yield* Effect.forEach(wanted, (definition, index) => {
      onNext(definition.metadata.name, index)
      return installOne(definition, isDryRun ? undefined : timeout)
    })
  })

/** Without a time limit it does not wait. */
const installOne = Effect.fnUntraced(function* (
  wanted: Crd.CustomResourceDefinition,
  timeout: Duration.Input | undefined
) {
  const { name } = wanted.metadata
  const outcome = yield* Effect.retry(write(wanted), {
    while: ({ reason }) => reason._tag === "Conflict" || reason._tag === "AlreadyExists",
    times: 5
  })
  if (timeout === undefined) return { name, outcome } satisfies Installed
  yield* established(name).pipe(
    Effect.retry({
      while: (error) => error._tag === "NotEstablished" && !error.isFinal,
      schedule: Schedule.spaced("200 millis")
    }),
    Effect.timeoutOrElse({
      duration: timeout,
      orElse: () =>
        Effect.fail(
          new Pending({ name, isFinal: true, said: `not within ${Duration.format(Duration.fromInputUnsafe(timeout))}` })
        )
    }),
    Effect.catchTag("NotEstablished", ({ name, said }) =>
      Effect.fail(
        new NotEstablished({
          name,
          message: `the API server has the definition ${name}, but does not serve the kind: ${said}`
        })
      )
    )
  )
  return { name, outcome } satisfies Installed
})

const write = Effect.fnUntraced(function* (wanted: Crd.CustomResourceDefinition) {
  const client = yield* KubeClient
  const live = yield* find(wanted.metadata.name)
  if (Option.isNone(live)) {
    yield* client.create(CustomResourceDefinition, wanted)
    return "created"
  }
  if (differences(live.value, wanted).length === 0) return "unchanged"
  yield* client.update(CustomResourceDefinition, { ...live.value, spec: { ...live.value.spec, ...wanted.spec } })
  return "updated"
})

/** Used in this file only: whether waiting longer may help. */
class Pending extends Data.TaggedError("NotEstablished")<{
  readonly name: string
  readonly isFinal: boolean
  readonly said: string
}> {}

const established = Effect.fnUntraced(function* (name: string) {
  const live = yield* find(name)
  const conditions = Option.getOrUndefined(live)?.status?.conditions ?? []
  const is = (type: string, status: string) => conditions.find((one) => one.type === type && one.status === status)
  if (is("Established", "True") !== undefined) return
  const refused = is("NamesAccepted", "False")
  const said = (refused ?? is("Established", "False"))?.message ?? "it says nothing about why"
  return yield* new Pending({ name, said, isFinal: refused !== undefined })
})

/** The definition with that name in the cluster, if there is one. */
export const find = (name: string): Effect.Effect<Option.Option<Stored>, ApiError, KubeClient> =>
  Effect.flatMap(KubeClient, (client) =>
    client.get(CustomResourceDefinition, { name }).pipe(
      Effect.map(Option.some),
      Effect.catchIf(
        ({ reason }) => reason._tag === "NotFound",
        () => Effect.succeed(Option.none())
      )
    )
  )

/** One definition: as declared and as stored in the cluster. */
export interface Comparison {
  /** `memcacheds.cache.example.com`. */
  readonly name: string
  /** True if the cluster has no such definition yet; then there are no differences. */
  readonly isNew: boolean
  /** Where they differ, by path. */
  readonly differences: ReadonlyArray<Difference>
  /** Stored objects that the new definition would reject or prune. */
  readonly broken: ReadonlyArray<Broken>
}

/** What `install` would change, and which objects the new definitions would reject or prune. Only reads. */
export const diff = (resources: ReadonlyArray<Resource.AnyCustom>) =>
  Effect.forEach(
    resources,
    Effect.fnUntraced(function* (resource) {
      const client = yield* KubeClient
      const wanted = yield* Effect.fromResult(Crd.make(resource))
      const { name } = wanted.metadata
      const live = yield* find(name)
      if (Option.isNone(live)) return { name, isNew: true, differences: [], broken: [] } satisfies Comparison
      const served = live.value.spec.versions.find((version) => version.served)
      if (served === undefined) {
        return { name, isNew: false, differences: differences(live.value, wanted), broken: [] } satisfies Comparison
      }
      // Reads a version that the cluster serves now, because the declared one may be new. Without conversion, the versions of an object differ in
      // their apiVersion only.
      const readable = { ...resource, version: versionOf(live.value, resource.version) ?? served.name }
      const { items } = yield* client.list(readable)
      return {
        name,
        isNew: false,
        differences: differences(live.value, wanted),
        broken: broken(wanted, items)
      } satisfies Comparison
    })
  )

const versionOf = (live: Stored, version: string): string | undefined =>
  live.spec.versions.find(({ name, served }) => served && name === version)?.name

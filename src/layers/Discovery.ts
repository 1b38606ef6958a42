/**
 * Which kinds the server serves, and where. Nothing is asked before the first question; then one call where the server offers
 * aggregated discovery, one for each group and version otherwise. A kind that is not there is looked for again, at most
 * every ten seconds a group, so that a definition installed after start is found without a restart.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import * as ApiError from "../kube/ApiError.ts"
import type * as Resource from "../kube/Resource.ts"
import * as Documents from "./discovery/documents.ts"
import { KubeClient } from "./KubeClient.ts"

/** A kind, by the names in manifests. */
export interface GroupKind {
  /** Empty for the core group. */
  readonly group: string
  /** Absent: the server's preferred version that has the kind. */
  readonly version?: string | undefined
  /** `Deployment`. */
  readonly kind: string
}

/** Everything the server serves, as far as it could tell. */
export interface Listing {
  /** Each resource of a group once: of the preferred version, or of the first that has it. Ordered as the server lists them. */
  readonly resources: ReadonlyArray<Documents.ApiResource>
  /** Versions of groups whose resources are not known now: what is missing from `resources` may still be served there. */
  readonly failed: ReadonlyArray<FailedGroup>
}

/** A version of a group that the server lists and could not describe: an aggregated server that is down, a document it forbids. */
export interface FailedGroup {
  /** Empty for the core group. */
  readonly group: string
  /** Of the group. */
  readonly version: string
  /** Why it could not be listed. */
  readonly error: ApiError.ApiError
}

/** The server knows no such kind (yet). */
export class NotServed extends Data.TaggedError("NotServed")<GroupKind> {
  override get message(): string {
    const { group, version } = this
    const where = `${group === "" ? "the core group" : group}${version === undefined ? "" : `, version ${version}`}`
    return `the server does not serve kind ${this.kind} of ${where}: is its CustomResourceDefinition installed?`
  }
}

/** Settings of the layer. */
export interface Options {
  /** A group that lacks a kind is asked for again after this long. */
  readonly refreshInterval?: Duration.Input | undefined
}

/** Which kinds the server serves. Answers are kept; a kind that is not found is asked for again. */
export class Discovery extends Context.Service<
  Discovery,
  {
    /** The resource of a kind: its plural and scope. Fails with `NotServed` when no version that is asked for has it. */
    readonly resourceFor: (kind: GroupKind) => Effect.Effect<Documents.ApiResource, NotServed | ApiError.ApiError>
    /** Whether the server serves this resource at exactly this version. */
    readonly serves: (resource: Resource.Any) => Effect.Effect<boolean, ApiError.ApiError>
    /**
     * All resources of all groups, asked for anew each time and remembered for the other questions. Fails when not even the
     * groups could be listed; a group that fails alone is listed in `failed` and does not affect the others.
     */
    readonly resources: Effect.Effect<Listing, ApiError.ApiError>
    /** Forgets everything; the next question asks the server. */
    readonly reset: Effect.Effect<void>
  }
>()("effect-controller-manager/Discovery") {
  /** With settings. */
  static readonly layerWith = (options: Options): Layer.Layer<Discovery, never, KubeClient> =>
    Layer.effect(
      Discovery,
      Effect.flatMap(KubeClient, (client) => make(client, options))
    )

  /** With the defaults. */
  static readonly layer: Layer.Layer<Discovery, never, KubeClient> = Discovery.layerWith({})
}

type Client = KubeClient["Service"]

/** What is known of a group, and since when. */
interface Known {
  readonly group: Documents.Group | undefined
  readonly at: bigint
}

const make = (client: Client, options: Options): Effect.Effect<Discovery["Service"]> =>
  Effect.gen(function* () {
    const lock = yield* Semaphore.make(1)
    const known = new Map<string, Known>()
    const interval = Duration.toNanosUnsafe(options.refreshInterval ?? "10 seconds")

    /** Asks for a group, and keeps what the answer says of all others. Replaces nothing when it fails. */
    const ask = Effect.fnUntraced(function* (name: string) {
      const found = yield* askIndex(client, name)
      const at = yield* Clock.monotonicTimeNanos
      for (const group of found) {
        // A legacy index holds no resources: it says nothing new of groups whose documents have been read.
        if (group.name === name || hasResources(group)) known.set(group.name, { group, at })
      }
      if (!found.some((group) => group.name === name)) known.set(name, { group: undefined, at })
    })

    /** The kind in what is known of its group, reading the documents of the versions on the way. */
    const search = Effect.fnUntraced(function* (wanted: GroupKind) {
      const group = known.get(wanted.group)?.group
      for (const { version } of group?.versions ?? []) {
        if (wanted.version !== undefined && wanted.version !== version) continue
        const resources = yield* documentOf(wanted.group, version)
        const found = resources.find((one) => one.kind === wanted.kind)
        if (found !== undefined) return found
      }
      return undefined
    })

    /** The same without asking: nothing if that would take a document that has not been read. */
    const recall = (wanted: GroupKind): Documents.ApiResource | undefined => {
      for (const { resources, version } of known.get(wanted.group)?.group?.versions ?? []) {
        if (wanted.version !== undefined && wanted.version !== version) continue
        const found = resources?.find((one) => one.kind === wanted.kind)
        if (found !== undefined || resources === undefined) return found
      }
      return undefined
    }

    const documentOf = Effect.fnUntraced(function* (name: string, version: string) {
      const entry = known.get(name)
      const there = entry?.group?.versions.find((one) => one.version === version)?.resources
      if (entry?.group === undefined || there !== undefined) return there ?? []
      const resources = yield* askDocument(client, name, version)
      const versions = entry.group.versions.map((one) => (one.version === version ? { version, resources } : one))
      known.set(name, { group: { name, versions }, at: entry.at })
      return resources
    })

    const look = (wanted: GroupKind) =>
      lock.withPermit(
        Effect.gen(function* () {
          const before = known.get(wanted.group)
          const found = before === undefined ? undefined : yield* search(wanted)
          if (found !== undefined) return found
          const now = yield* Clock.monotonicTimeNanos
          if (before !== undefined && now - before.at < interval) return yield* new NotServed(wanted)
          yield* ask(wanted.group)
          return (yield* search(wanted)) ?? (yield* new NotServed(wanted))
        })
      )
    /** Known answers cost nothing, and do not wait for requests in flight. */
    const resourceFor = (wanted: GroupKind) =>
      Effect.suspend(() => {
        const found = recall(wanted)
        return found === undefined ? look(wanted) : Effect.succeed(found)
      })

    /**
     * Not under the lock: a server that takes long to describe one group must not hold up questions about the others. What is
     * read is remembered in one turn; a question asked meanwhile may put back what it read a moment before.
     */
    const resources = Effect.gen(function* () {
      const { failed, groups } = yield* askAll(client)
      const at = yield* Clock.monotonicTimeNanos
      for (const name of known.keys()) known.set(name, { group: undefined, at })
      for (const group of groups) known.set(group.name, { group, at })
      return { resources: groups.flatMap(Documents.preferred), failed }
    })

    return Discovery.of({
      resourceFor,
      resources,
      serves: (resource) =>
        Effect.matchEffect(resourceFor(resource), {
          onFailure: (error) => (error._tag === "NotServed" ? Effect.succeed(false) : Effect.fail(error)),
          onSuccess: (found) => Effect.succeed(found.plural === resource.plural)
        }),
      reset: Effect.sync(() => known.clear())
    })
  })

const hasResources = (group: Documents.Group): boolean => group.versions.some((one) => one.resources !== undefined)

const raw = (client: Client, path: string, accept?: string) =>
  Effect.map(
    client.raw({ method: "GET", path, accept, context: { verb: "discover", path } }),
    (response) => response.body
  )

const notUnderstood = (path: string) =>
  Effect.fail(ApiError.decode({ verb: "discover", path }, "the answer is not a discovery document"))

const askIndex = Effect.fnUntraced(function* (client: Client, group: string) {
  const path = group === "" ? "/api" : "/apis"
  return Documents.groups(yield* raw(client, path, Documents.accept)) ?? (yield* notUnderstood(path))
})

/** Documents of legacy discovery in flight at once. */
const documentsAtOnce = 10

/** Both indexes, and every document they do not contain. */
const askAll = Effect.fnUntraced(function* (client: Client) {
  const indexes = yield* Effect.all([askIndex(client, ""), askIndex(client, "any")], { concurrency: 2 })
  const groups = indexes.flat()
  const missing = groups.flatMap(({ name, versions }) =>
    versions.filter((one) => one.resources === undefined).map(({ version }) => ({ group: name, version }))
  )
  const answers = yield* Effect.forEach(
    missing,
    (of) =>
      Effect.map(Effect.result(askDocument(client, of.group, of.version)), (answer) => ({
        ...of,
        answer
      })),
    { concurrency: documentsAtOnce }
  )
  const read = new Map(answers.map(({ answer, group, version }) => [`${group}/${version}`, answer]))
  const complete = (group: string, one: Documents.Version): Documents.Version => {
    const answer = read.get(`${group}/${one.version}`)
    return answer === undefined || Result.isFailure(answer) ? one : { ...one, resources: answer.success }
  }
  return {
    groups: groups.map(({ name, versions }) => ({ name, versions: versions.map((one) => complete(name, one)) })),
    failed: answers.flatMap(({ answer, ...of }) => (Result.isFailure(answer) ? [{ ...of, error: answer.failure }] : []))
  }
})

/**
 * What the server serves of a group in one version at this moment: one small request, sent each time and not cached.
 * Nothing when there is no such version.
 */
export const versionOf = (
  client: Client,
  group: string,
  version: string
): Effect.Effect<ReadonlyArray<Documents.ApiResource>, ApiError.ApiError> => askDocument(client, group, version)

/** A version that vanished between the index and now has no resources. */
const askDocument = Effect.fnUntraced(function* (client: Client, group: string, version: string) {
  const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`
  const body = yield* Effect.catchIf(
    raw(client, path),
    (error) => ApiError.hasReason(error, "NotFound"),
    () => Effect.succeed({ kind: "APIResourceList", resources: [] })
  )
  return Documents.resources(group, version, body) ?? (yield* notUnderstood(path))
})

/**
 * Which kinds the server serves, and where. No request is sent before the first use; then one where the server offers aggregated
 * discovery, otherwise one for each group and version. A kind that was not found is looked up again, at most every ten seconds for
 * each group, so that a CustomResourceDefinition that is installed later is found without a restart.
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

/** All resources that the server serves, as far as they are known. */
export interface Listing {
  /** Each resource of a group once: in the preferred version, or in the first that has it. In the order of the server. */
  readonly resources: ReadonlyArray<Documents.ApiResource>
  /** Versions of groups whose resources could not be read: they may serve resources that are missing from `resources`. */
  readonly failed: ReadonlyArray<FailedGroup>
}

/** A version of a group whose resources could not be read: its aggregated API server is down, or the request is forbidden. */
export interface FailedGroup {
  /** Empty for the core group. */
  readonly group: string
  /** Of the group. */
  readonly version: string
  /** Why it could not be listed. */
  readonly error: ApiError.ApiError
}

/** The server does not serve this kind now. */
export class NotServed extends Data.TaggedError("NotServed")<GroupKind> {
  override get message(): string {
    const { group, version } = this
    const where = `${group === "" ? "the core group" : group}${version === undefined ? "" : `, version ${version}`}`
    return `the server does not serve kind ${this.kind} of ${where}: is its CustomResourceDefinition installed?`
  }
}

/** Settings of the layer. */
export interface Options {
  /** After this time a group that lacks a kind is read again. */
  readonly refreshInterval?: Duration.Input | undefined
}

/** Which kinds the server serves. Results are cached; a kind that is not found is looked up again. */
export class Discovery extends Context.Service<
  Discovery,
  {
    /** The resource of a kind: its plural and scope. Fails with `NotServed` when the version, or every version, lacks it. */
    readonly resourceFor: (kind: GroupKind) => Effect.Effect<Documents.ApiResource, NotServed | ApiError.ApiError>
    /** Whether the server serves this resource at exactly this version. */
    readonly serves: (resource: Resource.AnyCreatable) => Effect.Effect<boolean, ApiError.ApiError>
    /**
     * All resources of all groups, read from the server each time and cached for the other calls. Fails when the groups could not be
     * listed; a group that fails alone is listed in `failed` and does not affect the others.
     */
    readonly resources: Effect.Effect<Listing, ApiError.ApiError>
    /** Drops the cached results; the next call asks the server. */
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

/** What is known of a group, and when it was read. */
interface Known {
  readonly group: Documents.Group | undefined
  readonly at: bigint
}

const make = (client: Client, options: Options): Effect.Effect<Discovery["Service"]> =>
  Effect.gen(function* () {
    const lock = yield* Semaphore.make(1)
    const known = new Map<string, Known>()
    const interval = Duration.toNanosUnsafe(options.refreshInterval ?? "10 seconds")

    /** Reads the index with a group, and keeps what it says about all other groups. A failure replaces nothing. */
    const ask = Effect.fnUntraced(function* (name: string) {
      const found = yield* askIndex(client, name)
      const at = yield* Clock.monotonicTimeNanos
      for (const group of found) {
        // A legacy index contains no resources: it must not replace groups whose documents have been read.
        if (group.name === name || hasResources(group)) known.set(group.name, { group, at })
      }
      if (!found.some((group) => group.name === name)) known.set(name, { group: undefined, at })
    })

    /** Finds the kind in its group, and reads the documents of versions that are not known yet. */
    const search = Effect.fnUntraced(function* (groupKind: GroupKind) {
      const group = known.get(groupKind.group)?.group
      for (const { version } of group?.versions ?? []) {
        if (groupKind.version !== undefined && groupKind.version !== version) continue
        const resources = yield* documentOf(groupKind.group, version)
        const found = resources.find((one) => one.kind === groupKind.kind)
        if (found !== undefined) return found
      }
      return undefined
    })

    /** The same without a request: undefined if a document would have to be read. */
    const recall = (groupKind: GroupKind): Documents.ApiResource | undefined => {
      for (const { resources, version } of known.get(groupKind.group)?.group?.versions ?? []) {
        if (groupKind.version !== undefined && groupKind.version !== version) continue
        const found = resources?.find((one) => one.kind === groupKind.kind)
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

    const lookUp = (groupKind: GroupKind) =>
      lock.withPermit(
        Effect.gen(function* () {
          const before = known.get(groupKind.group)
          const found = before === undefined ? undefined : yield* search(groupKind)
          if (found !== undefined) return found
          const now = yield* Clock.monotonicTimeNanos
          if (before !== undefined && now - before.at < interval) return yield* new NotServed(groupKind)
          yield* ask(groupKind.group)
          return (yield* search(groupKind)) ?? (yield* new NotServed(groupKind))
        })
      )
    /** A cached result costs no request, and does not wait for requests in flight. */
    const resourceFor = (groupKind: GroupKind) =>
      Effect.suspend(() => {
        const found = recall(groupKind)
        return found === undefined ? lookUp(groupKind) : Effect.succeed(found)
      })

    /**
     * Without the lock: a server that takes long to describe one group must not delay calls about the others. The result is stored
     * in one synchronous section; a call that runs meanwhile may then store what it read a moment before.
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

/** How many documents of legacy discovery are read at once. */
const documentsAtOnce = 10

/** Reads both indexes, and every document that they do not contain. */
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
 * The resources that the server serves now in one version of a group: one small request each time, not cached.
 * Empty when there is no such version.
 */
export const versionOf = (
  client: Client,
  group: string,
  version: string
): Effect.Effect<ReadonlyArray<Documents.ApiResource>, ApiError.ApiError> => askDocument(client, group, version)

/** A version that was removed after the index was read has no resources. */
const askDocument = Effect.fnUntraced(function* (client: Client, group: string, version: string) {
  const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`
  const body = yield* Effect.catchIf(
    raw(client, path),
    (error) => ApiError.hasReason(error, "NotFound"),
    () => Effect.succeed({ kind: "APIResourceList", resources: [] })
  )
  return Documents.resources(group, version, body) ?? (yield* notUnderstood(path))
})

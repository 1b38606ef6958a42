/**
 * namespace: deletes the content of namespaces that are being deleted, writes to their status what remains, and finally removes the finalizer. A
 * namespace is synced five seconds after a change, so that requests that are still in flight complete first. The content is always read from the
 * server, never from a cache. Source: pkg/controller/namespace: NamespaceController.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Access from "../kube/Access.ts"
import * as ApiError from "../kube/ApiError.ts"
import * as Resource from "../kube/Resource.ts"
import { Namespace } from "../kube/resources.ts"
import * as Time from "../kube/time.ts"
import * as Controller from "../layers/Controller.ts"
import { Discovery } from "../layers/Discovery.ts"
import { KubeClient } from "../layers/KubeClient.ts"
import * as Setting from "../layers/Setting.ts"
import * as Codecs from "../layers/setting/codecs.ts"
import { because, type Cause } from "../streams/reconcile/cause.ts"
import * as Reconcile from "../streams/reconcile/Reconcile.ts"
import * as Content from "./namespace/content.ts"
import * as Status from "./namespace/status.ts"

export const settings = {
  concurrency: Setting.concurrency("concurrent-namespace-syncs", 10, "Namespaces"),
  resyncPeriod: Setting.make(Codecs.interval, {
    name: "namespace-sync-period",
    group: "tuning",
    description: "Time after which namespaces are reconciled again",
    default: "5m"
  })
}

export type Options = Setting.Options<typeof settings>

const access = [
  Access.read(Namespace),
  Access.get(Namespace),
  Access.update(Namespace, "status"),
  Access.update(Namespace, "finalize"),
  Access.list(Resource.anything),
  Access.remove(Resource.anything),
  Access.removeCollection(Resource.anything)
] as const

type Client = Controller.Client<(typeof access)[number]>

// The triggers and the resync add keys to the queue themselves, each after a delay.
export const make = (options: Options = {}) =>
  Controller.stateful({
    name: "namespace",
    component: "namespace-controller",
    for: Namespace,
    access,
    concurrency: Setting.orDefault(options.concurrency, settings.concurrency),
    backoff: { max: "1 minute" },
    body: Effect.fnUntraced(function* ({ cache, client, queue, store }) {
      const content = { client: yield* KubeClient, discovery: yield* Discovery }
      const enqueue = (namespace: Namespace, cause?: Cause): void => {
        if (isDeleted(namespace)) queue.addWithUnsafe(namespace.metadata.name, { after: delay, cause })
      }
      const resync = Effect.sync(() => {
        for (const namespace of store(Namespace).list()) enqueue(namespace, because("resync of all namespaces"))
      })
      yield* Effect.forkScoped(
        Effect.schedule(resync, Schedule.spaced(Setting.orDefault(options.resyncPeriod, settings.resyncPeriod)))
      )
      return {
        sources: [
          Controller.watch(Namespace, ({ _tag, object }) => {
            if (_tag !== "Deleted") enqueue(object)
            return []
          })
        ],
        reconcile: Effect.fnUntraced(function* ({ name }) {
          if ((yield* cache.get(Namespace, name)) === undefined) return Reconcile.done
          return (yield* ApiError.unlessGone(sync(client, content, name))) ?? Reconcile.done
        })
      }
    })
  })

/** Between a change and its sync. */
const delay = "5 seconds"

const isDeleted = (namespace: Namespace): boolean => namespace.metadata.deletionTimestamp !== undefined

/** A pass that could not delete all content. The message names the namespace and the failures. */
export class ContentError extends Data.TaggedError("ContentError")<{
  readonly namespace: string
  readonly failures: ReadonlyArray<string>
}> {
  override get message(): string {
    return `deletion of namespace ${this.namespace} failed: ${this.failures.join(", ")}`
  }
}

/** One sync of a namespace, which is read from the server; fails with NotFound when it no longer exists. */
const sync = Effect.fnUntraced(function* (
  client: Client,
  content: Pick<Content.Given, "client" | "discovery">,
  name: string
) {
  const found = yield* client.get(Namespace, { name })
  if (!isDeleted(found)) return Reconcile.done
  const namespace = yield* retryOnConflict(client, found, (latest) => terminate(client, latest))
  if ((namespace.spec?.finalizers ?? []).length === 0) return Reconcile.done
  const deletedAt = Time.parse(namespace.metadata.deletionTimestamp) ?? (yield* Clock.currentTimeMillis)
  let latest = namespace
  const writeReport = (report: Status.Report) =>
    Effect.map(writeConditions(client, latest, report), (written) => {
      latest = written
    })
  const { estimate, report } = yield* Content.pass({ ...content, namespace: name, deletedAt, onReport: writeReport })
  yield* writeReport(report)
  const failures = report.discovery === undefined ? report.failures : [report.discovery, ...report.failures]
  if (failures.length > 0) return yield* new ContentError({ namespace: name, failures })
  if (estimate > 0) return Reconcile.after((Math.floor(estimate / 2) + 1) * 1000)
  yield* retryOnConflict(client, latest, (one) => finalize(client, one))
  return Reconcile.done
})

/** Sets the phase Terminating, which older API servers leave to this controller. */
const terminate = (client: Client, namespace: Namespace) =>
  !isDeleted(namespace) || namespace.status?.phase === "Terminating"
    ? Effect.succeed(namespace)
    : client
        .subresource("status")
        .update(Namespace, { ...namespace, status: { ...namespace.status, phase: "Terminating" } })

/** Writes the conditions if they changed. A failure is logged, because the next sync writes them again. */
const writeConditions = (client: Client, namespace: Namespace, report: Status.Report) => {
  const write = Effect.fnUntraced(function* (latest: Namespace) {
    const status = Status.status(latest.status, report, yield* Clock.currentTimeMillis)
    return status === undefined ? latest : yield* client.subresource("status").update(Namespace, { ...latest, status })
  })
  return Effect.catch(retryOnConflict(client, namespace, write), (error) =>
    Effect.as(Effect.logWarning(`Cannot update the conditions of a namespace: ${error.message}`), namespace)
  )
}

/** Removes the finalizer `kubernetes`. The namespace remains while it has other finalizers. */
const finalize = (client: Client, namespace: Namespace) =>
  client.subresource("finalize").update(Namespace, {
    ...namespace,
    spec: {
      ...namespace.spec,
      finalizers: (namespace.spec?.finalizers ?? []).filter((one) => one !== "kubernetes").sort()
    }
  })

/** Attempts of one write after conflicts; then the whole sync is retried. */
const attempts = 5

/** After a conflict, retries the write on the latest state of the same namespace. Source: client-go/util/retry. */
const retryOnConflict = (
  client: Client,
  namespace: Namespace,
  write: (latest: Namespace) => Effect.Effect<Namespace, ApiError.ApiError>,
  left = attempts
): Effect.Effect<Namespace, ApiError.ApiError> =>
  Effect.catchIf(
    write(namespace),
    (error) => left > 1 && ApiError.hasReason(error, "Conflict"),
    (conflict) =>
      Effect.flatMap(client.get(Namespace, { name: namespace.metadata.name }), (latest) =>
        latest.metadata.uid === namespace.metadata.uid
          ? retryOnConflict(client, latest, write, left - 1)
          : Effect.fail(conflict)
      )
  )

/**
 * persistentvolumeclaim-protection: a deleted claim stays until no pod uses it. The API server adds the finalizer on creation; this controller adds
 * it to claims that lack it, and removes it when no pod uses the claim. It reads pods from the server before it removes the finalizer, not only from
 * the cache. Source: pkg/controller/volume/pvcprotection.
 */
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import * as ApiError from "../kube/ApiError.ts"
import * as Key from "../kube/Key.ts"
import { PersistentVolumeClaim, Pod } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import type { Delta } from "../streams/store/Store.ts"
import * as Family from "../streams/reconcile/metricFamily.ts"
import * as PodLists from "./pvcprotection/podLists.ts"
import * as Plan from "./pvcprotection/plan.ts"

const access = [
  Access.read(PersistentVolumeClaim),
  Access.update(PersistentVolumeClaim),
  Access.read(Pod),
  Access.list(Pod)
] as const

// The triggers note changes of claims, which decide whether a sync may use an earlier list of pods.
export const make = () =>
  Controller.stateful({
    name: "persistentvolumeclaim-protection",
    queue: "pvcprotection",
    metrics: [writes],
    for: PersistentVolumeClaim,
    access,
    body: ({ client, store }) =>
      Effect.sync(() => {
        const podLists = PodLists.make()
        const [claims, pods] = [store(PersistentVolumeClaim), store(Pod)]

        const onClaim = ({ _tag, object }: Delta<PersistentVolumeClaim>): ReadonlyArray<Key.Key> => {
          const key = Key.of(object)
          if (_tag === "Deleted") podLists.forget(key)
          else if (Plan.concerns(object)) {
            podLists.note(key)
            return [key]
          }
          return none
        }

        // Only claims that are being deleted. When another claim is deleted, its own watch event enqueues it.
        const onPod = (delta: Delta<Pod>): ReadonlyArray<Key.Key> => {
          const replaced = delta._tag === "Updated" && delta.previous.metadata.uid !== delta.object.metadata.uid
          const named = replaced
            ? [...Plan.claimsOf(delta.object), ...Plan.claimsOf(delta.previous)]
            : Plan.claimsOf(delta.object)
          return named.filter((key) => {
            const claim = claims.get(key)
            if (claim === undefined || !Plan.isWaiting(claim)) return false
            podLists.note(key)
            return true
          })
        }

        const listPods = Effect.fnUntraced(function* (claim: PersistentVolumeClaim) {
          const { namespace = "" } = claim.metadata
          const known = podLists.find(Key.of(claim), namespace)
          if (known !== undefined) return known
          const begun = podLists.begin()
          const { items } = yield* client.list(Pod, { namespace })
          const using = items.filter((pod) => Plan.claimsOf(pod).length > 0).map(Plan.trimmed)
          podLists.keep(namespace, begun, using)
          return using
        })

        const write = (claim: PersistentVolumeClaim, finalizers: ReadonlyArray<string>) =>
          client.update(PersistentVolumeClaim, { ...claim, metadata: { ...claim.metadata, finalizers } })

        const reconcile = Effect.fnUntraced(function* ({ key }: Controller.Request) {
          const claim = claims.get(key)
          if (claim === undefined) return
          const cached = pods.byIndex(Plan.byClaim.name, key)
          const first = Plan.plan({ claim, cached, live: undefined })
          const plan = first._tag === "ListPods" ? Plan.plan({ claim, cached, live: yield* listPods(claim) }) : first
          if (plan._tag === "Keep") return yield* Effect.logDebug("Keeping a claim that is being deleted: pods use it")
          if (plan._tag === "AddFinalizer") {
            yield* write(claim, plan.finalizers)
            yield* counted("added")
            yield* Effect.logInfo("Added the finalizer to a claim, so that it is kept while pods use it")
          } else if (plan._tag === "RemoveFinalizer") {
            yield* write(claim, plan.finalizers)
            yield* counted("removed")
            yield* Effect.logInfo("Removed the finalizer of a claim that no pod uses")
          }
        })

        return {
          sources: [
            Controller.watch(PersistentVolumeClaim, onClaim),
            Controller.watch(Pod, onPod, { indexes: [Plan.byClaim] })
          ],
          reconcile: (request) => ApiError.unlessGone(reconcile(request))
        }
      })
  })

const none: ReadonlyArray<Key.Key> = []

const writes = Family.counter(
  "pvc_protection_controller_finalizer_writes_total",
  "Finalizers added to and removed from claims, by action: added, removed",
  ["action"]
)

const counted = (action: "added" | "removed") => writes.add(1, { action })

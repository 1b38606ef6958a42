/**
 * memcached: keeps a Deployment with `spec.size` memcached servers for each Memcached, and writes their state to its status. The Memcached owns the
 * Deployment, which is garbage collected with it; an event is recorded before the deletion. Source: the Memcached tutorial of operator-sdk.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Access from "../kube/Access.ts"
import * as Key from "../kube/Key.ts"
import type { KubeObject } from "../kube/Meta.ts"
import * as Resource from "../kube/Resource.ts"
import { Deployment, Pod } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Setting from "../layers/Setting.ts"
import * as Codecs from "../layers/setting/codecs.ts"
import * as Webhook from "../layers/Webhook.ts"
import { applier } from "../layers/controller/writes/apply.ts"
import * as Reconcile from "../streams/reconcile/Reconcile.ts"
import * as Trigger from "../streams/store/trigger.ts"
import { Memcached } from "./memcached/kind.ts"
import { instanceOf, plan } from "./memcached/plan.ts"

export { Memcached }

export const settings = {
  image: Setting.make(Codecs.text("image"), {
    name: "memcached-image",
    env: "MEMCACHED_IMAGE",
    group: "tuning",
    description: "Image that the servers of Memcacheds run",
    default: "memcached:1.6-alpine"
  })
}

export type Options = Setting.Options<typeof settings>

const access = [
  Access.patch(Memcached, "status"),
  Access.create(Deployment),
  Access.patch(Deployment),
  Access.record
] as const

const finalizer = "cache.example.com/finalizer"

export const make = (options: Options = {}) =>
  Controller.make({
    name: "memcached",
    for: Memcached,
    owns: [Deployment],
    shardBy: "namespace",
    staysInNamespace: true,
    watches: [Controller.watch(Pods, Trigger.map(keysOf), { indexes: [{ name: "memcached", of: keysOf }] })],
    // During a rollout the Deployment and its pods change often; their changes within this time cause one reconcile.
    minInterval: "100 millis",
    access,
    finalizers: {
      [finalizer]: (memcached, { events }) =>
        events.warning(
          memcached,
          "Deleting",
          `Custom Resource ${memcached.metadata.name} is being deleted from the namespace ${memcached.metadata.namespace}`
        )
    },
    reconcileObject: (memcached, { cache, client }) =>
      Effect.gen(function* () {
        const { apply, applyStatus } = applier(client)
        const key = Key.of(memcached)
        const { deployment, isBlocked, status } = plan({
          memcached,
          image: Setting.orDefault(options.image, settings.image),
          deployment: yield* cache.get(Deployment, key),
          pods: yield* cache.byIndex(Pods, "memcached", key),
          now: yield* Clock.currentTimeMillis
        })
        if (deployment !== undefined) yield* apply(Deployment, deployment)
        if (status !== undefined) yield* applyStatus(Memcached, memcached, status)
        return isBlocked ? Reconcile.after("30 seconds") : Reconcile.done
      })
  })

const Pods = Resource.metadataOnly(Pod)

/** The key of the Memcached that a pod belongs to. */
const keysOf = (pod: KubeObject) => {
  const instance = instanceOf(pod)
  return instance === undefined ? [] : [Key.make(pod.metadata.namespace, instance)]
}

/** The maximum length of a label value. */
const maxLabelValueLength = 63

const nameTooLong = `must be no more than ${maxLabelValueLength} characters, because its pods are labelled with it`

/** Defaulting applies the defaults of the Schemas; validation checks that the name is valid as a label value, which a Schema cannot. */
export const webhooks = [
  Webhook.defaulting(Memcached, Effect.succeed),
  Webhook.validating(Memcached, (review) =>
    review.operation === "CREATE" && review.object.metadata.name.length > maxLabelValueLength
      ? Effect.fail(Webhook.deny(nameTooLong, { path: "metadata.name" }))
      : Effect.void
  )
]

/** Keeps a Deployment for each Memcached, counts ready servers in its status, and records an event when it is deleted. */
import { Access, applier, Controller, Deployment, Key, Setting, SettingCodec } from "effect-controller-manager"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Memcached } from "./Memcached.ts"
import { deploymentFor, statusOf } from "./plan.ts"

/** A flag of the program, a variable, and a key of its configuration file. */
export const settings = {
  image: Setting.make(SettingCodec.text("image"), {
    name: "memcached-image",
    env: "MEMCACHED_IMAGE",
    group: "tuning",
    description: "What the servers run",
    default: "memcached:1.6-alpine"
  })
}

export const make = (options: Setting.Values<typeof settings>) =>
  Controller.make({
    name: "memcached",
    for: Memcached,
    owns: [Deployment],
    access: [Access.patch(Memcached, "status"), Access.create(Deployment), Access.patch(Deployment), Access.record],
    finalizers: {
      "cache.example.com/finalizer": (memcached, { events }) =>
        events.warning(memcached, "Deleting", `${memcached.metadata.name} is being deleted, and its servers with it`)
    },
    reconcileObject: (memcached, { cache, client }) =>
      Effect.gen(function* () {
        const { apply, applyStatus } = applier(client)
        // The apply is idempotent, and restores fields that other clients have changed.
        yield* apply(Deployment, deploymentFor(memcached, options.image))
        const { name, namespace } = memcached.metadata
        const deployment = yield* cache.get(Deployment, Key.make(namespace, name))
        const status = statusOf(memcached, deployment, yield* Clock.currentTimeMillis)
        if (status !== memcached.status) yield* applyStatus(Memcached, memcached, status)
      })
  })

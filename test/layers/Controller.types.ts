/**
 * What must compile and what must not: `access` decides which calls a reconcile may make, a layer says what it is built from, and half
 * a controller is none. Checked by `npm run typecheck`; this file never runs.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as Access from "../../src/kube/Access.ts"
import * as Patch from "../../src/kube/Patch.ts"
import * as Resource from "../../src/kube/Resource.ts"
import { ConfigMap, Node, Pod, Secret } from "../../src/kube/resources.ts"
import type { Cache } from "../../src/layers/Cache.ts"
import { ClusterName } from "../../src/layers/ClusterAuthority.ts"
import * as Controller from "../../src/layers/Controller.ts"
import type { KubeClient } from "../../src/layers/KubeClient.ts"
import type { Recorder } from "../../src/layers/Recorder.ts"
import * as Trigger from "../../src/streams/store/trigger.ts"

class Mailer extends Context.Service<Mailer, { readonly send: (text: string) => Effect.Effect<void> }>()(
  "test/Mailer"
) {}

const target = { namespace: "a", name: "b" }
const patch = Patch.merge({})

export const declared = Controller.make({
  name: "declared",
  for: ConfigMap,
  owns: [Pod],
  watches: [
    Controller.watch(
      Secret,
      Trigger.map((secret) => [secret.metadata.name])
    )
  ],
  access: [Access.patch(ConfigMap), Access.update(Pod, "status"), Access.get(Node)],
  reconcile: (request, { cache, client }) =>
    Effect.gen(function* () {
      // Sources may be read, and have the type of their kind.
      const configMap = yield* cache.get(ConfigMap, request.key)
      const data: Readonly<Record<string, string>> | undefined = configMap?.data
      const pods = yield* cache.list(Pod)
      yield* cache.get(Secret, request.key)
      // So may what access says, and where it says so.
      yield* client.patch(ConfigMap, target, patch)
      for (const pod of pods) yield* client.subresource("status").update(Pod, pod)
      yield* client.get(Node, { name: "n" })

      // @ts-expect-error: Node may be read live, but is not cached
      void cache.get(Node, "n")
      // @ts-expect-error: no patch of pods was declared
      void client.patch(Pod, target, patch)
      // @ts-expect-error: status may be updated, not patched
      void client.subresource("status").patch(Pod, target, patch)
      // @ts-expect-error: the main endpoint of pods was not declared
      for (const pod of pods) void client.update(Pod, pod)
      // @ts-expect-error: no such subresource was declared
      client.subresource("scale")
      // @ts-expect-error: a permission for the metadata alone is another one
      void cache.get(Resource.metadataOnly(Pod), "a/b")
      // @ts-expect-error: nothing may be deleted
      void client.delete(ConfigMap, target)
      return data === undefined ? undefined : yield* (yield* Mailer).send("changed")
    })
})

const Keys = Resource.selected(Secret, "type=example.com/key")
export const ofPart = Controller.make({
  name: "of-part",
  for: Keys,
  access: [Access.read(Resource.selected(Pod, "status.phase=Running"))],
  reconcile: (request, { cache }) =>
    Effect.gen(function* () {
      const key = yield* cache.get(Keys, request.key)
      const type: string | undefined = key?.type
      yield* cache.list(Resource.selected(Pod, "status.phase=Running"))
      // @ts-expect-error: the whole kind may not be read
      void cache.get(Secret, request.key)
      // @ts-expect-error: nor may another part of it
      void cache.list(Resource.selected(Pod, "status.phase=Failed"))
      return type === undefined ? undefined : yield* Effect.log(type)
    })
})

// What a reconcile needs shows in the layer's requirements, so a program that lacks it does not compile.
export const needsMailer: Layer.Layer<never, never, Controller.Services | Mailer> = declared.layer
type Needs<L> = L extends Layer.Layer<never, never, infer R> ? R : never
// @ts-expect-error: without Mailer it is not enough
export const enough: Controller.Services = null as unknown as Needs<typeof declared.layer>

// A controller's layer needs what it is built from: without the cache there is no program.
type Lacking<Missing> = Exclude<Controller.Services, Missing>
const plain = Controller.make({ name: "plain", for: Pod, reconcile: () => Effect.void })
export const needsServices: Layer.Layer<never, never, Controller.Services> = plain.layer
const needed = null as unknown as Needs<typeof plain.layer>
// @ts-expect-error: the cache is not provided
export const withoutCache: Lacking<Cache> = needed
// @ts-expect-error: the client is not provided
export const withoutClient: Lacking<KubeClient> = needed
// @ts-expect-error: the recorder of events is not provided
export const withoutRecorder: Lacking<Recorder> = needed
// The name of the cluster needs no service.
export const namesCluster: Layer.Layer<never, never, Controller.Services> = Controller.make({
  name: "named",
  for: Pod,
  reconcile: () => Effect.flatMap(ClusterName, (name) => Effect.logDebug(name))
}).layer

// What cannot be registered cannot be written.
const reconcile = () => Effect.void
// @ts-expect-error: a controller has a name
export const nameless = Controller.make({ for: Pod, reconcile })
// @ts-expect-error: what it owns is owned by some kind
export const ownsWithoutFor = Controller.make({ name: "a", owns: [Pod], reconcile })
// @ts-expect-error: it reconciles one kind
export const twoFors = Controller.make({ name: "a", for: [Pod, ConfigMap], reconcile })
// @ts-expect-error: it does something
export const idle = Controller.make({ name: "a", for: Pod })
// @ts-expect-error: a schedule has something to run
export const idleSchedule = Controller.scheduled({ name: "a", access: [], schedule: Schedule.spaced("1 second") })
// So does what a raw source needs.
export const needsSource = Controller.make({
  name: "needs-source",
  sources: [Stream.fromEffect(Effect.as(Mailer, "a/b"))],
  reconcile: (request, { cache, client }) =>
    Effect.sync(() => {
      const name: string = request.name
      // @ts-expect-error: it reads nothing
      void cache.get(ConfigMap, name)
      // @ts-expect-error: it may do nothing
      void client.get(ConfigMap, target)
    })
})
export const mailed: Mailer = null as unknown as Exclude<Needs<typeof needsSource.layer>, Controller.Services>
// @ts-expect-error: without Mailer it is not enough
export const poured: Controller.Services = null as unknown as Needs<typeof needsSource.layer>

export const numbered = Controller.make({
  name: "numbered",
  // @ts-expect-error: a source is a stream of keys
  sources: [Stream.make(1)],
  reconcile: () => Effect.void
})

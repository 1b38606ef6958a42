/**
 * What must compile and what must not: `access` decides which calls a reconcile may make, the type of a layer has its requirements, and an
 * incomplete declaration is an error. Checked by `npm run typecheck`; this file never runs.
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
      // A controller may read its sources, with the types of their kinds.
      const configMap = yield* cache.get(ConfigMap, request.key)
      const data: Readonly<Record<string, string>> | undefined = configMap?.data
      const pods = yield* cache.list(Pod)
      yield* cache.get(Secret, request.key)
      // And it may make the calls that `access` declares.
      yield* client.patch(ConfigMap, target, patch)
      for (const pod of pods) yield* client.subresource("status").update(Pod, pod)
      const patched: string | undefined = (yield* client.patch(ConfigMap, target, patch)).data?.["a"]
      const part = yield* client.patch(ConfigMap, target, patch, { returns: "metadata" })
      const version: string | undefined = part.metadata.resourceVersion
      // @ts-expect-error: the metadata alone are returned
      void part.data
      // @ts-expect-error: no such option
      void client.patch(ConfigMap, target, patch, { returned: "metadata" })
      yield* client.get(Node, { name: "n" })

      // @ts-expect-error: nodes may be read with the client, but are not cached
      void cache.get(Node, "n")
      // @ts-expect-error: no patch of pods was declared
      void client.patch(Pod, target, patch)
      // @ts-expect-error: status may be updated, not patched
      void client.subresource("status").patch(Pod, target, patch)
      // @ts-expect-error: no update of pods was declared
      for (const pod of pods) void client.update(Pod, pod)
      // @ts-expect-error: no such subresource was declared
      client.subresource("scale")
      // @ts-expect-error: the metadata projection needs a grant of its own
      void cache.get(Resource.metadataOnly(Pod), "a/b")
      // @ts-expect-error: nothing may be deleted
      void client.delete(ConfigMap, target)
      return (data ?? patched ?? version) === undefined ? undefined : yield* (yield* Mailer).send("changed")
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

// The services of a reconcile are requirements of the layer, so a program without them does not compile.
export const needsMailer: Layer.Layer<never, never, Controller.Services | Mailer> = declared.layer
type Needs<L> = L extends Layer.Layer<never, never, infer R> ? R : never
// @ts-expect-error: Mailer is not provided
export const enough: Controller.Services = null as unknown as Needs<typeof declared.layer>

// The layer of a controller requires the shared services.
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

// An invalid declaration does not compile.
const reconcile = () => Effect.void
// @ts-expect-error: the name is missing
export const nameless = Controller.make({ for: Pod, reconcile })
// @ts-expect-error: `owns` needs `for`
export const ownsWithoutFor = Controller.make({ name: "a", owns: [Pod], reconcile })
// @ts-expect-error: `for` has one kind
export const twoFors = Controller.make({ name: "a", for: [Pod, ConfigMap], reconcile })
// @ts-expect-error: the reconcile is missing
export const idle = Controller.make({ name: "a", for: Pod })
// @ts-expect-error: the run is missing
export const idleSchedule = Controller.scheduled({ name: "a", access: [], schedule: Schedule.spaced("1 second") })
// The services of a stream of keys are requirements too.
export const needsSource = Controller.make({
  name: "needs-source",
  sources: [Stream.fromEffect(Effect.as(Mailer, "a/b"))],
  reconcile: (request, { cache, client }) =>
    Effect.sync(() => {
      const name: string = request.name
      // @ts-expect-error: no read was declared
      void cache.get(ConfigMap, name)
      // @ts-expect-error: no get was declared
      void client.get(ConfigMap, target)
    })
})
export const mailed: Mailer = null as unknown as Exclude<Needs<typeof needsSource.layer>, Controller.Services>
// @ts-expect-error: Mailer is not provided
export const poured: Controller.Services = null as unknown as Needs<typeof needsSource.layer>

export const numbered = Controller.make({
  name: "numbered",
  // @ts-expect-error: a source is a stream of keys
  sources: [Stream.make(1)],
  reconcile: () => Effect.void
})

/**
 * What must compile and what must not for controllers of objects: no parameter needs an annotation, the object has the type of its kind's
 * Schemas, and grants and services are required as for other controllers. Checked by `npm run typecheck`; this file never runs.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Access from "../../src/kube/Access.ts"
import * as Key from "../../src/kube/Key.ts"
import * as Patch from "../../src/kube/Patch.ts"
import * as Resource from "../../src/kube/Resource.ts"
import { ConfigMap, Deployment, Node, Pod, Secret } from "../../src/kube/resources.ts"
import * as Controller from "../../src/layers/Controller.ts"
import { applier } from "../../src/layers/controller/writes/apply.ts"
import * as Predicate from "../../src/streams/store/predicate.ts"
import * as Reconcile from "../../src/streams/reconcile/Reconcile.ts"

class Mailer extends Context.Service<Mailer, { readonly send: (text: string) => Effect.Effect<void> }>()(
  "test/Mailer"
) {}

const Gadget = Resource.make({
  group: "example.com",
  version: "v1",
  kind: "Gadget",
  plural: "gadgets",
  spec: Schema.Struct({
    size: Schema.Int,
    colour: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("grey")))
  }),
  status: Schema.Struct({ seen: Schema.optionalKey(Schema.Int) })
})

const patch = Patch.merge({})
const target = { namespace: "a", name: "b" }
const Pods = Resource.metadataOnly(Pod)

export const gadgets = Controller.make({
  name: "gadgets",
  for: Gadget,
  predicate: Predicate.filter(({ spec }) => spec.size > 1),
  owns: [
    Deployment,
    Pods,
    Controller.owned(Secret, { matchEveryOwner: true, predicate: Predicate.filter(({ type }) => type === "Opaque") })
  ],
  access: [Access.create(ConfigMap), Access.patch(ConfigMap), Access.patch(Gadget, "status"), Access.record],
  finalizers: {
    "example.com/door": (gadget, { cache, events }) =>
      Effect.gen(function* () {
        const colour: string = gadget.spec.colour
        yield* cache.list(Secret)
        yield* events.normal(gadget, "Closing", colour)
        yield* (yield* Mailer).send(colour)
      })
  },
  reconcileObject: (gadget, { cache, client, events }) =>
    Effect.gen(function* () {
      // The field has its default, which may be missing on the wire.
      const colour: string = gadget.spec.colour
      const key = Key.of(gadget)
      const wire = yield* cache.get(Gadget, key)
      // @ts-expect-error: on the wire a field with a default may be missing
      const raw: string | undefined = wire?.spec.colour.length
      // It may read every kind that it owns, in any form of `owns`.
      yield* cache.get(Deployment, key)
      yield* cache.get(Secret, key)
      yield* cache.get(Pods, key)
      // @ts-expect-error: it only has the metadata of pods
      void cache.get(Pod, key)
      // @ts-expect-error: deployments are owned, not written
      void client.patch(Deployment, target, patch)
      // @ts-expect-error: no patch of its own kind was declared
      void client.patch(Gadget, target, patch)
      const { apply, applyStatus } = applier(client)
      yield* apply(ConfigMap, { metadata: target, data: { colour, raw: `${raw}` } })
      yield* applyStatus(Gadget, gadget, { seen: gadget.spec.size })
      // @ts-expect-error: its status has no such field
      void applyStatus(Gadget, gadget, { sawn: 1 })
      // @ts-expect-error: nor does its spec
      void gadget.spec.weight
      yield* events.normal(gadget, "Seen", colour)
      return gadget.spec.size > 2 ? Reconcile.after("1 minute") : Reconcile.done
    })
})

// The services of its finalizers are requirements too.
type Needs<L> = L extends Layer.Layer<never, never, infer R> ? R : never
export const mailed: Mailer = null as unknown as Exclude<Needs<typeof gadgets.layer>, Controller.Services>
// @ts-expect-error: Mailer is not provided
export const enough: Controller.Services = null as unknown as Needs<typeof gadgets.layer>

const reconcileObject = () => Effect.void
export const combined = Controller.make({
  name: "combined",
  for: Gadget,
  predicate: Predicate.or(
    Predicate.generationChanged,
    Predicate.filter((gadget: Resource.Object<typeof Gadget>) => gadget.spec.size > 1)
  ),
  reconcileObject
})
export const silent = Controller.make({
  name: "silent",
  for: Gadget,
  reconcileObject: (gadget, { events }) =>
    // @ts-expect-error: no events were declared
    events.normal(gadget, "Seen", "it")
})
// @ts-expect-error: a controller of objects needs `for`
export const kindless = Controller.make({ name: "a", reconcileObject })
// @ts-expect-error: only one of the two is allowed
export const both = Controller.make({ name: "a", for: Gadget, reconcile: reconcileObject, reconcileObject })
// @ts-expect-error: only a controller of objects has finalizers
export const keyed = Controller.make({ name: "a", for: Gadget, finalizers: {}, reconcile: reconcileObject })
// @ts-expect-error: `owns` needs `for`
export const ownerless = Controller.make({ name: "a", owns: [Controller.owned(Pod)], reconcile: reconcileObject })
// @ts-expect-error: a node has no type
export const typed = Controller.owned(Node, { predicate: Predicate.filter(({ type }) => type === "Opaque") })

/**
 * What must compile and what must not: a handler receives decoded objects, its requirements are in its type, and conversions have the types
 * of their versions. Checked by `npm run typecheck`; this file never runs.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { CustomResourceDefinition } from "../../src/kube/crd/Crd.ts"
import { ConfigMap } from "../../src/kube/resources.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { handler } from "../../src/manager/webhooks/handle.ts"
import * as Webhook from "../../src/layers/Webhook.ts"
import { Gadget, GadgetV1 } from "./webhook/gadget.ts"

class Prices extends Context.Service<Prices, { readonly of: (colour: string) => Effect.Effect<number> }>()(
  "test/Prices"
) {}

export const decoded = Webhook.defaulting(Gadget, (gadget) => {
  const size: number = gadget.spec.size
  // @ts-expect-error: the kind has no such field
  void gadget.spec.weight
  return Effect.succeed({ ...gadget, spec: { ...gadget.spec, size } })
})

// @ts-expect-error: a default must have the type of the Schemas
export const unfit = Webhook.defaulting(Gadget, (gadget) => Effect.succeed({ ...gadget, spec: { size: "big" } }))

export const told = Webhook.validating(ConfigMap, (review) => {
  if (review.operation === "DELETE") {
    const gone: undefined = review.object
    return Effect.succeed(gone ?? review.oldObject.data)
  }
  if (review.operation === "UPDATE") {
    // @ts-expect-error: the stored object is undefined if no Schema can decode it
    void review.oldObject.data
  }
  return review.object.data === undefined ? Webhook.deny("empty") : Effect.void
})

// @ts-expect-error: a failure needs a message for the user
export const wordless: Webhook.Failure = 404

const priced = Webhook.validating(Gadget, () => Effect.flatMap(Prices, (prices) => prices.of("red")))
const asking = Webhook.validating(Gadget, () => Effect.flatMap(KubeClient, (client) => client.list(Gadget)))

export const needs = handler<Prices | KubeClient>([priced, asking])
// @ts-expect-error: Prices is not provided
export const missing = handler<KubeClient>([priced, asking])
export const both: Webhook.Admission<Prices | KubeClient> = Webhook.inOrder(priced, asking)

declare const crd: CustomResourceDefinition
export const inTests = ClusterTest.layer({ crds: [crd], webhooks: [asking] })
// @ts-expect-error: a cluster does not provide Prices
export const unpriced = ClusterTest.layer({ crds: [crd], webhooks: [priced] })

export const fitting = Webhook.converting(Gadget, [
  Webhook.spoke(GadgetV1, {
    of: Gadget,
    toHub: (object) => Effect.succeed({ ...object, spec: { size: object.spec.count } }),
    // @ts-expect-error: the spoke has no size
    fromHub: (object) => Effect.succeed({ ...object, spec: { size: object.spec.size } })
  })
])

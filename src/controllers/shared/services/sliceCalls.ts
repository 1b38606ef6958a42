/** The API calls with which a controller keeps its EndpointSlices, and the access that they need. */
import type * as Effect from "effect/Effect"
import * as Access from "../../../kube/Access.ts"
import type { ApiError } from "../../../kube/ApiError.ts"
import type { Draft, KubeObject } from "../../../kube/Meta.ts"
import { EndpointSlice } from "../../../kube/resources.ts"
import type * as Controller from "../../../layers/Controller.ts"

type Call<A> = Effect.Effect<A, ApiError>

export interface Calls {
  /** Of a written slice the metadata are returned. */
  readonly create: (draft: Draft<EndpointSlice>) => Call<KubeObject>
  readonly update: (slice: EndpointSlice) => Call<KubeObject>
  readonly remove: (slice: EndpointSlice) => Call<unknown>
}

export const access = [
  Access.read(EndpointSlice),
  Access.create(EndpointSlice),
  Access.update(EndpointSlice),
  Access.remove(EndpointSlice)
] as const

export const callsOf = (client: Controller.Client<(typeof access)[number]>): Calls => ({
  create: (draft) => client.create(EndpointSlice, draft, { returns: "metadata" }),
  update: (slice) => client.update(EndpointSlice, slice, { returns: "metadata" }),
  // The precondition keeps the call from a slice that was recreated under the same name.
  remove: ({ metadata }) => client.delete(EndpointSlice, metadata, { preconditions: { uid: metadata.uid } })
})

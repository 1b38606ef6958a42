/**
 * The calls behind a controller's client, without the grants in their types: for the functions beside this file, whose own types ask for
 * the grants that they use. Nothing outside of this folder imports it.
 */
import type * as Effect from "effect/Effect"
import type { ApiError } from "../../../kube/ApiError.ts"
import type { Draft, KubeObject } from "../../../kube/Meta.ts"
import type * as Patch from "../../../kube/Patch.ts"
import type * as Resource from "../../../kube/Resource.ts"
import type * as KubeClient from "../../KubeClient.ts"
import type { Client } from "../reconcileContext.ts"

type Call<A> = Effect.Effect<A, ApiError>

type SendPatch = <A extends KubeObject>(
  resource: Resource.Resource<A>,
  target: KubeClient.Target,
  patch: Patch.Patch,
  options?: KubeClient.PatchOptions
) => Call<A>

export interface Calls {
  readonly create: <A extends KubeObject>(resource: Resource.Resource<A>, object: Draft<A>) => Call<A>
  readonly update: <A extends KubeObject>(resource: Resource.Resource<A>, object: A) => Call<A>
  readonly patch: SendPatch
  readonly subresource: (name: string) => { readonly patch: SendPatch }
}

/** `Client<A>` is these calls with fewer resources allowed, which generic method types cannot express: hence the cast. */
export const of = <A>(client: Client<A>): Calls => client as unknown as Calls

/** Where an object is. */
export const targetOf = ({ metadata }: KubeObject): KubeClient.Target => ({
  namespace: metadata.namespace,
  name: metadata.name
})

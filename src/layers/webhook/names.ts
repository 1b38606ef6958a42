/** What an admission webhook is called and where it is served, where nobody says otherwise. Pure. Source: framework.md 2.13; the builder of controller-runtime. */
import type * as Resource from "../../kube/Resource.ts"
import type { Admission, DefaultingOptions } from "../Webhook.ts"
import type { Operation } from "./Request.ts"

/** `/mutate-cache-example-com-v1alpha1-memcached`; of the core group `/mutate--v1-pod`. */
const pathOf = (word: string, { group, kind, version }: Resource.Any): string =>
  `/${word}-${group.replaceAll(".", "-")}-${version}-${kind.toLowerCase()}`

const byDefault: ReadonlyArray<Operation> = ["CREATE", "UPDATE"]

export const admission = (word: string, pathWord: string, resource: Resource.Any, options: DefaultingOptions) => ({
  resource,
  options,
  name: options.name ?? `${word}.${resource.plural}.${resource.group === "" ? "core" : resource.group}`,
  path: options.path ?? pathOf(pathWord, resource),
  access: options.access ?? [],
  operations: options.operations ?? byDefault
})

/** Why two cannot be one. */
export const notAlike = (first: Admission<unknown>, other: Admission<unknown>): string =>
  `the webhooks ${JSON.stringify(first.name)} and ${JSON.stringify(other.name)} cannot be put in order: both must be of one sort and about one kind`

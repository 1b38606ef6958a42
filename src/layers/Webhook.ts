/**
 * Webhooks as values, declared beside their resource: `defaulting` sets missing fields, `validating` denies what the Schemas or code do not
 * allow, `converting` converts objects between versions. The value has the path, the rules by which the API server calls the webhook, and
 * the handler. `manager/webhooks/` receives reviews over HTTPS; this file knows nothing of addresses, certificates and review versions. Source: controller-runtime pkg/builder: WebhookBuilder.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Access from "../kube/Access.ts"
import type { KubeObject } from "../kube/Meta.ts"
import type * as Resource from "../kube/Resource.ts"
import type { LabelSelectorSpec } from "../kube/Selector.ts"
import * as Convert from "./webhook/convert.ts"
import * as Handlers from "./webhook/handlers.ts"
import type { Operation, Request, Review, Verdict } from "./webhook/Request.ts"
import type { Failure } from "./webhook/denial.ts"

export type { Operation, Request, Review, UserInfo, Verdict } from "./webhook/Request.ts"
export { type Cause, Denied, deny, type Failure } from "./webhook/denial.ts"
export { ConversionError, type Spoke, spoke } from "./webhook/convert.ts"

/** Webhooks that cannot be served. The message is one sentence that names the webhook. */
export class InvalidWebhook extends Data.TaggedError("InvalidWebhook")<{ readonly message: string }> {}

/** Settings of an admission webhook. Source: admissionregistration.k8s.io/v1. */
export interface Options {
  /**
   * Its name, which users see in denials: a DNS name of at least three parts, unique in the program. Default:
   * `validate.<plural>.<group>`, `default.<plural>.<group>`; the core group is `core` there.
   */
  readonly name?: string | undefined
  /** The path. Default: `/mutate-<group with dashes>-<version>-<kind in lower case>`, `/validate-…`. */
  readonly path?: string | undefined
  /** What its handler may do with `KubeClient`, for the generated roles: `[Access.list(Pod)]`. Default: nothing. */
  readonly access?: ReadonlyArray<Access.Any> | undefined
  /** The operations for which the server calls it. Default: CREATE and UPDATE. A CONNECT is allowed without calling the handler. */
  readonly operations?: ReadonlyArray<Operation> | undefined
  /** Subresources for which the server also calls it. Default: none. */
  readonly subresources?: ReadonlyArray<"status"> | undefined
  /** What happens to a write when the webhook cannot be called. Default: Fail, the write is rejected. */
  readonly failurePolicy?: "Fail" | "Ignore" | undefined
  /** Seconds that the server waits for the response, 1 to 30. Default: 10. */
  readonly timeoutSeconds?: number | undefined
  /** Equivalent: the server also calls it for other versions of the kind, and converts them. Default: Equivalent. */
  readonly matchPolicy?: "Exact" | "Equivalent" | undefined
  /** None, or NoneOnDryRun if the handler has no side effects when `dryRun` is true. Default: None. */
  readonly sideEffects?: "None" | "NoneOnDryRun" | undefined
  /** The namespaces of the objects. Default: any. */
  readonly namespaceSelector?: LabelSelectorSpec | undefined
  /** The labels of the objects, before or after the write. Default: any. */
  readonly objectSelector?: LabelSelectorSpec | undefined
  /**
   * Expressions in CEL over `object`, `oldObject`, `request` and `authorizer`: the server calls the webhook only if all of them are true, so that
   * requests which it would admit anyway cost no call. Default: none.
   */
  readonly matchConditions?: ReadonlyArray<MatchCondition> | undefined
}

/** An expression that has to be true for a call. Source: admissionregistration.k8s.io/v1 MatchCondition. */
export interface MatchCondition {
  /** Unique in the webhook, for messages: `not-by-the-operator`. */
  readonly name: string
  /** `request.userInfo.username != 'system:serviceaccount:memcached:operator'`. */
  readonly expression: string
}

/** As {@link Options}, for a webhook that changes objects. */
export interface DefaultingOptions extends Options {
  /** IfNeeded: called again when a later webhook has changed the object. Default: Never. */
  readonly reinvocationPolicy?: "Never" | "IfNeeded" | undefined
}

/** An admission webhook. The API server calls it before it stores an object. */
export interface Admission<out R = never> {
  readonly _tag: "Defaulting" | "Validating"
  /** The kind of its objects. */
  readonly resource: Resource.Any
  /** Its name, which users see in denials. */
  readonly name: string
  /** Its path. */
  readonly path: string
  /** What its handler may do with the API server. */
  readonly access: ReadonlyArray<Access.Any>
  /** The operations for which the server calls it. */
  readonly operations: ReadonlyArray<Operation>
  /** The settings of its declaration. */
  readonly options: DefaultingOptions
  /** Failures of the handler become verdicts; only its defects fail the effect. A verdict has the whole object, not a patch. */
  readonly handle: (request: Request) => Effect.Effect<Verdict, never, R>
}

/** A conversion webhook, which a CustomResourceDefinition names. */
export interface Conversion<out R = never> {
  readonly _tag: "Converting"
  /** The version that the others are converted from and to: the one that is stored. */
  readonly resource: Resource.AnyCustom
  /** What its functions may do with the API server. */
  readonly access: ReadonlyArray<Access.Any>
  /** The other versions that it converts between. */
  readonly spokes: ReadonlyArray<Resource.AnyCustom>
  /** Its path; several kinds may share one. Default: `/convert`. */
  readonly path: string
  /** Converts an object to a version. The webhook server checks the metadata and sets apiVersion. */
  readonly convert: (object: KubeObject, version: string) => Effect.Effect<KubeObject, Convert.ConversionError, R>
}

/** An admission or conversion webhook. */
export type Webhook<R = never> = Admission<R> | Conversion<R>

/** A webhook whose handler may need any service. */
export type Any = Webhook<unknown>

/** `/mutate-cache-example-com-v1alpha1-memcached`; of the core group `/mutate--v1-pod`. */
const pathOf = (word: string, { group, kind, version }: Resource.Any): string =>
  `/${word}-${group.replaceAll(".", "-")}-${version}-${kind.toLowerCase()}`

const byDefault: ReadonlyArray<Operation> = ["CREATE", "UPDATE"]

const identityOf = (word: string, pathWord: string, resource: Resource.Any, options: DefaultingOptions) => ({
  resource,
  options,
  name: options.name ?? `${word}.${resource.plural}.${resource.group === "" ? "core" : resource.group}`,
  path: options.path ?? pathOf(pathWord, resource),
  access: options.access ?? [],
  operations: options.operations ?? byDefault
})

/** Why two webhooks cannot be combined. */
const notAlike = (first: Admission<unknown>, other: Admission<unknown>): string =>
  `the webhooks ${JSON.stringify(first.name)} and ${JSON.stringify(other.name)} cannot be put in order: both must be of one sort and about one kind`

/**
 * A webhook that sets missing fields of an object. The function receives the decoded object and returns the object with defaults; the response
 * is a patch of the difference, which never changes fields that the Schemas do not know. It is not called for deletions. An object that
 * cannot be decoded is denied with the path of the invalid field, as by {@link validating}.
 */
export const defaulting = <R extends Resource.Any, E extends Failure = never, Req = never>(
  resource: R,
  body: (
    object: Resource.Decoded<R>,
    review: Review<Resource.Decoded<R>>
  ) => Effect.Effect<Resource.Decoded<R>, E, Req>,
  options: DefaultingOptions = {}
): Admission<Req> => ({
  ...identityOf("default", "mutate", resource, options),
  _tag: "Defaulting",
  handle: Handlers.defaulting(resource, body)
})

/**
 * A webhook that denies invalid objects. What the Schemas of the resource cannot decode is denied with the path of the invalid field; then
 * `check` is called, whose failure is the denial: `Webhook.deny("…", { path: "spec.size" })`. An object that was stored before there was
 * validation can still be deleted and labelled, and its finalizers removed: the Schemas are not enforced where a write leaves the spec as it is.
 */
export const validating = <R extends Resource.Any, E extends Failure = never, Req = never>(
  resource: R,
  check: (review: Review<Resource.Decoded<R>>) => Effect.Effect<void, E, Req> = () => Effect.void,
  options: Options = {}
): Admission<Req> => ({
  ...identityOf("validate", "validate", resource, options),
  _tag: "Validating",
  handle: Handlers.validating(resource, check)
})

/**
 * Combines several webhooks of one sort for one kind, with the path and options of the first. They are called in order, each with the object that
 * the one before returned. The first denial is the response; it has all warnings until then.
 */
export const inOrder = <R1, R2>(first: Admission<R1>, ...others: ReadonlyArray<Admission<R2>>): Admission<R1 | R2> => {
  const different = others.find(({ _tag, resource }) => _tag !== first._tag || resource.id !== first.resource.id)
  if (different !== undefined) throw new InvalidWebhook({ message: notAlike(first, different) })
  const all: ReadonlyArray<Admission<R1 | R2>> = [first, ...others]
  const access = all.flatMap((one) => one.access)
  return { ...first, access, handle: Handlers.inOrder(all.map(({ handle }) => handle)) }
}

/**
 * A webhook that converts between the versions of a kind. `hub` is the stored version; each other version is a spoke with conversions to the hub
 * and back. Objects are in wire form: a stored object must be converted even if a Schema cannot decode it, or the kind could not be listed.
 */
export const converting = <Hub extends Resource.AnyCustom, Req = never>(
  hub: Hub,
  spokes: ReadonlyArray<Convert.Spoke<Resource.Object<Hub>, Req>>,
  options: Pick<Options, "access" | "path"> = {}
): Conversion<Req> => ({
  _tag: "Converting",
  resource: hub,
  access: options.access ?? [],
  spokes: spokes.map(({ resource }) => resource),
  path: options.path ?? "/convert",
  convert: Convert.through(hub, spokes)
})

/**
 * Webhooks as values, declared beside the resource they are about: `defaulting` fills in what is missing, `validating` refuses what the
 * Schemas or rules in code do not allow, `converting` turns objects of one version into another. From a value follow its path, the rules by
 * which the API server calls it, and how it answers. What receives reviews over HTTPS is `manager/webhooks/`; nothing here knows of
 * addresses, certificates and the form of a review. Source: controller-runtime pkg/builder: WebhookBuilder.
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

/** What may be said of an admission webhook beside what it does. Source: admissionregistration.k8s.io/v1. */
export interface Options {
  /**
   * What users see where it refuses: a DNS name of three parts at least, unique in the program. Default:
   * `validate.<plural>.<group>`, `default.<plural>.<group>`; the core group is `core` there.
   */
  readonly name?: string | undefined
  /** Where it is served. Default: `/mutate-<group with dashes>-<version>-<kind in lower case>`, `/validate-…`. */
  readonly path?: string | undefined
  /** What its handler asks of the API server with `KubeClient`, so that roles allow it: `[Access.list(Pod)]`. Default: nothing. */
  readonly access?: ReadonlyArray<Access.Any> | undefined
  /** When the server asks. Default: CREATE and UPDATE. Of a CONNECT nothing is decoded and no handler asked; it is allowed. */
  readonly operations?: ReadonlyArray<Operation> | undefined
  /** What it is asked about beside the objects themselves. Default: nothing. */
  readonly subresources?: ReadonlyArray<"status"> | undefined
  /** What happens to a write when the webhook cannot be asked. Default: Fail, the write is refused. */
  readonly failurePolicy?: "Fail" | "Ignore" | undefined
  /** Seconds that the server waits for an answer, 1 to 30. Default: 10. */
  readonly timeoutSeconds?: number | undefined
  /** Equivalent: also for other versions of the kind, which the server converts. Default: Equivalent. */
  readonly matchPolicy?: "Exact" | "Equivalent" | undefined
  /** Only NoneOnDryRun and None may be said; with NoneOnDryRun a handler looks at `dryRun`. Default: None. */
  readonly sideEffects?: "None" | "NoneOnDryRun" | undefined
  /** Of which namespaces objects must be. Default: any. */
  readonly namespaceSelector?: LabelSelectorSpec | undefined
  /** Which labels objects must have, before or after the write. Default: any. */
  readonly objectSelector?: LabelSelectorSpec | undefined
}

/** As {@link Options}, for a webhook that changes objects. */
export interface DefaultingOptions extends Options {
  /** IfNeeded: asked again when a later webhook has changed the object. Default: Never. */
  readonly reinvocationPolicy?: "Never" | "IfNeeded" | undefined
}

/** A webhook of admission: asked before something is stored. */
export interface Admission<out R = never> {
  readonly _tag: "Defaulting" | "Validating"
  /** The kind that it is about. */
  readonly resource: Resource.Any
  /** What users see where it refuses. */
  readonly name: string
  /** Where it is served. */
  readonly path: string
  /** What its handler does with the API server. */
  readonly access: ReadonlyArray<Access.Any>
  /** When the server asks. */
  readonly operations: ReadonlyArray<Operation>
  /** What was said of it when it was declared. */
  readonly options: DefaultingOptions
  /** Total: failures of the handler are verdicts, and only its defects come out. The object of a verdict is whole, not a patch. */
  readonly handle: (request: Request) => Effect.Effect<Verdict, never, R>
}

/** A webhook of conversion, which a CustomResourceDefinition names. */
export interface Conversion<out R = never> {
  readonly _tag: "Converting"
  /** The version that the others are converted from and to: the one that is stored. */
  readonly resource: Resource.AnyCustom
  /** What its functions do with the API server. */
  readonly access: ReadonlyArray<Access.Any>
  /** The other versions that it converts between. */
  readonly spokes: ReadonlyArray<Resource.AnyCustom>
  /** Where it is served; several kinds may share a path. Default: `/convert`. */
  readonly path: string
  /** In the version wanted, as its handler made it; metadata and apiVersion are the server's business. */
  readonly convert: (object: KubeObject, version: string) => Effect.Effect<KubeObject, Convert.ConversionError, R>
}

/** A webhook, of either sort. */
export type Webhook<R = never> = Admission<R> | Conversion<R>

/** Any webhook, whatever its handler needs. */
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

/** Why two cannot be one. */
const notAlike = (first: Admission<unknown>, other: Admission<unknown>): string =>
  `the webhooks ${JSON.stringify(first.name)} and ${JSON.stringify(other.name)} cannot be put in order: both must be of one sort and about one kind`

/**
 * A webhook that fills in what is missing in an object. The body is given the decoded object and gives back what it should be; the answer
 * is a patch of the difference, which never touches what the Schemas do not know. It is not asked about deletions, and an object that
 * cannot be decoded is refused with the path, as by {@link validating}.
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
 * A webhook that refuses what is not allowed. What the Schemas of the resource refuse, is refused with the path; then `check` is asked, whose
 * failure is the refusal: `Webhook.deny("…", { path: "spec.size" })`. An object that was stored before there was validation can still be
 * deleted, labelled and released from finalizers: what the Schemas refuse is let pass where the write changes nothing of its spec.
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
 * Several webhooks of one sort for one kind, as one, with path and options of the first: they are asked in order, each about what the one before has made of the
 * object; the first refusal is the answer, and all warnings until then are returned.
 */
export const inOrder = <R1, R2>(first: Admission<R1>, ...others: ReadonlyArray<Admission<R2>>): Admission<R1 | R2> => {
  const stranger = others.find(({ _tag, resource }) => _tag !== first._tag || resource.id !== first.resource.id)
  if (stranger !== undefined) throw new InvalidWebhook({ message: notAlike(first, stranger) })
  const all: ReadonlyArray<Admission<R1 | R2>> = [first, ...others]
  const access = all.flatMap((one) => one.access)
  return { ...first, access, handle: Handlers.inOrder(all.map(({ handle }) => handle)) }
}

/**
 * A webhook that converts between the versions of a kind. `hub` is the stored version; each other one is a spoke, which knows how it becomes the hub and how the
 * hub becomes it. Objects are in wire form: what is stored must be converted whether a Schema can read it or not, or the kind could not be listed.
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

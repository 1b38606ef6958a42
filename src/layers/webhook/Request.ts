/**
 * Requests and responses of admission webhooks, in any version of AdmissionReview: `Request` and `Verdict` as the webhook server has them,
 * `Review` decoded for a handler. Source: admission.k8s.io/v1 AdmissionReview.
 */
import type * as Effect from "effect/Effect"
import type { KubeObject } from "../../kube/Meta.ts"
import type * as Status from "../../kube/Status.ts"

/** The operation of the request. A CONNECT opens a connection to an object, as `kubectl exec` does. */
export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT"

/** The user of a request. Source: authentication.k8s.io/v1 UserInfo. */
export interface UserInfo {
  /** `system:serviceaccount:default:web`. */
  readonly username: string
  /** Distinguishes users that had the same name at different times. */
  readonly uid: string | undefined
  /** The groups of the user, such as `system:authenticated`. */
  readonly groups: ReadonlyArray<string>
  /** Further attributes from the authenticator. */
  readonly extra: Readonly<Record<string, ReadonlyArray<string>>>
}

/** Group, version and kind of an object. */
export interface Kind {
  /** Empty for the core group. */
  readonly group: string
  /** `v1alpha1`. */
  readonly version: string
  /** `Memcached`. */
  readonly kind: string
}

/** The fields of a request except its objects. */
export interface Circumstances {
  /** The unique id of this call. */
  readonly uid: string
  /** The operation. */
  readonly operation: Operation
  /** Group, version and kind of the objects. */
  readonly kind: Kind
  /** The name of the object; empty when the server generates it. */
  readonly name: string
  /** Undefined for cluster-scoped objects. */
  readonly namespace: string | undefined
  /** `status`; undefined for the object itself. */
  readonly subresource: string | undefined
  /** The user of the request. */
  readonly user: UserInfo
  /** True: nothing will be stored, so the handler must not have side effects. */
  readonly dryRun: boolean
  /** CreateOptions, UpdateOptions or DeleteOptions, as the client sent them. */
  readonly options: unknown
}

/** A request to an admission webhook. */
export interface Request extends Circumstances {
  /** The object to be stored; undefined for a deletion. */
  readonly object: KubeObject | undefined
  /** The stored object; undefined for a creation. */
  readonly oldObject: KubeObject | undefined
}

/** The response of an admission webhook. */
export interface Verdict {
  /** Undefined: allowed. */
  readonly refusal: Status.Status | undefined
  /** The changed object; absent if it is unchanged. */
  readonly object: KubeObject | undefined
  /** Warnings for the user. */
  readonly warnings: ReadonlyArray<string>
}

interface Told extends Circumstances {
  /** Adds a warning to the response, which kubectl prints. Use one line of at most 120 characters. */
  readonly warn: (text: string) => Effect.Effect<void>
}

interface Creation<A> extends Told {
  readonly operation: "CREATE"
  readonly object: A
  readonly oldObject: undefined
}

interface Update<A> extends Told {
  readonly operation: "UPDATE"
  readonly object: A
  /** Undefined where the Schemas cannot decode the stored object. */
  readonly oldObject: A | undefined
}

interface Deletion<A> extends Told {
  readonly operation: "DELETE"
  readonly object: undefined
  readonly oldObject: A
}

/** A request about an object whose decoded type is `A`. */
export type Review<A> = Creation<A> | Update<A> | Deletion<A>

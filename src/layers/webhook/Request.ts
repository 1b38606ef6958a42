/**
 * What an admission webhook is asked and what it says, whichever version of the review it came in: `Request` and `Verdict` as the
 * server in front of it has them, `Review` as a handler sees it, decoded. Source: admission.k8s.io/v1 AdmissionReview.
 */
import type * as Effect from "effect/Effect"
import type { KubeObject } from "../../kube/Meta.ts"
import type * as Status from "../../kube/Status.ts"

/** What is done to the object. A CONNECT opens a connection to it, as `kubectl exec` does. */
export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT"

/** Who wants the write. Source: authentication.k8s.io/v1 UserInfo. */
export interface UserInfo {
  /** `system:serviceaccount:default:web`. */
  readonly username: string
  /** Differs between users that had the same name at different times. */
  readonly uid: string | undefined
  /** `system:authenticated` and what else they are in. */
  readonly groups: ReadonlyArray<string>
  /** Whatever else the server knows of them. */
  readonly extra: Readonly<Record<string, ReadonlyArray<string>>>
}

/** The kind of an object, by its names. */
export interface Kind {
  /** Empty for the core group. */
  readonly group: string
  /** `v1alpha1`. */
  readonly version: string
  /** `Memcached`. */
  readonly kind: string
}

/** What is said of a write beside its objects. */
export interface Circumstances {
  /** Of this call; no two have the same. */
  readonly uid: string
  /** What is done. */
  readonly operation: Operation
  /** In which the objects are. */
  readonly kind: Kind
  /** Empty where the server is to choose one. */
  readonly name: string
  /** Undefined for what is in no namespace. */
  readonly namespace: string | undefined
  /** `status`; undefined for the object itself. */
  readonly subresource: string | undefined
  /** Who wants it. */
  readonly user: UserInfo
  /** True: nothing will be stored, so nothing may be done. */
  readonly dryRun: boolean
  /** CreateOptions, UpdateOptions or DeleteOptions, as the client sent them. */
  readonly options: unknown
}

/** What an admission webhook is asked. */
export interface Request extends Circumstances {
  /** What is to be stored; undefined for a deletion. */
  readonly object: KubeObject | undefined
  /** What is stored; undefined for a creation. */
  readonly oldObject: KubeObject | undefined
}

/** What an admission webhook says. */
export interface Verdict {
  /** Undefined: allowed. */
  readonly refusal: Status.Status | undefined
  /** What the object should be, where that is not what it was. */
  readonly object: KubeObject | undefined
  /** Warnings for the user. */
  readonly warnings: ReadonlyArray<string>
}

interface Told extends Circumstances {
  /** Returns a warning without refusing; kubectl prints it. One line, of 120 characters at most, reads best. */
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
  /** Undefined where the Schemas cannot read what is stored. */
  readonly oldObject: A | undefined
}

interface Deletion<A> extends Told {
  readonly operation: "DELETE"
  readonly object: undefined
  readonly oldObject: A
}

/** A write of an object whose decoded form is `A`. */
export type Review<A> = Creation<A> | Update<A> | Deletion<A>

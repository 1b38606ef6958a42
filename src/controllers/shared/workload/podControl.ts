/**
 * Creates and deletes the pods of an owner, with an event on the owner for each. The body of a pod follows from the owner's template alone. Source:
 * pkg/controller: RealPodControl.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Access from "../../../kube/Access.ts"
import * as ApiError from "../../../kube/ApiError.ts"
import type { Draft, KubeObject } from "../../../kube/Meta.ts"
import * as Owner from "../../../kube/Owner.ts"
import type * as Patch from "../../../kube/Patch.ts"
import type * as Resource from "../../../kube/Resource.ts"
import { Pod } from "../../../kube/resources.ts"
import * as Selector from "../../../kube/Selector.ts"
import type * as Controller from "../../../layers/Controller.ts"
import type { EventSink } from "../../../layers/Recorder.ts"

/** A pod template as specs hold it. */
export interface Template {
  readonly metadata?:
    | {
        readonly labels?: Readonly<Record<string, string>> | undefined
        readonly annotations?: Readonly<Record<string, string>> | undefined
        readonly finalizers?: ReadonlyArray<string> | undefined
      }
    | undefined
  readonly spec?: NonNullable<Pod["spec"]> | undefined
}

/** A pod could not be created or deleted. The message is that of the server, because users read it in a condition. */
export class PodControlError extends Data.TaggedError("PodControlError")<{
  readonly message: string
  /** The server's error; undefined if no request was sent. */
  readonly cause: ApiError.ApiError | undefined
}> {}

/** The body of a new pod. One body serves any number of pods, because the server generates their names. */
export const draft = (resource: Resource.Any, owner: KubeObject, template: Template): Draft<Pod> => {
  const { annotations, finalizers, labels } = template.metadata ?? {}
  return {
    metadata: {
      generateName: namePrefix(owner.metadata.name),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ownerReferences: [Owner.reference(resource, owner)]
    },
    ...(template.spec === undefined ? {} : { spec: template.spec })
  }
}

/** The owner's name with a dash, unless that is no valid prefix of a pod's name. */
const namePrefix = (owner: string): string => (canPrefix.test(owner) && owner.length <= 253 ? `${owner}-` : owner)

/** A DNS subdomain to which a dash and further letters may be appended. */
const canPrefix = /^(?:[a-z0-9](?:[-a-z0-9]*[a-z0-9])?\.)*[a-z0-9][-a-z0-9]*$/

type Call<A> = Effect.Effect<A, ApiError.ApiError>

export interface Calls {
  /** Of the created pod the metadata are returned. */
  readonly create: (pod: Draft<Pod>, namespace: string | undefined) => Call<KubeObject>
  readonly remove: (pod: Pod) => Call<unknown>
  readonly events: EventSink
}

export const access = [Access.create(Pod), Access.patch(Pod), Access.remove(Pod)] as const

export const callsOf = (client: Controller.Client<(typeof access)[number]>) => ({
  create: (pod: Draft<Pod>, namespace: string | undefined) =>
    client.create(Pod, pod, { namespace, returns: "metadata" }),
  patch: (pod: Pod, patch: Patch.Patch) => client.patch(Pod, pod.metadata, patch),
  remove: (pod: Pod) => client.delete(Pod, pod.metadata)
})

/** The pods that the owner's selector matches on the server; some may have another owner. Without a selector there are none. */
export const list = (
  client: Controller.Client<Access.Access<"list", typeof Pod>>,
  { metadata: { namespace } }: KubeObject,
  selector: Selector.LabelSelector | undefined
): Call<ReadonlyArray<Pod>> =>
  selector === undefined
    ? Effect.succeed([])
    : Effect.map(client.list(Pod, { namespace, labelSelector: Selector.formatLabels(selector) }), ({ items }) => items)

/**
 * Creates one pod. In a terminating namespace creation is forbidden and the owner will be deleted too: that is no event and no failure, but
 * "NamespaceTerminating".
 */
export const create = (
  calls: Calls,
  owner: KubeObject,
  body: Draft<Pod>
): Effect.Effect<"Created" | "NamespaceTerminating", PodControlError> => {
  const { labels } = body.metadata
  if (labels === undefined || Object.keys(labels).length === 0) {
    return Effect.fail(new PodControlError({ message: "unable to create pods, no labels", cause: undefined }))
  }
  return Effect.matchEffect(calls.create(body, owner.metadata.namespace), {
    onSuccess: (pod) =>
      Effect.as(
        calls.events.normal(owner, "SuccessfulCreate", `Created pod: ${pod.metadata.name}`),
        "Created" as const
      ),
    onFailure: (error) =>
      ApiError.isNamespaceTerminating(error)
        ? Effect.succeed("NamespaceTerminating" as const)
        : Effect.andThen(
            unlessFenced(error, calls.events.warning(owner, "FailedCreate", `Error creating: ${error.detail}`)),
            new PodControlError({ message: error.detail, cause: error })
          )
  })
}

/** Deletes one pod with its own grace period and without preconditions. A pod that is already gone is "NotFound", without an event. */
export const remove = (
  calls: Calls,
  owner: KubeObject,
  pod: Pod
): Effect.Effect<"Deleted" | "NotFound", PodControlError> =>
  Effect.matchEffect(calls.remove(pod), {
    onSuccess: () =>
      Effect.as(
        calls.events.normal(owner, "SuccessfulDelete", `Deleted pod: ${pod.metadata.name}`),
        "Deleted" as const
      ),
    onFailure: (error) =>
      error.reason._tag === "NotFound"
        ? Effect.succeed("NotFound" as const)
        : Effect.andThen(
            unlessFenced(error, calls.events.warning(owner, "FailedDelete", `Error deleting: ${error.detail}`)),
            new PodControlError({ message: `unable to delete pods: ${error.detail}`, cause: error })
          )
  })

/** Losing the leadership is not recorded as an event: the next leader repeats the call. */
const unlessFenced = (error: ApiError.ApiError, event: Effect.Effect<void>): Effect.Effect<void> =>
  ApiError.hasReason(error, "LeaderFenced") ? Effect.void : event

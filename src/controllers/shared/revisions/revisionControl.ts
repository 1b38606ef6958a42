/**
 * Claims, creates and deletes the ControllerRevisions of an owner, with the API calls and the access that this needs. Which are created and deleted
 * is decided by the owner's controller. Source:
 * pkg/controller/history: realHistory.
 */
import * as Effect from "effect/Effect"
import * as Access from "../../../kube/Access.ts"
import * as ApiError from "../../../kube/ApiError.ts"
import type { Draft, KubeObject } from "../../../kube/Meta.ts"
import type * as Patch from "../../../kube/Patch.ts"
import type * as Resource from "../../../kube/Resource.ts"
import { ControllerRevision } from "../../../kube/resources.ts"
import type * as Controller from "../../../layers/Controller.ts"
import type * as Store from "../../../streams/store/Store.ts"
import * as Adopt from "../workload/adopt.ts"
import * as Indexes from "../workload/indexes.ts"
import * as History from "./history.ts"

type Call<A> = Effect.Effect<A, ApiError.ApiError>

export interface Calls<O> {
  readonly revisions: Store.Readable<ControllerRevision>
  /** The owner of that name, read from the server. */
  readonly live: (owner: O) => Call<O>
  readonly createRevision: (draft: Draft<ControllerRevision>) => Call<ControllerRevision>
  /** The revision of that name beside the owner, read from the server. */
  readonly liveRevision: (owner: O, name: string) => Call<ControllerRevision>
  readonly updateRevision: (revision: ControllerRevision) => Call<ControllerRevision>
  readonly patchRevision: (revision: ControllerRevision, patch: Patch.Patch) => Call<ControllerRevision>
  readonly removeRevision: (revision: ControllerRevision) => Call<unknown>
}

export const access = [
  Access.read(ControllerRevision),
  Access.get(ControllerRevision),
  Access.create(ControllerRevision),
  Access.update(ControllerRevision),
  Access.patch(ControllerRevision),
  Access.remove(ControllerRevision)
] as const

/** The calls that no owner's kind is needed for. */
export const callsOf = (
  client: Controller.Client<(typeof access)[number]>
): Omit<Calls<KubeObject>, "revisions" | "live"> => ({
  createRevision: (draft) => client.create(ControllerRevision, draft),
  liveRevision: ({ metadata: { namespace } }, name) => client.get(ControllerRevision, { namespace, name }),
  updateRevision: (revision) => client.update(ControllerRevision, revision),
  patchRevision: (revision, patch) => client.patch(ControllerRevision, revision.metadata, patch),
  removeRevision: (revision) => client.delete(ControllerRevision, revision.metadata)
})

interface Claiming<O> {
  readonly owner: O
  readonly resource: Resource.Any
  /** Whether the owner's selector matches the labels. */
  readonly selects: (labels: Readonly<Record<string, string>> | undefined) => boolean
  /** Whether revisions that no longer match are released; otherwise they are left out. */
  readonly releases: boolean
}

/** The revisions of the owner after adoptions and releases, unsorted. */
export const claim = <O extends KubeObject>(
  { live, patchRevision, revisions }: Calls<O>,
  { owner, releases, resource, selects }: Claiming<O>
): Effect.Effect<ReadonlyArray<ControllerRevision>, Adopt.ClaimError> => {
  const matches = ({ metadata }: ControllerRevision): boolean => selects(metadata.labels)
  const found = Indexes.candidates(revisions, owner)
  const claiming = { owner, resource, matches, live: live(owner), patch: patchRevision }
  return Adopt.claim(claiming, releases ? found : found.filter(matches))
}

export type Created =
  | { readonly _tag: "Created"; readonly revision: ControllerRevision }
  /** The name is that of another template's revision, because the hashes are equal. */
  | { readonly _tag: "Collided"; readonly error: ApiError.ApiError }

/** Creates a revision. If its name is taken by one of the same template, that is our own, which the cache does not show yet. */
export const create = Effect.fnUntraced(function* <O extends KubeObject>(
  calls: Calls<O>,
  making: History.Making & { readonly owner: O }
): Effect.fn.Return<Created, ApiError.ApiError> {
  const draft = History.draft(making)
  const made = yield* Effect.result(calls.createRevision(draft))
  if (made._tag === "Success") return { _tag: "Created", revision: made.success }
  if (!ApiError.hasReason(made.failure, "AlreadyExists")) return yield* made.failure
  const holder = yield* calls.liveRevision(making.owner, draft.metadata.name)
  return History.isOf(holder, making.template)
    ? { _tag: "Created", revision: holder }
    : { _tag: "Collided", error: made.failure }
})

/** Deletes the revisions one after the other. */
export const remove = <O>(
  { removeRevision }: Pick<Calls<O>, "removeRevision">,
  revisions: ReadonlyArray<ControllerRevision>
): Call<void> =>
  Effect.forEach(revisions, (revision) => ApiError.unlessGone(removeRevision(revision)), { discard: true })

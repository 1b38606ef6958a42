/**
 * The fence: the client of a leader refuses every write that would start when this process can no longer prove that it leads,
 * and gives up on those that are on their way, or wait for another attempt, when the term ends. Proof is the monotonic clock against the last renewal, not a
 * message that may be late, so it holds for a process that was stopped, swapped out or busy. What it cannot hold back is
 * bytes that were on the wire already. Reads pass: they change nothing.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as ApiError from "../kube/ApiError.ts"
import type { Client } from "./KubeClient.ts"
import type { Term } from "./Leadership.ts"
import type { Request, Response, Transport } from "./Transport.ts"

/** Refused writes, and writes in flight that were interrupted. */
export const fencedWrites = Metric.counter("leader_fenced_writes_total", {
  description: "Writes that were refused because leadership could not be proven any more",
  incremental: true
})

/** The same client for what may be done only under this term. */
export const client = (unfenced: Client, term: Term): Client =>
  unfenced.through((transport) => fenced(transport, term), limited(term))

/**
 * The transport as the leader of `term` may use it. An attempt is checked when it is made, for transports that know no guard,
 * and again by the transport when its first byte is about to leave, because it may have waited in between.
 */
const fenced = (transport: Transport["Service"], term: Term): Transport["Service"] => ({
  ...transport,
  send: (request) =>
    isRead(request)
      ? transport.send(request)
      : Effect.suspend(() =>
          term.isValidUnsafe()
            ? transport.send({ ...request, mayStartUnsafe: term.isValidUnsafe })
            : Effect.fail(ApiError.leaderFenced(request.context))
        )
})

/** A whole write, its attempts and the waits between them: over at the latest when the term is. */
const limited =
  (term: Term) =>
  (request: Request, write: Effect.Effect<Response, ApiError.ApiError>): Effect.Effect<Response, ApiError.ApiError> =>
    isRead(request)
      ? write
      : Effect.raceFirst(
          write,
          Effect.flatMap(term.lost, () => Effect.fail(abandoned(request.context)))
        ).pipe(
          Effect.tapError((error) =>
            ApiError.hasReason(error, "LeaderFenced") ? Metric.update(fencedWrites, 1) : Effect.void
          )
        )

const isRead = (request: Request): boolean => request.method === "GET"

const abandoned = (context: ApiError.Context): ApiError.ApiError =>
  new ApiError.ApiError({
    context,
    reason: { _tag: "LeaderFenced" },
    detail: "given up, because this process no longer leads; whether the server has done it is not known"
  })

/**
 * Fencing: the client of a leader, or of the holder of a shard, fails every write that would start when it is not certain that this process
 * leads or has the shard's lock, and gives up writes that are in flight, or wait for a retry, when the term ends. It compares the monotonic clock with the last renewal and needs
 * no message that may be late, so it also works for a process that was stopped, swapped out or busy. It cannot stop bytes that
 * have been sent. Reads are not fenced.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as ApiError from "../kube/ApiError.ts"
import type { Client } from "./KubeClient.ts"
import type { Term } from "./Leadership.ts"
import type { Request, Response, Transport } from "./Transport.ts"

/** Rejected writes, and writes in flight that were interrupted. */
export const fencedWrites = Metric.counter("leader_fenced_writes_total", {
  description: "Writes that were refused because leadership could not be proven any more",
  incremental: true
})

/** The same client with writes that are fenced by this term, which is read at each write in the fiber that writes. */
export const client = (unfenced: Client, term: Effect.Effect<Term>): Client =>
  unfenced.through((transport) => fenced(transport, term), limited(term))

/**
 * The transport, fenced by the term. An attempt is checked when it is made, for transports that ignore `mayStartUnsafe`, and again by
 * the transport before the first byte is sent, because the attempt may have waited in between.
 */
const fenced = (transport: Transport["Service"], term: Effect.Effect<Term>): Transport["Service"] => ({
  ...transport,
  send: (request) =>
    isRead(request)
      ? transport.send(request)
      : Effect.flatMap(term, ({ isValidUnsafe }) =>
          isValidUnsafe()
            ? transport.send({ ...request, mayStartUnsafe: isValidUnsafe })
            : Effect.fail(ApiError.leaderFenced(request.context))
        )
})

/** A write with all its attempts and waits, which ends at the latest when the term ends. */
const limited =
  (term: Effect.Effect<Term>) =>
  (request: Request, write: Effect.Effect<Response, ApiError.ApiError>): Effect.Effect<Response, ApiError.ApiError> =>
    isRead(request)
      ? write
      : Effect.raceFirst(
          write,
          Effect.flatMap(term, ({ lost }) => Effect.flatMap(lost, () => Effect.fail(abandoned(request.context))))
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
    detail:
      "given up, because this process no longer leads, or no longer has the shard; whether the server has done it is not known"
  })

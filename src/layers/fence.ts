/**
 * The fence: the client of a leader refuses every write that would start when this process can no longer prove that it leads,
 * and gives up on those that are on their way when the term ends. Proof is the monotonic clock against the last renewal, not a
 * message that may be late, so it holds for a process that was stopped, swapped out or busy. What it cannot hold back is
 * bytes that were on the wire already. Reads pass: they change nothing.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as ApiError from "../kube/ApiError.ts"
import type { Client } from "./KubeClient.ts"
import type { Term } from "./Leadership.ts"
import type { Request, Response, Transport } from "./Transport.ts"

/** Writes that were refused, and writes on their way that were given up. Source: framework.md 2.10. */
export const fencedWrites = Metric.counter("leader_fenced_writes_total", {
  description: "Writes that were refused because leadership could not be proven any more",
  incremental: true
})

/** The same client for what may be done only under this term. */
export const client = (unfenced: Client, term: Term): Client => unfenced.through((transport) => fenced(transport, term))

/**
 * The transport as the leader of `term` may use it. A write is checked when it is called, for transports that know no guard,
 * and again by the transport when its first byte is about to leave, because it may have waited in between.
 */
export const fenced = (transport: Transport["Service"], term: Term): Transport["Service"] => ({
  watch: transport.watch,
  send: (request) => (request.method === "GET" ? transport.send(request) : write(transport, term, request))
})

const write = (
  transport: Transport["Service"],
  term: Term,
  request: Request
): Effect.Effect<Response, ApiError.ApiError> =>
  Effect.suspend(() => {
    if (!term.isValidUnsafe()) return Effect.fail(ApiError.leaderFenced(request.context))
    const givenUp = Effect.flatMap(term.lost, () => Effect.fail(abandoned(request.context)))
    return Effect.raceFirst(transport.send({ ...request, mayStartUnsafe: term.isValidUnsafe }), givenUp)
  }).pipe(
    Effect.tapError((error) =>
      ApiError.hasReason(error, "LeaderFenced") ? Metric.update(fencedWrites, 1) : Effect.void
    )
  )

const abandoned = (context: ApiError.Context): ApiError.ApiError =>
  new ApiError.ApiError({
    context,
    reason: { _tag: "LeaderFenced" },
    detail: "given up, because this process no longer leads; whether the server has done it is not known"
  })

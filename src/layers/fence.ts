/**
 * Fencing: the client of a leader, or of the holder of a shard, fails every write that would start when it is not certain that this process
 * leads or has the shard's lock, and gives up writes that are in flight, or wait for a retry, when the term ends. It compares the monotonic clock with the last renewal and needs
 * no message that may be late, so it also works for a process that was stopped, swapped out or busy. It cannot stop bytes that
 * have been sent. Reads are not fenced.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as ApiError from "../kube/ApiError.ts"
import { Chain } from "../streams/chain.ts"
import type { Client } from "./KubeClient.ts"
import type { Term } from "./Leadership.ts"
import type { Request, Response } from "./Transport.ts"

/** Rejected writes, and writes in flight that were interrupted. */
export const fencedWrites = Metric.counter("leader_fenced_writes_total", {
  description: "Writes that were refused because leadership could not be proven any more",
  incremental: true
})

/** The same client with writes that are fenced by this term, which is read at each write in the fiber that writes. */
export const client = (unfenced: Client, term: Effect.Effect<Term>): Client =>
  unfenced.through((transport) => transport, fenced(term))

/**
 * A write with all its attempts and waits. An attempt is checked when it is made, and again by the transport before the first byte is sent, because it may
 * have waited in between; it ends at the latest when the term ends.
 */
const fenced =
  (term: Effect.Effect<Term>) =>
  (
    request: Request,
    send: (request: Request) => Effect.Effect<Response, ApiError.ApiError>
  ): Effect.Effect<Response, ApiError.ApiError> =>
    request.method === "GET"
      ? send(request)
      : Effect.flatMap(term, (present) =>
          send({
            ...request,
            mayStartUnsafe: present.isValidUnsafe,
            endUnsafe: (end) => endOf(present).addUnsafe(() => end(abandoned(request.context)))
          })
        ).pipe(
          Effect.tapError((error) =>
            ApiError.hasReason(error, "LeaderFenced") ? Metric.update(fencedWrites, 1) : Effect.void
          )
        )

/** Calls functions when a term ends, so that a write needs no fiber that waits for it. */
class TermEnd {
  #isOver = false
  readonly #waiting = new Chain<() => void>()

  addUnsafe(end: () => void): () => void {
    if (this.#isOver) {
      end()
      return () => undefined
    }
    const link = this.#waiting.add(end)
    return () => void this.#waiting.delete(link)
  }

  readonly comeUnsafe = (): void => {
    this.#isOver = true
    for (let end = this.#waiting.shift(); end !== undefined; end = this.#waiting.shift()) end()
  }
}

const ends = new WeakMap<Term, TermEnd>()

/** One fiber waits for the end of a term in which something was written. */
const endOf = (term: Term): TermEnd => {
  const known = ends.get(term)
  if (known !== undefined) return known
  const end = new TermEnd()
  ends.set(term, end)
  Effect.runFork(Effect.map(term.lost, end.comeUnsafe))
  return end
}

const abandoned = (context: ApiError.Context): ApiError.ApiError =>
  new ApiError.ApiError({
    context,
    reason: { _tag: "LeaderFenced" },
    detail:
      "given up, because this process no longer leads, or no longer has the shard; whether the server has done it is not known"
  })

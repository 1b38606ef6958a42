/**
 * A door through which nothing is changed: every write asks the server to do all but store it, so that validation and admission
 * answer as they would. Reads pass. Source: framework.md M12, dryRun=All of the API conventions.
 */
import type { Request, Transport } from "../../layers/Transport.ts"

export const through = (transport: Transport["Service"]): Transport["Service"] => ({
  ...transport,
  send: (request) => transport.send(dry(request))
})

/** The same request, which leaves no trace. Options of a deletion that has a body are read from there and nowhere else. */
export const dry = (request: Request): Request => {
  if (request.method === "GET") return request
  if (request.method === "DELETE" && typeof request.body === "object" && request.body !== null) {
    return { ...request, body: { ...request.body, dryRun: ["All"] } }
  }
  return { ...request, query: { ...request.query, dryRun: "All" } }
}

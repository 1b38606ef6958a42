/**
 * The name under which a part of the program asks, so that the server's audit log tells one controller's requests from another's. Pure.
 * Source: framework.md K3; `<binary>/<version> <name>`, as kube-controller-manager's ClientBuilder has it.
 */
import type { Request, Transport } from "../../layers/Transport.ts"

/** Whoever has a name already keeps it. */
export const through = (transport: Transport["Service"], userAgent: string): Transport["Service"] => {
  const named = (request: Request): Request => (request.userAgent === undefined ? { ...request, userAgent } : request)
  return {
    ...transport,
    send: (request) => transport.send(named(request)),
    watch: (request) => transport.watch(named(request))
  }
}

/**
 * The code of the thread that renews leases. It has its own event loop and connections, so that a busy main thread does not lose the lease. It
 * renews only if the main thread's last heartbeat is within the renew deadline: a stuck leader must lose the lease. It does not decide about terms;
 * it stores the time of the last successful renewal and posts the server's responses.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import type { MessagePort } from "node:worker_threads"
import { CredentialsError, Endpoint, type Identity } from "../../layers/Endpoint.ts"
import * as HttpTransport from "../../platform/HttpTransport.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import * as Candidate from "../../leader/candidate.ts"
import * as LeasePolicy from "../../leader/lease.ts"
import * as Renewal from "../../leader/renewal.ts"
import * as Monotonic from "../../streams/monotonic.ts"
import * as Protocol from "./protocol.ts"

type Connect = Extract<Protocol.ToThread, { readonly _tag: "Connect" }>
type Keep = Extract<Protocol.ToThread, { readonly _tag: "Keep" }>

/** Serves until the thread is terminated. */
export const serve = (port: MessagePort): void => {
  const say = (message: Protocol.FromThread) => port.postMessage(message)
  const jobs = new Map<number, Fiber.Fiber<void>>()
  let identity: Identity | undefined
  let client: Promise<KubeClient["Service"]> | undefined
  const endpoint = ({ proxy, server }: Connect): Endpoint["Service"] => ({
    server,
    proxy: proxy === undefined ? undefined : Redacted.make(proxy),
    identity: Effect.suspend(() =>
      identity === undefined
        ? Effect.fail(new CredentialsError({ message: "no credentials have arrived" }))
        : Effect.succeed(identity)
    ),
    // The main thread obtains new credentials for the next attempt.
    renew: () =>
      Effect.sync(() => {
        say({ _tag: "Rejected" })
        return false
      })
  })
  port.on("message", (message: Protocol.ToThread) => {
    switch (message._tag) {
      case "Connect":
        client = Effect.runPromise(clientOf(endpoint(message), message.userAgent))
        return
      case "Identity":
        identity = Protocol.fromPlain(message.identity)
        return
      case "Keep": {
        const connected = client
        if (connected === undefined) return
        const keeping = Effect.flatMap(
          Effect.promise(() => connected),
          (client) => keep(client, message, (heard) => say({ _tag: "Heard", job: message.job, heard }))
        )
        jobs.set(message.job, Effect.runFork(keeping))
        return
      }
      case "Stop":
        jobs.get(message.job)?.interruptUnsafe()
        jobs.delete(message.job)
    }
  })
}

/** Lives as long as the thread, with its connections. */
const clientOf = (endpoint: Endpoint["Service"], userAgent: string): Effect.Effect<KubeClient["Service"]> => {
  const transport = Layer.provide(HttpTransport.layerWith({ userAgent }), Layer.succeed(Endpoint, endpoint))
  const built = Layer.buildWithScope(Layer.provide(KubeClient.layer, transport), Scope.makeUnsafe())
  return Effect.map(built, (context) => Context.get(context, KubeClient))
}

/** Renews as long as this process holds the lease and the last successful renewal has not expired; it never takes a lease over. */
export const keep = (
  client: KubeClient["Service"],
  { holding, memory: buffer }: Pick<Keep, "holding" | "memory">,
  say: (heard: Renewal.Heard) => void
): Effect.Effect<void> =>
  Effect.flatMap(Clock.Clock, (clock) => {
    const now = Monotonic.millis(clock)
    const memory = new Protocol.Memory(buffer)
    const { labels, name, namespace, sentAt, settings } = holding
    const candidate = Candidate.make({ client, settings, namespace, name, labels })
    candidate.adoptUnsafe(holding, sentAt, now())
    let lost = false
    return Renewal.loop({
      candidate,
      settings,
      sentAt,
      goesOnUnsafe: () => !lost && now() < LeasePolicy.validUntil(memory.provenAt, settings),
      mayRenewUnsafe: () => now() - memory.heartbeatAt <= settings.renewDeadline,
      heard: (heard) =>
        Effect.sync(() => {
          // Stored before the message is posted, because the main thread may read the memory first.
          if (heard._tag === "Renewed") memory.provenAt = Math.max(memory.provenAt, heard.sentAt)
          if (heard._tag === "Lost") lost = true
          say(heard)
        })
    })
  })

/**
 * The thread that renews leases, from the inside. It has an event loop and connections of its own, so that whatever keeps the main
 * thread busy does not cost the lease - but it renews only while the main thread has shown within the renew deadline that it is
 * alive: a stuck leader must lose. It decides nothing about terms; it stores the time until which a lease is held, and posts the server's responses.
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
    // The main thread gets a new one, for the next try.
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
        identity = Protocol.wrapped(message.identity)
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

/** For the life of the thread: its connections end with it. */
const clientOf = (endpoint: Endpoint["Service"], userAgent: string): Effect.Effect<KubeClient["Service"]> => {
  const transport = Layer.provide(HttpTransport.layerWith({ userAgent }), Layer.succeed(Endpoint, endpoint))
  const built = Layer.buildWithScope(Layer.provide(KubeClient.layer, transport), Scope.makeUnsafe())
  return Effect.map(built, (context) => Context.get(context, KubeClient))
}

/** Renews as long as the lease is ours and what was proven last has not run out; after that it is not ours to take. */
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
      mayRenewUnsafe: () => now() - memory.beatenAt <= settings.renewDeadline,
      heard: (heard) =>
        Effect.sync(() => {
          // Before the message: the main thread may read the memory before it reads the message.
          if (heard._tag === "Renewed") memory.provenAt = Math.max(memory.provenAt, heard.sentAt)
          if (heard._tag === "Lost") lost = true
          say(heard)
        })
    })
  })

/**
 * Reads a text from a file, from standard input or from an address. All are bounded in size, an address in time and in redirects too. An address
 * is read over HTTPS with a verified certificate; over HTTP from this machine only, unless a setting allows it.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { open } from "node:fs/promises"
import { isLoopback } from "../../layers/http/address.ts"
import type { Host } from "../../manager/process/Host.ts"

/** The text cannot be read; the message names where it should come from. */
export class Unreadable extends Data.TaggedError("Unreadable")<{ readonly message: string }> {}

/** The largest text, in bytes; all definitions of a large operator together are a few megabytes. */
export const limit = 32 * 1024 * 1024

/** How long an address may take, redirects included. */
const timeout = "30 seconds"

const redirectLimit = 5

export interface Allowed {
  /** Whether addresses of other machines may be read over HTTP. */
  readonly allowHttp: boolean
}

/** `-` is standard input, `https://…` an address, anything else a file. */
export const read = (host: Host, source: string, allowed: Allowed): Effect.Effect<string, Unreadable> => {
  if (source === "-") return fromInput(host)
  return /^[a-z][a-z+.-]*:\/\//i.test(source) ? fromAddress(source, allowed) : fromFile(source)
}

const tooLarge = (source: string) =>
  new Unreadable({
    message: `${source} is larger than ${limit / 1024 / 1024} MiB: split it, or leave out what is not needed`
  })

const collect = async (chunks: AsyncIterable<unknown>, source: string): Promise<string> => {
  const parts: Array<Buffer> = []
  let size = 0
  for await (const chunk of chunks) {
    const part = typeof chunk === "string" ? Buffer.from(chunk) : Buffer.from(chunk as Uint8Array)
    size += part.length
    // oxlint-disable-next-line functional/no-throw-statements -- ends the loop, and the stream with it; `attempt` makes a value of it
    if (size > limit) throw tooLarge(source)
    parts.push(part)
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(parts))
}

const attempt = <A>(what: string, work: (signal: AbortSignal) => Promise<A>) =>
  Effect.tryPromise({
    try: work,
    catch: (cause) =>
      cause instanceof Unreadable ? cause : new Unreadable({ message: `cannot read ${what}: ${reasonOf(cause)}` })
  })

const reasonOf = (cause: unknown): string => {
  if (cause instanceof TypeError && /encoded data/.test(cause.message)) return "it is not a text in UTF-8"
  const message = cause instanceof Error ? cause.message : ""
  const code = String((cause as { readonly code?: unknown } | null)?.code ?? cause)
  return message === "" ? code : message
}

const fromInput = ({ stdin }: Host) =>
  stdin === undefined
    ? Effect.fail(new Unreadable({ message: "cannot read standard input: the program has none" }))
    : attempt("standard input", () => collect(stdin, "standard input"))

const fromFile = (path: string) =>
  attempt(path, async () => {
    const file = await open(path)
    try {
      const { size } = await file.stat()
      if (size > limit) return await Promise.reject(tooLarge(path))
      return await collect(file.createReadStream({ autoClose: false }), path)
    } finally {
      await file.close()
    }
  })

const fromAddress = (text: string, allowed: Allowed) =>
  Effect.gen(function* () {
    let address = yield* accepted(text, undefined, allowed)
    for (let redirects = 0; ; redirects += 1) {
      const answer = yield* get(address)
      if (typeof answer === "string") return answer
      if (redirects === redirectLimit) {
        return yield* new Unreadable({ message: `cannot read ${text}: more than ${redirectLimit} redirects` })
      }
      address = yield* accepted(answer.location, address, allowed)
    }
  }).pipe(
    Effect.timeoutOrElse({
      duration: timeout,
      orElse: () => Effect.fail(new Unreadable({ message: `cannot read ${text}: not within ${timeout}` }))
    })
  )

/** The address, if it may be read. `from`: the one that redirects to it. */
const accepted = (text: string, from: URL | undefined, { allowHttp }: Allowed) => {
  const address = URL.canParse(text, from?.href) ? new URL(text, from?.href) : undefined
  const whence = from === undefined ? "" : `, to which ${from.origin} redirects`
  const refused = (why: string) => Effect.fail(new Unreadable({ message: `cannot read ${text}${whence}: ${why}` }))
  if (address === undefined || !/^https?:$/.test(address.protocol)) return refused("it is not an address of HTTPS")
  if (address.username !== "" || address.password !== "") return refused("an address with a password is not accepted")
  const isLocal = isLoopback(address.hostname.replace(/[[\]]/g, ""))
  // What a remote server redirects to this machine is not what the user named.
  if (from !== undefined && isLocal && !isLoopback(from.hostname.replace(/[[\]]/g, ""))) {
    return refused("it is on this machine")
  }
  return address.protocol === "https:" || allowHttp || isLocal
    ? Effect.succeed(address)
    : refused("anybody on the way could change what is sent over HTTP; --allow-http does so all the same")
}

/** The text, or where it is instead. */
const get = (address: URL): Effect.Effect<string | { readonly location: string }, Unreadable> =>
  attempt(address.href, async (signal) => {
    const { Agent, request } = await import("undici")
    const agent = new Agent({ connect: { timeout: 10_000 }, headersTimeout: 20_000, bodyTimeout: 20_000 })
    try {
      const { body, headers, statusCode } = await request(address, { dispatcher: agent, signal })
      const { location } = headers
      if (statusCode >= 300 && statusCode < 400 && typeof location === "string") return { location }
      if (statusCode !== 200) {
        return await Promise.reject(new Unreadable({ message: `cannot read ${address.href}: status ${statusCode}` }))
      }
      return await collect(body, address.href)
    } finally {
      await agent.destroy()
    }
  })

/**
 * The stream of messages and the requests for objects. The token stays in this object's memory. A failed stream is opened again after a delay
 * that grows; a hidden page has none.
 */
import type { Message } from "../../protocol.ts"
import type { Model } from "./Model.ts"

export type ConnectionState =
  | { readonly status: "connecting" | "open" | "paused" }
  /** A token is needed, or the last one was refused. */
  | { readonly status: "token"; readonly message: string | undefined }
  | { readonly status: "failed"; readonly message: string; readonly retryAt: number }

/** A response that is not a success. */
export class ResponseError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const firstDelay = 500
const mostDelay = 15_000
/** Messages are handled for this long before the page may render again. */
const slice = 8
/** The server sends an empty line every ten seconds without news. Without any for this long, the connection is lost. */
const silence = 25_000
/** No message is as long as this many characters. */
const mostLine = 32 * 1024 * 1024

/** Only what a header may contain. */
const isToken = (token: string) => /^[\x21-\x7e]{1,16384}$/.test(token)

export class Connection {
  state: ConnectionState = { status: "connecting" }
  readonly #model: Model
  #token: string | undefined
  #stream: AbortController | undefined
  #timer: number | undefined
  #failures = 0

  constructor(model: Model, token: string | undefined) {
    this.#model = model
    this.#token = token
    document.addEventListener("visibilitychange", () => this.#onVisibility())
    this.#onVisibility()
  }

  /** Signs in with a token that was typed in. */
  useToken(token: string): void {
    if (!isToken(token)) {
      this.#set({ status: "token", message: "A token has no spaces or other characters that a header cannot contain." })
      return
    }
    this.#token = token
    this.retry()
  }

  /** Opens the stream now, not after the delay. */
  retry(): void {
    clearTimeout(this.#timer)
    this.#stream?.abort()
    void this.#open()
  }

  /** The response to `GET /console/api/<path>`; fails with a `ResponseError`. */
  async get<A>(path: string, signal: AbortSignal): Promise<A> {
    const response = await this.#fetch(path, signal)
    return (await response.json()) as A
  }

  #set(state: ConnectionState): void {
    this.state = state
    this.#model.touch("connection")
  }

  #onVisibility(): void {
    if (document.visibilityState === "hidden") {
      clearTimeout(this.#timer)
      this.#stream?.abort()
      this.#stream = undefined
      if (this.state.status !== "token") this.#set({ status: "paused" })
    } else if (this.state.status !== "token" && this.#stream === undefined) {
      void this.#open()
    }
  }

  async #fetch(path: string, signal: AbortSignal): Promise<Response> {
    const response = await fetch(`api/${path}`, {
      signal,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      headers: this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }
    })
    if (response.ok) return response
    const message = await messageOf(response)
    if (response.status === 401) {
      this.#set({ status: "token", message: this.#token === undefined ? undefined : message })
      this.#token = undefined
    }
    throw new ResponseError(response.status, message)
  }

  async #open(): Promise<void> {
    const stream = new AbortController()
    this.#stream = stream
    this.#set({ status: "connecting" })
    try {
      const response = await this.#fetch("stream", stream.signal)
      if (response.body === null) throw new Error("The response has no body.")
      this.#set({ status: "open" })
      await this.#read(response.body, stream.signal)
      throw new Error("The program ended the stream.")
    } catch (error) {
      if (stream.signal.aborted || this.#stream !== stream) return
      this.#stream = undefined
      stream.abort()
      if (this.#token === undefined && error instanceof ResponseError && error.status === 401) return
      if (error instanceof ResponseError && error.status === 403) {
        this.#set({ status: "token", message: error.message })
        return
      }
      const delay = Math.min(mostDelay, firstDelay * 2 ** this.#failures++) * (0.75 + Math.random() / 2)
      const message = error instanceof Error ? error.message : String(error)
      this.#set({ status: "failed", message, retryAt: Date.now() + delay })
      this.#timer = setTimeout(() => void this.#open(), delay)
    }
  }

  async #read(body: ReadableStream<Uint8Array<ArrayBuffer>>, signal: AbortSignal): Promise<void> {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader()
    let parts: Array<string> = []
    let length = 0
    let began = performance.now()
    for (;;) {
      const watchdog = setTimeout(
        () => void reader.cancel(new Error("The program sent nothing for 25 seconds.")),
        silence
      )
      const { done, value } = await reader.read()
      clearTimeout(watchdog)
      if (done) return
      const lines = value.split("\n")
      for (const [at, line] of lines.entries()) {
        parts.push(line)
        length += line.length
        if (length > mostLine) throw new Error("A message is too long.")
        if (at === lines.length - 1) continue
        const text = parts.join("")
        parts = []
        length = 0
        if (text !== "") this.#receive(text)
        if (performance.now() - began < slice) continue
        await nextTask()
        signal.throwIfAborted()
        began = performance.now()
      }
    }
  }

  #receive(text: string): void {
    this.#model.receive(JSON.parse(text) as Message)
    this.#failures = 0
  }
}

const nextTask = () => new Promise((resolve) => setTimeout(resolve))

/** The message of a JSON body, or of a text. */
const messageOf = async (response: Response): Promise<string> => {
  const text = (await response.text().catch(() => "")).slice(0, 2000)
  try {
    const body = JSON.parse(text) as { readonly message?: unknown }
    if (typeof body.message === "string") return body.message
  } catch {
    // It is no JSON.
  }
  return text === "" ? `The program responded with status ${response.status}.` : text
}

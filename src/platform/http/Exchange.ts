/**
 * One HTTP request and its response, between undici's callbacks and Effect. A caller can wait for the head, read bytes as they arrive or all at
 * once, and abort at any time. An aborted request that still waits for a connection is never sent. The callbacks change fields directly; each of
 * them is one synchronous section.
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import type { Dispatcher } from "undici"
import type { Handler, Sender } from "./Http2.ts"

/** The connection ended before the response did; the cause is undici's or Node's. */
export class ConnectionLost extends Data.TaggedError("ConnectionLost")<{ readonly cause: unknown }> {}

/** Nothing was sent, because `mayStart` returned false when a connection was ready. */
export class NotStarted extends Data.TaggedError("NotStarted")<{}> {}

export type Failure = ConnectionLost | NotStarted

export interface Head {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
}

/** Called with the head of the response. The function that it returns is called with each chunk of the body; undefined: it is kept. */
export type Consume = (head: Head) => ((chunk: Uint8Array) => void) | undefined

/** Bytes that may wait for a slow consumer before the socket is paused. */
const highWater = 4 * 1024 * 1024

/** The body of an error is a `Status` object of a few kilobytes; a longer one is cut, and the connection closed. */
const maxErrorBody = 1024 * 1024

export class Exchange implements Handler {
  head: Head | undefined
  #chunks: Array<Uint8Array> = []
  #size = 0
  #controller: Dispatcher.DispatchController | undefined
  /** Undefined while bytes may still arrive; `null` after a clean end. */
  #end: Failure | null | undefined
  #aborted = false
  readonly #streaming: boolean
  readonly #mayStart: () => boolean
  readonly #consume: Consume | undefined
  #consumer: ((chunk: Uint8Array) => void) | undefined
  #wake: (() => void) | undefined

  /**
   * A stream is read with `pull`, which pauses the socket between pulls; a whole response, or that of an error, with `whenOverUnsafe` or `body`. `mayStart`
   * is called when a connection is ready and the request is about to be written to it. What `consume` returns receives the body as it arrives; the exchange has
   * none of it then.
   */
  constructor(form: "whole" | "stream", mayStart: () => boolean = () => true, consume?: Consume) {
    this.#streaming = form === "stream"
    this.#mayStart = mayStart
    this.#consume = consume
  }

  /** Sends the request. Called at most once. */
  startUnsafe(sender: Sender, options: Dispatcher.DispatchOptions): void {
    try {
      sender.dispatch(options, this)
    } catch (error) {
      this.#finish(new ConnectionLost({ cause: error }))
    }
  }

  /** Aborts the request; does nothing after the end. */
  abortUnsafe(): void {
    this.#aborted = true
    this.#chunks = []
    if (this.#end === undefined) this.#controller?.abort(new Error("aborted"))
  }

  /** Stops reading from the connection: what arrives until `releaseUnsafe` stays in its buffers, and is then read together. */
  holdUnsafe(): void {
    if (this.#end === undefined) this.#controller?.pause()
  }

  releaseUnsafe(): void {
    if (this.#controller?.paused === true) this.#controller.resume()
  }

  /** Neither a response head nor an error has arrived. */
  get isUnanswered(): boolean {
    return this.head === undefined && this.#end === undefined && !this.#aborted
  }

  /** Fails the exchange, because the server is unreachable. */
  failUnsafe(error: Error): void {
    this.#finish(new ConnectionLost({ cause: error }))
    this.abortUnsafe()
    this.#controller?.abort(error)
  }

  /** Waits for the head of the response. */
  awaitHead(): Effect.Effect<Head, Failure> {
    return Effect.suspend(() => {
      if (this.head !== undefined) return Effect.succeed(this.head)
      if (this.#end !== undefined) return Effect.fail(this.#end ?? new ConnectionLost({ cause: "no answer" }))
      return Effect.flatMap(this.#change(), () => this.awaitHead())
    })
  }

  /** Calls the function once, when the response is complete, with null, or has failed. Nothing else may wait for this exchange. */
  whenOverUnsafe(over: (failure: Failure | null) => void): void {
    if (this.#end !== undefined) return over(this.#end)
    this.#wake = () => {
      if (this.#end === undefined) return
      this.#wake = undefined
      over(this.#end)
    }
  }

  /** The bytes of a complete response. They are released, because the body of a long list is parsed next and needs the memory. */
  takeUnsafe(): Buffer {
    const [first] = this.#chunks
    const isOne = this.#chunks.length === 1 && Buffer.isBuffer(first)
    const body = isOne ? first : Buffer.concat(this.#chunks)
    this.#chunks = []
    return body
  }

  /** The whole body. */
  body(): Effect.Effect<Buffer, Failure> {
    return Effect.callback((resume) => {
      this.whenOverUnsafe((failure) =>
        resume(failure === null ? Effect.succeed(this.takeUnsafe()) : Effect.fail(failure))
      )
    })
  }

  /**
   * All bytes that have arrived, as one array; ends with the body. Bytes that arrived before a failure come first. A reader that has waited yields once, so
   * that it gets all that the socket had in this turn of the event loop: TLS passes on 16 KiB at a time.
   */
  pull(): Pull.Pull<readonly [Uint8Array, ...Array<Uint8Array>], Failure> {
    return Effect.suspend(() => {
      const [first, ...rest] = this.#chunks
      if (first !== undefined) {
        this.#chunks = []
        this.#size = 0
        if (this.#controller?.paused === true) this.#controller.resume()
        return Effect.succeed([first, ...rest] as const)
      }
      if (this.#end === undefined) {
        return Effect.flatMap(Effect.andThen(this.#change(), Effect.yieldNow), () => this.pull())
      }
      return this.#end === null ? Cause.done() : Effect.fail(this.#end)
    })
  }

  #change(): Effect.Effect<void> {
    return Effect.callback((resume) => {
      this.#wake = () => {
        this.#wake = undefined
        resume(Effect.void)
      }
      return Effect.sync(() => {
        this.#wake = undefined
      })
    })
  }

  #finish(end: Failure | null): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#wake?.()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#aborted) return controller.abort(new Error("aborted"))
    if (this.#mayStart()) return
    this.#finish(new NotStarted())
    controller.abort(new Error("not started"))
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Head["headers"]): void {
    if (status < 200) return
    this.head = { status, headers }
    this.#consumer = this.#consume?.(this.head)
    if (this.#streaming) this.#wake?.()
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#aborted) return
    if (this.#consumer !== undefined) return this.#consumer(chunk)
    this.#chunks.push(chunk)
    this.#size += chunk.byteLength
    if (this.head !== undefined && this.head.status >= 300) {
      if (this.#size <= maxErrorBody) return
      this.#chunks = [Buffer.concat(this.#chunks, maxErrorBody)]
      this.#finish(null)
      controller.abort(new Error("too long"))
    } else if (this.#streaming) {
      if (this.#size > highWater) controller.pause()
      this.#wake?.()
    }
  }

  onResponseEnd(): void {
    this.#finish(null)
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#finish(new ConnectionLost({ cause: error }))
  }
}

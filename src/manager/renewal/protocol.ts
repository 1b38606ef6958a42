/**
 * What the main thread and the thread that renews leases say to each other, and the memory in which each sees the other without
 * a message: a busy thread reads no messages, but it can read a clock.
 */
import * as Redacted from "effect/Redacted"
import type { Headers, Identity, Tls } from "../../layers/Endpoint.ts"
import type { Heard, Holding } from "../../leader/renewal.ts"

/** `workerData` of the thread: the program's entry is the same file for both. */
export const role = "renewer"

/** An identity without `Redacted`: it is sent to our own thread only. */
export interface Bare {
  readonly tls: Omit<Tls, "key"> & { readonly key: string | undefined }
  readonly headers: Headers
}

export const bare = ({ headers, tls }: Identity): Bare => ({
  tls: { ...tls, key: tls.key === undefined ? undefined : Redacted.value(tls.key) },
  headers: Redacted.value(headers)
})

export const wrapped = ({ headers, tls }: Bare): Identity => ({
  tls: { ...tls, key: tls.key === undefined ? undefined : Redacted.make(tls.key) },
  headers: Redacted.make(headers)
})

export type ToThread =
  /** The first message, once. */
  | {
      readonly _tag: "Connect"
      readonly server: string
      readonly proxy: string | undefined
      readonly userAgent: string
    }
  /** Presented from now on; comes before the first `Keep`. */
  | { readonly _tag: "Identity"; readonly identity: Bare }
  | { readonly _tag: "Keep"; readonly job: number; readonly holding: Holding; readonly memory: SharedArrayBuffer }
  | { readonly _tag: "Stop"; readonly job: number }

export type FromThread =
  | { readonly _tag: "Heard"; readonly job: number; readonly heard: Heard }
  /** The server answered 401 to the identity presented last. */
  | { readonly _tag: "Rejected" }

const beat = 0
const proof = 1

/** Two moments, in whole nanoseconds of the monotonic clock, which all threads of a process share. */
export class Memory {
  readonly buffer: SharedArrayBuffer
  readonly #cells: BigInt64Array

  constructor(buffer = new SharedArrayBuffer(16)) {
    this.buffer = buffer
    this.#cells = new BigInt64Array(buffer)
  }

  /** When the main thread showed last that it is alive. Written by the main thread. */
  get beatenAt(): number {
    return this.#read(beat)
  }

  set beatenAt(millis: number) {
    this.#write(beat, millis)
  }

  /** When the last renewal that succeeded was sent. Written by the renewing thread. */
  get provenAt(): number {
    return this.#read(proof)
  }

  set provenAt(millis: number) {
    this.#write(proof, millis)
  }

  #read(cell: number): number {
    return Number(Atomics.load(this.#cells, cell)) / 1e6
  }

  #write(cell: number, millis: number): void {
    // Rounded down: an earlier moment proves less.
    Atomics.store(this.#cells, cell, BigInt(Math.floor(millis * 1e6)))
  }
}

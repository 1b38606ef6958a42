/**
 * The messages between the main thread and the thread that renews leases, and their shared memory: a busy thread processes no messages, but the
 * other one can still read its memory.
 */
import * as Redacted from "effect/Redacted"
import type { Headers, Identity, Tls } from "../../layers/Endpoint.ts"
import type { Heard, Holding } from "../../leader/renewal.ts"

/** `workerData` of the thread, which distinguishes it: the program and the thread have the same entry file. */
export const role = "renewer"

/** An identity without `Redacted`, because messages are plain data. It is sent only to this process's own thread. */
export interface PlainIdentity {
  readonly tls: Omit<Tls, "key"> & { readonly key: string | undefined }
  readonly headers: Headers
}

export const toPlain = ({ headers, tls }: Identity): PlainIdentity => ({
  tls: { ...tls, key: tls.key === undefined ? undefined : Redacted.value(tls.key) },
  headers: Redacted.value(headers)
})

export const fromPlain = ({ headers, tls }: PlainIdentity): Identity => ({
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
  /** The credentials from now on; sent before the first `Keep`. */
  | { readonly _tag: "Identity"; readonly identity: PlainIdentity }
  | { readonly _tag: "Keep"; readonly job: number; readonly holding: Holding; readonly memory: SharedArrayBuffer }
  | { readonly _tag: "Stop"; readonly job: number }

export type FromThread =
  | { readonly _tag: "Heard"; readonly job: number; readonly heard: Heard }
  /** The server answered 401 to the identity presented last. */
  | { readonly _tag: "Rejected" }

const heartbeat = 0
const proof = 1

/** Two times in nanoseconds of the monotonic clock, which all threads of a process share. */
export class Memory {
  readonly buffer: SharedArrayBuffer
  readonly #cells: BigInt64Array

  constructor(buffer = new SharedArrayBuffer(16)) {
    this.buffer = buffer
    this.#cells = new BigInt64Array(buffer)
  }

  /** The last heartbeat of the main thread. Written by the main thread. */
  get heartbeatAt(): number {
    return this.#read(heartbeat)
  }

  set heartbeatAt(millis: number) {
    this.#write(heartbeat, millis)
  }

  /** When the last successful renewal was sent. Written by the renewing thread. */
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
    // Rounded down: an earlier time is the safe side.
    Atomics.store(this.#cells, cell, BigInt(Math.floor(millis * 1e6)))
  }
}

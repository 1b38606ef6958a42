/** The command's side of its threads: starts one, asks it, and ends it with the scope. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { Worker } from "node:worker_threads"
import type { Progress } from "../../testing/explore/search.ts"
import type { Output } from "../../manager/process/Host.ts"
import * as Protocol from "./protocol.ts"

/** A thread could not answer. */
export class ThreadFailed extends Data.TaggedError("ThreadFailed")<{ readonly message: string }> {}

export interface Thread {
  /** One question at a time. */
  readonly ask: <Q extends Protocol.Question>(
    question: Q,
    onProgress?: (progress: Progress) => void
  ) => Effect.Effect<Protocol.Answers[Q["_tag"]], ThreadFailed>
}

export interface Options {
  /** The program's entry file, which runs the thread's code if it is started as a thread. */
  readonly entry: URL
  readonly loader: string | undefined
  /** Receives what the files of the user print: standard output is for the report. */
  readonly stderr: Output
}

export const start = ({ entry, loader, stderr }: Options) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const workerData: Protocol.ThreadData = { role: Protocol.role, loader }
      const worker = new Worker(entry, { workerData, name: Protocol.role, stdout: true, stderr: true })
      for (const stream of [worker.stdout, worker.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => stderr.write(text))
      }
      return worker
    }),
    (worker) => Effect.promise(() => worker.terminate())
  ).pipe(Effect.map((worker): Thread => of(worker)))

const of = (worker: Worker): Thread => {
  let over: string | undefined
  let pending: { readonly hear: (message: Protocol.FromThread) => void } | undefined
  const end = (why: string) => {
    over ??= why
    pending?.hear({ _tag: "Failed", message: over })
  }
  worker.on("error", (error) => end(error instanceof Error ? error.message : String(error)))
  worker.on("exit", (code) => end(`its thread ended with exit code ${code}`))
  worker.on("message", (message: Protocol.FromThread) => pending?.hear(message))
  return {
    ask: <Q extends Protocol.Question>(question: Q, onProgress?: (progress: Progress) => void) =>
      Effect.callback<Protocol.Answers[Q["_tag"]], ThreadFailed>((resume) => {
        const hear = (message: Protocol.FromThread) => {
          if (message._tag === "Progress") return onProgress?.(message.progress)
          pending = undefined
          if (message._tag === "Failed") return resume(Effect.fail(new ThreadFailed({ message: message.message })))
          // Safe: the thread answers one question at a time.
          resume(Effect.succeed(message.answer as Protocol.Answers[Q["_tag"]]))
        }
        pending = { hear }
        if (over !== undefined) return hear({ _tag: "Failed", message: over })
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have an origin, threads do not
        worker.postMessage(question)
      })
  }
}

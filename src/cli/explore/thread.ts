/** A thread of the command `explore`: it loads the files of the user, and runs their explorations. */
import type { MessagePort } from "node:worker_threads"
import { type Handle, handleOf } from "../../testing/explore/handle.ts"
import type { Progress } from "../../testing/explore/search.ts"
import * as Protocol from "./protocol.ts"

/** Whether `workerData` is that of such a thread. */
export const isOwn = (data: unknown): data is Protocol.ThreadData =>
  typeof data === "object" && data !== null && "role" in data && data.role === Protocol.role

/** `import()` of the entry: files with compiled code cannot import modules. */
export type Import = (path: string) => Promise<unknown>

/** Answers questions until the thread is ended. */
export const serve = (port: MessagePort, { loader }: Protocol.ThreadData, load: Import): void => {
  const ready = loader === undefined ? Promise.resolve() : register(load, loader)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have an origin, threads do not
  const post = (message: Protocol.FromThread) => port.postMessage(message)
  const onMessage = async (question: Protocol.Question) => {
    try {
      await ready
      const answer = await answerOf(await handlesIn(load, question.file), question, (progress) =>
        post({ _tag: "Progress", progress })
      )
      post({ _tag: "Answer", answer })
    } catch (cause) {
      post({ _tag: "Failed", message: cause instanceof Error && cause.message !== "" ? cause.message : String(cause) })
    }
  }
  port.on("message", (question: Protocol.Question) => void onMessage(question))
}

/** Source: tsx, `tsx/esm/api`. */
const register = async (load: Import, loader: string): Promise<void> => {
  const api = (await load(loader)) as { readonly register: () => unknown }
  api.register()
}

const answerOf = async (
  handles: ReadonlyArray<Handle>,
  question: Protocol.Question,
  onProgress: (progress: Progress) => void
): Promise<Protocol.Answer> => {
  if (question._tag === "Load") return handles.map(({ name, version }) => ({ name, version }))
  const found = handles.find(({ name }) => name === question.name)
  if (found === undefined) throw new Error(`it no longer exports an exploration ${JSON.stringify(question.name)}`)
  switch (question._tag) {
    case "Search":
      return found.search({ ...question.settings, onProgress })
    case "Record":
      return found.record(question.case, question.seed, question.scenario)
  }
}

/** Each exploration once, although a module may export it under several names. */
const handlesIn = async (load: Import, file: string): Promise<ReadonlyArray<Handle>> => {
  const exported = (await load(file)) as Readonly<Record<string, unknown>>
  return [...new Set(Object.values(exported).flatMap((value) => handleOf(value) ?? []))]
}

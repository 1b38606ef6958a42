/** A watch without a client: the lines of a response, each parsed. */
import { get } from "node:https"

export interface Options {
  readonly port: number | string
  readonly ca: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Milliseconds in which nothing is read after each reading, so that the events of that time are read together. Default: 0. */
  readonly interval?: number | undefined
}

/** Settled when the response begins; the watch goes on until the process ends. */
export const read = ({ interval = 0, path, ...options }: Options, onObject: (object: unknown) => void): Promise<void> =>
  new Promise((resolve) => {
    get({ host: "127.0.0.1", path: `${path}?watch=true`, ...options }, (response) => {
      resolve()
      let rest = ""
      response.setEncoding("utf8").on("data", (text: string) => {
        if (interval > 0) {
          response.pause()
          setTimeout(() => response.resume(), interval)
        }
        const lines = (rest + text).split("\n")
        rest = lines.pop() ?? ""
        for (const line of lines) onObject((JSON.parse(line) as { readonly object: unknown }).object)
      })
    })
  })

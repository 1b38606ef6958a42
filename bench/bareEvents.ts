/** Watches without a client: the lines of each response, parsed. They share an HTTP/2 connection, which costs less than one over HTTP/1.1 for each. */
import { type ClientHttp2Session, connect } from "node:http2"

export interface Options {
  readonly port: number | string
  readonly ca: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Milliseconds in which nothing is read after each reading, so that the events of that time are read together. Default: 0. */
  readonly interval?: number | undefined
}

const sessions = new Map<number | string, ClientHttp2Session>()

const sessionOf = ({ ca, port }: Options): ClientHttp2Session => {
  const known = sessions.get(port)
  if (known !== undefined) return known
  const session = connect(`https://127.0.0.1:${port}`, { ca, settings: { initialWindowSize: 1024 * 1024 } })
  session.once("connect", () => session.setLocalWindowSize(1024 * 1024 * 1024))
  sessions.set(port, session)
  return session
}

/** Settled when the response begins; the watch goes on until the process ends. */
export const read = (options: Options, onObject: (object: unknown) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    const { headers, interval = 0, path } = options
    const response = sessionOf(options).request({ ...headers, ":path": `${path}?watch=true` })
    response.once("response", () => resolve()).once("error", reject)
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

/**
 * The lower bound of `coldStart.ts`, in a process of its own: fetches the same lists over TLS with undici, parses them, and does nothing else. Streaming lists are
 * parsed line by line, lists page by page. It prints a line at the end.
 */
import { Agent, request } from "undici"
import type { Form } from "./server.ts"

/** The argument. */
export interface Options {
  readonly url: string
  readonly ca: string
  readonly form: Form
  /** Paths of collections, and media types where they are not plain JSON. */
  readonly lists: ReadonlyArray<{ readonly path: string; readonly accept?: string | undefined }>
}

const { ca, form, lists, url } = JSON.parse(process.argv[2] ?? "{}") as Options
const dispatcher = new Agent({ connect: { ca } })

interface List {
  readonly metadata: { readonly continue?: string }
}

const get = (path: string, accept: string) => request(`${url}${path}`, { dispatcher, headers: { accept } })

const fetchPages = async (path: string, accept: string): Promise<void> => {
  for (let token: string | undefined = ""; token !== undefined;) {
    const { body } = await get(`${path}?limit=500${token === "" ? "" : `&continue=${token}`}`, accept)
    token = ((await body.json()) as List).metadata.continue
  }
}

const fetchEvents = async (path: string, accept: string): Promise<void> => {
  const { body } = await get(`${path}?watch=true&sendInitialEvents=true`, accept)
  let rest: Array<Buffer> = []
  for await (const chunk of body as AsyncIterable<Buffer>) {
    const end = chunk.lastIndexOf(0x0a)
    if (end === -1) {
      rest.push(chunk)
      continue
    }
    const text = Buffer.concat([...rest, chunk.subarray(0, end)]).toString()
    rest = [chunk.subarray(end + 1)]
    for (const line of text.split("\n")) {
      const event = JSON.parse(line) as { type: string }
      if (event.type === "BOOKMARK") return
    }
  }
}

for (const { accept = "application/json", path } of lists)
  await (form === "stream" ? fetchEvents(path, accept) : fetchPages(path, accept))
const { system, user } = process.cpuUsage()
process.stdout.write(
  `${JSON.stringify({ cpuMillis: (system + user) / 1000, peakKiB: process.resourceUsage().maxRSS })}\n`
)
process.exit(0)

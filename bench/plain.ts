/** Requests without a client: how fast a server allows any client to be, and what undici alone costs the processor. */
import { Agent, request } from "undici"

/** Where a server is, its authority, and a token for it. */
export interface Access {
  readonly url: string
  readonly ca: string
  readonly token: string
}

export interface Plain {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly path: string
  readonly body?: object | undefined
}

/** Of a number of requests. */
export interface Cost {
  readonly millis: number
  readonly perSecond: number
  /** Milliseconds of the processor for each request. */
  readonly cpuEach: number
}

/** Requests over twelve connections, one after the other on each, and nothing else. Each answer is parsed. */
export const plainly = async (
  { ca, token, url }: Access,
  count: number,
  make: (index: number) => Plain
): Promise<Cost> => {
  const dispatcher = new Agent({ connections, pipelining: 1, connect: { ca } })
  const authorization = `Bearer ${token}`
  const send = async ({ body: sent, method, path }: Plain) => {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json"
    const { body, statusCode } = await request(`${url}${path}`, {
      method,
      headers: { "content-type": type, authorization },
      dispatcher,
      ...(sent === undefined ? {} : { body: JSON.stringify(sent) })
    })
    const text = await body.text()
    if (statusCode >= 300) throw new Error(`${method} ${path}: ${statusCode}: ${text}`)
    JSON.parse(text)
  }
  const cost = await costOf(count, (index) => send(make(index)))
  await dispatcher.close()
  return cost
}

const connections = 12

/** Sends so many, as many at once as there are connections. */
export const costOf = async (count: number, send: (index: number) => Promise<unknown>): Promise<Cost> => {
  const [began, cpu] = [performance.now(), process.cpuUsage()]
  let next = 0
  const worker = async () => {
    while (next < count) await send(next++)
  }
  await Promise.all(Array.from({ length: connections }, worker))
  const used = process.cpuUsage(cpu)
  const millis = performance.now() - began
  return { millis, perSecond: (count * 1000) / millis, cpuEach: (used.user + used.system) / 1000 / count }
}

/** The embedded API server in a process of its own, from the same sources, and requests to it. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { Agent, request } from "node:https"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { rolldown } from "rolldown"

export interface Server {
  readonly port: number
  readonly ca: string
  readonly token: string
  readonly stop: () => Promise<void>
}

/** Bundles a file of this folder, because Node 20 cannot run TypeScript; returns its path. */
export const bundled = async (name: string): Promise<string> => {
  const file = `node_modules/.bench/${name}.mjs`
  const bundle = await rolldown({ input: `bench/${name}.ts`, platform: "node", logLevel: "silent" })
  await bundle.write({ file, format: "esm", codeSplitting: false })
  await bundle.close()
  return file
}

export const serve = async (): Promise<Server> => {
  const child = spawn(process.execPath, [await bundled("apiserverProcess")], { stdio: ["ignore", "pipe", "inherit"] })
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string]
  const stop = async () => {
    const gone = once(child, "exit")
    child.kill()
    await gone
  }
  return { ...(JSON.parse(line) as Omit<Server, "stop">), stop }
}

interface Requests {
  readonly connections: number
  /** The number of the first one; the function makes a request of each number. */
  readonly from: number
  readonly count: number
  /** Undefined: as fast as the server answers. */
  readonly perSecond?: number | undefined
}

interface Request {
  readonly method: "POST" | "PATCH"
  readonly path: string
  readonly body: object
}

/** Sends requests over some connections, in turn. */
export const send = async (
  { ca, port, token }: Server,
  { connections, count, from, perSecond = Infinity }: Requests,
  requestOf: (index: number) => Request
): Promise<void> => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections, ca })
  const one = (index: number) =>
    new Promise<void>((resolve, reject) => {
      const { body, method, path } = requestOf(index)
      const type = method === "PATCH" ? "application/merge-patch+json" : "application/json"
      const headers = { authorization: `Bearer ${token}`, "content-type": type }
      const asked = request({ agent, host: "127.0.0.1", port, path, method, headers }, (answer) => {
        const isOk = answer.statusCode === (method === "POST" ? 201 : 200)
        answer.on("end", () => (isOk ? resolve() : reject(new Error(`${answer.statusCode}`))))
        answer.resume()
      })
      asked.on("error", reject)
      asked.end(JSON.stringify(body))
    })
  const began = performance.now()
  let next = from
  const worker = async () => {
    while (next < from + count) {
      const index = next++
      const early = began + ((index - from) * 1000) / perSecond - performance.now()
      if (early > 0) await sleep(early)
      await one(index)
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  agent.destroy()
}

/** Creates the objects with these numbers over some connections, in turn. */
export const create = (
  server: Server,
  path: string,
  { connections, from, objects }: { readonly from: number; readonly objects: number; readonly connections: number },
  objectOf: (index: number) => object
): Promise<void> =>
  send(server, { connections, count: objects, from }, (index) => ({ method: "POST", path, body: objectOf(index) }))

/** The embedded API server in a process of its own, from the same sources, and requests to it. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { Agent, request } from "node:https"
import { createInterface } from "node:readline"
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

/** Creates the objects with these numbers over some connections, in turn. */
export const create = async (
  { ca, port, token }: Server,
  path: string,
  { from, objects, connections }: { readonly from: number; readonly objects: number; readonly connections: number },
  objectOf: (index: number) => object
): Promise<void> => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections, ca })
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  const post = (index: number) =>
    new Promise<void>((resolve, reject) => {
      const asked = request({ agent, host: "127.0.0.1", port, path, method: "POST", headers }, (answer) => {
        answer.on("end", () => (answer.statusCode === 201 ? resolve() : reject(new Error(`${answer.statusCode}`))))
        answer.resume()
      })
      asked.on("error", reject)
      asked.end(JSON.stringify(objectOf(index)))
    })
  let next = from
  const worker = async () => {
    while (next < from + objects) await post(next++)
  }
  await Promise.all(Array.from({ length: connections }, worker))
  agent.destroy()
}

/** Free ports for programs that cannot choose one themselves and say which. */
import { randomInt } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:net"
import process from "node:process"

/**
 * Below the ports that systems give to outgoing connections (Linux: from 32,768; macOS and Windows: from 49,152) and below Kubernetes' node ports (from
 * 30,000): otherwise a client of any program may get the port before the server listens on it, and while a server restarts, a client that connects again
 * and again may be connected to itself.
 */
const lowest = 16_384

const perProcess = 64

const processes = 212

/** Processes that run at the same time have different numbers, so that they look for free ports in different places first. */
const block = process.pid % processes

let next = randomInt(perProcess)

/** Ports of 127.0.0.1 on which nothing listens now. Those that were returned before come again only after the others of this process. */
export const freePorts = async (count: number): Promise<ReadonlyArray<number>> => {
  const ports: Array<number> = []
  for (let tries = 0; ports.length < count; tries++) {
    if (tries === processes * perProcess)
      throw new Error(`of the ports ${lowest} to ${lowest + processes * perProcess - 1} fewer than ${count} are free`)
    const distance = Math.trunc(tries / perProcess)
    const port = lowest + ((block + distance) % processes) * perProcess + (next++ % perProcess)
    if (await isFree(port)) ports.push(port)
  }
  return ports
}

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen({ host: "127.0.0.1", port, exclusive: true })
  try {
    await once(server, "listening")
  } catch {
    return false
  }
  await once(server.close(), "close")
  return true
}

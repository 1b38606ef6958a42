/** Free ports for programs that cannot choose one themselves and say which. */
import { randomInt } from "node:crypto"
import { once } from "node:events"
import { createServer, type Server } from "node:net"

/**
 * Below the ports that systems give to outgoing connections (Linux: from 32,768; macOS and Windows: from 49,152) and below Kubernetes' node ports (from
 * 30,000): otherwise a client of any program may get the port before the server listens on it, and while a server restarts, a client that connects again
 * and again may be connected to itself.
 */
const lowest = 16_384

const perBlock = 64

/** The ports of a block that programs are given: all but the first. */
const others = perBlock - 1

const blocks = 212

/**
 * The first port of a block on which nothing listens: this process listens on it until it ends, so that no other process takes a port of that block before
 * the program that the port is for listens on it, or while that program restarts.
 */
const claim = async (): Promise<number> => {
  const from = randomInt(blocks)
  for (let tries = 0; tries < blocks; tries++) {
    const first = lowest + ((from + tries) % blocks) * perBlock
    const server = await listen(first)
    if (server === undefined) continue
    server.unref()
    return first
  }
  throw new Error(`every block of ${perBlock} ports from ${lowest} on is in use: a program listens on its first port`)
}

let claimed: Promise<number> | undefined

let next = 0

/** Ports of 127.0.0.1 on which nothing listens now. Those that were returned before come again only after the others of this process. */
export const freePorts = async (count: number): Promise<ReadonlyArray<number>> => {
  const ports: Array<number> = []
  for (let tries = 0; ports.length < count; tries++) {
    if (tries % others === 0 && tries > 0) claimed = claim()
    const port = (await (claimed ??= claim())) + 1 + (next++ % others)
    if (await isFree(port)) ports.push(port)
  }
  return ports
}

const isFree = async (port: number): Promise<boolean> => {
  const server = await listen(port)
  if (server === undefined) return false
  await once(server.close(), "close")
  return true
}

/** Undefined where another program listens. */
const listen = async (port: number): Promise<Server | undefined> => {
  const server = createServer().listen({ host: "127.0.0.1", port, exclusive: true })
  try {
    await once(server, "listening")
    return server
  } catch {
    return undefined
  }
}

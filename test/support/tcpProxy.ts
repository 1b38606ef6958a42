/**
 * A TCP proxy on loopback between a client and a server that forwards every byte, and can hold the data of each direction. Held data waits, as in
 * a network partition that may end; connections stay open, and new ones wait too.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

export interface Held {
  /** From the client to the server. */
  readonly requests: boolean
  /** From the server to the client. */
  readonly answers: boolean
}

export interface TcpProxy {
  /** `https://<host>:<port>`. */
  readonly server: string
  readonly hold: (held: Held) => void
  /** Stops to hold data. Held data is lost with its connections. */
  readonly reset: () => void
  /** True: connections are refused at once. False: they are forwarded again. */
  readonly leave: (isAway: boolean) => void
  /** The times of new connections, in milliseconds of this process's monotonic clock; refused ones included. */
  readonly arrivals: ReadonlyArray<number>
}

interface Direction {
  readonly from: Socket
  readonly to: Socket
  readonly kind: keyof Held
}

/** `upstream` is `https://127.0.0.1:<port>`; it listens on `host`. */
export const start = (upstream: string, host = "127.0.0.1"): Effect.Effect<TcpProxy, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const directions = new Set<Direction>()
      const arrivals: Array<number> = []
      let held: Held = { requests: false, answers: false }
      let isAway = false
      const go = ({ from, kind, to }: Direction) => {
        if (held[kind] || to.writableNeedDrain) from.pause()
        else from.resume()
      }
      const pass = (direction: Direction) => {
        const { from, to } = direction
        directions.add(direction)
        from.on("data", (chunk) => {
          to.write(chunk)
          go(direction)
        })
        to.on("drain", () => go(direction))
        from.on("end", () => to.end())
        from.on("error", () => to.destroy())
        from.on("close", () => {
          directions.delete(direction)
          to.destroySoon()
        })
        go(direction)
      }
      const { hostname, port } = new URL(upstream)
      const server = createServer({ allowHalfOpen: true }, (client) => {
        arrivals.push(performance.now())
        if (isAway) return void client.on("error", () => {}).resetAndDestroy()
        const onward = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
        pass({ from: client, to: onward, kind: "requests" })
        pass({ from: onward, to: client, kind: "answers" })
      })
      server.listen(0, host)
      await once(server, "listening")
      const proxy: TcpProxy = {
        server: `https://${host}:${(server.address() as AddressInfo).port}`,
        hold: (now) => {
          held = now
          for (const direction of directions) go(direction)
        },
        reset: () => {
          held = { requests: false, answers: false }
          for (const { from } of directions) from.resetAndDestroy()
        },
        leave: (now) => {
          isAway = now
          if (now) for (const { from } of directions) from.resetAndDestroy()
        },
        arrivals
      }
      return { directions, proxy, server }
    }),
    ({ directions, server }) =>
      Effect.promise(async () => {
        const closed = once(server.close(), "close")
        for (const { from } of directions) from.destroy()
        await closed
      })
  ).pipe(Effect.map(({ proxy }) => proxy))

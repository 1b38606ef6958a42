/**
 * How a connection is opened, and how it ends when it is given up: with a reset, so that bytes which have not left this machine never
 * do. A kernel would otherwise go on sending them after the caller was told that the request is no more: a leader that was cut off
 * from the network would change things when the cable is back, in another's term. Not for connections through a proxy.
 */
import type { Socket } from "node:net"
import type { buildConnector } from "undici"
import makeConnector from "undici/lib/core/connect.js"

/** TCP first, TLS over it: only the TCP socket can be reset. */
export const make = (options: buildConnector.BuildOptions): buildConnector.connector => {
  const plain = makeConnector(options)
  return (target, callback) => {
    if (target.protocol !== "https:") return plain(target, abrupt(callback, undefined))
    plain({ ...target, protocol: "http:", port: target.port || "443" }, (error, wire) =>
      error === null ? plain({ ...target, httpSocket: wire }, abrupt(callback, wire)) : callback(error, null)
    )
  }
}

/** Node's own flag of `resetAndDestroy`, which itself sends what is there first. */
interface Resettable extends Socket {
  resetAndClosing?: boolean
}

const abrupt =
  (callback: buildConnector.Callback, wire: Resettable | undefined): buildConnector.Callback =>
  (...answer) => {
    const [error, socket] = answer
    if (error !== null) return callback(error, null)
    const below: Resettable = wire ?? socket
    const destroy = socket.destroy.bind(socket)
    socket.destroy = (reason) => {
      if (reason !== undefined) below.resetAndClosing = true
      return destroy(reason)
    }
    callback(null, socket)
  }

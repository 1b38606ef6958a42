/** The ports of programs that cannot choose one themselves: no other program may get them before the program listens. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import { vi } from "vitest"
import { freePorts } from "../../../src/testing/envtest/ports.ts"

describe("free ports", () => {
  it.live("are different, and pass over one that a server listens on", () =>
    Effect.promise(async () => {
      const [taken = 0] = await freePorts(1)
      const server = createServer().listen(taken, "127.0.0.1")
      await once(server, "listening")
      try {
        // more than a process looks through first, so that other programs on some of those do not matter
        const ports = await freePorts(200)
        assert.strictEqual(new Set(ports).size, 200)
        assert.notInclude(ports, taken)
      } finally {
        await once(server.close(), "close")
      }
    })
  )

  it.live("are none of those that another process may be given, though nothing listens on them yet", () =>
    Effect.promise(async () => {
      const ours = await freePorts(60)
      // The module anew, as another process has it.
      vi.resetModules()
      const other = await import("../../../src/testing/envtest/ports.ts")
      const theirs = await other.freePorts(60)
      assert.deepStrictEqual(
        theirs.filter((port) => ours.includes(port)),
        []
      )
    })
  )

  const file = "/proc/sys/net/ipv4/ip_local_port_range"
  it.live.runIf(existsSync(file))("are none that the system gives to outgoing connections", () =>
    Effect.promise(async () => {
      const [from = 0, to = 0] = readFileSync(file, "utf8").trim().split(/\s+/).map(Number)
      for (const port of await freePorts(3)) assert.isFalse(port >= from && port <= to, `${port} of ${from} to ${to}`)
    })
  )
})

/**
 * The list of bugs that other controllers have had, each with a named test: this test fails when such a test is removed, renamed or skipped. The cases
 * about sockets have two tests, in virtual time and on loopback.
 */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const cases: ReadonlyArray<readonly [number, string]> = [
  [1, "a watch that cannot start is tried for ever, at a bounded rate"],
  [2, "reset, clean close, half-open silence: resumed from the last version"],
  [3, "a server that closes after every event"],
  [4, "410 in the stream, as a status, on a continue token"],
  [5, "an ERROR that is not 410; a malformed line"],
  [6, "ten minutes of bookmarks"],
  [7, "deleted and recreated while nobody watched"],
  [8, "interrupted during list, page, backoff"],
  [9, "credentials that fail once; certificates that rotate"],
  [10, "a reconciler that dies, times out or is interrupted"],
  [11, "one watch that fails for ever beside others"],
  [12, "ten thousand keys and a hot one"],
  [13, "at most one writer, whatever happens to the lease"],
  [14, "one's own writes are read back, or waited for no longer than the limit"],
  [15, "unknown fields and timestamps unchanged"],
  [16, "ten thousand create/delete cycles leave nothing behind"]
]
const onSockets = [1, 2, 8, 9]

/** Titles of tests and suites that run, with their file. */
const titles = (): ReadonlyArray<readonly [file: string, title: string]> => {
  const folder = fileURLToPath(new URL(".", import.meta.url))
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts") && path !== "regressions.test.ts")
    .flatMap((path) =>
      [
        ...readFileSync(join(folder, path), "utf8").matchAll(
          /\b(?:it|describe)(?:\.(?!skip|todo|skipIf|runIf)\w+)*\(\s*["'`]([^"'`]+)/g
        )
      ].map((match) => [path, match[1] ?? ""] as const)
    )
}

const filesOf = (number: number): ReadonlyArray<string> =>
  titles().flatMap(([file, title]) => (new RegExp(`\\bcase ${number}\\b`).test(title) ? [file] : []))

describe("every case of the regression list is a named test", () => {
  for (const [number, about] of cases) {
    it(`${number}: ${about}`, () => assert.isNotEmpty(filesOf(number)))
  }

  it("and there is no other", () => {
    const named = titles().flatMap(([, title]) =>
      [...title.matchAll(/\bcase (\d+)\b/g)].map((match) => Number(match[1]))
    )
    assert.sameMembers(
      [...new Set(named)],
      cases.map(([number]) => number)
    )
  })

  it("those about sockets also on sockets", () => {
    for (const number of onSockets) {
      assert.isTrue(
        filesOf(number).some((file) => /(?:sockets|HttpTransport)\.test\.ts$/.test(file)),
        `case ${number}`
      )
    }
  })
})

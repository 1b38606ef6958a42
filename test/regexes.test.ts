/**
 * The steps of every regular expression of the program grow no faster than its text. Node's engine backtracks, and most texts that the program reads come
 * from users of the cluster: names, annotations, error messages, bodies of requests.
 */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { regexesIn } from "./support/regexes.ts"
import { attack, compile } from "./support/regexSteps.ts"

const src = new URL("../src", import.meta.url).pathname

const written = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .sort()
  .flatMap((file) =>
    regexesIn(readFileSync(join(src, file), "utf8")).map(({ flags, source }) => ({ file, flags, source }))
  )

const complaint = (source: string, flags: string): string | undefined => {
  try {
    const found = attack(compile(source, flags))
    return found === undefined ? undefined : `/${source}/${flags} on ${JSON.stringify(found)}`
  } catch (error) {
    return String(error)
  }
}

describe("regular expressions", () => {
  it("of the source take steps in proportion to the length of a text", () => {
    const complaints = written.flatMap(({ file, flags, source }) => {
      const found = source === undefined ? undefined : complaint(source, flags)
      return found === undefined ? [] : [`${file}: ${found}`]
    })
    assert.deepStrictEqual(complaints, [])
  })

  // Expressions that recheck 4.5.0, an analysis with automata, found in this source before; and two that take exponential time.
  const slow: ReadonlyArray<RegExp> = [
    /^(a+)+$/,
    /(x+x+)+y/,
    /[/\\]+$/,
    /^import (?:\* as (\w+)|\{([^}]*)\}) from\s"(?!\.)/gm,
    /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/g,
    /(\d+)\(|([^\s:()]+):(\d+)|(\))/g,
    /[^.]+$/,
    /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/,
    /\s*[\r\n]\s*/g,
    /-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g,
    /\beyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/g,
    /\.?0*Z$/,
    / \(choices: .*\)$/,
    /^[^a-z0-9]+|[^a-z0-9]+$/g,
    /[.-]*\.[.-]*/g
  ]
  for (const { flags, source } of slow) {
    it(`are found where a text makes them slow: /${source}/${flags}`, () =>
      assert.isDefined(attack(compile(source, flags))))
  }

  it("are all written in the source: none is built from a text at run time", () => {
    assert.deepStrictEqual(
      written.filter(({ source }) => source === undefined).map(({ file }) => file),
      []
    )
  })
})

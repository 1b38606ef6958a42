/** Texts of the console's page differ enough from their backgrounds in both colour schemes: WCAG 2.2, 1.4.3 and 1.4.11. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"

const css = readFileSync(new URL("../../../../src/manager/console/page/app.css", import.meta.url), "utf8")

/** The variables of the first two `:root` blocks: light, then dark. */
const [light = {}, dark = {}] = [...css.matchAll(/:root \{([^}]*)\}/g)].map(([, body = ""]) =>
  Object.fromEntries([...body.matchAll(/--(\w+): (#[\da-f]{6});/g)].map(([, name, value]) => [name, value]))
) as ReadonlyArray<Readonly<Record<string, string>>>

const luminance = (colour: string): number => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const contrast = (a: string, b: string): number => {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

const texts = ["text", "muted", "accent", "ok", "busy", "warn", "bad", "off"]
const backgrounds = ["page", "panel", "raised", "tint"]

describe("the colours of the console's page", () => {
  for (const [scheme, colours] of [
    ["light", light],
    ["dark", dark]
  ] as const) {
    it(`give every text of the ${scheme} scheme a contrast of at least 4.5 on every background`, () => {
      const low = texts.flatMap((text) =>
        backgrounds.flatMap((background) => {
          const ratio = contrast(colours[text] ?? "#000000", colours[background] ?? "#000000")
          return ratio < 4.5 ? [`${text} on ${background}: ${ratio.toFixed(2)}`] : []
        })
      )
      assert.deepStrictEqual(low, [])
    })
  }

  it("of a white text on the button's accent have a contrast of at least 4.5", () => {
    for (const colours of [light, dark]) assert.isAtLeast(contrast(colours["page"] ?? "", colours["accent"] ?? ""), 4.5)
  })
})

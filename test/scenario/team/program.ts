/**
 * A program of a library user: one controller that writes a word to every namespace; a service of its own provides the word. For the scenarios of
 * `ownProgram.test.ts`; not an example.
 */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access, configured, Controller, Namespace, Patch, Setting, SettingCodec } from "../../../src/index.ts"
import { run } from "../../../src/node.ts"

class Words extends Context.Service<Words, { readonly first: string }>()("team/Words") {
  static readonly layer = Layer.effect(
    Words,
    Effect.map(Config.NonEmptyString("TEAM_WORD"), (first) => ({ first }))
  )
}

const settings = {
  word: Setting.make(SettingCodec.text("word"), {
    name: "word",
    group: "tuning",
    description: "The second word",
    default: "world"
  })
}

const writer = ({ word: second }: Setting.Values<typeof settings>) =>
  Controller.make({
    name: "writer",
    for: Namespace,
    access: [Access.patch(Namespace)],
    reconcileObject: ({ metadata: { labels, name } }, { client }) =>
      Effect.gen(function* () {
        const words = `${(yield* Words).first}-${second}`
        if (labels?.["words"] === words) return
        yield* client.patch(Namespace, { name }, Patch.merge({ metadata: { labels: { words } } }))
      })
  })

run({
  name: "team-program",
  version: "1.2.3",
  description: "Writes words.",
  controllers: [
    configured({ settings, make: writer }, ({ word }) => ({ byDefault: "on", summary: `writes the word ${word}` }))
  ],
  services: Words.layer
})

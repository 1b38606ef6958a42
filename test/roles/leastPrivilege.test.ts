/**
 * Least privilege, proven: every story is told under exactly the roles that `manifests` prints, enforced by the embedded server. Nothing is
 * denied; of what is granted everything is used; and with any single grant taken away a story breaks.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Grants from "./grants.ts"
import * as Housekeeping from "./housekeeping.ts"
import * as Replicas from "./replicas.ts"
import * as Story from "./story.ts"

const stories = [...Housekeeping.stories, ...Replicas.stories]

describe("under exactly the roles that are printed", () => {
  /** By what a grant says: the grant, and the first story that makes use of it. */
  const granted = new Map<string, { readonly grant: Grants.Grant; story: Story.Story | undefined }>()

  for (const story of stories) {
    it.effect(story.title, () =>
      Effect.gen(function* () {
        const told = yield* Story.tell(story)
        assert.deepStrictEqual(told.denied, [])
        for (const grant of told.granted) {
          const said = Grants.say(grant)
          const known = granted.get(said) ?? { grant, story: undefined }
          granted.set(said, known)
          if (told.used.has(said)) known.story ??= story
        }
      })
    )
  }

  it("everything that is granted is made use of", () =>
    assert.deepStrictEqual(
      [...granted].filter(([, { story }]) => story === undefined).map(([said]) => said),
      []
    ))

  it.effect(
    "with any grant taken away, a story breaks",
    () =>
      Effect.gen(function* () {
        const spare: Array<string> = []
        for (const [said, { grant, story }] of granted) {
          if (story !== undefined && !(yield* Story.breaks(story, Grants.without(grant)))) spare.push(said)
        }
        assert.deepStrictEqual(spare, [])
      }),
    120_000
  )
})
